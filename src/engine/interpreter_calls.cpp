// The half of the interpreter that starts calls, judges their responses and records them.
#include <fmt/format.h>

#include <algorithm>

#include "engine/interpreter.h"
#include "engine/options.h"
#include "engine/redaction.h"
#include "engine/scheduler.h"
#include "model/options.h"

namespace muster::engine {
namespace {

// Why the response could not be read for `expression`; empty if it could, or is not asked.
std::string unread(const CallPlan& plan, const authoring::Expression& expression, Response& response) {
  for (const Capture& capture : plan.captures) {
    if (!expression.reads(capture.slot)) continue;
    if (std::string why = response.trouble(capture.result); !why.empty()) return why;
  }
  return {};
}

// Of what nobody could read nothing holds, not even that something is not in it.
bool holds(const CallPlan& plan, const CompiledCheck& check, const authoring::Evaluation& evaluation,
           Response& response) {
  if (!check.expression.holds(evaluation)) return false;
  return !response.garbled() || unread(plan, check.expression, response).empty();
}

}  // namespace

Interpreter::Step Interpreter::start_call(Strand& strand, const Op& op) {
  const CallPlan& plan = program_.calls[op.a];
  Vu& vu = *strand.vu;
  const base::Instant now = beginning();
  Call& call = strand;
  call.plan = &plan;
  call.vu = &vu;
  call.started = now;
  call.intended = now;
  if (vu.intended != base::Instant{}) {
    call.intended = vu.intended;
    vu.intended = {};
  }
  strand.calling = true;
  Outcome at_once;
  const bool under_way = plan.http ? http_->call(call, at_once) : (*clients_)[plan.client]->call(call, at_once);
  if (under_way) return Step::kWait;
  at_once.finished = loop_.refresh();
  settle(strand, at_once);
  return Step::kNext;
}

void Interpreter::finished(Call& call, Outcome& outcome) {
  auto& strand = static_cast<Strand&>(call);
  strand.vu->in_a_row = 0;
  strand.vu->waited = true;
  settle(strand, outcome);
  run(strand);
  reported_ = nullptr;
}

void Interpreter::sent_again(const Call& call) {
  if (counted(call.started)) recording().note(kSentAgain);
}

void Interpreter::settle(Strand& strand, Outcome& outcome) {
  const Call& call = strand;
  const CallPlan& plan = *call.plan;
  strand.calling = false;
  bool ok = outcome.ok;
  std::string detail;
  if (plan.judged && outcome.response != nullptr) {
    const bool held = judge(strand, outcome, recording().steps[plan.step], detail);
    if (ok && !held) {
      ok = false;
      outcome.error = model::ErrorClass::kCheck;
    }
  }
  if (counted(call.started)) {
    record_call(call, outcome, ok, detail.empty() ? outcome.detail : std::string_view(detail));
    if (!plan.tags.empty()) record_tags(*strand.vu, plan, outcome.finished - call.intended, ok);
    if (plan.in_retry) count_try(strand, recording().steps[plan.step]);
  }
  if (trace_) trace_call(strand, outcome, ok, outcome.ok ? std::string_view(detail) : outcome.detail);
  if (script_ != nullptr) keep_report(strand, outcome, outcome.finished - call.intended);
  if (ok) {
    ++strand.pc;
  } else {
    fail(strand, outcome.error, outcome.ok ? std::string_view(detail) : outcome.detail);
  }
}

bool Interpreter::judge(Strand& strand, Outcome& outcome, StepRecording& record, std::string& detail) {
  Vu& vu = *strand.vu;
  const CallPlan& plan = *strand.plan;
  computed_at_ = loop_.now();
  for (const Capture& capture : plan.captures) {
    vu.slots[capture.slot] = outcome.response->result(capture.result, capture.rest, vu.arena);
  }
  const bool counts = counted(strand.started);
  bool held = true;
  for (const CompiledCheck& each : plan.checks) {
    const bool good = holds(plan, each, evaluation(vu), *outcome.response);
    if (counts) ++(good ? record.checks[each.index].ok : record.checks[each.index].failed);
    if (!good && each.required && held) {
      held = false;
      const std::string why = unread(plan, each.expression, *outcome.response);
      detail = fmt::format("the required check '{}' did not hold{}{}", program_.steps[plan.step].checks[each.index],
                           why.empty() ? "" : " – ", why);
    }
  }
  for (const CompiledSave& save : plan.saves) vu.slots[save.slot] = save.expression.evaluate(evaluation(vu));
  return held;
}

void Interpreter::record_phases(StepRecording& record, const Outcome& outcome) {
  for (std::size_t i = 0; i < model::kPhases; ++i) {
    if (outcome.phases[i] >= base::Duration::zero()) record.phases[i].record(outcome.phases[i]);
  }
}

void Interpreter::record_call(const Call& call, const Outcome& outcome, bool ok, std::string_view detail) {
  recording().last_finish = outcome.finished;
  StepRecording& record = recording().steps[call.plan->step];
  record.bytes_in += outcome.bytes_in;
  record.bytes_out += outcome.bytes_out;
  record.connections += outcome.connections;
  if (outcome.status != 0) ++record.statuses[outcome.status < record.statuses.size() ? outcome.status : 0];
  record_phases(record, outcome);
  record.latency.record(outcome.finished - call.intended);
  if (program_.open) record.service.record(outcome.finished - call.started);
  if (ok) [[likely]] {
    ++record.ok;
    return;
  }
  ++record.failed;
  ++record.errors[static_cast<std::size_t>(outcome.error)];
  sample(record, outcome, detail);
}

void Interpreter::record_cut(Strand& strand) {
  constexpr std::string_view kWhy = "still under way at the end";
  const CallPlan& plan = *strand.plan;
  StepRecording& record = recording().steps[plan.step];
  Outcome outcome;
  outcome.ok = false;
  outcome.error = model::ErrorClass::kCancelled;
  outcome.finished = loop_.now();
  recording().last_finish = outcome.finished;  // it counts as a request, so the time until now does too
  (*clients_)[plan.client]->measure(strand, outcome);
  record.bytes_in += outcome.bytes_in;
  record.bytes_out += outcome.bytes_out;
  record.connections += outcome.connections;
  record_phases(record, outcome);
  // It has waited at least so long: a server that hangs at the end must not be invisible.
  record.latency.record(outcome.finished - strand.intended);
  if (program_.open) record.service.record(outcome.finished - strand.started);
  ++record.failed;
  if (plan.in_retry) count_try(strand, record);
  ++record.errors[static_cast<std::size_t>(outcome.error)];
  sample(record, outcome, kWhy);
  if (trace_) trace_call(strand, outcome, false, kWhy);
}

void Interpreter::sample(StepRecording& record, const Outcome& outcome, std::string_view detail) {
  const auto same = std::count_if(record.samples.begin(), record.samples.end(),
                                  [&](const model::ErrorSample& each) { return each.error == outcome.error; });
  if (static_cast<std::size_t>(same) >= model::kMaxSamplesPerClass) return;
  model::ErrorSample made;
  made.error = outcome.error;
  made.at = outcome.finished - epoch_;
  made.detail = detail;
  made.request = outcome.request;
  made.response = outcome.reply;
  mask_credentials(made.request);
  mask_credentials(made.response);
  // Redacted before it is cut, so that no half of a secret is left at the edge.
  for (std::string* text : {&made.detail, &made.request, &made.response}) {
    redact(*text, program_.secrets);
    if (text->size() > kSampleBytes) text->resize(kSampleBytes);
  }
  record.samples.push_back(std::move(made));
}

void Interpreter::record_tags(Vu& vu, const CallPlan& plan, base::Duration latency, bool ok) {
  text_.clear();
  for (const CompiledTag& tag : plan.tags) {
    if (!text_.empty()) text_ += ',';
    text_ += tag.name;
    text_ += '=';
    const std::size_t before = text_.size();
    if (!tag.value.render(evaluation(vu), text_)) {
      text_.resize(before);
      text_ += "missing";
    }
  }
  redact(text_, program_.secrets);
  const bool too_long = text_.size() > kMaxTagBytes;
  const std::size_t place = too_long ? KnownTags::kOther : tags_.place(plan.step, text_);
  if (place == KnownTags::kOther) recording().note(too_long ? model::kTagsTooLong : model::kTooManyTags);
  TagRecording& row =
      recording().tag_row(place, plan.step, place == KnownTags::kOther ? kOtherTags : std::string_view(text_));
  ++(ok ? row.ok : row.failed);
  row.latency.record(latency);
}

void Interpreter::trace_call(Strand& strand, const Outcome& outcome, bool ok, std::string_view detail) {
  StepTrace made;
  const CallPlan& plan = *strand.plan;
  const StepInfo& step = program_.steps[plan.step];
  made.name = step.name;
  made.outcome = &outcome;
  made.latency = outcome.finished - strand.intended;
  made.ok = ok;
  made.detail = detail;
  const auto tell_unread = [&](const std::string& of, const authoring::Expression& expression) {
    if (std::string why = unread(plan, expression, *outcome.response); !why.empty())
      made.unread.emplace_back(of, std::move(why));
  };
  if (outcome.response != nullptr) {
    for (const CompiledSave& save : plan.saves) {
      const model::Value& value = strand.vu->slots[save.slot];
      made.values.emplace_back(save.name, shown(value));
      if (value.missing()) tell_unread(save.name, save.expression);
    }
    for (const CompiledCheck& each : plan.checks) {
      const bool good = holds(plan, each, evaluation(*strand.vu), *outcome.response);
      made.checks.emplace_back(step.checks[each.index], good);
      if (!good) tell_unread(step.checks[each.index], each.expression);
    }
  }
  trace_(made);
}

std::string Interpreter::shown(const model::Value& value) const {
  if (value.missing()) return "(missing)";
  std::string text;
  authoring::append_json(text, value);
  redact(text, program_.secrets);
  return text;
}

void Interpreter::trace_set(Strand& strand, const Op& op) {
  StepTrace made;
  made.name = "set";
  made.ok = true;
  const CompiledSet& set = program_.sets[op.a];
  for (std::size_t i = 0; i < set.values.size(); ++i) {
    made.values.emplace_back(set.names[i], shown(strand.vu->slots[set.values[i].first]));
  }
  trace_(made);
}

void Interpreter::trace_value(std::string_view step, const std::string& name, const model::Value& value) {
  StepTrace made;
  made.name = step;
  made.ok = true;
  made.values.emplace_back(name, shown(value));
  trace_(made);
}

void Interpreter::trace_stop(StopScope scope) {
  StepTrace made;
  made.name = scope == StopScope::kIteration ? "stop: iteration"
              : scope == StopScope::kVu      ? "stop: vu"
                                             : "stop: workflow";
  made.ok = true;
  made.stopped = program_.workflow;
  trace_(made);
}

void Interpreter::trace_checks(Strand& strand, const Op& op, bool ok) {
  const CompiledCheckStep& step = program_.check_steps[op.a];
  StepTrace made;
  made.name = program_.steps[step.step].name;
  made.ok = ok;
  for (const CompiledCheck& each : step.checks) {
    made.checks.emplace_back(program_.steps[step.step].checks[each.index],
                             each.expression.holds(evaluation(*strand.vu)));
  }
  trace_(made);
}

}  // namespace muster::engine
