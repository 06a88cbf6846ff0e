// Limits and intervals of the engine, each with its meaning, unit, default and trade-off.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"
#include "model/options.h"

namespace muster::engine {

// How often a core hands what it recorded to the collector. Shorter: fresher screens; longer: less work between
// requests. Divides a second evenly, so that every second of the series is whole.
constexpr base::Duration kRecordingInterval = std::chrono::milliseconds(250);

// How long after a whole second of the run a load may begin and still count as begun on it: what starting an executor
// takes. Longer puts seconds of several workflows that much further apart. WorkflowResult::shift tells how far.
constexpr base::Duration kSameSecond = std::chrono::milliseconds(100);

// Iterations and rounds of `repeat` and `retry` that a VU may run without waiting for anything before others get their
// turn, and the time, the grace and commands are looked at. More: fewer system calls for bodies that only compute.
constexpr int kMaxInARow = 16;

// Arrivals and VUs that a core starts before it looks for answers again. More: fewer system calls to catch up after a
// stall; fewer: answers are noticed sooner while it catches up.
constexpr int kArrivalsPerTurn = 64;
constexpr std::size_t kReadyPerTurn = 64;

// What a VU waits after an iteration that failed without reaching the network: no descriptor or port left, a value
// missing. Without it thousands of VUs would spin on what only time or the user can mend.
constexpr base::Duration kLocalFailurePause = std::chrono::milliseconds(100);

// Arrivals of one core that may wait for a free VU; more are dropped and counted. 16 bytes each.
constexpr std::size_t kMaxQueuedArrivals = 1'000'000;

// Memory that one iteration of one VU may hold in values before a script calls another step and before `repeat` and
// `retry` begin another round. More lets an iteration make more requests; each one keeps the texts that it is given,
// and those that it saves or checks, until the iteration ends.
constexpr std::size_t kMaxIterationBytes = std::size_t{16} * 1024 * 1024;

// Descriptors besides one for each VU that room is made for at the start: loops, outputs, data files. Fewer: the table
// may double under load, which holds a core for some 15 ms.
constexpr std::uint64_t kOwnDescriptors = 64;

// Bytes that one receive may bring; one buffer for each core. The size of a TLS record and more.
constexpr std::size_t kReceiveBytes = std::size_t{64} * 1024;

// Bytes of a file that is sent as a body, or as a part of one. It is read once and kept in memory by every executor.
// More lets larger uploads be tested.
constexpr std::uint64_t kMaxBodyFileBytes = std::uint64_t{256} * 1024 * 1024;

// Schemes, hosts and ports that one core remembers; redirects and addresses that are made up lead to no more.
constexpr std::size_t kMaxOrigins = 4096;

// Bytes of one combination of tags, names and values together; requests with longer ones count as "other".
constexpr std::size_t kMaxTagBytes = 1024;

// Bytes of a request and of a response that an error sample keeps.
constexpr std::size_t kSampleBytes = 1024;

// Lines a second that `log` steps of one core may write.
constexpr std::uint32_t kLogLinesPerSecond = 100;

// Bytes of such a line; what is more is counted in its place. Fewer keep a logged body from flooding the terminal.
constexpr std::size_t kLogLineBytes = 4000;

// Space for one snapshot in shared memory, as much as can be decoded; untouched pages cost nothing. A larger result is
// published without what is missed least, and a note says so.
constexpr std::size_t kSnapshotBytes = model::kMaxResultBytes;

// Space for the per-second series in shared memory; when it is full, later seconds are left out and a note says so.
constexpr std::size_t kSeriesBytes = std::size_t{1024} * 1024 * 1024;

// How long after its grace an executor that was told to stop may take to end. Then it counts as wedged: it is told to
// abort, and after kAbortLimit killed. Longer gives a machine that swaps a chance; shorter ends a hopeless wait sooner.
constexpr base::Duration kStopMargin = std::chrono::seconds(5);

// How long an executor that was told to abort may take before it is killed.
constexpr base::Duration kAbortLimit = std::chrono::seconds(1);

// How long an executor, which publishes every kRecordingInterval, may be silent before it counts as wedged. Much longer
// than anything a busy machine does, as what it measured after its last snapshot is lost with it.
constexpr base::Duration kSilenceLimit = std::chrono::seconds(30);

// Longest wait for a name to resolve.
constexpr base::Duration kResolveTimeout = std::chrono::seconds(5);

// How long a core may stay in its script without coming back to its loop before the workflow is given up. Longer lets a
// script compute more at a time, and lets a loop that never ends hold its core longer.
constexpr base::Duration kScriptPatience = std::chrono::seconds(5);

// The same for a core that has computed for less than half of that time: the machine gave it no more, or it hangs. Less
// than kSilenceLimit, so that the reason is told and nothing is lost that it measured.
constexpr base::Duration kStarvedPatience = 5 * kScriptPatience;
static_assert(kStarvedPatience < kSilenceLimit);

// How long the other cores of such a workflow have to tell what they recorded last.
constexpr base::Duration kLastRecordings = std::chrono::milliseconds(500);

}  // namespace muster::engine
