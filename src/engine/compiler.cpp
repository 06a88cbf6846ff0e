#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/listed.h"
#include "engine/program.h"
#include "engine/program_scope.h"
#include "engine/redaction.h"

namespace muster::engine {
namespace {

using authoring::Expression;
using authoring::ExpressionError;
using authoring::TextTemplate;

// Thrown nowhere: an Expected that is handed up as soon as something fails.
#define MUSTER_TRY(call)                              \
  if (auto tried = (call); !tried) {                  \
    return std::unexpected(std::move(tried.error())); \
  }

std::string place_of(const model::Where& where) {
  if (where.file == nullptr) return "";
  return fmt::format("{}:{}:{}: ", *where.file, where.line, where.column);
}

template <class T>
base::Expected<T> at(const model::Text& text, std::expected<T, ExpressionError> compiled) {
  if (compiled) return std::move(*compiled);
  return base::fail(fmt::format("{}'{}': {}", place_of(text.where), text.text, compiled.error().message));
}

Think to_think(const model::Tree* tree) {
  if (tree == nullptr || tree->list() == nullptr || tree->list()->size() != 2) return {};
  const auto bound = [&](std::size_t i) {
    const std::int64_t* value = (*tree->list())[i].integer();
    return base::Duration(value != nullptr ? *value : 0);
  };
  return {.least = bound(0), .most = bound(1)};
}

std::uint64_t to_count(const model::Tree* tree, std::uint64_t fallback) {
  const std::int64_t* value = tree != nullptr ? tree->integer() : nullptr;
  return value != nullptr ? static_cast<std::uint64_t>(*value) : fallback;
}

std::string to_word(const model::Tree* tree, std::string fallback) {
  const std::string* text = tree != nullptr ? tree->text() : nullptr;
  return text != nullptr ? *text : std::move(fallback);
}

std::optional<model::Text> to_expression(const model::Tree* tree) {
  if (tree == nullptr) return std::nullopt;
  if (const std::string* text = tree->text()) return model::Text{.text = *text, .where = tree->where};
  if (const bool* boolean = tree->boolean())
    return model::Text{.text = *boolean ? "true" : "false", .where = tree->where};
  if (const std::int64_t* integer = tree->integer())
    return model::Text{.text = fmt::to_string(*integer), .where = tree->where};
  if (const double* number = tree->number()) return model::Text{.text = fmt::to_string(*number), .where = tree->where};
  return std::nullopt;
}

// A stretch of operations that share the place where a failure goes on.
struct Region {
  struct Fallible {
    std::uint32_t op;
    std::vector<int> alternatives;  // the `if` and `choose` branches it lies in
    std::vector<int> stretches;     // the same and the bodies of `repeat`
  };
  // What a failure before it passes over.
  struct Skippable {
    std::uint32_t op;
    Skip skip;
    std::vector<int> inside;  // of a step: as `alternatives`; of a pause: as `stretches`
  };
  std::vector<Fallible> fallible;
  std::vector<Skippable> skippable;
  std::uint16_t depth = 0;  // frames at its end
  bool branch = false;      // of a fork: what it waits for is no pause of those around it

  std::vector<std::uint32_t> steps() const {
    std::vector<std::uint32_t> made;
    for (const Skippable& each : skippable) {
      if (each.skip.kind == Skip::Kind::kStep) made.push_back(each.skip.index);
    }
    return made;
  }
};

// Whether what can be skipped would surely have run behind `failed`, whose operation is `failing`.
bool lies_behind(const Region::Fallible& failed, const Op& failing, const Region::Skippable& skippable) {
  const std::vector<int>& around = skippable.skip.kind == Skip::Kind::kStep ? failed.alternatives : failed.stretches;
  const std::vector<int>& inside = skippable.inside;
  const bool certain = inside.size() <= around.size() && std::equal(inside.begin(), inside.end(), around.begin());
  // A fork's own branches lie behind the fork operation but have been run when it fails.
  const bool own_branch = failing.kind == OpKind::kFork && skippable.op < failing.b;
  return skippable.op > failed.op && certain && !own_branch;
}

class Compiler {
 public:
  Compiler(const model::Job& job, const model::Workflow& workflow, const model::StepKinds& kinds,
           const Protocols& protocols, const ReceivedContext& received, std::uint64_t seed)
      : job_(job),
        workflow_(workflow),
        kinds_(kinds),
        protocols_(protocols),
        seed_(seed),
        program_(std::make_unique<Program>()),
        scope_(job, workflow, received, *program_) {}

