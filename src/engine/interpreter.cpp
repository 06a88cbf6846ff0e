#include "engine/interpreter.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/escapes.h"
#include "base/utf8.h"
#include "engine/marks.h"
#include "engine/options.h"
#include "engine/redaction.h"
#include "engine/scheduler.h"
#include "model/options.h"

namespace muster::engine {
namespace {

constexpr std::string_view kNoRoom =
    "iterations ended because their values took more than 16 MiB; save and check less of what `repeat` and `retry` "
    "receive, or make fewer rounds";

std::string_view wanting(VuList list) {
  if (list == VuList::kStart) return "`start`";
  return list == VuList::kStop ? "`stop`" : "iteration";
}

}  // namespace

Interpreter::Interpreter(const InterpreterContext& context)
    : program_(context.program),
      loop_(context.loop),
      recordings_(context.recordings),
      tags_(context.tags, context.program.steps.size()),
      slice_(context.slice),
      trace_(context.trace),
      stop_all_(context.stop_all),
      random_(base::mix(context.seed ^ base::mix(context.slice.core + 1))),
      counter_(context.slice.core * context.program.workflows + context.program.position) {
  evaluation_.random = &random_;
  evaluation_.counter = &counter_;
  evaluation_.counter_step = slice_.cores * program_.workflows;
  for (const FeederUse& use : program_.feeders) {
    cursors_.emplace_back(use.feeder->rows(), use.pick, slice_.core, slice_.cores, use.next_unique.get());
  }
}

Interpreter::~Interpreter() = default;

void Interpreter::connect(Scheduler& scheduler, std::vector<std::unique_ptr<Client>>& clients, HttpClient* http) {
  scheduler_ = &scheduler;
  clients_ = &clients;
  http_ = http;
}

const authoring::Evaluation& Interpreter::evaluation(Vu& vu) {
  computed_at_ = loop_.now();
  evaluation_.slots = vu.slots;
  evaluation_.arena = &vu.arena;
  evaluation_.vu = vu.number + 1;
  evaluation_.iteration = vu.iteration;
  timespec wall{};
  clock_gettime(CLOCK_REALTIME_COARSE, &wall);
  evaluation_.wall = std::chrono::seconds(wall.tv_sec) + std::chrono::nanoseconds(wall.tv_nsec);
  return evaluation_;
}

const Program::List& Interpreter::list_of(const Vu& vu) const {
  switch (vu.list) {
    case VuList::kStart:
      return program_.start;
    case VuList::kStop:
      return program_.stop;
    case VuList::kLoop:
    case VuList::kNone:
      break;
  }
  return program_.loop;
}

bool Interpreter::prepare(Vu& vu, VuList list, base::Instant intended) {
  Strand& strand = vu.main;
  vu.list = list;
  vu.failed = false;
  vu.stop_list = false;
  vu.waited = false;
  vu.no_row = false;
  vu.began = beginning();
  vu.intended = intended;
  strand.failing = false;
  strand.owed = {};
  strand.thought = {};
  strand.frames.clear();
  strand.pc = list_of(vu).entry;
  return program_.initial.empty() || fill_slots(vu);
}

bool Interpreter::fill_slots(Vu& vu) {
  vu.arena.reset();
  const std::size_t count = program_.initial.size();
  vu.slots = reinterpret_cast<model::Value*>(vu.arena.allocate(count * sizeof(model::Value)));
  std::copy(program_.initial.begin(), program_.initial.end(), vu.slots);
  if (vu.kept != nullptr) {
    for (std::size_t i = 0; i < vu.kept->values.size(); ++i) vu.slots[program_.kept_slots[i]] = vu.kept->values[i];
  }
  if (program_.vu_slot) vu.slots[*program_.vu_slot] = model::Value::of(static_cast<std::int64_t>(vu.number + 1));
  if (program_.iteration_slot) {
    vu.slots[*program_.iteration_slot] = model::Value::of(static_cast<std::int64_t>(vu.iteration));
  }
  for (std::size_t i = 0; i < program_.feeders.size(); ++i) {
    const FeederUse& use = program_.feeders[i];
    if (use.read_by[static_cast<std::size_t>(vu.list)] && !fill_row(vu, i)) return false;
  }
  return true;
}

bool Interpreter::fill_row(Vu& vu, std::size_t feeder) {
  const FeederUse& use = program_.feeders[feeder];
  const auto row = cursors_[feeder].next(vu.number, random_);
  if (!row) {
    recording().note(
        fmt::format("{}: '{}' had no row left for another {}", kUniqueDataEnded, use.name, wanting(vu.list)));
    return false;
  }
  for (const auto& [slot, column] : use.columns) vu.slots[slot] = use.feeder->cell(*row, column);
  return true;
}

void Interpreter::run(Strand& strand) {
  while (execute(strand, program_.ops[strand.pc]) == Step::kNext) {
  }
}

void Interpreter::run_ready() {
  // In portions: a thousand VUs that connect at once must not keep the answers of the first waiting.
  const auto end = ready_.begin() + static_cast<std::ptrdiff_t>(std::min(ready_.size(), kReadyPerTurn));
  running_ready_.assign(ready_.begin(), end);
  ready_.erase(ready_.begin(), end);
  for (Strand* strand : running_ready_) {
    Vu& vu = *strand->vu;
    if (!vu.active) continue;
    const base::Instant now = loop_.refresh();
    // One that was made ready earlier begins only now.
    if (strand == &vu.main && !vu.waited && strand->pc == list_of(vu).entry) vu.began = now;
    run(*strand);
  }
  running_ready_.clear();
}

void Interpreter::on_timer(reactor::Timer& timer, base::Instant /*turn*/) {
  auto& strand = static_cast<Strand&>(timer);
  Interpreter& self = *strand.interpreter;
  const base::Instant now = self.loop_.refresh();  // others that were due in the same turn took their time
  // An open load is judged by how late its arrivals are; timers between its steps are not part of that schedule.
  if (!self.program_.open && self.counted(strand.due)) self.recording().lateness.record(now - strand.due);
  strand.vu->in_a_row = 0;
  strand.vu->waited = true;
  self.scheduler_->woke(strand);
}

Interpreter::Step Interpreter::execute(Strand& strand, const Op& op) {
  switch (op.kind) {
    case OpKind::kCall:
      return start_call(strand, op);
    case OpKind::kThink:
      ++strand.pc;
      return think(strand, program_.thinks[op.a]);
    case OpKind::kSet:
      return set(strand, op);
    case OpKind::kLog:
      log_step(strand, op);
      break;
    case OpKind::kStop:
      return stop(strand, op);
    case OpKind::kMetric:
      return metric(strand, op);
    case OpKind::kCheck:
      return check(strand, op);
    case OpKind::kJump:
      strand.pc = op.a;
      return Step::kNext;
    case OpKind::kUnless:
      strand.pc = program_.conditions[op.a].holds(evaluation(*strand.vu)) ? strand.pc + 1 : op.b;
      return Step::kNext;
    case OpKind::kChoose:
      return choose(strand, op);
    case OpKind::kRepeatBegin:
    case OpKind::kGroupBegin:
      strand.frames.push_back({.count = 0, .began = loop_.now(), .retrying = strand.retrying()});
      break;
    case OpKind::kRetryBegin:
      retry_begin(strand);
      break;
    case OpKind::kRepeatTest:
      return repeat_test(strand, op);
    case OpKind::kRetryTest:
      return retry_test(strand, op);
    case OpKind::kGroupEnd:
      return group_end(strand, op);
    case OpKind::kFork:
      return fork(strand, op);
    case OpKind::kScript:
      return script(strand);
    case OpKind::kReturn:
      return returned(strand);
    case OpKind::kEnd:
      return end(strand);
  }
  ++strand.pc;
  return Step::kNext;
}

void Interpreter::fail(Strand& strand) {
  const Op& op = program_.ops[strand.pc];
  const bool counts = counted(loop_.now());
  for (std::uint32_t i = op.skips_begin; i < op.skips_end; ++i) {
    const Skip& skip = program_.skips[i];
    if (skip.kind != Skip::Kind::kStep) {
      strand.owed += length_of(program_.pauses[skip.index], random_, rounds_left(strand, skip));
    } else if (counts) {
      ++recording().steps[skip.index].skipped;
    }
  }
  strand.frames.resize(std::min<std::size_t>(strand.frames.size(), op.fail_depth));
  strand.failing = true;
  strand.pc = op.fail_to;
}

void Interpreter::fail(Strand& strand, model::ErrorClass error, std::string_view detail) {
  if (script_ != nullptr) strand.failure = std::make_unique<StepFailure>(error, std::string(detail));
  fail(strand);
}

double Interpreter::rounds_left(const Strand& strand, const Skip& skip) const {
  if (skip.kind != Skip::Kind::kRounds) return 1;
  return static_cast<double>(program_.loops[skip.loop].times - strand.frames[skip.frame].count);
}

Interpreter::Step Interpreter::sleep(Strand& strand, base::Duration wait) {
  if (wait <= base::Duration::zero()) return Step::kNext;
  // Thinking before the first call of an arrival is meant, and no part of that call's latency.
  if (strand.vu->intended != base::Instant{}) strand.vu->intended += wait;
  strand.due = beginning() + wait;
  loop_.timers().arm(strand, strand.due);
  return Step::kWait;
}

Interpreter::Step Interpreter::think(Strand& strand, const Think& range) {
  const base::Duration length = length_of(range, random_);
  strand.thought += length;
  return sleep(strand, length);
}

Interpreter::Step Interpreter::set(Strand& strand, const Op& op) {
  for (const auto& [slot, value] : program_.sets[op.a].values) {
    const auto made = value.value(evaluation(*strand.vu));
    if (!made) {
      const std::string why = fmt::format("a `set` step failed: {}", made.error().message);
      recording().note(why);
      fail(strand, model::ErrorClass::kValue, why);
      return Step::kNext;
    }
    strand.vu->slots[slot] = *made;
  }
  if (trace_) trace_set(strand, op);
  ++strand.pc;
  return Step::kNext;
}

void Interpreter::log_step(Strand& strand, const Op& op) {
  text_.clear();
  if (const auto rendered = program_.logs[op.a].render(evaluation(*strand.vu), text_); !rendered) {
    text_ += fmt::format(" ({})", rendered.error().message);
  }
  log_line(text_);
}

void Interpreter::log_line(std::string_view line) {
  const auto second = static_cast<std::uint64_t>(base::seconds(loop_.now() - epoch_));
  if (second != log_second_) {
    log_second_ = second;
    log_lines_ = 0;
  }
  if (++log_lines_ > kLogLinesPerSecond) {
    recording().note("lines of `log` steps left out (more than 100 a second)");
    return;
  }
  std::string whole(line);
  redact(whole, program_.secrets);  // before it is cut, so that no half of a secret is left at the edge
  const std::string_view kept = base::utf8_beginning(whole, kLogLineBytes);
  std::string text = base::one_line(kept);
  if (kept.size() < whole.size()) text += fmt::format(" … {} more bytes", whole.size() - kept.size());
  text += '\n';
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

Interpreter::Step Interpreter::stop(Strand& strand, const Op& op) {
  if (trace_) trace_stop(static_cast<StopScope>(op.a));
  return leave_list(strand, static_cast<StopScope>(op.a));
}

Interpreter::Step Interpreter::leave_list(Strand& strand, StopScope scope) {
  Vu& vu = *strand.vu;
  vu.stop_list = true;
  if (scope != StopScope::kIteration) scheduler_->retire(vu);
  if (scope == StopScope::kWorkflow) {
    scheduler_->stop_requested();
    if (stop_all_) stop_all_();
  }
  strand.frames.clear();
  if (strand.part_of != nullptr) {
    strand.pc = strand.part_of->fork->nodes[strand.node].end;
  } else {
    strand.pc = list_of(vu).end;
  }
  return Step::kNext;
}

Interpreter::Step Interpreter::metric(Strand& strand, const Op& op) {
  const CompiledMetric& compiled = program_.metric_ops[op.a];
  const model::Value value = compiled.value.evaluate(evaluation(*strand.vu));
  const bool truth = authoring::truthy(value);
  const bool is_rate = program_.metrics[compiled.metric].type == model::MetricType::kRate;
  if (!is_rate && !value.numeric() && value.type() != model::ValueType::kBool) {
    const std::string why =
        fmt::format("metric '{}' got a value that is not a number", program_.metrics[compiled.metric].name);
    recording().note(why);
    fail(strand, model::ErrorClass::kValue, why);
    return Step::kNext;
  }
  if (counted(loop_.now())) {
    MetricRecording& into = recording().metrics[compiled.metric];
    const double number = value.numeric() ? value.number() : (truth ? 1.0 : 0.0);
    into.record(number);
    into.trues += truth ? 1U : 0U;
    into.last = number;
    into.last_at = loop_.now() - epoch_;
  }
  if (trace_) trace_value("metric", program_.metrics[compiled.metric].name, value);
  ++strand.pc;
  return Step::kNext;
}

Interpreter::Step Interpreter::check(Strand& strand, const Op& op) {
  const CompiledCheckStep& step = program_.check_steps[op.a];
  StepRecording& record = recording().steps[step.step];
  const CompiledCheck* failed = nullptr;
  for (const CompiledCheck& each : step.checks) {
    const bool holds = each.expression.holds(evaluation(*strand.vu));
    if (counted(loop_.now())) ++(holds ? record.checks[each.index].ok : record.checks[each.index].failed);
    if (failed == nullptr && !holds && each.required) failed = &each;
  }
  if (trace_) trace_checks(strand, op, failed == nullptr);
  if (failed != nullptr) {
    fail(strand, model::ErrorClass::kCheck,
         fmt::format("the required check '{}' did not hold", program_.steps[step.step].checks[failed->index]));
  } else {
    ++strand.pc;
  }
  return Step::kNext;
}

Interpreter::Step Interpreter::choose(Strand& strand, const Op& op) {
  const auto& branches = program_.choices[op.a].branches;
  const double drawn = random_.unit() * branches.back().first;
  const auto chosen =
      std::find_if(branches.begin(), branches.end(), [&](const auto& each) { return drawn < each.first; });
  strand.pc = chosen == branches.end() ? branches.back().second : chosen->second;
  return Step::kNext;
}

Interpreter::Step Interpreter::repeat_test(Strand& strand, const Op& op) {
  const CompiledLoop& loop = program_.loops[op.a];
  const std::uint64_t rounds = strand.frames.back().count;
  const bool asked = loop.condition && (rounds > 0 || !loop.after_one_round);
  const bool more = rounds < loop.times && (!asked || loop.condition->holds(evaluation(*strand.vu)));
  if (!more) {
    strand.frames.pop_back();
    strand.pc = op.b;
    return Step::kNext;
  }
  ++strand.frames.back().count;
  if (!has_room(*strand.vu)) {
    fail(strand, model::ErrorClass::kResource, kNoRoom);
    return Step::kNext;
  }
  ++strand.pc;
  return next_round(strand);
}

// Each round adds to what the iteration holds until it ends.
bool Interpreter::has_room(Vu& vu) {
  if (vu.arena.held() <= kMaxIterationBytes) [[likely]]
    return true;
  recording().note(kNoRoom);
  return false;
}

// A loop whose body never waits must not keep the loop of the core: time, commands and other VUs go on between its
// rounds.
Interpreter::Step Interpreter::next_round(Strand& strand) {
  if (++strand.vu->in_a_row < kMaxInARow) return Step::kNext;
  strand.vu->in_a_row = 0;
  run_soon(strand);
  return Step::kWait;
}

void Interpreter::retry_begin(Strand& strand) {
  std::vector<std::uint32_t>& tried = strand.vu->tried;
  Retrying retrying = strand.retrying();
  // Only branches have others beside them whose tries stand there too.
  if (!retrying.inside && strand.part_of == nullptr) tried.clear();
  if (!retrying.again) retrying.from = static_cast<std::uint32_t>(tried.size());
  retrying.inside = true;
  strand.frames.push_back({.count = 0, .began = loop_.now(), .retrying = retrying});
}

void Interpreter::count_try(Strand& strand, StepRecording& record) {
  std::vector<std::uint32_t>& tried = strand.vu->tried;
  const Retrying& retrying = strand.retrying();
  const auto begin = tried.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(retrying.from, tried.size()));
  if (std::find(begin, tried.end(), strand.plan->step) == tried.end()) {
    tried.push_back(strand.plan->step);
  } else if (retrying.again) {
    ++record.retried;
  }
}

Interpreter::Step Interpreter::retry_test(Strand& strand, const Op& op) {
  const CompiledRetry& retry = program_.retries[op.a];
  const bool good = !strand.failing && (!retry.until || retry.until->holds(evaluation(*strand.vu)));
  if (good) {
    strand.frames.pop_back();
    ++strand.pc;
    return Step::kNext;
  }
  const bool last = ++strand.frames.back().count >= retry.times;
  if (!last && !has_room(*strand.vu)) {
    fail(strand, model::ErrorClass::kResource, kNoRoom);
    return Step::kNext;
  }
  if (last) {
    if (strand.failing) {
      fail(strand);  // a step that failed has told why itself
    } else {
      recording().note(retry.gave_up);
      fail(strand, model::ErrorClass::kCheck, retry.gave_up);
    }
    return Step::kNext;
  }
  strand.failing = false;
  strand.owed = {};  // its own delay is pause enough
  strand.frames.back().retrying.again = true;
  strand.pc = op.b;
  return sleep(strand, length_of(retry.delay, random_)) == Step::kWait ? Step::kWait : next_round(strand);
}

Interpreter::Step Interpreter::group_end(Strand& strand, const Op& op) {
  const base::Instant began = strand.frames.back().began;
  if (counted(began)) {
    StepRecording& record = recording().steps[op.a];
    ++(strand.failing ? record.failed : record.ok);
    record.latency.record(loop_.now() - began);
  }
  if (strand.failing) {
    fail(strand);
    return Step::kNext;
  }
  strand.frames.pop_back();
  ++strand.pc;
  return Step::kNext;
}

Interpreter::Step Interpreter::end(Strand& strand) {
  const base::Duration owed = std::exchange(strand.owed, {});
  const bool goes_on = strand.failing && strand.vu->list == VuList::kLoop && !strand.vu->stop_list;
  if (goes_on && sleep(strand, owed) == Step::kWait) return Step::kWait;  // and ends here when it wakes
  if (strand.part_of != nullptr) {
    Join& join = *strand.part_of;
    const std::uint32_t node = strand.node;
    const bool failed = strand.failing;
    if (failed && !join.failed) join.parent->failure = std::move(strand.failure);
    join.failed = join.failed || failed;
    join.thought = std::max(join.thought, strand.thought);
    if (script_ != nullptr) leave_script(strand);
    join.strands.erase(std::find(join.strands.begin(), join.strands.end(), &strand));
    free_strands_.push_back(&strand);
    node_ended(join, node, failed);
    return Step::kWait;  // this strand is over; its parent was woken if it was the last
  }
  Vu& vu = *strand.vu;
  if (script_ != nullptr) leave_script(strand);
  vu.failed = strand.failing;
  if (vu.list == VuList::kStart && !program_.kept_slots.empty()) keep_start_values(vu);
  if (!program_.provides.empty() && !vu.failed && !vu.no_row) provide(vu);
  return scheduler_->list_ended(vu) ? Step::kNext : Step::kWait;
}

void Interpreter::keep_start_values(Vu& vu) {
  vu.kept = std::make_unique<KeptValues>();
  vu.kept->texts.reserve(program_.kept_slots.size());
  for (const std::uint32_t slot : program_.kept_slots) {
    model::Value value = vu.slots[slot];
    if (value.textual()) {
      const std::string& text = vu.kept->texts.emplace_back(value.text());
      value =
          value.type() == model::ValueType::kJson ? model::Value::json(text) : model::Value::of(std::string_view(text));
    }
    vu.kept->values.push_back(value);
  }
}

void Interpreter::provide(Vu& vu) {
  for (const CompiledProvide& each : program_.provides) {
    const model::Value value = each.value.evaluate(evaluation(vu));
    if (value.missing()) continue;
    model::Provided provided;
    provided.key = each.spec.key;
    provided.keep_all = each.spec.keep == model::Keep::kAll;
    provided.keep_first = each.spec.keep == model::Keep::kFirst;
    provided.max = provided.keep_all ? each.spec.max : 1;
    // Of two values of one turn of the loop the one written later counts as later.
    written_ = std::max(written_ + 1, static_cast<std::uint64_t>((loop_.now() - epoch_).count()));
    provided.lamport = written_;
    authoring::append_json(provided.values.emplace_back(), value);
    if (provided.values.back().size() > model::kMaxProvidedBytes) {
      recording().note(fmt::format("values of '{}' were too large to be provided (1 MiB at most)", each.spec.key));
      continue;
    }
    model::add_provided(recording().provided, provided);
  }
}

void Interpreter::interrupt(Vu& vu, bool count_calls) {
  std::vector<Strand*> pending = {&vu.main};
  while (!pending.empty()) {
    Strand& strand = *pending.back();
    pending.pop_back();
    if (strand.armed()) loop_.timers().cancel(strand);
    if (script_ != nullptr) leave_script(strand);
    if (strand.calling) {
      if (count_calls && counted(strand.started)) record_cut(strand);
      (*clients_)[strand.plan->client]->cancel(strand);
      strand.calling = false;
    }
    if (strand.waiting_for != nullptr) {
      Join& join = *strand.waiting_for;
      for (Strand* branch : join.strands) {
        pending.push_back(branch);
        free_strands_.push_back(branch);
      }
      join.strands.clear();
      release(join);
      strand.waiting_for = nullptr;
    }
  }
  std::erase_if(ready_, [&](const Strand* strand) { return strand->vu == &vu; });
  vu.list = VuList::kNone;
}

}  // namespace muster::engine
