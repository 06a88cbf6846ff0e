#include "sim/cluster_oracle_runs.h"

#include <algorithm>
#include <utility>

#include "sim/cluster_program.h"

namespace muster::sim {

using cluster::Counts;
using cluster::JobId;
using cluster::PartId;

namespace {

// How much too late an alarm may come before its node counts as crawling; and for how long such things are remembered.
constexpr base::Duration kTooLate = std::chrono::milliseconds(500);
constexpr base::Duration kLately = std::chrono::seconds(60);
// A clock must run true in each stretch of so long: one that did for minutes may not be seconds off all at once.
constexpr base::Duration kStretch = std::chrono::seconds(1);
// Without contact for so long, a worker stops what it runs.
constexpr base::Duration kContact = std::chrono::seconds(30);

std::string in_words(const ClusterRuns::Key& key) {
  const auto& [part, fence] = key;
  return fmt::format("part {}.{} of job {} under fence {}.{}", part.workflow, part.part, cluster::number(part.job),
                     fence.epoch, fence.attempt);
}

}  // namespace

void ClusterRuns::accepted(base::NodeId worker, std::uint64_t life, const cluster::Dispatch& offer) {
  auto& token = epochs_[{worker, offer.part.job}];
  if (token.first == life && offer.epoch < token.second)
    kernel_->violate(
        "7", fmt::format("worker {} accepts an offer of job {} under epoch {} after one under {}", base::number(worker),
                         cluster::number(offer.part.job), offer.epoch, token.second));
  token = {life, token.first == life ? std::max(token.second, offer.epoch) : offer.epoch};
}

void ClusterRuns::taken_on(base::NodeId worker, std::uint64_t life, const cluster::Dispatch& offer, bool leaving) {
  if (!taken_.insert({worker, {offer.part, offer.fence}}).second) return;
  if (leaving)
    kernel_->violate("draining", fmt::format("worker {} takes on {} and is to drain", base::number(worker),
                                             in_words({offer.part, offer.fence})));
  auto& seen = contexts_[{worker, offer.part.job}];
  if (seen.first == life && offer.context_version < seen.second)
    kernel_->violate("layers",
                     fmt::format("worker {} takes on {} with context {} after it was given {}", base::number(worker),
                                 in_words({offer.part, offer.fence}), offer.context_version, seen.second));
  seen = {life, offer.context_version};
}

void ClusterRuns::started(base::NodeId worker, std::uint64_t life, const cluster::StartExecutor& order) {
  const std::uint32_t place = ClusterMap::datacenter(worker);
  const Key key{order.part, order.fence};
  const std::uint64_t name = base::number(worker);
  auto& cores = in_use_[worker];
  for (const std::uint32_t core : order.cores) {
    if (core >= cores_ || !cores.emplace(core, key).second)
      kernel_->violate("cores", fmt::format("worker {} starts {} on core {}, which {}", name, in_words(key), core,
                                            core >= cores_ ? "it does not have" : "is in use"));
  }
  // Attempts of the part that are higher, or that run.
  Attempts& all = attempts_[place & 1];
  for (auto other = all.lower_bound({order.part, {}}); other != all.end() && other->first.first == order.part;
       ++other) {
    const bool excused = !trusted(worker) || !trusted(other->second.worker);
    if (other->second.live && !excused)
      kernel_->violate("part-once", fmt::format("worker {} starts {} while worker {} runs {}", name, in_words(key),
                                                base::number(other->second.worker), in_words(other->first)));
    // A fence that is started twice, or a lower one at the same process: no clock excuses that.
    const bool here = other->second.worker == worker && other->second.life == life;
    const bool inexcusable = here || other->first.second == order.fence;
    if (other->first.second >= order.fence && (inexcusable || !excused))
      kernel_->violate(
          "9", fmt::format("worker {} starts {} after {} was started", name, in_words(key), in_words(other->first)));
    if (other->second.live && excused) kernel_->hit("part ran twice for want of a clock");
  }
  Attempt attempt;
  attempt.worker = worker;
  attempt.life = life;
  attempt.slice = order.slice;
  attempt.began = kernel_->elapsed();
  all.insert_or_assign(key, attempt);
  live_.emplace(place, key);
}

void ClusterRuns::counted(base::NodeId worker, const Key& key, const Counts& counts) {
  const auto found = attempts_[ClusterMap::datacenter(worker) & 1].find(key);
  if (found != attempts_[ClusterMap::datacenter(worker) & 1].end()) found->second.counts = counts;
}

void ClusterRuns::ended(base::NodeId worker, const cluster::ExecutorEnd& told, const cluster::BodyHash& body) {
  const std::uint32_t place = ClusterMap::datacenter(worker);
  const Key key{told.part, told.fence};
  const auto found = attempts_[place & 1].find(key);
  if (found == attempts_[place & 1].end()) return;
  found->second.outcome = told.outcome;
  if (told.outcome) found->second.counts = told.counts;
  found->second.body = body;
  end(place, key, found->second);
}

void ClusterRuns::told_to_stop(base::NodeId worker, const Key& key) {
  const auto found = attempts_[ClusterMap::datacenter(worker) & 1].find(key);
  if (found != attempts_[ClusterMap::datacenter(worker) & 1].end()) found->second.told = true;
}

void ClusterRuns::excuses(base::NodeId worker, const Key& key, cluster::Loss why) {
  excuses_.emplace(ClusterMap::datacenter(worker), key, why);
}

void ClusterRuns::contact(base::NodeId worker, base::Instant asked) {
  Contact& known = contacts_[worker];
  const bool lapsed = known.asked != base::Instant::min() && contact_left(worker) == base::Duration::zero();
  if (lapsed && kernel_->clock_of(worker) < asked + kContact && carries_on(worker))
    kernel_->hit("contact confirmed after it had lapsed");
  known.next = std::max(known.next, asked);
}

// Neither a pause nor a clock excuses anybody: it is the worker's own clock that counts, and it was asked just now.
void ClusterRuns::thought(base::NodeId worker) {
  Contact& known = contacts_[worker];
  const base::Instant asked = std::exchange(known.asked, std::max(known.asked, known.next));
  if (kernel_->clock_of(worker) < asked + kContact) return;
  if (const std::optional<Key> key = carries_on(worker))
    kernel_->violate(
        "10", fmt::format("worker {} runs {} and has had no contact for 30 s", base::number(worker), in_words(*key)));
}

std::optional<ClusterRuns::Key> ClusterRuns::carries_on(base::NodeId worker) const {
  const auto cores = in_use_.find(worker);
  if (cores == in_use_.end()) return std::nullopt;
  for (const auto& [core, key] : cores->second)
    if (!attempts_[ClusterMap::datacenter(worker) & 1].at(key).told) return key;
  return std::nullopt;
}

base::Duration ClusterRuns::contact_left(base::NodeId worker) const {
  const auto known = contacts_.find(worker);
  if (known == contacts_.end() || known->second.asked == base::Instant::min()) return {};
  return std::max(base::Duration::zero(), known->second.asked + kContact - kernel_->clock_of(worker));
}

void ClusterRuns::went_down(base::NodeId worker) {
  const std::uint32_t place = ClusterMap::datacenter(worker);
  for (const auto& [core, key] : in_use_[worker]) {
    attempts_[place & 1].at(key).live = false;
    live_.erase({place, key});
  }
  in_use_.erase(worker);
}

void ClusterRuns::late(base::NodeId node, base::Duration by) {
  if (by > kTooLate) clock(node).late_at = kernel_->elapsed();
}

void ClusterRuns::booted(base::NodeId node) {
  Clock& it = clock(node);
  it.began = kernel_->elapsed();
  it.offset = (kernel_->clock_of(node) - kernel_->now()).count();
  it.late_at = base::Duration(-1);
  contacts_.erase(node);
}

void ClusterRuns::observe(base::NodeId node) {
  if (find_clock(node) == nullptr) return;
  Clock& it = clock(node);
  const std::int64_t offset = (kernel_->clock_of(node) - kernel_->now()).count();
  const std::int64_t off = offset - it.offset;
  const base::Duration watched = kernel_->elapsed() - it.began;
  const std::int64_t most = 1'000'000 + watched.count() / 100;
  const bool true_enough = off <= most && off >= -most;
  if (true_enough && watched < kStretch) return;
  it.began = kernel_->elapsed();
  it.offset = offset;
  if (true_enough) return;
  it.strayed_at = it.began;
  const ClusterMap::Role role = ClusterMap::role(node);
  if (role == ClusterMap::Role::kManager) manager_strayed_[ClusterMap::datacenter(node) & 1] = it.strayed_at;
  if (role == ClusterMap::Role::kGate) gate_strayed_ = it.strayed_at;
}

bool ClusterRuns::keeps_time(base::NodeId node) const {
  const Clock* const found = find_clock(node);
  return found == nullptr || !lately(found->strayed_at);
}

bool ClusterRuns::trusted(base::NodeId worker) const {
  if (kernel_->paused(worker) || lately(manager_strayed_[ClusterMap::datacenter(worker) & 1])) return false;
  const Clock* const found = find_clock(worker);
  return found == nullptr || (!lately(found->strayed_at) && !lately(found->late_at));
}

bool ClusterRuns::lately(base::Duration at) const {
  return at >= base::Duration::zero() && kernel_->elapsed() - at < kLately;
}

ClusterRuns::Clock& ClusterRuns::clock(base::NodeId node) {
  const std::uint32_t index = kernel_->index(node);
  if (clocks_.size() <= index) clocks_.resize(index + 1);
  clocks_[index].known = true;
  return clocks_[index];
}

const ClusterRuns::Clock* ClusterRuns::find_clock(base::NodeId node) const {
  const std::uint32_t index = kernel_->index(node);
  return index < clocks_.size() && clocks_[index].known ? &clocks_[index] : nullptr;
}

const ClusterRuns::Attempt* ClusterRuns::attempt(std::uint32_t datacenter, const Key& key) const {
  const auto found = attempts_[datacenter & 1].find(key);
  return found == attempts_[datacenter & 1].end() ? nullptr : &found->second;
}

base::NodeId ClusterRuns::runs(std::uint32_t datacenter, JobId job) const {
  for (auto at = live_.lower_bound({datacenter, Key{PartId{job, 0, 0}, {}}});
       at != live_.end() && at->first == datacenter && at->second.first.job == job; ++at) {
    const base::NodeId worker = attempts_[datacenter & 1].at(at->second).worker;
    if (trusted(worker)) return worker;
  }
  return base::kNoNode;
}

std::size_t ClusterRuns::cores_of(base::NodeId worker, const Key& key) const {
  const auto cores = in_use_.find(worker);
  if (cores == in_use_.end()) return 0;
  return static_cast<std::size_t>(
      std::ranges::count_if(cores->second, [&](const auto& each) { return each.second == key; }));
}

Counts ClusterRuns::counted(JobId job, std::uint32_t workflow) const {
  Counts sum;
  for (const Attempts& attempts : attempts_) {
    for (auto at = attempts.lower_bound({PartId{job, workflow, 0}, {}});
         at != attempts.end() && at->first.first.job == job && at->first.first.workflow == workflow; ++at)
      sum.add(at->second.counts);
  }
  return sum;
}

std::optional<Counts> ClusterRuns::whole(std::uint32_t datacenter, JobId job, std::uint32_t workflow) const {
  const Attempts& attempts = attempts_[datacenter & 1];
  const auto at = attempts.lower_bound({PartId{job, workflow, 0}, {}});
  if (at == attempts.end() || at->first.first.job != job || at->first.first.workflow != workflow) return std::nullopt;
  const std::uint32_t total = at->second.slice.total_cores;
  return counts_of(job, workflow, {.first_core = 0, .cores = total, .total_cores = total});
}

void ClusterRuns::end(std::uint32_t datacenter, const Key& key, Attempt& attempt) {
  attempt.live = false;
  live_.erase({datacenter, key});
  auto& cores = in_use_[attempt.worker];
  std::erase_if(cores, [&key](const auto& core) { return core.second == key; });
}

}  // namespace muster::sim
