#include "cluster/bodies.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace muster::cluster {

Bodies::Bodies(Process self, HashBody hash, const BodyOptions& options, const std::vector<BodyRef>& on_disk,
               base::Instant now, Copies copies)
    : self_(self), hash_(hash), options_(options), copies_(copies), rounds_(base::mix(number(self.life))) {
  for (const BodyRef& body : on_disk) {
    Body& known = bodies_[body.hash];
    known.size = body.size;
    known.here = true;
    known.kept_until = now + options_.keep;
    schedule(body.hash, known, known.kept_until);
  }
}

void Bodies::voters(const std::vector<NodeId>& voters) {
  std::vector<NodeId> sorted = voters;
  std::ranges::sort(sorted);
  if (sorted == voters_) return;
  voters_ = std::move(sorted);
  for (auto& [hash, body] : bodies_) {
    judge_majority(hash, body);
    if (body.pins > 0) schedule(hash, body, base::Instant::min());
  }
}

void Bodies::peer(NodeId manager, Life life) {
  const auto [at, added] = lives_.try_emplace(manager, life);
  if (at->second == life && !added) return;
  at->second = life;
  for (auto& [hash, body] : bodies_) {
    const auto held = body.held.find(manager);
    if (held == body.held.end() || held->second == life) continue;
    body.held.erase(held);
    judge_majority(hash, body);
    if (body.pins > 0) schedule(hash, body, base::Instant::min());
  }
}

void Bodies::pin(const BodyRef& body, NodeId source, base::Instant now, Effects& effects) {
  const auto at = find_or_add(body, now);
  if (at == bodies_.end()) return;
  ++at->second.pins;
  auto& sources = at->second.sources;
  if (source != kNoNode && std::ranges::find(sources, source) == sources.end() && sources.size() < kMaxManagers) {
    sources.push_back(source);
  }
  act(at->first, at->second, now, effects);
}

void Bodies::pin(const BodyRef& body, std::string bytes, base::Instant now, Effects& effects) {
  const auto at = find_or_add(body, now);
  if (at == bodies_.end()) return;
  ++at->second.pins;
  if (!at->second.here && !at->second.storing) {
    stop_fetching(at->second);
    at->second.storing = true;
    remember(body.hash, std::make_shared<const std::string>(bytes));
    effects.push_back(StoreBody{body, std::move(bytes)});
  }
  act(at->first, at->second, now, effects);
}

void Bodies::unpin(const BodyRef& body, base::Instant now) {
  const auto at = bodies_.find(body.hash);
  if (at == bodies_.end() || at->second.size != body.size || at->second.pins == 0) return;
  Body& known = at->second;
  if (--known.pins > 0 || known.named) return;
  forget_holders(body.hash, known);
  known.kept_until = now + options_.keep;
  if (!known.here) stop_fetching(known);
  schedule(body.hash, known, known.kept_until);
}

void Bodies::named(const std::map<BodyHash, std::uint64_t>& sizes, base::Instant now, Effects& effects) {
  for (auto& [hash, body] : bodies_) {
    if (body.named && !sizes.contains(hash)) unname(hash, now);
  }
  for (const auto& [hash, size] : sizes) name({hash, size}, now, effects);
}

void Bodies::name(const BodyRef& body, base::Instant now, Effects& effects) {
  if (body.size == 0) return;
  Body& known = bodies_[body.hash];
  if (known.size != body.size) {  // what is here, or on its way, is something else
    stop_fetching(known);
    known.here = false;
    known.pins = 0;
  }
  known.size = body.size;
  known.named = true;
  act(body.hash, known, now, effects);
}

void Bodies::unname(const BodyHash& hash, base::Instant now) {
  const auto at = bodies_.find(hash);
  if (at == bodies_.end() || !at->second.named) return;
  Body& body = at->second;
  body.named = false;
  // The others drop it, too. Whoever needs it once more asks them anew.
  forget_holders(hash, body);
  // Not before its time, and not at once: another manager may count on it, for something else that needs the same body
  // and is on its way into the log.
  body.kept_until = std::max(body.kept_until, now + 3 * options_.keep / 4);
  schedule(hash, body, body.pins > 0 ? base::Instant::min() : body.kept_until);
}