  base::Expected<std::unique_ptr<Program>> run();

 private:
  using Done = base::Expected<void>;

  Done list(const std::vector<model::Step>& steps, Program::List& into, bool graph);
  Done sequence(const std::vector<model::Step>& steps);
  Done step(const model::Step& step);
  Done test_step(const model::Step& step, const model::StepKind& kind);
  Done parallel(const model::Step& step);
  Done graph(const std::vector<model::Step>& steps);
  Done condition(const model::Step& step);
  Done choose(const model::Step& step);
  Done repeat(const model::Step& step);
  Done retry(const model::Step& step);
  std::string gave_up(const model::Step& step, std::uint64_t times, const std::vector<std::uint32_t>& tested,
                      std::string_view until) const;
  Done group(const model::Step& step);
  Done set(const model::Step& step);
  Done log(const model::Step& step);
  Done stop(const model::Step& step);
  Done metric(const model::Step& step);
  Done check_step(const model::Step& step);
  Done node(CompiledFork& fork, const std::vector<model::Step>& steps);
  base::Expected<std::vector<CompiledCheck>> checks(const model::Step& step);
  Done provides();
  Done scripted(const model::ScriptedLists& lists);
  Done callable(const model::Step& step);
  void script_variables(bool kept);
  void rows_on_demand(const std::vector<std::uint32_t>& always);

  std::uint32_t emit(OpKind kind, std::uint32_t a = 0, std::uint32_t b = 0) {
    program_->ops.push_back({.kind = kind, .a = a, .b = b});
    return static_cast<std::uint32_t>(program_->ops.size() - 1);
  }
  std::uint32_t emit_fallible(OpKind kind, std::uint32_t a = 0, std::uint32_t b = 0) {
    const std::uint32_t op = emit(kind, a, b);
    regions_.back().fallible.push_back({.op = op, .alternatives = alternatives_, .stretches = stretches_});
    return op;
  }
  std::uint32_t here() const { return static_cast<std::uint32_t>(program_->ops.size()); }

  void open_region(bool branch = false) {
    regions_.push_back({.fallible = {}, .skippable = {}, .depth = depth_, .branch = branch});
  }
  // Failures inside go on at `target`, with the frames that stood when the region was opened.
  void close_region(std::uint32_t target);
  void note_tested(std::uint32_t op, std::uint32_t info) {
    for (Region& region : regions_) {
      region.skippable.push_back({.op = op, .skip = {.index = info}, .inside = alternatives_});
    }
  }
  // A failure before `op` passes over `pause` as a whole.
  void note_pause(std::uint32_t op, Pause pause);
  void note_rounds(std::uint32_t op, Pause of_one, std::uint32_t loop);
  void note_skippable(std::uint32_t op, const Skip& skip);
  // What is compiled until take_pauses() adds its pauses to this one.
  void gather_pauses(Pause::Kind kind = Pause::Kind::kAll) { pausing_.push_back({.kind = kind}); }
  Pause take_pauses() {
    Pause taken = std::move(pausing_.back());
    pausing_.pop_back();
    return taken;
  }
  // The steps of a branch that may run or not, and their pauses.
  base::Expected<Pause> alternative(const std::vector<model::Step>& steps);
  std::uint32_t add_info(const model::Step& step, model::StepRole role);
  const model::Target* target_of(const model::Step& step) const;

