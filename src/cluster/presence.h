// What a node says of itself in every ack of membership, and how membership's events are read by the brains: roles,
// life and death, and for gates what each manager knows of its datacenter. Plain values and their bytes; decoding
// trusts nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cluster/datacenter_table.h"
#include "cluster/ids.h"
#include "cluster/ledger.h"
#include "cluster/proposals.h"
#include "cluster/worker_table.h"
#include "cores/swim_effects.h"

namespace muster::cluster {

// Bytes of a datacenter's name in an ack, where room is scarce.
constexpr std::size_t kMaxPresenceName = 64;

struct Presence {
  NodeRole role = NodeRole::kWorker;
  Life life{};
  // Of managers.
  std::string datacenter;  // ≤ kMaxPresenceName
  std::uint64_t term = 0;
  bool leader = false;
  bool has_quorum = false;
  std::uint32_t workers = 0;
  std::uint32_t healthy_workers = 0;
  std::uint32_t free_cores = 0;
  std::uint32_t cores = 0;

  bool operator==(const Presence&) const = default;
};

void encode(const Presence& presence, std::string& out);
base::Expected<Presence> decode_presence(std::string_view bytes);

// What a manager says of its datacenter, by its ledger and where its log stands.
Presence presence_of(const Process& manager, std::string datacenter, const Ledger& ledger, const LogStanding& standing);
// The same, as a gate takes it in.
ManagerReport report_of(NodeId manager, const Presence& presence);
// Whether others must hear of the change at once rather than with the next ack.
bool urgent(const Presence& before, const Presence& after);

// What an event of membership says of the life of a node; nothing if it says nothing about it.
std::optional<Liveness> liveness_of(cores::SwimEventKind event);

}  // namespace muster::cluster
