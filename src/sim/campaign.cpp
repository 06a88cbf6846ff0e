#include "sim/campaign.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

namespace muster::sim {

namespace {

// Of this thread, seconds: other work on the machine does not make the simulator look slower.
double cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

struct Finished {
  SeedRun run;
  double took;
};

// What the threads share.
class Desk {
 public:
  Desk(const Scenario& scenario, const CampaignOptions& options, CampaignResult& result)
      : scenario_(scenario), options_(options), result_(result), next_(options.first), told_(options.first) {}

  void work() {
    while (const std::optional<std::uint64_t> seed = take()) {
      const double before = cpu_time();
      SeedRun run = run_seed(scenario_, *seed);
      const double took = cpu_time() - before;
      if (options_.repeat_check && !run.record.violation) compare(*seed, run);
      if (run.record.violation) add_trace(*seed, run);
      give(*seed, {.run = std::move(run), .took = took});
    }
  }

 private:
  std::optional<std::uint64_t> take() {
    const std::scoped_lock lock(mutex_);
    if (!stopped_ && options_.interrupted && options_.interrupted()) result_.interrupted = stopped_ = true;
    if (stopped_) return std::nullopt;
    stopped_ = next_ == options_.last;  // which may be the greatest number that there is
    return next_++;
  }

  void give(std::uint64_t seed, Finished finished) {
    const std::scoped_lock lock(mutex_);
    if (finished.run.record.violation && !options_.keep_going) stopped_ = true;
    waiting_.emplace(seed, std::move(finished));
    for (auto first = waiting_.begin(); first != waiting_.end() && first->first == told_;
         first = waiting_.erase(first), ++told_) {
      result_.totals.add(first->second.run.record, first->second.took);
      if (first->second.run.record.violation)
        result_.failures.push_back({.seed = first->first, .run = std::move(first->second.run)});
    }
    if (options_.tell)
      options_.tell({.seeds = result_.totals.seeds,
                     .failed = result_.failures.size(),
                     .of = static_cast<double>(options_.last - options_.first) + 1,
                     .seconds = base::seconds(base::now() - began_)});
  }

  void compare(std::uint64_t seed, SeedRun& run) const {
    const SeedRun again = run_seed(scenario_, seed);
    if (again.record.hash == run.record.hash) return;
    run.record.violation = {
        .invariant = "30",
        .sentence = fmt::format("two runs of one seed differ: hash {:016x} after {} events, then "
                                "{:016x} after {}",
                                run.record.hash, run.record.events, again.record.hash, again.record.events),
        .at = run.record.virtual_time};
  }

  void add_trace(std::uint64_t seed, SeedRun& run) const {
    SeedRun traced = run_seed(scenario_, seed, Trace::kEnd, run.plan);
    run.lines = std::move(traced.lines);
  }

  const Scenario& scenario_;
  const CampaignOptions& options_;
  std::mutex mutex_;
  CampaignResult& result_;
  const base::Instant began_ = base::now();
  std::uint64_t next_;
  std::uint64_t told_;
  bool stopped_ = false;                       // no seed is left, or one failed
  std::map<std::uint64_t, Finished> waiting_;  // done before an earlier seed was
};

}  // namespace

CampaignResult run_campaign(const Scenario& scenario, const CampaignOptions& options) {
  CampaignResult result;
  const base::Instant before = base::now();
  {
    Desk desk(scenario, options, result);
    std::vector<std::jthread> threads;
    for (unsigned i = 1; i < options.threads; ++i) threads.emplace_back([&desk] { desk.work(); });
    desk.work();
  }
  result.wall_seconds = base::seconds(base::now() - before);
  const Totals& totals = result.totals;
  result.counters_judged = totals.seeds >= scenario.enough_seeds && !result.interrupted;
  for (const std::string& counter : scenario.counters)
    if (result.counters_judged && !totals.counters.contains(counter)) result.unseen.push_back(counter);
  if (scenario.judge && result.failures.empty() && !result.interrupted) result.verdict = scenario.judge(totals);
  return result;
}

}  // namespace muster::sim