bool Bodies::here(const BodyRef& body) const {
  const auto at = bodies_.find(body.hash);
  return at != bodies_.end() && at->second.size == body.size && at->second.here;
}

bool Bodies::on_majority(const BodyRef& body) const {
  const auto at = bodies_.find(body.hash);
  return at != bodies_.end() && at->second.size == body.size && held_by_majority(at->second);
}

// Counted anew whenever it is asked: who is a voter may have changed.
bool Bodies::held_by_majority(const Body& body) const {
  const auto holds = std::ranges::count_if(
      voters_, [&](NodeId voter) { return voter == self_.node ? body.here : body.held.contains(voter); });
  return static_cast<std::size_t>(holds) >= voters_.size() / 2 + 1;
}

std::shared_ptr<const std::string> Bodies::bytes(const BodyRef& body, Effects& effects) {
  if (const auto at = cache_.find(body.hash); at != cache_.end()) return at->second;
  if (here(body)) start_reading(body, std::nullopt, effects);
  return nullptr;
}

void Bodies::receive(NodeId from, const BodyOffer& message, base::Instant now, Effects& effects) {
  if (!std::ranges::binary_search(voters_, from) || message.body.size == 0) return;
  const auto at = find_or_add(message.body, now);
  if (at == bodies_.end()) return;
  Body& body = at->second;
  body.kept_until = now + options_.keep;
  if (body.here) {
    effects.push_back(Send{from, BodyHeld{at->first, self_.life, message.round}});
    return;
  }
  body.tell[from] = message.round;
  if (std::ranges::find(body.sources, from) == body.sources.end() && body.sources.size() < kMaxManagers) {
    body.sources.push_back(from);
  }
  if (!body.fetching) act(at->first, body, now, effects);
}

void Bodies::receive(NodeId from, const BodyHeld& message) {
  const auto at = bodies_.find(message.hash);
  if (at == bodies_.end() || !std::ranges::binary_search(voters_, from)) return;
  const auto life = lives_.find(from);
  if (life != lives_.end() && life->second > message.life) return;
  // What nobody names is kept from an offer on, not from when this answer came.
  if (!at->second.named && message.round != at->second.round) return;
  peer(from, message.life);
  at->second.held[from] = message.life;
  judge_majority(at->first, at->second);
}

void Bodies::receive(NodeId from, const BodyWanted& message, base::Instant now, Effects& effects) {
  if (meters_.size() >= kMaxMeters && !meters_.contains(from)) meters_.erase(meters_.begin());
  const resilience::BucketOptions pace{.rate = options_.pieces_per_second, .burst = options_.pieces_per_second};
  auto [meter, added] = meters_.try_emplace(from, pace);
  static_cast<void>(added);
  const BodyHash& hash = message.body.hash;
  const auto at = bodies_.find(hash);
  const bool have = at != bodies_.end() && at->second.here && at->second.size == message.body.size;
  if (!have || !meter->second.take(now)) {
    effects.push_back(Send{from, BodyMissing{hash, have}});
    return;
  }
  if (const auto cached = cache_.find(hash); cached != cache_.end()) {
    serve(from, hash, *cached->second, message.offset, effects);
    return;
  }
  start_reading(message.body, Asked{from, message.offset}, effects);
}

void Bodies::receive(NodeId from, const BodyPiece& message, base::Instant now, Effects& effects) {
  const auto at = bodies_.find(message.hash);
  if (at == bodies_.end()) return;
  Body& body = at->second;
  if (!body.fetching || body.asked != from || message.offset != body.gathered.size() || message.bytes.empty()) return;
  // Whole pieces only: whoever drips bytes holds up the others.
  if (message.bytes.size() != std::min<std::uint64_t>(kBodyPiece, body.size - message.offset)) return;
  body.gathered += message.bytes;
  body.gained_at = now;
  gained_at_ = now;
  if (body.gathered.size() < body.size) {
    ask(at->first, body, now, effects);
    return;
  }
  if (hash_(body.gathered) != at->first) {
    // Somebody's bytes are wrong, and nobody knows whose: all over again, from the next one.
    body.gathered.clear();
    ++body.next_source;
    body.asked = kNoNode;
    schedule(at->first, body, now + options_.piece_timeout);
    return;
  }
  std::string bytes = std::move(body.gathered);
  stop_fetching(body);
  body.storing = true;
  schedule(at->first, body, base::kNever);
  effects.push_back(StoreBody{{at->first, body.size}, std::move(bytes)});
}

