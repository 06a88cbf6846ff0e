#include "sim/seed_run.h"

#include <algorithm>
#include <memory>

#include "sim/injector.h"

namespace muster::sim {

namespace {

constexpr std::uint64_t kPlanPurpose = 0x706c616e;  // keeps the plan's generator apart from all others
constexpr std::uint32_t kMaxTries = 400;
constexpr base::Duration kShortestFault = std::chrono::milliseconds(1);

// Whether a plan still shows what is looked for, counting how often that was asked.
class Search {
 public:
  Search(const Scenario& scenario, std::uint64_t seed, std::string invariant, const std::function<bool()>& interrupted)
      : scenario_(scenario), seed_(seed), invariant_(std::move(invariant)), asks_(interrupted) {}

  // Nothing does any more once it was interrupted: what was found by then stands.
  bool fails(const FaultPlan& plan) {
    interrupted_ = interrupted_ || (asks_ && asks_());
    if (tries_ >= kMaxTries || interrupted_) return false;
    ++tries_;
    const SeedRun run = run_seed(scenario_, seed_, Trace::kNone, plan);
    return run.record.violation && run.record.violation->invariant == invariant_;
  }
  std::uint32_t tries() const { return tries_; }
  bool interrupted() const { return interrupted_; }

 private:
  const Scenario& scenario_;
  std::uint64_t seed_;
  std::string invariant_;
  const std::function<bool()>& asks_;
  bool interrupted_ = false;
  std::uint32_t tries_ = 0;
};

// Takes out runs of faults, first long ones, then shorter ones, until no single one can go.
FaultPlan drop_faults(FaultPlan plan, Search& search) {
  for (std::size_t size = std::max<std::size_t>(1, plan.size() / 2);; size /= 2) {
    for (std::size_t first = 0; first < plan.size();) {
      FaultPlan fewer = plan;
      const std::size_t count = std::min(size, plan.size() - first);
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(first),
                  fewer.begin() + static_cast<std::ptrdiff_t>(first + count));
      if (search.fails(fewer)) {
        plan = std::move(fewer);
      } else {
        first += count;
      }
    }
    if (size <= 1) return plan;
  }
}

FaultPlan shorten_faults(FaultPlan plan, Search& search) {
  for (std::size_t i = 0; i < plan.size(); ++i) {
    while (plan[i].length > kShortestFault) {
      FaultPlan shorter = plan;
      shorter[i].length /= 2;
      if (!search.fails(shorter)) break;
      plan = std::move(shorter);
    }
  }
  return plan;
}

}  // namespace

SeedRun run_seed(const Scenario& scenario, std::uint64_t seed, Trace trace, const std::optional<FaultPlan>& plan) {
  base::Random random(base::mix(seed ^ base::mix(kPlanPurpose)));
  KernelOptions options = scenario.options ? scenario.options(random) : KernelOptions{};
  options.trace = trace;
  SeedRun run;
  run.plan = draw_plan(scenario.faults, scenario.first_fault, scenario.safety, random);
  if (plan) run.plan = *plan;

  const std::unique_ptr<World> world = scenario.make(seed);
  Kernel kernel(seed, *world, options);
  Injector injector(kernel, *world);
  world->begin(kernel);
  for (const Fault& fault : run.plan) kernel.trace("plan: {}", fault.describe());
  injector.schedule(run.plan);
  kernel.run(scenario.safety);
  if (!kernel.violated() && scenario.liveness > base::Duration::zero()) {
    const std::vector<base::NodeId> core = world->healthy_core(random);
    kernel.trace("second phase: {} of {} nodes stay healthy", core.size(), kernel.nodes().size());
    injector.heal(core, random);
    world->heal(core);
    kernel.run(scenario.safety + scenario.liveness, [&world] { return world->settled(); });
  }
  if (!kernel.violated()) world->end();
  run.record = kernel.record();
  run.lines.assign(kernel.lines().begin(), kernel.lines().end());
  return run;
}

Shrunk shrink(const Scenario& scenario, std::uint64_t seed, const SeedRun& failed,
              const std::function<bool()>& interrupted) {
  Search search(scenario, seed, failed.record.violation ? failed.record.violation->invariant : "", interrupted);
  // What begins after the violation has no part in it.
  FaultPlan plan = failed.plan;
  if (failed.record.violation)
    std::erase_if(plan, [&](const Fault& fault) { return fault.begin > failed.record.violation->at; });
  plan = shorten_faults(drop_faults(std::move(plan), search), search);
  SeedRun run = run_seed(scenario, seed, Trace::kEnd, plan);
  return {.plan = std::move(plan), .run = std::move(run), .tries = search.tries(), .interrupted = search.interrupted()};
}

}  // namespace muster::sim
