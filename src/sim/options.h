// What bounds the simulated machine and a run of it. Values that a scenario may want otherwise are members of the
// structures; what holds for every scenario is a constant.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/time.h"
#include "sim/process.h"

namespace muster::sim {

// Bytes of the longest datagram that a process may send: what passes every path without fragments (invariant 25).
constexpr std::size_t kMaxDatagram = 1400;

// Bytes under way in one direction of a stream before it breaks, as a peer that never reads would make it. More hides
// processes that write without asking; less breaks streams under a slow node.
constexpr std::size_t kMaxStreamBuffer = 64u << 20;

// Datagrams that wait for a paused or slow node before more are dropped: a socket's receive buffer.
constexpr std::size_t kMaxBacklog = 1024;

// Packets remembered for replay. More lets older ones come back; each costs its bytes.
constexpr std::size_t kReplayMemory = 64;

// How much later a frame arrives that was lost once: the frames behind it tell the sender. Lost again, it waits as at a
// cut.
constexpr base::Duration kFastRetry = std::chrono::milliseconds(60);

// Time between the attempts of a stream to get through a cut; doubles up to the second one.
constexpr base::Duration kFirstRetry = std::chrono::milliseconds(200);
constexpr base::Duration kLastRetry = std::chrono::seconds(2);

// How long a stream keeps trying before both ends are told that it broke; drawn between the two for every cut.
constexpr base::Duration kLeastPatience = std::chrono::seconds(3);
constexpr base::Duration kMostPatience = std::chrono::seconds(20);

// Events at one instant before a run is ended: the processes make each other work without time passing.
constexpr std::uint64_t kMaxEventsAtOnce = 2'000'000;

// What is kept of a readable trace, which makes a run several times slower: nothing, as much of its end as is told with
// a violation, or all of it.
enum class Trace : std::uint8_t { kNone, kEnd, kAll };
constexpr std::size_t kTracePage = 60;  // lines

// How long a packet takes: uniform between least and most, and now and then an exponential tail beyond.
struct Latency {
  base::Duration least = std::chrono::microseconds(100);
  base::Duration most = std::chrono::microseconds(500);
  double tail_share = 0.01;                            // of the packets
  base::Duration tail = std::chrono::milliseconds(5);  // its mean
};

struct NetworkOptions {
  Latency within_site;
  Latency between_sites{.least = std::chrono::milliseconds(10),
                        .most = std::chrono::milliseconds(15),
                        .tail_share = 0.01,
                        .tail = std::chrono::milliseconds(30)};
  // Whether frames of streams are doubled, reordered and replayed too, as retries over several connections would do.
  // For protocols that must bear it; others may count on the order within a connection.
  bool unruly_streams = false;
};

struct DiskOptions {
  // One write with all that waited for it takes between the two.
  base::Duration least = std::chrono::microseconds(50);
  base::Duration most = std::chrono::milliseconds(2);
};

struct KernelOptions {
  NetworkOptions network;
  DiskOptions disk;
  Trace trace = Trace::kNone;
  std::uint64_t max_events = 200'000'000;  // of one run; more is a violation, not a wait without end
  // Sees every packet that a process receives, before it does.
  std::function<void(base::NodeId node, const Packet& packet)> tap;
};

}  // namespace muster::sim