  const model::Job& job_;
  const model::Workflow& workflow_;
  const model::StepKinds& kinds_;
  const Protocols& protocols_;
  const std::uint64_t seed_;
  std::unique_ptr<Program> program_;
  ProgramScope scope_;
  std::vector<Region> regions_;
  std::vector<int> alternatives_;
  std::vector<int> stretches_;
  std::vector<Pause> pausing_ = std::vector<Pause>(1);  // those being gathered, the innermost last
  int next_alternative_ = 0;
  std::uint16_t depth_ = 0;
};

template <class T>
std::uint32_t append(std::vector<T>& list, T value) {
  list.push_back(std::move(value));
  return static_cast<std::uint32_t>(list.size() - 1);
}

void Compiler::close_region(std::uint32_t target) {
  const Region region = std::move(regions_.back());
  regions_.pop_back();
  for (const Region::Fallible& fallible : region.fallible) {
    Op& op = program_->ops[fallible.op];
    op.fail_to = target;
    op.fail_depth = region.depth;
    op.skips_begin = static_cast<std::uint32_t>(program_->skips.size());
    for (const Region::Skippable& each : region.skippable) {
      if (lies_behind(fallible, op, each)) program_->skips.push_back(each.skip);
    }
    op.skips_end = static_cast<std::uint32_t>(program_->skips.size());
  }
}

void Compiler::note_skippable(std::uint32_t op, const Skip& skip) {
  for (auto region = regions_.rbegin(); region != regions_.rend(); ++region) {
    region->skippable.push_back({.op = op, .skip = skip, .inside = stretches_});
    if (region->branch) return;
  }
}

void Compiler::note_pause(std::uint32_t op, Pause pause) {
  const bool any = pause.any();
  pausing_.back().parts.push_back(pause);
  if (any) note_skippable(op, {.kind = Skip::Kind::kPause, .index = append(program_->pauses, std::move(pause))});
}

// A failure in a round passes over those that the loop, the innermost, has left.
void Compiler::note_rounds(std::uint32_t op, Pause of_one, std::uint32_t loop) {
  if (!of_one.any()) return;
  note_skippable(op, {.kind = Skip::Kind::kRounds,
                      .frame = static_cast<std::uint16_t>(depth_ - 1),
                      .index = append(program_->pauses, std::move(of_one)),
                      .loop = loop});
}

base::Expected<Pause> Compiler::alternative(const std::vector<model::Step>& steps) {
  const int id = next_alternative_++;
  alternatives_.push_back(id);
  stretches_.push_back(id);
  gather_pauses();
  MUSTER_TRY(sequence(steps));
  stretches_.pop_back();
  alternatives_.pop_back();
  return take_pauses();
}

std::uint32_t Compiler::add_info(const model::Step& step, model::StepRole role) {
  StepInfo info{.name = step.name, .kind = step.kind, .role = role, .tags = {}, .checks = {}};
  for (const model::Check& check : step.checks) info.checks.push_back(check.label);
  return append(program_->steps, std::move(info));
}

const model::Target* Compiler::target_of(const model::Step& step) const {
  for (const model::Target& target : job_.targets) {
    if (target.name == step.target) return &target;
  }
  return nullptr;
}

base::Expected<std::unique_ptr<Program>> Compiler::run() {
  program_->workflow = workflow_.name;
  program_->load = workflow_.load;
  program_->reset = workflow_.reset;
  program_->secrets = spellings(job_.secrets);
  if (workflow_.scripted) {
    MUSTER_TRY(scripted(*workflow_.scripted));
  } else {
    scope_.enter(VuList::kStart);
    MUSTER_TRY(list(workflow_.start, program_->start, false));
    scope_.enter(VuList::kLoop);
    MUSTER_TRY(list(workflow_.steps, program_->loop, workflow_.graph));
    scope_.enter(VuList::kStop);
    MUSTER_TRY(list(workflow_.stop, program_->stop, false));
    scope_.enter(VuList::kLoop);
    MUSTER_TRY(provides());
  }
  program_->test = !program_->calls.empty();
  return std::move(program_);
}

// In wrk's scripts it is the hook that is given everything.
bool mentions(const model::Script& script, std::string_view result) {
  return script.text.find(script.profile == "wrk" ? "response" : result) != std::string::npos;
}

Compiler::Done Compiler::callable(const model::Step& step) {
  Callable made{.name = step.name,
                .entry = here(),
                .step = static_cast<std::uint32_t>(program_->steps.size()),
                .kind = kinds_.find(step.kind),
                .arguments = {},
                .saves = {},
                .fills = {},
                .rows = {}};
  const std::size_t first_call = program_->calls.size();
  const std::size_t first_set = program_->sets.size();
  std::vector<std::pair<std::string, std::uint32_t>> named;
  scope_.set_arguments(&named);
  scope_.set_rows(&made.rows);
  open_region();
  MUSTER_TRY(this->step(step));
  close_region(emit(OpKind::kReturn));
  scope_.set_arguments(nullptr);
  scope_.set_rows(nullptr);
  for (std::size_t i = first_call; i < program_->calls.size(); ++i) {
    for (const CompiledSave& save : program_->calls[i].saves) made.saves.emplace_back(save.name, save.slot);
  }
  for (auto& [name, slot] : named) made.arguments.push_back({.name = std::move(name), .slot = slot});
  // The slots themselves until script_variables(): which of them stand for variables is known when all steps are.
  for (const auto& [name, slot] : made.saves) made.fills.push_back(slot);
  for (std::size_t i = first_set; i < program_->sets.size(); ++i) {
    for (const auto& [slot, value] : program_->sets[i].values) made.fills.push_back(slot);
  }
  program_->callables.push_back(std::move(made));
  return {};
}

// What a script may give values to. An argument is meant for one call only: beside each variable there are two slots
// that tell whether it holds one.
void Compiler::script_variables(bool kept) {
  std::map<std::uint32_t, std::uint32_t> given;
  for (const auto& [name, slot] : scope_.variables()) {
    const auto marks = static_cast<std::uint32_t>(program_->initial.size());
    program_->initial.resize(marks + 2);
    given.emplace(slot, marks);
    program_->variables.push_back({.name = name, .slot = slot, .given = marks});
    // What a script does in its start function is known only when it runs: whatever was given a value there stays.
    if (kept) program_->kept_slots.insert(program_->kept_slots.end(), {slot, marks, marks + 1});
  }
  for (Callable& each : program_->callables) {
    for (ScriptVariable& argument : each.arguments) argument.given = given.at(argument.slot);
    for (std::uint32_t& slot : each.fills) slot = given.at(slot);
  }
}

// All workflows of a script know all its steps and data, so that a unique row that each iteration took would be lost
// where nothing reads it. What is provided is read in every iteration: `always`.
void Compiler::rows_on_demand(const std::vector<std::uint32_t>& always) {
  for (std::uint32_t i = 0; i < program_->feeders.size(); ++i) {
    FeederUse& use = program_->feeders[i];
    if (use.pick != model::Pick::kUnique || std::ranges::find(always, i) != always.end()) continue;
    use.taken = static_cast<std::uint32_t>(program_->initial.size());
    program_->initial.emplace_back();
    for (ScriptValue& each : program_->script_values) {
      if (each.group == "data." + use.name) each.row = i;
    }
  }
  for (Callable& each : program_->callables) {
    std::erase_if(each.rows, [&](std::uint32_t row) { return !program_->feeders[row].taken; });
  }
}

Compiler::Done Compiler::scripted(const model::ScriptedLists& lists) {
  program_->script = job_.script;
  program_->environment = job_.environment;
  scope_.enter(VuList::kLoop);
  for (const model::Step& each : workflow_.steps) MUSTER_TRY(callable(each));
  MUSTER_TRY(scope_.add_script_values(job_.script->text));
  std::vector<std::pair<std::string, std::uint32_t>> provided;
  std::vector<std::uint32_t> provided_rows;
  scope_.set_arguments(&provided);
  scope_.set_rows(&provided_rows);
  MUSTER_TRY(provides());
  scope_.set_arguments(nullptr);
  scope_.set_rows(nullptr);
  rows_on_demand(provided_rows);
  // What of a response has to be kept is what the script mentions.
  for (CallPlan& call : program_->calls) {
    call.judged = true;
    const auto& results = kinds_.find(program_->steps[call.step].kind)->results;
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (mentions(*job_.script, results[i].name)) call.captured |= std::uint64_t{1} << i;
    }
  }
  script_variables(lists.start);
  for (FeederUse& use : program_->feeders) {
    use.read_by[static_cast<std::size_t>(VuList::kStart)] = use.pick == model::Pick::kPerVu;
    if (use.taken) use.read_by = {};
  }
  for (const auto& [list, has] : {std::pair(&program_->start, lists.start), std::pair(&program_->loop, lists.loop),
                                  std::pair(&program_->stop, lists.stop)}) {
    list->entry = emit(OpKind::kScript);
    list->end = emit(OpKind::kEnd);
    list->empty = !has;
  }
  return {};
}

Compiler::Done Compiler::provides() {
  for (const model::Provide& provide : workflow_.provides) {
    auto value = at(provide.from, Expression::compile(provide.from.text, scope_));
    if (!value) return std::unexpected(value.error());
    program_->provides.push_back({.spec = provide, .value = std::move(*value)});
  }
  return {};
}

Compiler::Done Compiler::list(const std::vector<model::Step>& steps, Program::List& into, bool as_graph) {
  into.entry = here();
  into.empty = steps.empty();
  open_region();
  if (as_graph) {
    MUSTER_TRY(graph(steps));
  } else {
    MUSTER_TRY(sequence(steps));
  }
  into.end = emit(OpKind::kEnd);
  close_region(into.end);
  return {};
}

Compiler::Done Compiler::sequence(const std::vector<model::Step>& steps) {
  for (const model::Step& each : steps) MUSTER_TRY(step(each));
  return {};
}

Compiler::Done Compiler::step(const model::Step& step) {
  const model::StepKind* kind = kinds_.find(step.kind);
  if (kind == nullptr) return base::fail(fmt::format("{}unknown kind of step '{}'", place_of(step.where), step.kind));
  if (kind->role == model::StepRole::kTest) return test_step(step, *kind);
  using Method = Done (Compiler::*)(const model::Step&);
  static const std::map<std::string_view, Method> kMethods = {
      {"parallel", &Compiler::parallel}, {"if", &Compiler::condition},    {"choose", &Compiler::choose},
      {"repeat", &Compiler::repeat},     {"retry", &Compiler::retry},     {"group", &Compiler::group},
      {"set", &Compiler::set},           {"log", &Compiler::log},         {"stop", &Compiler::stop},
      {"metric", &Compiler::metric},     {"check", &Compiler::check_step}};
  if (step.kind == "think") {
    const Think think = to_think(step.field("think"));
    note_pause(emit(OpKind::kThink, append(program_->thinks, think)), {.kind = Pause::Kind::kThink, .think = think});
    return {};
  }
  const auto method = kMethods.find(step.kind);
  if (method == kMethods.end()) {
    return base::fail(fmt::format("{}a '{}' step cannot be run", place_of(step.where), step.kind));
  }
  return (this->*method->second)(step);
}

base::Expected<std::vector<CompiledCheck>> Compiler::checks(const model::Step& step) {
  std::vector<CompiledCheck> compiled;
  for (std::uint32_t i = 0; i < step.checks.size(); ++i) {
    const model::Check& check = step.checks[i];
    auto expression =
        at(check.condition, check.subject.text.empty()
                                ? Expression::compile(check.condition.text, scope_)
                                : Expression::compile_check(check.subject.text, check.condition.text, scope_));
    if (!expression) return std::unexpected(expression.error());
    compiled.push_back({.expression = std::move(*expression), .required = check.required, .index = i});
  }
  return compiled;
}

Compiler::Done Compiler::test_step(const model::Step& step, const model::StepKind& kind) {
  Protocol* protocol = protocols_.find(step.kind);
  if (protocol == nullptr) {
    return base::fail(fmt::format("{}this build of muster cannot run '{}' steps", place_of(step.where), step.kind));
  }
  const std::uint32_t info = add_info(step, model::StepRole::kTest);
  PrepareContext context{.job = job_, .target = target_of(step), .scope = scope_, .seed = seed_};
  auto prepared = protocol->prepare(step, context);
  if (!prepared) return base::fail(place_of(step.where) + prepared.error().message);

  const std::uint32_t index = static_cast<std::uint32_t>(program_->calls.size());
  CallPlan& added = program_->calls.emplace_back();
  added.step = info;
  added.http = step.kind == "http";
  added.prepared = std::move(*prepared);
  const auto known = std::find(program_->kinds.begin(), program_->kinds.end(), step.kind);
  added.client = static_cast<std::uint32_t>(known - program_->kinds.begin());
  if (known == program_->kinds.end()) program_->kinds.push_back(step.kind);

  scope_.add_step(step.name, index, kind);
  scope_.set_own_response(index);
  auto compiled = checks(step);
  if (!compiled) return std::unexpected(compiled.error());
  std::vector<CompiledSave> saves;
  for (const model::Save& save : step.saves) {
    auto value = at(save.value, Expression::compile(save.value.text, scope_));
    if (!value) return std::unexpected(value.error());
    saves.push_back({.name = save.name, .slot = scope_.variable(save.name), .expression = std::move(*value)});
  }
  scope_.set_own_response(std::nullopt);

  std::vector<CompiledTag> dynamic_tags;
  for (const std::vector<model::Tag>* tags : {&job_.tags, &workflow_.tags, &step.tags}) {
    for (const model::Tag& tag : *tags) {
      auto value = at(tag.value, TextTemplate::compile(tag.value.text, scope_, authoring::Escape::kNone));
      if (!value) return std::unexpected(value.error());
      if (value->constant()) {
        program_->steps[info].tags.emplace_back(tag.name, tag.value.text);
      } else {
        dynamic_tags.push_back({.name = tag.name, .value = std::move(*value)});
      }
    }
  }

  CallPlan& call = program_->calls[index];
  call.checks = std::move(*compiled);
  call.saves = std::move(saves);
  call.tags = std::move(dynamic_tags);
  call.judged = call.judged || !call.checks.empty() || !call.saves.empty() || !call.tags.empty();
  note_tested(emit_fallible(OpKind::kCall, index), info);
  return {};
}

Compiler::Done Compiler::node(CompiledFork& fork, const std::vector<model::Step>& steps) {
  CompiledFork::Node added;
  added.start = here();
  const std::uint16_t outer_depth = depth_;
  depth_ = 0;  // a branch is a strand of its own, with its own frames
  open_region(true);
  gather_pauses();
  MUSTER_TRY(sequence(steps));
  Pause pause = take_pauses();
  pausing_.back().parts.push_back(std::move(pause));
  added.steps = regions_.back().steps();
  added.end = emit(OpKind::kEnd);
  close_region(added.end);
  depth_ = outer_depth;
  fork.nodes.push_back(std::move(added));
  return {};
}

Compiler::Done Compiler::parallel(const model::Step& step) {
  const std::uint32_t op = emit_fallible(OpKind::kFork, 0);
  CompiledFork fork;
  gather_pauses(Pause::Kind::kLongest);
  for (const model::Branch& branch : step.branches) MUSTER_TRY(node(fork, branch.steps));
  note_pause(op, take_pauses());
  program_->ops[op].a = append(program_->forks, std::move(fork));
  program_->ops[op].b = here();
  return {};
}

Compiler::Done Compiler::graph(const std::vector<model::Step>& steps) {
  const std::uint32_t op = emit_fallible(OpKind::kFork, 0);
  CompiledFork fork;
  std::map<std::string, std::uint32_t> position;
  // Predecessors first, so that a step's results have slots before anything reads them.
  std::vector<const model::Step*> order;
  std::vector<const model::Step*> waiting;
  for (const model::Step& each : steps) waiting.push_back(&each);
  while (!waiting.empty()) {
    const auto ready = std::find_if(waiting.begin(), waiting.end(), [&](const model::Step* each) {
      return std::all_of(each->after.begin(), each->after.end(),
                         [&](const std::string& name) { return position.contains(name); });
    });
    if (ready == waiting.end()) {
      return base::fail(fmt::format("{}the steps' `after` form a cycle or name a step that does not exist",
                                    place_of(waiting.front()->where)));
    }
    position.emplace((*ready)->name, static_cast<std::uint32_t>(order.size()));
    order.push_back(*ready);
    waiting.erase(ready);
  }
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    MUSTER_TRY(node(fork, {*order[i]}));
    fork.nodes[i].predecessors = static_cast<std::uint32_t>(order[i]->after.size());
    for (const std::string& name : order[i]->after) fork.nodes[position.at(name)].dependents.push_back(i);
  }
  program_->ops[op].a = append(program_->forks, std::move(fork));
  program_->ops[op].b = here();
  return {};
}

