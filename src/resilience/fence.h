// Fences: what the log issues with every right to act, (epoch, attempt), compared in that order. A FenceTable judges
// what arrives: newer than all before is new work, equal is a repetition to be answered like the first time and not
// done again, lower comes from someone who was superseded. One table per kind of key; owned by the brain that acts.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/time.h"
#include "resilience/options.h"

namespace muster::resilience {

struct Fence {
  std::uint64_t epoch = 0;    // of whoever leads the job
  std::uint64_t attempt = 0;  // of the part within that

  auto operator<=>(const Fence&) const = default;
};

enum class Fenced : std::uint8_t {
  kNew,       // higher than any before: act
  kRepeated,  // equal to the highest: give the answer of the first time
  kStale,     // lower: refuse
  kFull,      // an unknown key, and no room to remember it: refuse as busy
};

// Key is ordered and small; Answer is what a repetition is answered with. A worker keeps one table by part, with whole
// fences, and one by job, with attempt 0, since an epoch supersedes the earlier ones for every part of the job.
template <class Key, class Answer>
class FenceTable {
 public:
  explicit FenceTable(const FenceOptions& options = {}) : options_(options) {}

  // Judges, and if it is new remembers it from now on, without an answer and held: whoever then does not act on it
  // after all releases it at once.
  Fenced judge(const Key& key, Fence fence, base::Instant now) {
    drop_expired(now);
    const auto found = entries_.find(key);
    if (found == entries_.end()) {
      if (entries_.size() >= options_.max_keys) return Fenced::kFull;
      entries_.emplace(key, Entry{.fence = fence, .answer = {}, .expires = base::kNever});
      return Fenced::kNew;
    }
    Entry& entry = found->second;
    if (fence < entry.fence) return Fenced::kStale;
    if (fence == entry.fence) return Fenced::kRepeated;
    hold(key, entry);
    entry.fence = fence;
    entry.answer.reset();
    return Fenced::kNew;
  }

  // The same without remembering anything: for effects that must not outlive a newer fence.
  Fenced look(const Key& key, Fence fence) const {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return entries_.size() >= options_.max_keys ? Fenced::kFull : Fenced::kNew;
    if (fence == found->second.fence) return Fenced::kRepeated;
    return fence < found->second.fence ? Fenced::kStale : Fenced::kNew;
  }

  // What repetitions are answered with from now on. Nothing happens if that fence is not the highest any more.
  void answer(const Key& key, Fence fence, Answer answer) {
    const auto found = entries_.find(key);
    if (found != entries_.end() && found->second.fence == fence) found->second.answer = std::move(answer);
  }

  // Null if the key is unknown or the first one is still being worked on. Valid until the next call that changes.
  const Answer* answered(const Key& key) const {
    const auto found = entries_.find(key);
    return found == entries_.end() || !found->second.answer ? nullptr : &*found->second.answer;
  }

  std::optional<Fence> highest(const Key& key) const {
    const auto found = entries_.find(key);
    return found == entries_.end() ? std::nullopt : std::optional(found->second.fence);
  }

  // What the key stands for has ended: it is forgotten options.life from now, unless something newer comes. Until it is
  // released a key is never forgotten.
  void release(const Key& key, base::Instant now) {
    const auto found = entries_.find(key);
    if (found == entries_.end()) return;
    hold(key, found->second);
    found->second.expires = now + options_.life;
    expiries_.emplace(found->second.expires, key);
  }

  void drop_expired(base::Instant now) {
    while (!expiries_.empty() && expiries_.begin()->first <= now) {
      entries_.erase(expiries_.begin()->second);
      expiries_.erase(expiries_.begin());
    }
  }

  std::size_t size() const { return entries_.size(); }
  // A tenth is left.
  bool nearly_full() const { return entries_.size() >= options_.max_keys - options_.max_keys / 10; }

 private:
  struct Entry {
    Fence fence;
    std::optional<Answer> answer;
    base::Instant expires = base::kNever;  // kNever while it is held
  };

  void hold(const Key& key, Entry& entry) {
    if (entry.expires != base::kNever) expiries_.erase({entry.expires, key});
    entry.expires = base::kNever;
  }

  FenceOptions options_;
  std::map<Key, Entry> entries_;
  std::set<std::pair<base::Instant, Key>> expiries_;  // of the released ones
};

}  // namespace muster::resilience
