// What brains ask of their shells. A brain is called with an event and the time, and afterwards drained by take(): the
// effects in order. The shell carries them out and feeds back what came of them. Nothing here is done by the brain.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "cluster/ids.h"
#include "cluster/job.h"
#include "cluster/messages.h"

namespace muster::cluster {

// To a node by its name, over the stream to it; may be lost. Answers to clients are sends to the node that asked.
struct Send {
  NodeId to = kNoNode;
  Message message;
};

// To the Raft core of this node, which leads. The entry is seen again when it is applied; a refusal is seen by its
// absence.
struct Propose {
  std::string entry;  // command_codec.h
};

// To the disk, synced, under its hash; fed back by body_stored(hash, ok).
struct StoreBody {
  BodyRef body;
  std::string bytes;
};
// From the disk; fed back by body_read(hash, bytes or nothing).
struct ReadBody {
  BodyRef body;
};
// The ledger names it no more, and nobody waits for it.
struct DropBody {
  BodyHash hash;
};

// A worker's executor for this attempt, in a process of its own, pinned to these cores. Fed back by executor_started,
// executor_progress and executor_ended.
struct StartExecutor {
  PartId part;
  Fence fence;
  Slice slice;
  std::vector<std::uint32_t> cores;  // indexes on this machine
  BodyRef bundle;
  std::string workflow;
  base::Duration run_limit{};  // 0: none; at its end the executor ends as timed out
  std::string context;
};
// Ask it to end, or kill it; executor_ended follows either way.
struct StopExecutor {
  PartId part;
  Fence fence;
  bool kill = false;
};

// What the job's leader answered to an executor that asked for more time.
struct TellExecutor {
  ExtensionAnswer answer;
};

// For the audit log, metrics and a simulator's oracles: something that was decided or seen.
enum class Noted : std::uint8_t {
  kAccepted,
  kTookOver,
  kProvisioned,
  kProvisionRefused,
  kDispatched,
  kRefused,
  kLost,
  kResultHeld,
  kResultRepeated,
  kLayerClosed,
  kCancelled,
  kEnded,
  kForgotten,
  kAdmitted,
  kEvicted,
  kFenceRefused,
  kQuorumTimeout,
  kQuorumCircuitOpen,
  kLimited,
  kOrphanFound,
  kPartStuck,
  kPartOverdue,
  kStoppedAlone,
  kExtended,
  kBodyCopied,
  kQueueFull,
  kSuperseded,  // a newer epoch than its own was reported: no action
  kOffered,
  kFellBack,
  kRedirected,
  kLeaseLapsed,
  kDatacenterLost,
  kRerouted,
  kResultRefused,
  kCoresFreed,
};
constexpr std::size_t kNotes = 35;
std::string_view to_text(Noted noted);
struct Note {
  Noted what = Noted::kAccepted;
  PartId part;  // or its job alone
  Fence fence;
  NodeId node = kNoNode;
};

using Effect =
    std::variant<Send, Propose, StoreBody, ReadBody, DropBody, StartExecutor, StopExecutor, TellExecutor, Note>;
using Effects = std::vector<Effect>;

}  // namespace muster::cluster
