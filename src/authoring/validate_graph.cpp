#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "authoring/loader_steps.h"
#include "authoring/validate.h"
#include "base/closest.h"

namespace muster::authoring {
namespace {

// Edges point from a thing to what it waits for.
using Edges = std::vector<std::vector<std::size_t>>;

// The nodes in an order that puts what is waited for first, or a cycle.
struct Ordered {
  std::vector<std::size_t> order;
  std::vector<std::size_t> cycle;  // in the order of waiting; not empty: there is no order
};

Ordered sort(const Edges& edges) {
  enum class Mark : std::uint8_t { kNew, kOpen, kDone };
  struct Visit {
    std::size_t node;
    std::size_t next = 0;
  };
  std::vector<Mark> marks(edges.size(), Mark::kNew);
  Ordered result;
  for (std::size_t root = 0; root < edges.size(); ++root) {
    if (marks[root] != Mark::kNew) continue;
    std::vector<Visit> stack{{root}};
    marks[root] = Mark::kOpen;
    while (!stack.empty()) {
      Visit& top = stack.back();
      if (top.next == edges[top.node].size()) {
        marks[top.node] = Mark::kDone;
        result.order.push_back(top.node);
        stack.pop_back();
        continue;
      }
      const std::size_t to = edges[top.node][top.next++];
      if (marks[to] == Mark::kOpen) {
        const auto first = std::ranges::find(stack, to, &Visit::node);
        for (auto each = first; each != stack.end(); ++each) result.cycle.push_back(each->node);
        return result;
      }
      if (marks[to] == Mark::kNew) {
        marks[to] = Mark::kOpen;
        stack.push_back({to});
      }
    }
  }
  return result;
}

template <class Named>
std::unordered_map<std::string_view, std::size_t> positions(const std::vector<Named>& list) {
  std::unordered_map<std::string_view, std::size_t> found;
  for (std::size_t i = 0; i < list.size(); ++i) found.emplace(list[i].name, i);
  return found;
}

template <class Named>
std::string cycle_text(const std::vector<std::size_t>& cycle, const std::vector<Named>& list) {
  std::string text;
  for (const std::size_t each : cycle) text += list[each].name + " → ";
  return text + list[cycle.front()].name;
}

template <class Named>
std::string hint(std::string_view name, const std::vector<Named>& list) {
  std::vector<std::string_view> names;
  for (const Named& each : list) names.push_back(each.name);
  return base::did_you_mean(name, names);
}

class WorkflowGraph {
 public:
  WorkflowGraph(LoaderContext& context, const model::Job& job)
      : context_(context), workflows_(job.workflows), index_(positions(job.workflows)) {}

  void validate() {
    Edges edges(workflows_.size());
    for (std::size_t i = 0; i < workflows_.size(); ++i) read_depends(i, edges[i]);
    const Ordered ordered = sort(edges);
    if (!ordered.cycle.empty()) {
      const std::size_t first = ordered.cycle.front();
      const auto& places = context_.workflow_places[first].depends;
      context_.report(
          places.empty() ? workflows_[first].where : places.front(),
          fmt::format("workflows wait for each other in a circle: {}", cycle_text(ordered.cycle, workflows_)));
    }
    for (std::size_t i = 0; i < workflows_.size(); ++i) {
      check_provides(i);
      if (ordered.cycle.empty()) check_uses(i, edges);
    }
  }

 private:
  void read_depends(std::size_t index, std::vector<std::size_t>& edges) {
    const model::Workflow& workflow = workflows_[index];
    for (std::size_t i = 0; i < workflow.depends.size(); ++i) {
      if (context_.reporter.full()) return;
      const auto found = index_.find(workflow.depends[i]);
      if (found != index_.end()) {
        edges.push_back(found->second);
        continue;
      }
      context_.report(context_.workflow_places[index].depends[i],
                      fmt::format("'{}' depends on workflow '{}', and there is none{}", workflow.name,
                                  workflow.depends[i], hint(workflow.depends[i], workflows_)));
    }
  }

