// The calls of one brain that are under way: to whom, until when an answer is awaited, when the next try is due, and
// the caller's own context. The owner sends what begin() and due() tell it to and says what was answered; the table
// decides when to send again and when to give up. An id stays the same over all tries of a call and is never used
// twice, so a late answer to an earlier try still counts, and one to an earlier call never does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/node_id.h"
#include "base/random.h"
#include "base/time.h"
#include "resilience/options.h"
#include "resilience/retry.h"

namespace muster::resilience {

enum class CallId : std::uint64_t {};

// What a call is about: while one with the same key to the same peer is under way, no second one is begun. 0 is none.
enum class CallKey : std::uint64_t {};
constexpr CallKey kNoKey{0};

// Context is what the owner needs to send again and to go on: movable, cheap to keep.
template <class Context>
class CallTable {
 public:
  struct Begun {
    CallId id{};
    bool fresh = false;  // false: it is under way already, and nothing is to be sent
  };

  // Something that is due: send again (the call stays in the table), or give up (it has left the table).
  struct Due {
    CallId id{};
    base::NodeId peer = base::kNoNode;
    std::optional<Context> given_up;  // the context, if no more tries are left
  };

  explicit CallTable(std::uint64_t seed, const CallOptions& options = {})
      : options_(options), random_(seed), last_id_(random_.next()) {}

  // Nothing if the table is full. Otherwise, if fresh, the first try is to be sent now; each try waits `time_out` for
  // an answer before it has failed.
  std::optional<Begun> begin(base::NodeId peer, CallKey key, base::Duration time_out, const RetryOptions& retries,
                             Context context, base::Instant now) {
    if (key != kNoKey) {
      if (const auto known = by_key_.find({peer, key}); known != by_key_.end()) return Begun{known->second, false};
    }
    if (calls_.size() >= options_.max_calls) return std::nullopt;
    const CallId id{++last_id_};
    if (key != kNoKey) by_key_.emplace(std::pair(peer, key), id);
    const base::Duration wait = std::max(time_out, kLeastTimeOut);
    const base::Instant due = now + wait;
    calls_.emplace(id, Call{.peer = peer,
                            .key = key,
                            .time_out = wait,
                            .retry = Retry(retries, now),
                            .due = due,
                            .context = std::move(context)});
    due_.emplace(due, id);
    return Begun{id, true};
  }

  // The peer has answered, be it with a refusal: the call is over. Nothing if it is not under way any more, or if the
  // answer comes from somebody else.
  std::optional<Context> answered(CallId id, base::NodeId peer) {
    const auto found = calls_.find(id);
    if (found == calls_.end() || found->second.peer != peer) return std::nullopt;
    return remove(found);
  }

  // The try under way has failed before its time was up (the connection broke), or the peer asked to come again later:
  // the next try is due after the wait, and due() tells. Nothing happens to calls that wait for their next try anyway.
  void failed(CallId id, base::Instant now, base::Duration at_least = base::Duration::zero()) {
    const auto found = calls_.find(id);
    if (found == calls_.end() || found->second.waiting) return;
    const auto next = found->second.retry.failed(now, random_, at_least);
    found->second.waiting = true;
    found->second.last = !next;
    reschedule(found->first, found->second, next.value_or(now));
  }

  // Ends the call without an answer.
  std::optional<Context> cancel(CallId id) {
    const auto found = calls_.find(id);
    return found == calls_.end() ? std::nullopt : std::optional(remove(found));
  }

  // Ends all calls to a peer that is gone for good; their contexts in the order in which they were begun.
  std::vector<Context> cancel_all(base::NodeId peer) {
    std::vector<Context> ended;
    for (auto at = calls_.begin(); at != calls_.end();) {
      const auto call = at++;
      if (call->second.peer == peer) ended.push_back(remove(call));
    }
    return ended;
  }

  // What is due now, in the order in which it became so.
  std::vector<Due> due(base::Instant now) {
    std::vector<Due> found;
    while (!due_.empty() && due_.begin()->first <= now) {
      const auto at = calls_.find(due_.begin()->second);
      Call& call = at->second;
      if (!call.waiting) {
        failed(at->first, now);
      } else if (call.last) {
        const CallId id = at->first;
        const base::NodeId peer = call.peer;
        found.push_back({id, peer, remove(at)});
      } else {
        call.waiting = false;
        reschedule(at->first, call, now + call.time_out);
        found.push_back({at->first, call.peer, std::nullopt});
      }
    }
    return found;
  }

  base::Instant deadline() const { return due_.empty() ? base::kNever : due_.begin()->first; }

  // Null if it is not under way. Valid until the call ends.
  const Context* context(CallId id) const {
    const auto found = calls_.find(id);
    return found == calls_.end() ? nullptr : &found->second.context;
  }

  std::size_t size() const { return calls_.size(); }

 private:
  struct Call {
    base::NodeId peer = base::kNoNode;
    CallKey key = kNoKey;
    base::Duration time_out{};
    Retry retry;
    base::Instant due{};   // awaiting an answer: when the try has failed; waiting: when the next one begins
    bool waiting = false;  // between two tries
    bool last = false;     // waiting, but for nothing: to be given up
    Context context;
  };
  using Calls = std::map<CallId, Call>;

  // A try without any time to be answered would be due again in the same round, for ever.
  static constexpr base::Duration kLeastTimeOut{1};

  Context remove(typename Calls::iterator at) {
    if (at->second.key != kNoKey) by_key_.erase({at->second.peer, at->second.key});
    due_.erase({at->second.due, at->first});
    Context context = std::move(at->second.context);
    calls_.erase(at);
    return context;
  }

  void reschedule(CallId id, Call& call, base::Instant due) {
    due_.erase({call.due, id});
    call.due = due;
    due_.emplace(due, id);
  }

  CallOptions options_;
  base::Random random_;
  std::uint64_t last_id_;  // begins anywhere, so that answers to an earlier life of the node match nothing
  Calls calls_;
  std::set<std::pair<base::Instant, CallId>> due_;
  std::map<std::pair<base::NodeId, CallKey>, CallId> by_key_;
};

}  // namespace muster::resilience
