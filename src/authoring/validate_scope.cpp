#include "authoring/validate_scope.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "authoring/functions.h"
#include "authoring/loader_steps.h"
#include "base/characters.h"
#include "base/closest.h"

namespace muster::authoring {
namespace {

constexpr std::array<std::string_view, 5> kAlways{"data", "env", "vu", "iteration", "workflow"};

const std::string* name_at(const Path& path, std::size_t at) {
  return at < path.size() ? std::get_if<std::string>(&path[at]) : nullptr;
}

bool name_character(char c) {
  return base::is_letter_or_digit(c) || c == '_' || c == '-' || static_cast<unsigned char>(c) >= 0x80;
}

// Whether an expression can mention it.
bool writable(std::string_view name) {
  if (name.empty() || base::is_digit(name.front()) || name.front() == '-') return false;
  return std::ranges::all_of(name, name_character);
}

std::string_view section_key(Section section) {
  switch (section) {
    case Section::kStart:
      return "start";
    case Section::kSteps:
      return "steps";
    case Section::kStop:
      break;
  }
  return "stop";
}

}  // namespace

bool NameScope::reserved(std::string_view name) {
  return std::ranges::find(kAlways, name) != kAlways.end();
}

void NameScope::enter(const model::Workflow* workflow) {
  names_.clear();
  own_ = nullptr;
  section_ = Section::kSteps;
  graph_ = workflow != nullptr && workflow->graph;
  scripted_ = workflow != nullptr && workflow->scripted.has_value();
  resets_ = workflow != nullptr && workflow->reset == model::Reset::kIteration;
  if (workflow == nullptr) return;
  for (const model::Use& use : workflow->uses) {
    Name& name = names_[use.key];
    name.used = true;
    name.value_visible = 1;
  }
  collect(workflow->start, Section::kStart);
  collect(workflow->steps, Section::kSteps);
  collect(workflow->stop, Section::kStop);
}

void NameScope::collect(const std::vector<model::Step>& steps, Section section) {
  each_step(steps, [&](const model::Step& step) {
    Name& own = names_[step.name];
    if (own.step == nullptr) own.section = section;
    own.step = &step;
    const auto add = [&](const std::string& name) {
      Name& saved = names_[name];
      if (saved.saver == nullptr && saved.step == nullptr) saved.section = section;
      if (saved.saver == nullptr) saved.saver = &step;
    };
    for (const model::Save& save : step.saves) add(save.name);
    const model::StepKind* kind = context_.languages.kinds.find(step.kind);
    for (const model::Field& field : kind->fields) {
      const model::Tree* tree = field.type == model::FieldType::kExpressionMap ? step.field(field.name) : nullptr;
      if (tree == nullptr || tree->map() == nullptr) continue;
      for (const auto& entry : *tree->map()) add(entry.first);
    }
  });
}

base::Expected<Slot> NameScope::resolve(const Path& path) {
  const std::string* first = name_at(path, 0);
  if (first == nullptr) return base::fail(fmt::format("'{}' does not begin with a name", to_text(path)));
  if (own_ != nullptr) {
    const bool own = std::ranges::any_of(own_->results, [&](const auto& each) { return each.name == *first; });
    if (own) return result(*own_, path, 0, "");
  }
  if (*first == "env") return environment(path);
  if (*first == "data") return data(path);
  if (*first == "vu") return virtual_user(path);
  if (*first == "iteration" || *first == "workflow") {
    if (path.size() > 1) return base::fail(fmt::format("'{}' is a plain value; nothing stands under it", *first));
    return Slot{};
  }
  const auto found = names_.find(*first);
  if (found == names_.end() && scripted_) return Slot{};
  if (found == names_.end()) return base::fail(unknown(*first));
  const Name& name = found->second;
  if (name.value_visible > 0) return Slot{};
  if (name.step_visible > 0) return result(*context_.languages.kinds.find(name.step->kind), path, 1, *first);
  if (scripted_) return Slot{};
  if (name.step == nullptr && name.saver == nullptr) return base::fail(unknown(*first));
  if (dropped(name) && defaults_) return Slot{};
  return base::fail(why_hidden(*first, name));
}

base::Expected<Slot> NameScope::result(const model::StepKind& kind, const Path& path, std::size_t at,
                                       std::string_view owner) {
  std::vector<std::string_view> names;
  for (const model::ResultField& each : kind.results) names.push_back(each.name);
  const std::string* part = name_at(path, at);
  if (names.empty())
    return base::fail(fmt::format("step '{}' is of kind '{}', which has no results", owner, kind.name));
  if (part == nullptr) {
    return base::fail(fmt::format("'{}' is a step; name one of its results: {}", owner, quoted_list(names, "or")));
  }
  const auto found = std::ranges::find(kind.results, *part, &model::ResultField::name);
  if (found == kind.results.end()) {
    const std::string hint = base::did_you_mean(*part, names);
    return base::fail(fmt::format("step '{}' has no result '{}'{}", owner, *part,
                                  hint.empty() ? "; it has " + quoted_list(names, "and") : hint));
  }
  const std::size_t rest = path.size() - at - 1;
  if (found->type == model::FieldType::kTextMap) {
    if (rest == 1 && name_at(path, at + 1) != nullptr) return Slot{};
    return base::fail(
        fmt::format("'{0}' is followed by one name, such as {0}.location or {0}[\"content-type\"]", *part));
  }
  if (found->type != model::FieldType::kTree && rest > 0) {
    return base::fail(fmt::format("'{}' is a plain value; nothing stands under it", *part));
  }
  return Slot{};
}

base::Expected<Slot> NameScope::environment(const Path& path) {
  const std::string* name = name_at(path, 1);
  if (name == nullptr || path.size() != 2) return base::fail("'env' is followed by one name, such as env.BASE");
  if (!context_.environment.contains(*name) && !defaults_) return base::fail(context_.not_set(*name));
  context_.named_environment.insert(*name);
  return Slot{};
}

base::Expected<Slot> NameScope::data(const Path& path) {
  const std::string* source = name_at(path, 1);
  const std::string* column = name_at(path, 2);
  if (source == nullptr) return base::fail("'data' is followed by the name of a data source, such as data.users.name");
  const auto found = data_.find(*source);
  if (found == data_.end()) {
    std::vector<std::string_view> names;
    for (const auto& [name, columns] : data_) names.push_back(name);
    const std::string hint = base::did_you_mean(*source, names);
    return base::fail(
        fmt::format("there is no data '{}'{}", *source, hint.empty() ? "; name its file under `data:`" : hint));
  }
  if (column == nullptr) return base::fail(fmt::format("'data.{0}' is a row; name a column: data.{0}.name", *source));
  if (!found->second) return Slot{};
  const std::vector<std::string>& columns = *found->second;
  if (std::ranges::find(columns, *column) != columns.end()) return Slot{};
  if (columns.size() == 1 && columns.front().find_first_of(";|\t") != std::string::npos) {
    const char delimiter = columns.front()[columns.front().find_first_of(";|\t")];
    return base::fail(
        fmt::format("data '{}' has no column '{}'; its header is '{}': if '{}' separates its columns, add "
                    "`delimiter: \"{}\"`",
                    *source, *column, columns.front(), delimiter == '\t' ? "a tab" : std::string(1, delimiter),
                    delimiter == '\t' ? "\\t" : std::string(1, delimiter)));
  }
  const std::string hint = base::did_you_mean(*column, columns);
  return base::fail(
      fmt::format("data '{}' has no column '{}'{}", *source, *column,
                  hint.empty() ? "; it has " + quoted_list({columns.begin(), columns.end()}, "and") : hint));
}

base::Expected<Slot> NameScope::virtual_user(const Path& path) {
  const std::string* part = name_at(path, 1);
  if (path.size() == 2 && part != nullptr && (*part == "id" || *part == "iteration")) return Slot{};
  return base::fail("'vu' has 'id' and 'iteration': write vu.id or vu.iteration");
}

bool NameScope::dropped(const Name& name) const {
  return resets_ && name.step == nullptr && name.section == Section::kStart && section_ != Section::kStart;
}

std::string NameScope::why_hidden(std::string_view text, const Name& name) const {
  if (dropped(name)) {
    return fmt::format(
        "'{}' is given by `start`, and `reset: iteration` drops it after the first iteration; save it in "
        "`steps`, or leave `reset` out",
        text);
  }
  const std::string what = name.step != nullptr
                               ? fmt::format("step '{}'", text)
                               : fmt::format("'{}' is given by step '{}', which", text, name.saver->name);
  if (name.section != section_) {
    const std::string_view where = section_key(name.section);
    if (name.section == Section::kStart && name.step != nullptr) {
      return fmt::format("{} runs in 'start'; only what it saves stays: give it `save:`", what);
    }
    return fmt::format("{} runs in '{}', so it cannot be seen in '{}'", what, where, section_key(section_));
  }
  if (name.other_branch) {
    return fmt::format("{} runs in another branch, so it may not have finished here", what);
  }
  if (graph_) return fmt::format("{} may not have finished here; wait for it with `after:`", what);
  return fmt::format("{} has not finished here; only earlier steps can be named", what);
}

const model::Workflow* NameScope::owner_of(std::string_view name) const {
  const model::Workflow* owner = nullptr;
  for (const model::Workflow& workflow : job_.workflows) {
    for (const auto* steps : {&workflow.start, &workflow.steps, &workflow.stop}) {
      each_step(*steps, [&](const model::Step& step) {
        if (step.named && step.name == name) owner = &workflow;
      });
    }
  }
  return owner;
}

std::string NameScope::advice(const std::string& name) const {
  if (data_.contains(name)) return fmt::format("; rows of data are under 'data': write data.{}.…", name);
  if (own_ != nullptr && !own_->results.empty() &&
      (name == "response" || name == "res" || name == "resp" || name == "result")) {
    return fmt::format("; checks name the results of their step directly: {} …", own_->results.front().name);
  }
  if (const Function* function = find_function(name); function != nullptr && function->least == 0) {
    return fmt::format("; to call the function write {}()", name);
  }
  for (const auto& [text, each] : names_) {
    const bool odd = each.step != nullptr && each.step->named && !writable(text);
    if (!odd || !text.starts_with(name) || text.size() == name.size()) continue;
    std::string better = text;
    std::ranges::replace_if(better, [](char c) { return !name_character(c); }, '_');
    return fmt::format("; step '{}' cannot be named in an expression because of the {}; call it {}", text,
                       text[name.size()] == ' ' ? std::string("space") : fmt::format("'{}'", text[name.size()]),
                       better);
  }
  for (const auto& [text, each] : names_) {
    if (each.step_visible <= 0 || !writable(text)) continue;
    const auto& results = context_.languages.kinds.find(each.step->kind)->results;
    if (std::ranges::find(results, name, &model::ResultField::name) == results.end()) continue;
    return fmt::format("; write whose it is: {}.{}", text, name);
  }
  if (const model::Workflow* owner = owner_of(name)) {
    return fmt::format(
        "; step '{}' belongs to workflow '{}': what it saves gets here by `provide:` there and `use:` "
        "here",
        name, owner->name);
  }
  return {};
}

std::string NameScope::unknown(const std::string& name) const {
  if (const std::string likely = advice(name); !likely.empty()) return fmt::format("unknown name '{}'{}", name, likely);
  std::vector<std::string_view> known(kAlways.begin(), kAlways.end());
  if (own_ != nullptr) {
    for (const model::ResultField& each : own_->results) known.push_back(each.name);
  }
  for (const auto& [text, each] : names_) {
    if ((each.value_visible > 0 || each.step_visible > 0) && writable(text)) known.push_back(text);
  }
  // Nobody meant one of thousands, and looking would take long.
  constexpr std::size_t kMostCandidates = 2'000;
  if (known.size() > kMostCandidates) known.clear();
  std::ranges::sort(known);
  return fmt::format("unknown name '{}'{}", name, base::did_you_mean(name, known));
}

}  // namespace muster::authoring
