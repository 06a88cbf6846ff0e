// The part of the interpreter that does what scripts want.
#include <algorithm>
#include <utility>

#include "engine/interpreter.h"
#include "engine/redaction.h"
#include "engine/scheduler.h"

namespace muster::engine {

void Interpreter::keep_report(Strand& strand, const Outcome& outcome, base::Duration latency) {
  reported_ = &strand;
  report_.status = outcome.status;
  report_.error.reset();
  if (!outcome.ok) report_.error = outcome.error;
  report_.detail = outcome.detail;
  report_.latency = latency;
  report_.response = outcome.response;
}

// The step that the script called has ended, well or not; the list's function is its entry.
Interpreter::Step Interpreter::returned(Strand& strand) {
  strand.pc = list_of(*strand.vu).entry;
  return ask_again(strand);
}

// A script that is never made to wait gives way all the same, like a loop of steps does.
Interpreter::Step Interpreter::ask_again(Strand& strand) {
  if (next_round(strand) == Step::kNext) return Step::kNext;
  strand.vu->waited = true;  // what it goes on with is no new beginning
  reported_ = nullptr;       // nor is there a response any more
  return Step::kWait;
}

ScriptAction Interpreter::ask_script(Strand& strand) {
  if (!strand.in_script) {
    strand.in_script = true;
    const ScriptGate::Inside inside(gate_);
    if (strand.part_of != nullptr) return script_->begin_branch(strand, *strand.part_of->parent, strand.node);
    return script_->begin(strand, strand.vu->list);
  }
  if (!strand.in_step) {
    const ScriptGate::Inside inside(gate_);
    return script_->resume(strand, nullptr);
  }
  // What the latest request brought is there only if nothing came in between.
  StepReport report = reported_ == &strand ? report_ : StepReport{};
  report.ok = !strand.failing;
  report.partly_ok = strand.partly_ok;
  if (report.ok) {
    report.error.reset();
  } else if (strand.failure != nullptr) {
    report.error = strand.failure->error;
    report.detail = strand.failure->detail;
  }
  strand.failing = false;
  strand.in_step = false;
  const ScriptGate::Inside inside(gate_);
  return script_->resume(strand, &report);
}

Interpreter::Step Interpreter::script(Strand& strand) {
  const ScriptAction action = ask_script(strand);
  // What the script computed is no part of the next call's latency, nor of the sleep that it asked for.
  loop_.refresh();
  reported_ = nullptr;
  switch (action.kind) {
    case ScriptAction::Kind::kCall:
      for (const std::uint32_t feeder : program_.callables[action.callable].rows) {
        if (!take_row(*strand.vu, feeder)) return leave_list(strand, StopScope::kIteration);
      }
      strand.in_step = true;
      strand.partly_ok = false;
      strand.failure.reset();
      strand.bytes = action.bytes;
      strand.answers = action.answers;
      strand.pc = program_.callables[action.callable].entry;
      return Step::kNext;
    case ScriptAction::Kind::kSleep:
      return think(strand, {.least = action.least, .most = action.most}) == Step::kWait ? Step::kWait
                                                                                        : ask_again(strand);
    case ScriptAction::Kind::kFork:
      return fork_script(strand, action.branches);
    case ScriptAction::Kind::kStop:
      if (trace_) trace_stop(action.scope);
      strand.failing = action.failed;
      return leave_list(strand, action.scope);
    case ScriptAction::Kind::kBroken:
    case ScriptAction::Kind::kFail:
      strand.failing = true;
      strand.owed = std::max(strand.owed, action.least);
      break;
    case ScriptAction::Kind::kEnd:
      break;
  }
  ++strand.pc;
  return Step::kNext;
}

bool Interpreter::take_row(Vu& vu, std::uint32_t feeder) {
  model::Value& taken = vu.slots[*program_.feeders[feeder].taken];
  // Neither `start` nor `stop` has rows: they belong to iterations.
  if (vu.list != VuList::kLoop || !taken.missing()) return true;
  if (!vu.no_row && fill_row(vu, feeder)) {
    taken = model::Value::of(true);
    return true;
  }
  if (!std::exchange(vu.no_row, true)) scheduler_->no_work_left();
  return false;
}

bool Interpreter::row(Vu& vu, std::uint32_t feeder) {
  const ScriptGate::Outside outside(gate_);
  return take_row(vu, feeder);
}

// Each branch runs the list's kScript on a strand of its own.
Interpreter::Step Interpreter::fork_script(Strand& strand, std::uint32_t branches) {
  const auto [found, added] = script_forks_.try_emplace({strand.vu->list, branches});
  if (added) {
    const Program::List& list = list_of(*strand.vu);
    found->second.nodes.resize(branches, {.start = list.entry, .end = list.end, .dependents = {}, .steps = {}});
  }
  return begin_fork(strand, found->second);
}

// The list is over, whether or not its function has returned.
void Interpreter::leave_script(Strand& strand) {
  if (strand.fiber != nullptr) {
    const ScriptGate::Inside inside(gate_);  // it may have something to tell
    script_->drop(strand);
  }
  strand.in_script = false;
  strand.in_step = false;
}

void Interpreter::answered(Call& call, Outcome& outcome) {
  auto& strand = static_cast<Strand&>(call);
  if (counted(call.started)) {
    StepRecording& record = recording().steps[call.plan->step];
    ++(outcome.ok ? record.ok : record.failed);
    if (!outcome.ok) ++record.errors[static_cast<std::size_t>(outcome.error)];
    if (outcome.status != 0) ++record.statuses[outcome.status < record.statuses.size() ? outcome.status : 0];
  }
  keep_report(strand, outcome, outcome.finished - call.intended);
  report_.ok = outcome.ok;
  strand.partly_ok = strand.partly_ok || outcome.ok;
  {
    const ScriptGate::Inside inside(gate_);
    script_->answered(strand, report_);
  }
  reported_ = nullptr;
}

void Interpreter::log(std::string_view line) {
  const ScriptGate::Outside outside(gate_);
  log_line(line);
}

void Interpreter::note(std::string_view text) {
  const ScriptGate::Outside outside(gate_);
  std::string shown(text);
  redact(shown, program_.secrets);
  recording().note(shown);
}

void Interpreter::transaction(std::uint32_t step, base::Instant began, bool ok) {
  const ScriptGate::Outside outside(gate_);
  if (!counted(began)) return;
  StepRecording& record = recording().steps[step];
  ++(ok ? record.ok : record.failed);
  record.latency.record(loop_.refresh() - began);
}

void Interpreter::broken(std::string_view reason) {
  const ScriptGate::Outside outside(gate_);
  std::string& failure = recording().failure;
  if (failure.empty()) {
    failure = reason;
    redact(failure, program_.secrets);
  }
  scheduler_->abort_requested();
}

}  // namespace muster::engine
