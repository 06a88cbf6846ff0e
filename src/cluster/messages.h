// Every message that client, gate, manager and worker send each other, as plain structs. The bytes are message_codec.h;
// the envelope (sender, life, clock, version, encryption) is the link's, so a brain is told from whom a message came.
#pragma once

#include <string_view>
#include <variant>

#include "cluster/messages_body.h"
#include "cluster/messages_job.h"
#include "cluster/messages_watch.h"
#include "cluster/messages_worker.h"

namespace muster::cluster {

// The order is the number of the message on the wire: add at the end only.
using AnyMessage =
    std::variant<Submit, SubmitAnswer, StatusAsk, StatusAnswer, Cancel, CancelAnswer, WorkflowEnded, JobEnd, EndAck,
                 WindowPush, GateAnnounce, OwnerAsk, OwnerIs,              //
                 BodyOffer, BodyHeld, BodyWanted, BodyPiece, BodyMissing,  //
                 Heartbeat, HeartbeatAnswer, Dispatch, DispatchAnswer, StopPart, PartStopped, Progress, PartResult,
                 ResultAck,                                                                                    //
                 Probe, ProbeAnswer, CancelPoll, ExtensionAsk, ExtensionAnswer, Drain, Forward, ManagerState,  //
                 Reconnect, DatacentersAsk, Datacenters, Ring>;
constexpr std::size_t kMessages = std::variant_size_v<AnyMessage>;

// That variant, copied, moved and destroyed in one place: code for each of its alternatives wherever a message is
// handled takes a sixth of the time that this room takes to compile.
struct Message : AnyMessage {
  using AnyMessage::AnyMessage;
  using AnyMessage::operator=;

  Message();
  Message(const Message& other);
  Message(Message&& other) noexcept;
  Message& operator=(const Message& other);
  Message& operator=(Message&& other) noexcept;
  ~Message();
};

// "submit", "heartbeat answer": for traces and metrics.
std::string_view name_of(const Message& message);

// Who may say what: shedding drops low before high, critical never.
enum class MessageClass : std::uint8_t { kCritical, kHigh, kNormal, kLow };
MessageClass class_of(const Message& message);

// What a worker tells a manager: its own parts, and bodies. Nobody vouches for a worker, so nothing else is heard from
// one: neither a client's wish nor a gate's claim.
bool of_worker(const Message& message);

}  // namespace muster::cluster
