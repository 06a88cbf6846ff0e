#include "cluster/messages.h"

#include <array>

#include "cluster/effects.h"

namespace muster::cluster {
namespace {

struct Kind {
  std::string_view name;
  MessageClass priority;
  bool of_worker = false;
};

using enum MessageClass;

// In the order of the variant.
constexpr std::array<Kind, kMessages> kKinds = {{
    {"submit", kHigh},
    {"submit answer", kHigh},
    {"status ask", kNormal},
    {"status answer", kNormal},
    {"cancel", kCritical},
    {"cancel answer", kCritical},
    {"workflow ended", kCritical},
    {"job end", kCritical},
    {"end ack", kCritical},
    {"window push", kNormal},
    {"gate announce", kCritical},
    {"owner ask", kHigh},
    {"owner is", kCritical},
    // A final result is no more than a name without its bytes, and who takes a job on has asked for its bundle.
    {"body offer", kCritical},
    {"body held", kCritical},
    {"body wanted", kCritical, true},
    {"body piece", kCritical, true},
    {"body missing", kCritical, true},
    {"heartbeat", kCritical, true},
    {"heartbeat answer", kCritical},
    {"dispatch", kHigh},
    {"dispatch answer", kHigh, true},
    {"stop part", kCritical},
    {"part stopped", kCritical, true},
    {"progress", kNormal, true},
    {"part result", kCritical, true},
    {"result ack", kCritical},
    {"probe", kCritical},
    {"probe answer", kCritical, true},
    {"cancel poll", kCritical, true},
    {"extension ask", kCritical, true},
    {"extension answer", kCritical},
    {"drain", kHigh},
    {"forward", kCritical},
    {"manager state", kCritical},
    {"reconnect", kNormal},
    {"datacenters ask", kLow},
    {"datacenters", kLow},
    {"ring", kNormal},
}};

}  // namespace

Message::Message() = default;
Message::Message(const Message& other) = default;
Message::Message(Message&& other) noexcept = default;
Message& Message::operator=(const Message& other) = default;
Message& Message::operator=(Message&& other) noexcept = default;
Message::~Message() = default;

std::string_view name_of(const Message& message) {
  return kKinds[message.index()].name;
}

MessageClass class_of(const Message& message) {
  return kKinds[message.index()].priority;
}

bool of_worker(const Message& message) {
  return kKinds[message.index()].of_worker;
}

std::string_view to_text(Answer answer) {
  static constexpr std::array<std::string_view, kAnswers> kTexts = {"accepted",
                                                                    "capacity exceeded",
                                                                    "quorum unavailable",
                                                                    "quorum time-out",
                                                                    "quorum circuit open",
                                                                    "limited",
                                                                    "overloaded",
                                                                    "draining",
                                                                    "invalid",
                                                                    "conflict",
                                                                    "bundle missing",
                                                                    "unknown job",
                                                                    "ended",
                                                                    "not the owner",
                                                                    "no datacenter"};
  return kTexts[static_cast<std::size_t>(answer)];
}

std::string_view to_text(WorkerState state) {
  static constexpr std::array<std::string_view, kWorkerStates> kTexts = {"registering", "healthy", "degraded",
                                                                         "draining", "offline"};
  return kTexts[static_cast<std::size_t>(state)];
}

std::string_view to_text(Contact contact) {
  static constexpr std::array<std::string_view, kContacts> kTexts = {"admitted", "pending",    "no quorum",
                                                                     "evicted",  "stale life", "mismatch"};
  return kTexts[static_cast<std::size_t>(contact)];
}

std::string_view to_text(DispatchReply reply) {
  static constexpr std::array<std::string_view, kDispatchReplies> kTexts = {
      "accepted",    "busy",        "finished", "stale fence", "stale life", "no cores",
      "other major", "old context", "draining", "too many",    "stopped",    "alone"};
  return kTexts[static_cast<std::size_t>(reply)];
}

std::string_view to_text(Noted noted) {
  static constexpr std::array<std::string_view, kNotes> kTexts = {"accepted",
                                                                  "took over",
                                                                  "provisioned",
                                                                  "provision refused",
                                                                  "dispatched",
                                                                  "refused",
                                                                  "lost",
                                                                  "result held",
                                                                  "result repeated",
                                                                  "layer closed",
                                                                  "cancelled",
                                                                  "ended",
                                                                  "forgotten",
                                                                  "admitted",
                                                                  "evicted",
                                                                  "fence refused",
                                                                  "quorum time-out",
                                                                  "quorum circuit open",
                                                                  "limited",
                                                                  "orphan found",
                                                                  "part stuck",
                                                                  "part overdue",
                                                                  "stopped alone",
                                                                  "extended",
                                                                  "body copied",
                                                                  "queue full",
                                                                  "superseded",
                                                                  "offered",
                                                                  "fell back",
                                                                  "redirected",
                                                                  "lease lapsed",
                                                                  "datacenter lost",
                                                                  "rerouted",
                                                                  "result refused",
                                                                  "cores freed"};
  return kTexts[static_cast<std::size_t>(noted)];
}

}  // namespace muster::cluster