Compiler::Done Compiler::condition(const model::Step& step) {
  const auto text = to_expression(step.field("if"));
  if (!text) return base::fail(fmt::format("{}`if` needs a condition", place_of(step.where)));
  auto expression = at(*text, Expression::compile(text->text, scope_));
  if (!expression) return std::unexpected(expression.error());
  const std::uint32_t test = emit(OpKind::kUnless, append(program_->conditions, std::move(*expression)));
  std::uint32_t jump = test;
  for (const model::Branch& branch : step.branches) {
    const bool is_else = branch.label == "else";
    if (is_else) {
      jump = emit(OpKind::kJump);
      program_->ops[test].b = here();
    }
    auto pause = alternative(branch.steps);
    if (!pause) return std::unexpected(pause.error());
    if (!is_else) note_pause(test, std::move(*pause));
  }
  if (jump == test) {
    program_->ops[test].b = here();
  } else {
    program_->ops[jump].a = here();
  }
  return {};
}

Compiler::Done Compiler::choose(const model::Step& step) {
  const std::uint32_t op = emit(OpKind::kChoose);
  CompiledChoice choice;
  std::vector<std::uint32_t> jumps;
  Pause one_of{.kind = Pause::Kind::kOneOf};
  double sum = 0;
  for (const model::Branch& branch : step.branches) {
    sum += branch.weight;
    choice.branches.emplace_back(sum, here());
    auto pause = alternative(branch.steps);
    if (!pause) return std::unexpected(pause.error());
    pause->weight = branch.weight;
    one_of.parts.push_back(std::move(*pause));
    jumps.push_back(emit(OpKind::kJump));
  }
  note_pause(op, std::move(one_of));
  for (const std::uint32_t jump : jumps) program_->ops[jump].a = here();
  program_->ops[op].a = append(program_->choices, std::move(choice));
  return {};
}