void Bodies::receive(NodeId from, const BodyMissing& message, base::Instant now, Effects&) {
  const auto at = bodies_.find(message.hash);
  if (at == bodies_.end() || !at->second.fetching || at->second.asked != from) return;
  if (!message.busy) ++at->second.next_source;
  at->second.asked = kNoNode;
  schedule(at->first, at->second, now + options_.piece_timeout / 4);
}

void Bodies::stored(const BodyHash& hash, bool ok, base::Instant now, Effects& effects) {
  const auto at = bodies_.find(hash);
  if (at == bodies_.end()) return;
  Body& body = at->second;
  body.storing = false;
  if (!ok) {
    schedule(hash, body, now + options_.piece_timeout);
    return;
  }
  body.here = true;
  news_.insert(hash);
  effects.push_back(Note{Noted::kBodyCopied, {}, {}, self_.node});
  for (const auto& [manager, round] : std::exchange(body.tell, {})) {
    effects.push_back(Send{manager, BodyHeld{hash, self_.life, round}});
  }
  judge_majority(hash, body);
  act(hash, body, now, effects);
}

void Bodies::read(const BodyHash& hash, std::optional<std::string> bytes, base::Instant now, Effects& effects) {
  const auto asked = reading_.extract(hash);
  const auto at = bodies_.find(hash);
  if (at == bodies_.end()) return;
  if (!bytes || bytes->size() != at->second.size) {
    // The disk has lost it: fetched anew if anybody needs it.
    at->second.here = false;
    judge_majority(hash, at->second);
    act(hash, at->second, now, effects);
    return;
  }
  auto kept = std::make_shared<const std::string>(std::move(*bytes));
  if (!asked.empty()) {
    for (const Asked& each : asked.mapped()) serve(each.from, hash, *kept, each.offset, effects);
  }
  remember(hash, std::move(kept));
  news_.insert(hash);
}

void Bodies::wake(base::Instant now, Effects& effects, bool may_drop) {
  while (!due_.empty() && due_.begin()->first <= now) {
    const BodyHash hash = due_.begin()->second;
    const auto at = bodies_.find(hash);
    schedule(hash, at->second, base::kNever);
    act(hash, at->second, now, effects);
    const bool over = !at->second.named && at->second.pins == 0 && now >= at->second.kept_until;
    if (!over || at->second.storing) continue;
    stop_fetching(at->second);
    if (!may_drop) {
      schedule(hash, at->second, now + options_.keep / 10);
      continue;
    }
    if (at->second.here) effects.push_back(DropBody{hash});
    schedule(hash, at->second, base::kNever);
    bodies_.erase(at);
  }
}

base::Instant Bodies::deadline() const {
  return due_.empty() ? base::kNever : due_.begin()->first;
}

Bodies::Table::iterator Bodies::find_or_add(const BodyRef& ref, base::Instant now) {
  const auto at = bodies_.find(ref.hash);
  if (at != bodies_.end()) return at->second.size == ref.size ? at : bodies_.end();
  if (ref.size == 0 || ref.size > kMaxBodyBytes || bodies_.size() >= kMaxLedgerParts + kMaxLooseBodies) {
    return bodies_.end();
  }
  Body body;
  body.size = ref.size;
  body.kept_until = now + options_.keep;
  return bodies_.emplace(ref.hash, std::move(body)).first;
}

void Bodies::schedule(const BodyHash& hash, Body& body, base::Instant due) {
  if (body.due != base::kNever) due_.erase({body.due, hash});
  body.due = due;
  if (due != base::kNever) due_.emplace(due, hash);
}

