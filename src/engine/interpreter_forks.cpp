// The part of the interpreter that runs several strands of one VU at once: `parallel` and graphs of `after`.
#include <algorithm>

#include "engine/interpreter.h"

namespace muster::engine {

Interpreter::Step Interpreter::fork(Strand& strand, const Op& op) {
  const CompiledFork& plan = program_.forks[op.a];
  if (plan.nodes.empty()) {
    strand.pc = op.b;
    return Step::kNext;
  }
  return begin_fork(strand, plan);
}

Interpreter::Step Interpreter::begin_fork(Strand& strand, const CompiledFork& plan) {
  if (free_joins_.empty()) free_joins_.push_back(joins_.emplace_back(std::make_unique<Join>()).get());
  Join& join = *free_joins_.back();
  free_joins_.pop_back();
  join.parent = &strand;
  join.fork = &plan;
  join.failed = false;
  join.thought = {};
  join.running = static_cast<std::uint32_t>(plan.nodes.size());
  join.waiting.clear();
  for (const CompiledFork::Node& node : plan.nodes) join.waiting.push_back(node.predecessors);
  join.blocked.assign(plan.nodes.size(), 0);
  strand.waiting_for = &join;
  // Roots are started from the ready list, so that a branch that ends at once cannot end the fork under our feet.
  for (std::uint32_t i = 0; i < plan.nodes.size(); ++i) {
    if (plan.nodes[i].predecessors == 0) start_node(join, i);
  }
  return Step::kWait;
}

void Interpreter::start_node(Join& join, std::uint32_t node) {
  if (free_strands_.empty()) {
    free_strands_.push_back(strands_.emplace_back(std::make_unique<Strand>(&Interpreter::on_timer)).get());
  }
  Strand& strand = *free_strands_.back();
  free_strands_.pop_back();
  strand.vu = join.parent->vu;
  strand.interpreter = this;
  strand.part_of = &join;
  strand.waiting_for = nullptr;
  strand.node = node;
  strand.pc = join.fork->nodes[node].start;
  strand.failing = false;
  strand.failure.reset();
  strand.owed = {};
  strand.thought = {};
  strand.calling = false;
  strand.in_script = false;
  strand.in_step = false;
  strand.frames.clear();
  strand.around = join.parent->retrying();
  join.strands.push_back(&strand);
  run_soon(strand);
}

void Interpreter::node_ended(Join& join, std::uint32_t node, bool failed) {
  --join.running;
  for (const std::uint32_t dependent : join.fork->nodes[node].dependents) {
    if (failed) join.blocked[dependent] = 1;
    if (--join.waiting[dependent] > 0) continue;
    if (join.blocked[dependent] != 0 || join.parent->vu->stop_list) {
      skip_node(join, dependent);
    } else {
      start_node(join, dependent);
    }
  }
  // A skipped dependent may have been the last node and have ended the fork already.
  if (join.running > 0 || join.parent == nullptr) return;

  Strand& parent = *join.parent;
  const bool any_failed = join.failed;
  parent.thought += join.thought;
  join.parent = nullptr;
  release(join);
  parent.waiting_for = nullptr;
  const Op& op = program_.ops[parent.pc];
  if (parent.vu->stop_list) {
    // That one branch had nothing more to do does not undo the failure of another.
    parent.failing = parent.failing || any_failed;
    parent.frames.clear();
    parent.pc = parent.part_of != nullptr ? parent.part_of->fork->nodes[parent.node].end : list_of(*parent.vu).end;
  } else if (op.kind == OpKind::kScript) {
    // The script is asked again, and knows itself how its branches ended.
  } else if (any_failed) {
    fail(parent);
  } else {
    parent.pc = op.b;
  }
  run_soon(parent);
}

void Interpreter::skip_node(Join& join, std::uint32_t node) {
  if (counted(loop_.now())) {
    for (const std::uint32_t step : join.fork->nodes[node].steps) ++recording().steps[step].skipped;
  }
  node_ended(join, node, true);
}

void Interpreter::release(Join& join) {
  free_joins_.push_back(&join);
}

}  // namespace muster::engine