Compiler::Done Compiler::repeat(const model::Step& step) {
  CompiledLoop loop;
  const auto text = to_expression(step.field("while"));
  if (!text && step.field("times") == nullptr) {
    return base::fail(fmt::format("{}`repeat` needs a number or a condition: `repeat: 3` or `repeat: {{ while: … }}`",
                                  place_of(step.where)));
  }
  loop.times = to_count(step.field("times"), text ? std::numeric_limits<std::uint64_t>::max() : 1);
  if (text) {
    auto expression = Expression::compile(text->text, scope_);
    loop.after_one_round = !expression;
    if (expression) loop.condition = std::move(*expression);
  }
  // How often a condition holds is not known beforehand: one round.
  const auto rounds = text ? 1 : static_cast<double>(loop.times);
  const std::uint32_t begin = emit(OpKind::kRepeatBegin);
  ++depth_;
  const std::uint32_t place = append(program_->loops, std::move(loop));
  stretches_.push_back(next_alternative_++);
  gather_pauses();
  const std::uint32_t test = emit_fallible(OpKind::kRepeatTest, place);
  for (const model::Branch& branch : step.branches) MUSTER_TRY(sequence(branch.steps));
  if (program_->loops[place].after_one_round) {
    auto expression = at(*text, Expression::compile(text->text, scope_));
    if (!expression) return std::unexpected(expression.error());
    program_->loops[place].condition = std::move(*expression);
  }
  Pause pause = take_pauses();
  const std::uint32_t again = emit(OpKind::kJump, test);
  if (rounds > 1) note_rounds(again, pause, place);
  program_->ops[test].b = here();
  stretches_.pop_back();
  --depth_;
  pause.rounds = rounds;
  note_pause(begin, std::move(pause));
  return {};
}