  void check_provides(std::size_t index) {
    const model::Workflow& workflow = workflows_[index];
    for (std::size_t i = 0; i < workflow.provides.size(); ++i) {
      const model::Provide& provide = workflow.provides[i];
      for (std::size_t j = 0; j < provide.to.size(); ++j) {
        if (index_.contains(provide.to[j]) || context_.reporter.full()) continue;
        context_.report(context_.workflow_places[index].provides[i][j],
                        fmt::format("'{}' is provided to workflow '{}', and there is none{}", provide.key,
                                    provide.to[j], hint(provide.to[j], workflows_)));
      }
    }
  }

  // All that `from` waits for, directly or not.
  static std::vector<bool> reached(std::size_t from, const Edges& edges) {
    std::vector<bool> seen(edges.size());
    std::vector<std::size_t> open{from};
    while (!open.empty()) {
      const std::size_t node = open.back();
      open.pop_back();
      for (const std::size_t next : edges[node]) {
        if (!seen[next]) open.push_back(next);
        seen[next] = true;
      }
    }
    return seen;
  }

  void check_uses(std::size_t index, const Edges& edges) {
    const model::Workflow& workflow = workflows_[index];
    if (workflow.uses.empty()) return;
    const std::vector<bool> waits_for = reached(index, edges);
    for (const model::Use& use : workflow.uses) {
      if (context_.reporter.full()) return;
      const auto source = index_.find(use.source);
      if (source == index_.end()) {
        context_.report(use.where, fmt::format("'{}' comes from workflow '{}', and there is none{}", use.key,
                                               use.source, hint(use.source, workflows_)));
        continue;
      }
      check_use(workflow, use, workflows_[source->second], waits_for[source->second]);
    }
  }

  void check_use(const model::Workflow& workflow, const model::Use& use, const model::Workflow& source, bool depends) {
    const auto provide = std::ranges::find(source.provides, use.key, &model::Provide::key);
    if (provide == source.provides.end()) {
      std::vector<std::string_view> keys;
      for (const model::Provide& each : source.provides) keys.push_back(each.key);
      context_.report(use.where, fmt::format("workflow '{}' does not provide '{}'{}", source.name, use.key,
                                             base::did_you_mean(use.key, keys)));
      return;
    }
    if (!depends) {
      context_.report(use.where, fmt::format("'{0}' uses '{1}' of '{2}' but does not wait for it; add `depends: [{2}]`",
                                             workflow.name, use.key, source.name));
      return;
    }
    if (provide->to.empty() || std::ranges::find(provide->to, workflow.name) != provide->to.end()) return;
    context_.report(use.where,
                    fmt::format("workflow '{0}' provides '{1}' only to {2}; add '{3}' to its `to:`", source.name,
                                use.key, quoted_list({provide->to.begin(), provide->to.end()}, "and"), workflow.name));
  }

  LoaderContext& context_;
  const std::vector<model::Workflow>& workflows_;
  std::unordered_map<std::string_view, std::size_t> index_;
};

Edges step_edges(const model::Workflow& workflow) {
  const auto index = positions(workflow.steps);
  Edges edges(workflow.steps.size());
  for (std::size_t i = 0; i < workflow.steps.size(); ++i) {
    for (const std::string& name : workflow.steps[i].after) {
      if (const auto found = index.find(name); found != index.end()) edges[i].push_back(found->second);
    }
  }
  return edges;
}

class StepGraph {
 public:
  StepGraph(LoaderContext& context, const model::Job& job, const model::Workflow& workflow)
      : context_(context), job_(job), workflow_(workflow), index_(positions(workflow.steps)) {}