// The next thing to do for a body, and when to look again.
void Bodies::act(const BodyHash& hash, Body& body, base::Instant now, Effects& effects) {
  if (body.storing) return;
  if (!body.here && wanted(body)) {
    // Made here, and the disk would not take it: once more.
    if (const auto cached = cache_.find(hash); cached != cache_.end()) {
      body.storing = true;
      effects.push_back(StoreBody{{hash, body.size}, *cached->second});
      return;
    }
    if (!body.fetching && incoming_ + body.size > kMaxIncomingBytes && incoming_ > 0) {
      schedule(hash, body, now + options_.piece_timeout);
      return;
    }
    if (body.fetching) {
      // Others may have its place for a while, or a few bodies that never come would hold up all.
      if (now >= body.gained_at + options_.fetch_patience) {
        stop_fetching(body);
        schedule(hash, body, now + 2 * options_.piece_timeout);
        return;
      }
      // Who said that it is missing was passed over then.
      if (body.asked != kNoNode) ++body.next_source;
    } else {
      body.fetching = true;
      body.gained_at = now;
      incoming_ += body.size;
    }
    ask(hash, body, now, effects);
    return;
  }
  if (copies_ == Copies::kMajority && body.here && body.pins > 0) {
    // What nobody names is kept by the others for some time after an offer, so it is offered again before that is over.
    if (!body.named && now >= body.offers_lapse) {
      forget_holders(hash, body);
      body.offers_lapse = now + options_.keep / 4;
    }
    if (!held_by_majority(body)) {
      offer(hash, body, effects);
      schedule(hash, body, now + options_.offer_repeat);
    } else if (!body.named) {
      schedule(hash, body, body.offers_lapse);
    }
    return;
  }
  if (!body.named && body.pins == 0) schedule(hash, body, body.kept_until);
}

// Offers lapse: who offered it and then forgot about it does not keep this node busy for ever.
void Bodies::ask(const BodyHash& hash, Body& body, base::Instant now, Effects& effects) {
  if (!body.named && body.pins == 0 && now >= body.kept_until) {
    body.tell.clear();
    return;
  }
  std::vector<NodeId> sources = body.sources;
  for (const NodeId voter : voters_) {
    if (voter != self_.node && std::ranges::find(sources, voter) == sources.end()) sources.push_back(voter);
  }
  schedule(hash, body, now + options_.piece_timeout);
  if (sources.empty()) return;
  body.asked = sources[body.next_source % sources.size()];
  effects.push_back(Send{body.asked, BodyWanted{{hash, body.size}, body.gathered.size()}});
}

void Bodies::offer(const BodyHash& hash, const Body& body, Effects& effects) {
  for (const NodeId voter : voters_) {
    if (voter == self_.node || body.held.contains(voter)) continue;
    effects.push_back(Send{voter, BodyOffer{{hash, body.size}, body.round}});
  }
}

void Bodies::stop_fetching(Body& body) {
  if (body.fetching) incoming_ -= body.size;
  body.fetching = false;
  body.asked = kNoNode;
  body.gathered = {};
}

void Bodies::judge_majority(const BodyHash& hash, Body& body) {
  const bool before = std::exchange(body.on_majority, held_by_majority(body));
  if (body.on_majority && !before) news_.insert(hash);
}

void Bodies::forget_holders(const BodyHash& hash, Body& body) {
  body.held.clear();
  body.round = ++rounds_;
  judge_majority(hash, body);
}

void Bodies::serve(NodeId to, const BodyHash& hash, const std::string& bytes, std::uint64_t offset, Effects& effects) {
  if (offset >= bytes.size()) return;
  effects.push_back(Send{to, BodyPiece{hash, offset, bytes.substr(offset, kBodyPiece)}});
}

void Bodies::remember(const BodyHash& hash, std::shared_ptr<const std::string> bytes) {
  cache_bytes_ += bytes->size();
  if (!cache_.emplace(hash, bytes).second) {
    cache_bytes_ -= bytes->size();
    return;
  }
  cached_.push_back(hash);
  while (cache_bytes_ > kMaxCachedBytes && cached_.size() > 1) {
    cache_bytes_ -= cache_.at(cached_.front())->size();
    cache_.erase(cached_.front());
    cached_.pop_front();
  }
}

void Bodies::start_reading(const BodyRef& body, std::optional<Asked> asked, Effects& effects) {
  const auto known = reading_.find(body.hash);
  if (known == reading_.end()) {
    if (reading_.size() >= kMaxReads) return;
    effects.push_back(ReadBody{body});
  }
  auto& waiting = reading_[body.hash];
  if (asked && waiting.size() < kMaxManagers * 4) waiting.push_back(*asked);
}

}  // namespace muster::cluster