std::string Compiler::gave_up(const model::Step& step, std::uint64_t times, const std::vector<std::uint32_t>& tested,
                              std::string_view until) const {
  std::vector<std::string> names;
  for (const std::uint32_t each : tested) names.push_back(program_->steps[each].name);
  if (step.named) names = {step.name};
  std::string told =
      fmt::format("{}{} gave up after {} {}: '{}' did not hold", names.empty() ? "a `retry` step" : "retry of ",
                  base::listed_quoted(names, "and"), times, times == 1 ? "try" : "tries", until);
  redact(told, program_->secrets);
  return told;
}

Compiler::Done Compiler::retry(const model::Step& step) {
  emit(OpKind::kRetryBegin);
  ++depth_;
  const std::uint32_t body = here();
  const std::size_t first_call = program_->calls.size();
  open_region();
  for (const model::Branch& branch : step.branches) MUSTER_TRY(sequence(branch.steps));
  for (std::size_t i = first_call; i != program_->calls.size(); ++i) program_->calls[i].in_retry = true;
  CompiledRetry retry;
  const auto text = to_expression(step.field("until"));
  if (text) {
    auto expression = at(*text, Expression::compile(text->text, scope_));
    if (!expression) return std::unexpected(expression.error());
    retry.until = std::move(*expression);
  }
  retry.times = std::max<std::uint64_t>(1, to_count(step.field("times"), 3));
  retry.delay = to_think(step.field("delay"));
  if (text) retry.gave_up = gave_up(step, retry.times, regions_.back().steps(), text->text);
  const std::uint32_t end = here();
  close_region(end);
  --depth_;
  // The test itself can fail onwards, in the region around it.
  emit_fallible(OpKind::kRetryTest, append(program_->retries, std::move(retry)), body);
  return {};
}