  void validate() {
    refuse_elsewhere();
    if (!workflow_.graph) return;
    if (workflow_.steps.size() > context_.limits.graph_steps) {
      context_.report(workflow_.where,
                      fmt::format("workflow '{}' orders {} steps by 'after'; at most {} are allowed", workflow_.name,
                                  workflow_.steps.size(), context_.limits.graph_steps));
      return;
    }
    for (const model::Step& step : workflow_.steps) {
      if (context_.places(step).has_after) {
        check_names(step);
      } else {
        context_.report(step.where, fmt::format("step '{}' has no 'after', but other steps of the workflow do; give it "
                                                "one (`after: []` if it waits for nothing)",
                                                step.name));
      }
    }
    const Ordered ordered = sort(step_edges(workflow_));
    if (ordered.cycle.empty()) return;
    const model::Step& first = workflow_.steps[ordered.cycle.front()];
    const auto& places = context_.places(first).after;
    context_.report(
        places.empty() ? first.where : places.front(),
        fmt::format("steps wait for each other in a circle: {}", cycle_text(ordered.cycle, workflow_.steps)));
  }

 private:
  void refuse(const model::Step& step) {
    if (!context_.places(step).has_after) return;
    context_.report(context_.places(step).after.empty() ? step.where : context_.places(step).after.front(),
                    "'after' orders the steps right under a workflow's 'steps'; here they run as written");
  }

  void refuse_elsewhere() {
    const auto visit = [this](const model::Step& step) { refuse(step); };
    each_step(workflow_.start, visit);
    each_step(workflow_.stop, visit);
    for (const model::Step& step : workflow_.steps) {
      for (const model::Branch& branch : step.branches) each_step(branch.steps, visit);
    }
  }

  void check_names(const model::Step& step) {
    for (std::size_t i = 0; i < step.after.size(); ++i) {
      if (index_.contains(step.after[i]) || context_.reporter.full()) continue;
      context_.report(context_.places(step).after[i], missing(step.after[i]));
    }
  }

  std::string missing(const std::string& name) const {
    const std::string close = hint(name, workflow_.steps);
    if (!close.empty()) return fmt::format("'after' names step '{}', and there is none{}", name, close);
    bool nested = false;
    const model::Workflow* owner = nullptr;
    for (const model::Workflow& workflow : job_.workflows) {
      for (const auto* steps : {&workflow.start, &workflow.steps, &workflow.stop}) {
        each_step(*steps, [&](const model::Step& step) {
          if (step.name != name) return;
          nested = nested || &workflow == &workflow_;
          owner = &workflow;
        });
      }
    }
    if (nested)
      return fmt::format("step '{}' is not one of those right under 'steps'; wait for the step around it", name);
    if (owner != nullptr) {
      return fmt::format(
          "step '{}' belongs to workflow '{}'; 'after' orders the steps of one workflow, 'depends' orders "
          "workflows",
          name, owner->name);
    }
    return fmt::format("'after' names step '{}', and there is none", name);
  }

  LoaderContext& context_;
  const model::Job& job_;
  const model::Workflow& workflow_;
  std::unordered_map<std::string_view, std::size_t> index_;
};

}  // namespace

void validate_graph(LoaderContext& context, const model::Job& job) {
  WorkflowGraph(context, job).validate();
  for (const model::Workflow& workflow : job.workflows) StepGraph(context, job, workflow).validate();
}

std::vector<std::vector<std::size_t>> ancestors(const model::Workflow& workflow, const YamlLimits& limits) {
  if (workflow.steps.size() > limits.graph_steps) return {};
  const Edges edges = step_edges(workflow);
  const Ordered ordered = sort(edges);
  if (!ordered.cycle.empty()) return {};
  std::vector<std::vector<bool>> before(edges.size(), std::vector<bool>(edges.size()));
  for (const std::size_t node : ordered.order) {
    for (const std::size_t direct : edges[node]) {
      before[node][direct] = true;
      for (std::size_t i = 0; i < edges.size(); ++i) before[node][i] = before[node][i] || before[direct][i];
    }
  }
  std::vector<std::vector<std::size_t>> result(edges.size());
  for (std::size_t node = 0; node < edges.size(); ++node) {
    for (std::size_t i = 0; i < edges.size(); ++i) {
      if (before[node][i]) result[node].push_back(i);
    }
  }
  return result;
}

}  // namespace muster::authoring
