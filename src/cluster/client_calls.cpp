#include "cluster/client_calls.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/hash.h"

namespace muster::cluster {
namespace {

constexpr std::size_t kMaxCalls = 4 * kMaxFollowed;
// After so many redirects in a row the gates do not agree: their views need time.
constexpr std::uint32_t kMaxHops = 4;
constexpr base::Duration kPause = std::chrono::milliseconds(500);

// Who looks for a job that it had goes on for as long as a take-over can need; who asks something new soon knows.
resilience::RetryOptions retries(CallKind kind) {
  if (kind != CallKind::kFollow) return resilience::kShedClientRetries;
  return {.attempts = resilience::kUnlimitedAttempts,
          .base = std::chrono::milliseconds(500),
          .growth = 1.5,
          .cap = std::chrono::seconds(5)};
}

}  // namespace

ClientCalls::ClientCalls(std::vector<NodeId> seeds, std::uint64_t seed, const ClientOptions& options)
    : seeds_(std::move(seeds)), random_(seed), options_(options) {
  if (seeds_.size() > kMaxGates) seeds_.resize(kMaxGates);
}

void ClientCalls::ring(const Ring& ring) {
  if (ring.gates.empty() || ring.gates.size() > kMaxGates) return;
  ring_ = base::Ring();
  for (const NodeId gate : ring.gates) ring_.add(gate);
}

NodeId ClientCalls::owner(JobId job) const {
  const auto at = owners_.find(job);
  return at == owners_.end() ? kNoNode : at->second;
}

void ClientCalls::forget(JobId job) {
  owners_.erase(job);
  taken_on_.erase(job);
}

bool ClientCalls::begin(const CallName& name, Message message, base::Instant now, Effects& effects) {
  if (calls_.size() >= kMaxCalls && !calls_.contains(name)) return false;
  Call call{.message = std::move(message),
            .retry = resilience::Retry(retries(name.kind), now),
            .give_up = now + options_.search,
            .due = now,
            .gate = kNoNode,
            .asked = now,
            .patience = now,
            .next = owner(name.job),
            .round = {},
            .position = 0,
            .hops = 0,
            .last = std::nullopt,
            .open = false,
            .over = false};
  const auto [at, added] = calls_.insert_or_assign(name, std::move(call));
  static_cast<void>(added);
  ask(at->first, at->second, now, effects);
  return true;
}

bool ClientCalls::answered(const CallName& name, NodeId from, Answer answer, NodeId leader, base::Duration retry_after,
                           base::Instant now, Effects& effects) {
  const auto at = calls_.find(name);
  if (at == calls_.end()) return false;
  Call& call = at->second;
  const bool late = name.kind == CallKind::kSubmit && answer == Answer::kAccepted &&
                    std::ranges::find(call.round, from) != call.round.end();
  if (call.gate != from && !late) return false;
  switch (answer) {
    case Answer::kAccepted:
    case Answer::kEnded:
    case Answer::kInvalid:
    case Answer::kConflict:
    case Answer::kNoDatacenter:
      calls_.erase(at);
      return true;
    case Answer::kUnknownJob:
      // A gate that lags may not know the job of another, and its answer may be to a question of before the job was
      // taken on: who follows a job, or knows that there is one, asks them all.
      if (name.kind != CallKind::kFollow && !taken_on_.contains(name.job)) {
        calls_.erase(at);
        return true;
      }
      call.last = answer;
      again(call, true, retry_after, now);
      return false;
    case Answer::kNotOwner:
    case Answer::kDraining:
      if (leader != kNoNode && leader != from && ++call.hops <= kMaxHops) {
        if (name.kind == CallKind::kFollow || name.kind == CallKind::kSubmit) owner(name.job, leader);
        call.next = leader;
        ask(at->first, call, now, effects);
        return false;
      }
      // Membership needs a while to see that an owner is gone: no try is spent on that.
      call.last = answer;
      ++call.position;
      pause(call, now);
      return false;
    case Answer::kQuorumUnavailable:
      // That one has no quorum; the others are asked before it counts as a try.
      if (call.position + 1 < call.round.size()) {
        call.last = answer;
        ++call.position;
        pause(call, now);
        return false;
      }
      [[fallthrough]];
    case Answer::kQuorumTimeout:
    case Answer::kQuorumCircuitOpen:
    case Answer::kBundleMissing:  // it has no bundle, or no room for one
      call.last = answer;
      if (answer == Answer::kQuorumTimeout) call.open = true;
      again(call, true, retry_after, now);
      return false;
    case Answer::kCapacityExceeded:
    case Answer::kLimited:
    case Answer::kOverloaded:
      call.last = answer;
      // The gates are there: a client with many jobs has its turn later, however long that takes.
      if (name.kind == CallKind::kFollow) call.give_up = std::max(call.give_up, now + options_.search);
      again(call, false, retry_after, now);
      return false;
  }
  return false;
}

void ClientCalls::heard(NodeId gate) {
  silent_.erase(gate);
  for (auto& [name, call] : calls_) {
    if (call.gate == gate && name.kind == CallKind::kSubmit) call.patience = call.asked + options_.submit_timeout;
  }
}

void ClientCalls::lost(NodeId gate, base::Instant now, Effects& effects) {
  std::erase_if(owners_, [&](const auto& owner) { return owner.second == gate; });
  for (auto& [name, call] : calls_) {
    if (call.gate != gate) continue;
    // The owner that was known is asked before any round begins.
    const bool in_round = !call.round.empty();
    if (in_round) ++call.position;
    if (!in_round || call.position < call.round.size()) {
      ask(name, call, now, effects);
      continue;
    }
    // All of them were tried: a moment for them to come back.
    pause(call, now);
  }
}

std::vector<ClientCalls::GaveUp> ClientCalls::wake(base::Instant now, Effects& effects) {
  std::vector<GaveUp> gave_up;
  for (auto at = calls_.begin(); at != calls_.end();) {
    Call& call = at->second;
    if (call.due > now && call.give_up > now) {
      ++at;
      continue;
    }
    if (call.over || now >= call.give_up) {
      const bool asks_for_work = at->first.kind == CallKind::kSubmit || at->first.kind == CallKind::kCancel;
      if (call.open && call.last && asks_for_work) call.last = Answer::kQuorumTimeout;
      gave_up.push_back({at->first, call.last});
      at = calls_.erase(at);
      continue;
    }
    if (call.gate != kNoNode && now < call.patience) {
      call.due = std::min(call.patience, now + options_.submit_repeat);
      effects.push_back(Send{call.gate, call.message});
      ++at;
      continue;
    }
    if (call.gate != kNoNode) {
      // No answer: it may be gone.
      if (owner(at->first.job) == call.gate) owners_.erase(at->first.job);
      silent(call.gate, now);
      call.open = true;
      ++call.position;
    }
    ask(at->first, call, now, effects);
    ++at;
  }
  return gave_up;
}

base::Instant ClientCalls::deadline() const {
  base::Instant next = base::kNever;
  for (const auto& [name, call] : calls_) next = std::min({next, call.due, call.give_up});
  return next;
}

// The owner by the ring, its successors, then whoever is known from the start. Those that did not answer come last, or
// each new call would wait for them again and be given up before it came to one that does.
std::vector<NodeId> ClientCalls::candidates(JobId job) const {
  std::vector<NodeId> list = ring_.owners(base::hash_of(number(job)), kMaxGates);
  for (const NodeId seed : seeds_) {
    if (std::ranges::find(list, seed) == list.end()) list.push_back(seed);
  }
  const auto silent = [this](NodeId gate) { return silent_.contains(gate); };
  std::vector<NodeId> last;
  std::ranges::copy_if(list, std::back_inserter(last), silent);
  std::erase_if(list, silent);
  std::ranges::sort(last, {}, [this](NodeId gate) { return std::pair(silent_.at(gate), gate); });
  list.insert(list.end(), last.begin(), last.end());
  return list;
}

// Gates name others, who need not be there: those that were silent longest ago make room.
void ClientCalls::silent(NodeId gate, base::Instant now) {
  silent_.insert_or_assign(gate, now);
  if (silent_.size() <= 2 * kMaxGates) return;
  silent_.erase(std::ranges::min_element(silent_, {}, [](const auto& each) { return each.second; }));
}

void ClientCalls::ask(const CallName& name, Call& call, base::Instant now, Effects& effects) {
  NodeId gate = std::exchange(call.next, kNoNode);
  if (gate == kNoNode) {
    if (call.position >= call.round.size()) {
      call.round = candidates(name.job);
      call.position = 0;
    }
    if (!call.round.empty()) gate = call.round[call.position];
  }
  call.gate = gate;
  const bool submits = name.kind == CallKind::kSubmit;
  call.asked = now;
  call.patience = now + (submits ? options_.silence : options_.answer_timeout);
  call.due = submits ? now + options_.submit_repeat : call.patience;
  if (gate == kNoNode) return;
  effects.push_back(Send{gate, call.message});
}

void ClientCalls::pause(Call& call, base::Instant now) {
  call.gate = kNoNode;
  call.hops = 0;
  call.due = now + resilience::spread(kPause, 1, random_);
}

// Later: by the schedule of tries, and not before the gate said. What is left of the budget decides whether at all.
void ClientCalls::again(Call& call, bool elsewhere, base::Duration at_least, base::Instant now) {
  if (elsewhere) {
    ++call.position;
  } else {
    call.next = call.gate;
  }
  call.gate = kNoNode;
  call.hops = 0;
  const auto next = call.retry.failed(now, random_, std::max(at_least, base::Duration::zero()));
  call.over = !next;
  call.due = next.value_or(now);
}

}  // namespace muster::cluster