Compiler::Done Compiler::group(const model::Step& step) {
  model::Step renamed = step;
  renamed.name = to_word(step.field("group"), step.name);
  const std::uint32_t info = add_info(renamed, model::StepRole::kControl);
  emit(OpKind::kGroupBegin);
  ++depth_;
  open_region();
  for (const model::Branch& branch : step.branches) MUSTER_TRY(sequence(branch.steps));
  close_region(here());
  --depth_;
  emit_fallible(OpKind::kGroupEnd, info);
  return {};
}

Compiler::Done Compiler::set(const model::Step& step) {
  CompiledSet compiled;
  const model::Tree* values = step.field("set");
  if (values == nullptr || values->map() == nullptr) return {};
  for (const auto& [name, tree] : *values->map()) {
    const auto text = to_expression(&tree);
    if (!text) return base::fail(fmt::format("{}`set` takes texts and numbers", place_of(tree.where)));
    // Text with holes is a template; anything else is an expression and keeps its type.
    const bool has_holes = text->text.find("${") != std::string::npos;
    const std::string source = has_holes ? text->text : "${" + text->text + "}";
    auto value = at(*text, TextTemplate::compile(source, scope_, authoring::Escape::kNone));
    if (!value) return std::unexpected(value.error());
    compiled.values.emplace_back(scope_.variable(name), std::move(*value));
    compiled.names.push_back(name);
  }
  emit_fallible(OpKind::kSet, append(program_->sets, std::move(compiled)));
  return {};
}

