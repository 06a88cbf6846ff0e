// For tests: one membership core that a test speaks to packet by packet, and whose packets it reads.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cores/swim.h"
#include "cores/swim_codec.h"

namespace muster::cores {

class SwimNode {
 public:
  struct Sent {
    Endpoint to;
    SwimChannel channel;
    std::shared_ptr<const std::string> bytes;  // what the message points into
    SwimMessage message;
  };

  explicit SwimNode(SwimOptions options = swim_lan(), std::uint64_t incarnation = 1)
      : core({.id = id(1), .address = endpoint(1), .incarnation = incarnation, .state = "one"}, options, 1, now) {}

  static base::NodeId id(std::uint64_t number) { return base::NodeId{number}; }
  static Endpoint endpoint(std::uint32_t number) { return ipv4_endpoint(0x0a000000u + number, 9000); }

  static Claim alive(std::uint32_t node, std::uint64_t incarnation = 1) {
    Claim claim;
    claim.node = id(node);
    claim.incarnation = incarnation;
    claim.address = endpoint(node);
    return claim;
  }
  static Claim accused(MemberStatus status, std::uint32_t node, std::uint64_t incarnation = 1, std::uint32_t by = 2) {
    Claim claim;
    claim.status = status;
    claim.node = id(node);
    claim.incarnation = incarnation;
    claim.by = id(by);
    return claim;
  }

  // A packet from `sender`, at its usual endpoint.
  void hear(std::uint32_t sender, const SwimBody& body, const std::vector<Claim>& claims = {},
            SwimChannel channel = SwimChannel::kDatagram) {
    const std::string bytes = encode_swim({.group = core.options().group, .message = {body, claims}});
    core.receive(id(sender), endpoint(sender), channel, bytes, now);
    collect();
  }
  void hear(std::uint32_t sender, const std::vector<Claim>& claims) { hear(sender, Rumours{}, claims); }
  // A whole view over a stream.
  void hear_view(std::uint32_t sender, const std::vector<Claim>& view, bool reply = true) {
    hear(sender, Exchange{.reply = reply, .last = true, .view = view}, {}, SwimChannel::kStream);
  }
  void know(std::uint32_t first, std::uint32_t last) {
    std::vector<Claim> view;
    for (std::uint32_t node = first; node <= last; ++node) view.push_back(alive(node));
    hear_view(first, view);
  }

  // Runs the core's timers until `time` has passed.
  void run(base::Duration time) {
    const base::Instant end = now + time;
    while (core.deadline() <= end) {
      now = std::max(now, core.deadline());
      core.wake(now);
      collect();
    }
    now = end;
  }

  // Runs until a packet of this kind was sent, which is returned; what was sent before it is forgotten.
  template <class Body>
  Sent run_until_sent(base::Duration limit = std::chrono::seconds(30)) {
    sent.clear();
    const base::Instant end = now + limit;
    while (core.deadline() <= end) {
      now = std::max(now, core.deadline());
      core.wake(now);
      collect();
      for (const Sent& one : sent) {
        if (std::holds_alternative<Body>(one.message.body)) return one;
      }
    }
    ADD_FAILURE() << "no such packet was sent";
    return {};
  }

  template <class Body>
  std::vector<Sent> all_sent() const {
    std::vector<Sent> found;
    for (const Sent& one : sent) {
      if (std::holds_alternative<Body>(one.message.body)) found.push_back(one);
    }
    return found;
  }

  std::size_t told(SwimEventKind kind) const {
    std::size_t count = 0;
    for (const SwimEvent& event : events) count += event.kind == kind ? 1 : 0;
    return count;
  }
  MemberStatus status(std::uint32_t node) const { return core.members().get(id(node))->status; }

  base::Instant now{std::chrono::hours(1)};
  Swim core;
  std::vector<Sent> sent;
  std::vector<SwimEvent> events;

 private:
  void collect() {
    SwimEffects effects = core.take();
    for (SwimSend& send : effects.sends) {
      auto bytes = std::make_shared<const std::string>(std::move(send.bytes));
      auto packet = decode_swim(*bytes);
      ASSERT_TRUE(packet.has_value()) << packet.error().message;
      sent.push_back({send.to, send.channel, std::move(bytes), std::move(packet->message)});
    }
    events.insert(events.end(), effects.events.begin(), effects.events.end());
  }
};

}  // namespace muster::cores
