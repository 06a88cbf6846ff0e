// What is to happen and when: a heap of events in virtual time. Events of one instant happen in the order in which they
// were put in, so a run depends on nothing but its seed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/node_id.h"
#include "base/time.h"
#include "sim/process.h"

namespace muster::sim {

enum class EventKind : std::uint8_t {
  kDeliver,  // a packet reaches the node
  kClosed,   // the node learns that a stream broke
  kRetry,    // a stream tries to get through again
  kAlarm,
  kDisk,    // the disk is done with what it was given last
  kDrain,   // a slow or resumed node takes the next thing that waited
  kCall,    // something is asked of the node's process from outside
  kAction,  // the fault plan or the scenario acts
};

constexpr std::uint32_t kNoStream = ~0u;

struct Event {
  EventKind kind = EventKind::kAction;
  Channel channel = Channel::kDatagram;
  bool authentic = true;
  std::uint32_t node = 0;            // index of whom it concerns
  std::uint32_t stream = kNoStream;  // index
  std::uint32_t peer = 0;            // index of the sender; kRetry: the direction
  // Of the node (kClosed, kAlarm, kDisk, kCall) or of the stream (kDeliver, kRetry). For a packet outside streams the
  // address that it was sent to; 0 if it finds its node wherever that is.
  std::uint64_t life = 0;
  Address from{};
  base::NodeId sender{};
  std::int64_t sent = 0;  // kDeliver: when
  std::string bytes;
  std::unique_ptr<std::function<void()>> action;
};

class Agenda {
 public:
  std::int64_t now() const { return now_; }  // nanoseconds of virtual time since the start of the run
  bool empty() const { return heap_.empty(); }
  std::int64_t next() const { return heap_.front().at; }  // not empty

  // A time in the past means now.
  void push(std::int64_t at, Event&& event) { push_kept(at, keep(std::move(event))); }
  // Takes the first event out and moves the time to it.
  Event pop();
  void advance(std::int64_t to) { now_ = to; }  // no event may be due before

  // An event that waits for something else than time: kept here until it is put back or dropped.
  std::uint32_t keep(Event&& event);
  Event release(std::uint32_t kept);
  void push_kept(std::int64_t at, std::uint32_t kept);

 private:
  // Small, so that the four children of a node share a cache line: the order is above the event's place in one word.
  struct Due {
    std::int64_t at;  // never negative
    std::uint64_t order_and_event;

    bool before(const Due& other) const { return key() < other.key(); }
    unsigned __int128 key() const {
      return static_cast<unsigned __int128>(static_cast<std::uint64_t>(at)) << 64 | order_and_event;
    }
  };
  static constexpr unsigned kEventBits = 24;

  std::int64_t now_ = 0;
  std::uint64_t order_ = 0;
  std::vector<Due> heap_;  // four children a node: half the levels of a binary heap
  std::vector<Event> events_;
  std::vector<std::uint32_t> free_;
};

}  // namespace muster::sim
