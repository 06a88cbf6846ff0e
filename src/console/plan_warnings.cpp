// What about a plan is likely not meant. Each sentence says what will happen and what to do about it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "console/job_warnings.h"
#include "console/plan.h"
#include "console/plan_words.h"
#include "report/figures.h"

namespace muster::console {
namespace {

// Descriptors that a process has open beside its connections.
constexpr std::uint64_t kOtherFiles = 50;

// Each request is a sample of these.
constexpr std::array<std::string_view, 4> kRequestMetrics{"latency", "service", "failed", "requests"};

class Warner {
 public:
  Warner(const JobPlan& plan, const PlanOptions& options) : plan_(plan), options_(options) {}

  std::vector<std::string> all() {
    warnings_ = job_warnings(*plan_.job);
    for (const std::string& each : plan_.shortages) warn(each);
    for (const PlannedWorkflow& each : plan_.workflows) {
      about_pace(each);
      about_time(each);
      about_data(each);
      about_files(each);
    }
    about_unused_data();
    for (const PlannedThreshold& each : plan_.thresholds) about_threshold(each);
    about_judgement();
    return std::move(warnings_);
  }

 private:
  void warn(std::string text) { warnings_.push_back(std::move(text)); }
  // Workflows are named where there are several.
  std::string in(const PlannedWorkflow& each) const {
    return plan_.workflows.size() == 1 ? "" : fmt::format("workflow {}: ", each.workflow->name);
  }

  void about_pace(const PlannedWorkflow& each) {
    const model::Load& load = each.workflow->load;
    if (each.shape->open() && load.open() && !load.max_vus_given) {
      warn(
          fmt::format("{}`max_vus` is not given, so at most {} run at once (ten times the rate, 100 to 50,000); when "
                      "the server is slower than that, arrivals wait. Say what you can afford.",
                      in(each), counted(load.max_vus, "VU", "VUs")));
    }
    // Once and for all is no loop.
    const bool loops = !each.iterations || *each.iterations > static_cast<double>(each.shape->peak_vus());
    if (!each.shape->open() && each.program->test && loops && each.thinking.most <= 0 && !load.every) {
      warn(
          fmt::format("{}no `think` and no `every`: each VU asks again as soon as it is answered, as no person does. "
                      "That finds out how fast the server can go, not what its users get.",
                      in(each)));
    }
  }

  void about_time(const PlannedWorkflow& each) {
    const model::Workflow& workflow = *each.workflow;
    const base::Duration length = each.shape->length();
    const bool known = length != base::Duration::max();
    if (known && workflow.timeout && *workflow.timeout < length) {
      warn(fmt::format("{}its `timeout` of {} comes before the load is over ({})", in(each), spelled(*workflow.timeout),
                       spelled(length)));
    }
    if (known && workflow.load.warm_up >= length && length > base::Duration::zero()) {
      warn(fmt::format("{}`warm_up` takes all of the load's {}: nothing will be counted", in(each), spelled(length)));
    }
    if (!known && !workflow.scripted && std::isinf(each.requests.most)) {
      warn(fmt::format("{}a `repeat` without `times` may never end, and nothing else bounds the time", in(each)));
    }
  }

  void about_data(const PlannedWorkflow& each) {
    for (const engine::FeederUse& use : each.program->feeders) {
      const auto rows = static_cast<double>(use.feeder->rows());
      const auto vus = static_cast<double>(each.shape->peak_vus());
      if (use.pick == model::Pick::kUnique && each.iterations && *each.iterations > rows) {
        warn(fmt::format("{}`{}` has {} for {}: `pick: unique` runs out, and the VUs that find none end", in(each),
                         use.name, counted(use.feeder->rows(), "row", "rows"),
                         counted(static_cast<std::uint64_t>(*each.iterations), "iteration", "iterations")));
      }
      if (use.pick == model::Pick::kPerVu && vus > rows) {
        warn(fmt::format("{}`{}` has {} for {}: several VUs share a row", in(each), use.name,
                         counted(use.feeder->rows(), "row", "rows"), counted(each.shape->peak_vus(), "VU", "VUs")));
      }
    }
  }

  void about_files(const PlannedWorkflow& each) {
    if (options_.open_files == 0 || !each.program->test) return;
    if (each.shape->peak_vus() + kOtherFiles <= options_.open_files) return;
    warn(fmt::format("{}{} may need as many connections, but a process here may have {} open files: raise `ulimit -Hn`",
                     in(each), counted(each.shape->peak_vus(), "VU", "VUs"), report::grouped(options_.open_files)));
  }

  void about_unused_data() {
    for (const model::DataSource& source : plan_.job->data) {
      const bool used = std::ranges::any_of(plan_.workflows, [&](const PlannedWorkflow& each) {
        return std::ranges::any_of(each.program->feeders,
                                   [&](const engine::FeederUse& use) { return use.name == source.name; });
      });
      if (!used) warn(fmt::format("nothing reads the data source `{}`", source.name));
    }
  }

  void about_threshold(const PlannedThreshold& each) {
    const model::Threshold& threshold = *each.threshold;
    if (!each.problem.empty()) {
      warn(fmt::format("the threshold `{}` can never be judged: {}", threshold.text, each.problem));
      return;
    }
    const bool of_arrivals = threshold.metric == "dropped";
    const bool any_open =
        std::ranges::any_of(plan_.workflows, [](const PlannedWorkflow& flow) { return flow.shape->open(); });
    if (of_arrivals && !any_open) {
      warn(fmt::format("the threshold `{}` tells nothing: only a load with `rate` drops arrivals", threshold.text));
    }
    if (threshold.window && plan_.length != base::Duration::max() && *threshold.window > plan_.length) {
      warn(fmt::format("the threshold `{}` has a window of {}, longer than the run ({}): it is judged once, at the end",
                       threshold.text, spelled(*threshold.window), spelled(plan_.length)));
    }
    about_samples(threshold);
  }

  // Of other metrics nobody knows before the run how many samples there will be.
  void about_samples(const model::Threshold& threshold) {
    const bool of_checks = threshold.metric == "checks";
    if (!of_checks && std::ranges::find(kRequestMetrics, threshold.metric) == kRequestMetrics.end()) return;
    double most = 0;
    for (const PlannedWorkflow& each : plan_.workflows) most += of_checks ? each.most_checks : each.most_requests;
    if (static_cast<double>(threshold.min_samples) <= most) return;
    const auto number = static_cast<std::uint64_t>(most);
    warn(fmt::format("the threshold `{}` needs {} samples, and the run makes at most {}", threshold.text,
                     report::grouped(threshold.min_samples),
                     of_checks ? counted(number, "check", "checks") : counted(number, "request", "requests")));
  }

  void about_judgement() {
    if (!plan_.job->thresholds.empty()) return;
    warn("there are no thresholds: the run counts as good unless every request or every iteration fails");
  }

  const JobPlan& plan_;
  const PlanOptions& options_;
  std::vector<std::string> warnings_;
};

}  // namespace

std::vector<std::string> plan_warnings(const JobPlan& plan, const PlanOptions& options) {
  return Warner(plan, options).all();
}

}  // namespace muster::console