Compiler::Done Compiler::log(const model::Step& step) {
  const model::Text text{.text = to_word(step.field("log"), ""), .where = step.where};
  auto compiled = at(text, TextTemplate::compile(text.text, scope_, authoring::Escape::kNone));
  if (!compiled) return std::unexpected(compiled.error());
  emit(OpKind::kLog, append(program_->logs, std::move(*compiled)));
  return {};
}

Compiler::Done Compiler::stop(const model::Step& step) {
  const std::string what = to_word(step.field("stop"), "iteration");
  const StopScope scope = what == "vu"         ? StopScope::kVu
                          : what == "workflow" ? StopScope::kWorkflow
                                               : StopScope::kIteration;
  emit(OpKind::kStop, static_cast<std::uint32_t>(scope));
  return {};
}

Compiler::Done Compiler::metric(const model::Step& step) {
  const auto text = to_expression(step.field("value"));
  if (!text) return base::fail(fmt::format("{}`metric` needs a value", place_of(step.where)));
  auto value = at(*text, Expression::compile(text->text, scope_));
  if (!value) return std::unexpected(value.error());
  const std::string type = to_word(step.field("type"), "trend");
  MetricInfo info{.name = to_word(step.field("metric"), step.name), .type = model::MetricType::kTrend};
  for (const auto each : {model::MetricType::kCounter, model::MetricType::kGauge, model::MetricType::kRate}) {
    if (to_text(each) == type) info.type = each;
  }
  const auto known = std::find_if(program_->metrics.begin(), program_->metrics.end(),
                                  [&](const MetricInfo& each) { return each.name == info.name; });
  const auto index = static_cast<std::uint32_t>(known - program_->metrics.begin());
  if (known == program_->metrics.end()) program_->metrics.push_back(std::move(info));
  emit_fallible(OpKind::kMetric,
                append(program_->metric_ops, CompiledMetric{.metric = index, .value = std::move(*value)}));
  return {};
}

Compiler::Done Compiler::check_step(const model::Step& step) {
  const std::uint32_t info = add_info(step, model::StepRole::kCheck);
  auto compiled = checks(step);
  if (!compiled) return std::unexpected(compiled.error());
  emit_fallible(OpKind::kCheck,
                append(program_->check_steps, CompiledCheckStep{.step = info, .checks = std::move(*compiled)}));
  return {};
}

}  // namespace

base::Expected<std::unique_ptr<Program>> compile(const model::Job& job, const model::Workflow& workflow,
                                                 const model::StepKinds& kinds, const Protocols& protocols,
                                                 const ReceivedContext& received, std::uint64_t seed) {
  return Compiler(job, workflow, kinds, protocols, received, seed).run();
}

}  // namespace muster::engine
