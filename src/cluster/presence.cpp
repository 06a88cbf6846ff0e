#include "cluster/presence.h"

#include <utility>

#include "cluster/fields.h"

namespace muster::cluster {
namespace {

constexpr std::uint8_t kPresenceVersion = 1;
constexpr std::size_t kNodeRoles = 3;

template <class Io>
void fields(Io& io, typename Io::template Of<Presence>& presence) {
  io.choice(presence.role, kNodeRoles);
  io.number(presence.life);
  io.text(presence.datacenter, kMaxPresenceName);
  io.number(presence.term);
  io.flag(presence.leader);
  io.flag(presence.has_quorum);
  io.number(presence.workers);
  io.number(presence.healthy_workers);
  io.number(presence.free_cores);
  io.number(presence.cores);
}

}  // namespace

void encode(const Presence& presence, std::string& out) {
  out.push_back(static_cast<char>(kPresenceVersion));
  Pack io(out);
  fields(io, presence);
}

base::Expected<Presence> decode_presence(std::string_view bytes) {
  metrics::Reader reader(bytes);
  if (reader.byte() != kPresenceVersion && reader.ok()) reader.fail("its version is not known");
  Unpack io(reader);
  Presence presence;
  fields(io, presence);
  if (reader.ok() && !reader.at_end()) reader.fail("more bytes follow its end");
  if (!reader.ok()) return std::unexpected(reader.error("presence"));
  return presence;
}

Presence presence_of(const Process& manager, std::string datacenter, const Ledger& ledger,
                     const LogStanding& standing) {
  Presence presence;
  presence.role = NodeRole::kManager;
  presence.life = manager.life;
  presence.datacenter = std::move(datacenter);
  presence.term = standing.term;
  presence.leader = standing.leader == manager.node;
  presence.has_quorum = standing.caught_up && standing.leader != kNoNode;
  for (const auto& [node, worker] : ledger.workers()) {
    ++presence.workers;
    if (worker.evicted) continue;
    ++presence.healthy_workers;
    presence.free_cores += worker.free();
    presence.cores += worker.cores;
  }
  return presence;
}

ManagerReport report_of(NodeId manager, const Presence& presence) {
  ManagerReport report;
  report.manager = manager;
  report.datacenter = presence.datacenter;
  report.term = presence.term;
  report.leader = presence.leader;
  report.has_quorum = presence.has_quorum;
  report.workers = presence.workers;
  report.healthy_workers = presence.healthy_workers;
  report.free_cores = presence.free_cores;
  report.cores = presence.cores;
  return report;
}

bool urgent(const Presence& before, const Presence& after) {
  return before.leader != after.leader || before.has_quorum != after.has_quorum ||
         (before.healthy_workers == 0) != (after.healthy_workers == 0);
}

std::optional<Liveness> liveness_of(cores::SwimEventKind event) {
  switch (event) {
    case cores::SwimEventKind::kJoined:
    case cores::SwimEventKind::kMoved:
    case cores::SwimEventKind::kCleared:
      return Liveness::kAlive;
    case cores::SwimEventKind::kSuspected:
      return Liveness::kSuspect;
    case cores::SwimEventKind::kDead:
    case cores::SwimEventKind::kLeft:
    case cores::SwimEventKind::kRemoved:
      return Liveness::kDead;
    case cores::SwimEventKind::kStateChanged:
    case cores::SwimEventKind::kRefuted:
    case cores::SwimEventKind::kConflict:
    case cores::SwimEventKind::kOverflow:
      break;
  }
  return std::nullopt;
}

}  // namespace muster::cluster
