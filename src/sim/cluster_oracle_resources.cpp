#include "sim/cluster_oracle_resources.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "cluster/gate_options.h"
#include "cluster/options.h"

namespace muster::sim {

using resilience::CircuitState;

namespace {

// The rules of a quorum's circuit, and of a worker's, said once more.
constexpr std::size_t kFailures = 3;
constexpr base::Duration kWindow = std::chrono::seconds(30);
constexpr base::Duration kOpenFor = std::chrono::seconds(10);
constexpr std::uint32_t kTrials = 1;

constexpr std::uint64_t kKeys = 512;
// With 150 places of each gate on the ring, the share of one strays by about a tenth of itself; and so few keys again.
constexpr double kLeastShare = 0.5;
constexpr double kMostShare = 1.6;

const char* to_text(CircuitState state) {
  switch (state) {
    case CircuitState::kClosed:
      return "closed";
    case CircuitState::kOpen:
      return "open";
    case CircuitState::kHalfOpen:
      return "half-open";
  }
  return "unknown";
}

// Closed → open → half-open → closed, or open again.
bool may_turn(CircuitState from, CircuitState to) {
  switch (to) {
    case CircuitState::kClosed:
      return from == CircuitState::kHalfOpen;
    case CircuitState::kOpen:
      return from != CircuitState::kOpen;
    case CircuitState::kHalfOpen:
      return from == CircuitState::kOpen;
  }
  return false;
}

template <class T, class... Listed>
constexpr bool kOneOf = (std::is_same_v<T, Listed> || ...);

// What was acknowledged, or tells the end of it.
template <class T>
constexpr bool kAcknowledged = kOneOf<T, cluster::PartResult, cluster::ResultAck, cluster::WorkflowEnded,
                                      cluster::JobEnd, cluster::EndAck, cluster::Forward, cluster::BodyOffer,
                                      cluster::BodyHeld, cluster::BodyWanted, cluster::BodyPiece, cluster::BodyMissing>;
// What keeps the cluster together and can stop things.
template <class T>
constexpr bool kControl =
    kOneOf<T, cluster::Cancel, cluster::CancelAnswer, cluster::CancelPoll, cluster::StopPart, cluster::PartStopped,
           cluster::Heartbeat, cluster::HeartbeatAnswer, cluster::Probe, cluster::ProbeAnswer, cluster::ManagerState>;

}  // namespace

void ClusterResources::booted(base::NodeId node, cluster::Life life) {
  seen_.erase(node);
  lives_[node] = life;
  std::erase_if(silences_, [node](const auto& each) { return each.first.first == node || each.first.second == node; });
  std::erase_if(heard_, [node](const auto& each) { return each.first == node || each.second == node; });
  std::erase_if(trials_, [node](const auto& each) { return each.first.first == node || each.first.second == node; });
  for (auto* offers : {&offered_, &blind_}) {
    std::erase_if(*offers, [node](const Offer& each) { return std::get<0>(each) == node; });
  }
}

void ClusterResources::noted(base::NodeId node, const cluster::Note& note) {
  if (note.what != cluster::Noted::kQuorumTimeout) return;
  auto& timeouts = seen_[node].timeouts;
  const base::Instant now = kernel_->clock_of(node);
  if (timeouts.empty() || timeouts.back() != now) timeouts.push_back(now);
  while (timeouts.size() > kFailures) timeouts.pop_front();
}

CircuitState ClusterResources::turns(base::NodeId node, CircuitState state) {
  Seen& seen = seen_[node];
  const base::Instant now = kernel_->clock_of(node);
  const CircuitState before = std::exchange(seen.state, state);
  const bool failed = !seen.timeouts.empty() && seen.timeouts.back() == now;
  const bool often = seen.timeouts.size() >= kFailures && now - seen.timeouts.front() < kWindow;
  if (before == state) {
    if (state == CircuitState::kClosed && failed && often)
      kernel_->violate("26", fmt::format("the quorum's circuit of node {} stays closed after {} time-outs",
                                         base::number(node), seen.timeouts.size()));
    return before;
  }
  if (!may_turn(before, state))
    kernel_->violate("26", fmt::format("the quorum's circuit of node {} goes from {} to {}", base::number(node),
                                       to_text(before), to_text(state)));
  if (state == CircuitState::kOpen) {
    if (before == CircuitState::kHalfOpen ? !failed : !often)
      kernel_->violate("26", fmt::format("the quorum's circuit of node {} opens without a cause", base::number(node)));
    kernel_->hit("quorum circuit opened");
  } else if (state == CircuitState::kClosed) {
    kernel_->hit("quorum circuit closed");
    seen.timeouts.clear();
  }
  return before;
}

void ClusterResources::observe(base::NodeId node, const cluster::Manager& brain) {
  check_quorum(node, brain, cluster::kMaxPendingSubmits);
  if (brain.ledger().jobs().size() > cluster::kMaxJobs || brain.ledger().workers().size() > cluster::kMaxWorkers)
    kernel_->violate("27", fmt::format("the ledger of manager {} outgrows its bounds", base::number(node)));
}

void ClusterResources::observe(base::NodeId node, const cluster::Gate& brain) {
  check_quorum(node, brain, cluster::kMaxPendingSubmits);
  if (brain.ledger().jobs().size() > cluster::kMaxGateJobs)
    kernel_->violate("27", fmt::format("the ledger of gate {} outgrows its bounds", base::number(node)));
  check_ring(node, brain);
}

void ClusterResources::leaves(base::NodeId node, base::NodeId to, const cluster::Message& message,
                              const cluster::Manager& brain) {
  const auto* const offer = std::get_if<cluster::Dispatch>(&message);
  if (offer != nullptr) offers(node, to, *offer, brain.circuit_of(to));
  // Also of what is committed: a minority may hold what a majority has decided on since.
  const bool acts = offer != nullptr || std::holds_alternative<cluster::ResultAck>(message);
  if (acts && !brain.standing().current())
    kernel_->violate("5", fmt::format("manager {} sends a {} to worker {} without a quorum", base::number(node),
                                      cluster::name_of(message), base::number(to)));
  refuses(node, message, brain.quorum_circuit());
  check_cancellation(node, message, brain);
}

void ClusterResources::leaves(base::NodeId node, base::NodeId, const cluster::Message& message,
                              const cluster::Gate& brain) {
  refuses(node, message, brain.quorum_circuit());
  check_cancellation(node, message, brain);
}

void ClusterResources::shed(base::NodeId node, const cluster::Message& message, resilience::Load load) {
  kernel_->hit("message shed");
  std::visit(
      [&]<class Kind>(const Kind&) {
        if constexpr (kAcknowledged<Kind>)
          kernel_->violate(
              "27", fmt::format("node {} sheds acknowledged work: {}", base::number(node), cluster::name_of(message)));
        if constexpr (kControl<Kind>)
          kernel_->violate(
              "28", fmt::format("node {} sheds control traffic: {}", base::number(node), cluster::name_of(message)));
        if constexpr (kOneOf<Kind, cluster::Submit, cluster::DispatchAnswer>) {
          // While merely stressed, each client still has its fair share.
          if (load < resilience::Load::kStressed)
            kernel_->violate("28", fmt::format("node {} sheds jobs while it is hardly busy", base::number(node)));
        }
      },
      message);
  if (load == resilience::Load::kHealthy)
    kernel_->violate(
        "28", fmt::format("node {} sheds though nothing presses: {}", base::number(node), cluster::name_of(message)));
}

// Repetitions of an offer belong to it; a circuit is for new ones. The first may have gone to a worker of whom nothing
// was seen yet, who has no circuit.
void ClusterResources::offers(base::NodeId manager, base::NodeId worker, const cluster::Dispatch& offer,
                              const resilience::Circuit* known) {
  const bool first_offer = offered_.insert({manager, offer.part, offer.fence}).second;
  if (known == nullptr) {
    blind_.insert({manager, offer.part, offer.fence});
    return;
  }
  const resilience::Circuit& circuit = *known;
  const base::Instant now = kernel_->clock_of(manager);
  const CircuitState state = circuit.state(now);
  if (state != CircuitState::kClosed) silences_.erase({manager, worker});
  if (!first_offer) return repeats(manager, worker, offer, state);
  // It may have opened a moment after the offer was made.
  if (state == CircuitState::kOpen && circuit.deadline() - kOpenFor < now)
    kernel_->violate("26", fmt::format("manager {} offers a part to worker {}, whose circuit is open",
                                       base::number(manager), base::number(worker)));
  if (state != CircuitState::kHalfOpen) return;
  const auto [trial, first] = trials_.try_emplace({manager, worker}, now);
  if (!first && now - trial->second < kOpenFor)
    kernel_->violate("26", fmt::format("manager {} makes a second trial of worker {}, whose circuit is half-open",
                                       base::number(manager), base::number(worker)));
  if (circuit.trials() == 0)
    kernel_->violate("26", fmt::format("manager {} makes a trial of worker {} that its circuit does not know of",
                                       base::number(manager), base::number(worker)));
  trial->second = now;
  kernel_->hit("trial of a worker");
}

void ClusterResources::begins_offer(base::NodeId manager, const cluster::Note& note) {
  offered_.erase({manager, note.part, note.fence});
  blind_.erase({manager, note.part, note.fence});
}

// An offer is made again because nobody answered. What was offered before the manager first heard of the worker's life
// counts for no life.
void ClusterResources::repeats(base::NodeId manager, base::NodeId worker, const cluster::Dispatch& offer,
                               CircuitState state) {
  const auto life = lives_.find(worker);
  if (state != CircuitState::kClosed || life == lives_.end() || life->second != offer.worker_life) return;
  if (!heard_.contains({manager, worker}) || blind_.contains({manager, offer.part, offer.fence})) return;
  auto& silences = silences_[{manager, worker}];
  const base::Instant now = kernel_->clock_of(manager);
  silences.push_back(now);
  while (now - silences.front() >= kWindow) silences.pop_front();
  if (silences.size() >= kFailures)
    kernel_->violate("26", fmt::format("manager {} had no answer of worker {} to {} offers, and its circuit is closed",
                                       base::number(manager), base::number(worker), silences.size()));
}

void ClusterResources::refuses(base::NodeId node, const cluster::Message& message, const resilience::Circuit& circuit) {
  const auto* const answer = std::get_if<cluster::SubmitAnswer>(&message);
  if (answer == nullptr || answer->answer != cluster::Answer::kQuorumCircuitOpen) return;
  if (circuit.state(kernel_->clock_of(node)) == CircuitState::kClosed)
    kernel_->violate(
        "26", fmt::format("node {} says that its quorum's circuit is open, which is closed", base::number(node)));
}

// A job that is still being submitted, as far as the node knows, cannot be cancelled yet; which is told alike.
template <class Brain>
void ClusterResources::check_cancellation(base::NodeId node, const cluster::Message& message, const Brain& brain) {
  const auto* const answer = std::get_if<cluster::CancelAnswer>(&message);
  if (answer == nullptr || answer->answer != cluster::Answer::kOverloaded) return;
  if (brain.ledger().job(answer->job) != nullptr)
    kernel_->violate("28", fmt::format("node {} sheds the cancellation of job {}", base::number(node),
                                       cluster::number(answer->job)));
}

template <class Brain>
void ClusterResources::check_quorum(base::NodeId node, const Brain& brain, std::size_t most_submissions) {
  Seen& seen = seen_[node];
  const base::Instant now = kernel_->clock_of(node);
  const resilience::Circuit& circuit = brain.quorum_circuit();
  const CircuitState state = circuit.state(now);
  const CircuitState before = turns(node, state);
  const std::size_t submissions = brain.submissions();
  const bool more = submissions > std::exchange(seen.submissions, submissions);
  if (submissions > most_submissions || brain.proposals() > cluster::kMaxProposals)
    kernel_->violate("27", fmt::format("node {} has {} submissions and {} proposals under way", base::number(node),
                                       submissions, brain.proposals()));
  if (circuit.trials() > kTrials)
    kernel_->violate("26", fmt::format("node {} makes {} trials of its quorum", base::number(node), circuit.trials()));
  // One that opens with this event may have taken it in before.
  const bool open = before == CircuitState::kOpen && state == CircuitState::kOpen;
  const bool untold = state == CircuitState::kHalfOpen && circuit.trials() == 0;
  if (more && (open || untold))
    kernel_->violate("26", fmt::format("node {} takes in a job while its quorum's circuit is {}", base::number(node),
                                       to_text(state)));
}

// What each gate would answer, not what a ring of its gates would.
void ClusterResources::check_ring(base::NodeId gate, const cluster::Gate& brain) {
  Seen& seen = seen_[gate];
  std::vector<base::NodeId> gates = brain.ring().gates;
  if (gates.empty() || gates == seen.view) return;
  seen.view = gates;
  std::ranges::sort(gates);
  std::map<base::NodeId, std::uint64_t> keys;
  std::vector<base::NodeId> owners;
  for (std::uint64_t key = 0; key < kKeys; ++key) {
    owners.push_back(brain.ring_owner(cluster::JobId{base::mix(key)}));
    ++keys[owners.back()];
  }
  const auto [known, fresh] = owners_.emplace(gates, owners);
  if (!fresh && known->second != owners)
    kernel_->violate("29", fmt::format("gate {} has other owners than gates with the same view", base::number(gate)));
  if (!fresh) return;
  for (const base::NodeId each : gates) {
    const double share = static_cast<double>(keys[each] * gates.size()) / static_cast<double>(kKeys);
    if (share < kLeastShare || share > kMostShare)
      kernel_->violate("29", fmt::format("of {} gates, gate {} owns {} keys of {}", gates.size(), base::number(each),
                                         keys[each], kKeys));
  }
  for (const auto& [others, before] : owners_) {
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      const bool stays = std::ranges::binary_search(gates, before[key]);
      const bool newcomer = !std::ranges::binary_search(others, owners[key]);
      if (before[key] != owners[key] && stays && !newcomer)
        kernel_->violate("29", fmt::format("a key moves between gates {} and {} that were and are both there",
                                           base::number(before[key]), base::number(owners[key])));
    }
  }
}

}  // namespace muster::sim
