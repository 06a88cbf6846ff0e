// The run judges itself: tells what about a result makes its numbers doubtful, each as a sentence with the figures and
// what to do. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "engine/load_shape.h"
#include "model/result.h"

namespace muster::engine {

// From where on a figure of the run itself is worth a mark.
struct MarkLimits {
  // Share of the wall time that a core's thread may be busy. Above it there is no room for bursts, and what is measured
  // is muster rather than the server. Lower warns earlier, and of runs that are still sound.
  double busy = 0.90;
  // Cores that were measured for less than this are not judged: start-up would decide.
  base::Duration least_measured = std::chrono::seconds(1);
  // The 99th percentile of how late arrivals of an open load may start: their latency counts from when they were due.
  base::Duration lateness = std::chrono::milliseconds(1);
  // The same of how late thinks and pauses of a closed load may end: no latency has that in it, the load is only less.
  base::Duration pause_lateness = std::chrono::milliseconds(10);
  // Arrivals, or thinks and pauses, below which that percentile is one or two of them. Of fewer arrivals the median is
  // held to the limit, and the worst to a standstill.
  std::uint64_t least_arrivals = 100;
  // A closed load that stands still has no more late timers than VUs, which percentiles of a long run do not show: one
  // that is so late, and by such a share of the time, is enough. Less would mark what any shared machine does.
  base::Duration standstill = std::chrono::milliseconds(100);
  double standstill_share = 0.01;
  // Share of the due arrivals of an open load that must have been issued.
  double issued = 0.999;
  // Pauses that are shorter in all are not worth a word.
  base::Duration least_pause = std::chrono::milliseconds(50);
};

// What the user did to the load while it ran.
struct ByHand {
  base::Duration paused{};  // all pauses together
  double least = 1;         // times the load that the file asks for
  double most = 1;
};

// A note of a workflow that begins with this text becomes a mark: its data feeder had no unique row left.
constexpr std::string_view kUniqueDataEnded = "unique data ran out";

// The same of a script that failed by its own mistake, followed by what it said.
constexpr std::string_view kScriptError = "script error: ";

// Of an executor that was killed since it did not end when it was told to.
constexpr std::string_view kKilledAtTheEnd = "its executor process did not answer and was killed";

// The note of a VU whose `start` failed: it ends there, without an iteration.
constexpr std::string_view kStartFailed = "VUs ended because their `start` steps failed";

// The note of a core whose load's time was over before its iterations were: one for each that had not begun.
constexpr std::string_view kIterationsUndone = "iterations not begun when `for` was over";

// The note of a core whose VUs had all ended before its iterations were: one for each that had not begun.
constexpr std::string_view kIterationsWithoutVu = "iterations that no VU was left to run";

// What a whole workflow says in its place, followed by how many of how many those were.
constexpr std::string_view kEndedWith = "ended with ";

// What a whole workflow says in place of kIterationsUndone, followed by how many of how many had begun.
constexpr std::string_view kEndedByFor = "ended by `for` after ";

// In order of weight. `thresholds` are final verdicts; those that could not be judged are marked too, since they would
// otherwise pass unseen. `problems` says why, for each of them, as ThresholdJudge does.
std::vector<model::Mark> find_marks(const std::vector<model::WorkflowResult>& workflows,
                                    const std::vector<model::ThresholdVerdict>& thresholds, const ByHand& by_hand = {},
                                    const MarkLimits& limits = {}, const std::vector<std::string>& problems = {});

// How many VUs ended because their `start` failed; one that was begun again counts again.
std::uint64_t failed_starts(const model::WorkflowResult& workflow);

// Whether no iteration of it ran, and failures in `start` are why.
bool never_got_past_start(const model::WorkflowResult& workflow);

// Puts what the cores of a workflow left undone into one sentence.
void tell_undone(model::Notes& notes, const LoadShape& shape);

}  // namespace muster::engine
