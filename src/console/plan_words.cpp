#include "console/plan_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <optional>

#include "base/letter_case.h"
#include "base/units.h"
#include "protocol/credentials.h"
#include "report/figures.h"

namespace muster::console {
namespace {

using model::FieldType;

std::string vus(double number) {
  return counted(static_cast<std::uint64_t>(number), "VU", "VUs");
}

std::string per_second(double rate) {
  return report::plain_number(rate) + "/s";
}

// "from 0 to 100 VUs over 1m, 100 VUs for 5m, …"; a stage that leaves things as they are is a hold. `what` stands
// before a quantity that comes first.
template <class Say>
std::string stages_in_words(std::string_view what, double at, const std::vector<model::Stage>& stages, Say say) {
  std::string words;
  for (const model::Stage& stage : stages) {
    const bool same = std::abs(stage.to - at) < 1e-9;
    std::string part;
    if (stage.over <= base::Duration::zero()) {
      part = same ? "" : fmt::format("at once {}", say(stage.to));
    } else if (same) {
      part = fmt::format("{} for {}", say(stage.to), spelled(stage.over));
    } else {
      part = fmt::format("{} to {} over {}", report::plain_number(at), say(stage.to), spelled(stage.over));
    }
    if (!part.empty()) words += (words.empty() ? "" : ", then ") + part;
    at = stage.to;
  }
  // "arrivals at 5/s for 1m", but "arrivals at once 5/s".
  if (!what.empty())
    words.insert(0, words.starts_with("at once ") ? fmt::format("{} ", what) : fmt::format("{} at ", what));
  return words;
}

std::string within(const engine::LoadShape& shape) {
  return shape.length() == base::Duration::max() ? "" : fmt::format(", for at most {}", spelled(shape.length()));
}

std::string shape_in_words(const model::Load& load, const engine::LoadShape& shape) {
  if (load.shape == "constant-vus")
    return fmt::format("{} for {}", vus(static_cast<double>(load.vus)), spelled(load.length));
  if (load.shape == "ramping-vus") return stages_in_words("", 0, load.stages, vus);
  if (load.shape == "shared-iterations") {
    return fmt::format("{} in all, shared by {}{}", counted(load.iterations, "iteration", "iterations"),
                       vus(static_cast<double>(shape.peak_vus())), within(shape));
  }
  if (load.shape == "iterations-each") {
    return fmt::format("{} by each of {}{}", counted(load.iterations, "iteration", "iterations"),
                       vus(static_cast<double>(load.vus)), within(shape));
  }
  if (load.shape == "constant-arrivals") {
    return fmt::format("arrivals at {} for {}", per_second(load.rate), spelled(load.length));
  }
  if (load.shape == "ramping-arrivals") return stages_in_words("arrivals", load.rate, load.stages, per_second);
  // One that was registered from outside: what every shape can tell.
  const std::string time = shape.length() == base::Duration::max() ? "" : " for " + spelled(shape.length());
  return fmt::format("{}: up to {}{}", load.shape, vus(static_cast<double>(shape.peak_vus())), time);
}

// As one would write it; nothing for what takes more than a few words.
std::optional<std::string> value_in_words(const model::Field& field, const model::Tree& tree) {
  const std::int64_t* integer = tree.integer();
  switch (field.type) {
    case FieldType::kDuration:
      if (integer != nullptr) return spelled(base::Duration(*integer));
      break;
    case FieldType::kSize:
      if (integer != nullptr) return base::format_size(static_cast<std::uint64_t>(*integer));
      break;
    case FieldType::kDurationRange:
    case FieldType::kRanges: {
      if (tree.list() == nullptr) break;
      const auto end = [&](const model::Tree& each) {
        const std::int64_t value = each.integer() != nullptr ? *each.integer() : 0;
        return field.type == FieldType::kRanges ? fmt::to_string(value) : spelled(base::Duration(value));
      };
      const auto pair = [&](const model::TreeList& ends) {
        if (ends.size() != 2) return std::string();
        const std::string from = end(ends[0]);
        const std::string to = end(ends[1]);
        return from == to ? from : from + ".." + to;
      };
      if (field.type == FieldType::kDurationRange) return pair(*tree.list());
      std::string all;
      for (const model::Tree& range : *tree.list()) {
        if (range.list() != nullptr) all += (all.empty() ? "" : ", ") + pair(*range.list());
      }
      return all;
    }
    case FieldType::kExpressionMap: {
      std::string names;
      if (tree.map() == nullptr) break;
      for (const auto& [name, value] : *tree.map()) names += (names.empty() ? "" : ", ") + name;
      return names;
    }
    default:
      if (integer != nullptr) return fmt::to_string(*integer);
      if (tree.boolean() != nullptr) return *tree.boolean() ? "true" : "false";
      if (tree.number() != nullptr) return report::plain_number(*tree.number());
      if (tree.text() != nullptr) return *tree.text();
  }
  return std::nullopt;
}

// The short form whose field the step has: `post`, for http with method POST.
const model::Shorthand* shorthand_of(const model::Step& step, const model::StepKind& kind) {
  for (const model::Shorthand& each : kind.shorthands) {
    const model::Tree* tree = step.field(each.field);
    if (tree != nullptr && tree->text() != nullptr && base::equal_ignoring_case(*tree->text(), each.value))
      return &each;
  }
  return nullptr;
}

bool holds_steps(const model::Field& field) {
  return field.type == FieldType::kSteps || field.type == FieldType::kBranches;
}

// Those that the user gave, but for what step_action() tells already. Long ones by their name alone.
void append_fields(std::vector<std::string>& details, const model::Step& step, const model::StepKind& kind) {
  const model::Shorthand* shorthand = shorthand_of(step, kind);
  for (const model::Field& field : kind.fields) {
    const model::Tree* tree = step.field(field.name);
    const bool given = tree != nullptr && tree->where.line > 0;
    if (!given || field.name == kind.primary || holds_steps(field)) continue;
    if (shorthand != nullptr && field.name == shorthand->field) continue;
    const bool brief = field.type != FieldType::kText && field.type != FieldType::kPath;
    const auto value = brief ? value_in_words(field, *tree) : std::nullopt;
    details.push_back(value ? fmt::format("{} {}", field.name, *value) : std::string(field.name));
  }
}

}  // namespace

std::string spelled(base::Duration duration) {
  struct Unit {
    std::int64_t ns;
    std::string_view name;
  };
  constexpr std::array<Unit, 6> kUnits = {{{3'600'000'000'000, "h"},
                                           {60'000'000'000, "m"},
                                           {1'000'000'000, "s"},
                                           {1'000'000, "ms"},
                                           {1'000, "us"},
                                           {1, "ns"}}};
  std::string text;
  std::int64_t left = std::max<std::int64_t>(duration.count(), 0);
  for (const Unit& unit : kUnits) {
    if (left / unit.ns > 0) text += fmt::format("{}{}", left / unit.ns, unit.name);
    left %= unit.ns;
  }
  return text.empty() ? "0s" : text;
}

std::string counted(std::uint64_t number, std::string_view singular, std::string_view plural) {
  return fmt::format("{} {}", report::grouped(number), number == 1 ? singular : plural);
}

std::vector<std::string> secret_names(const model::Job& job) {
  std::vector<std::string> names;
  for (const auto& [name, value] : job.secrets) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

std::vector<std::string> load_words(const model::Load& load, const engine::LoadShape& shape) {
  std::vector<std::string> words{shape_in_words(load, shape)};
  if (shape.open()) {
    words.push_back(load.spacing == model::Spacing::kPoisson ? "at random distances (Poisson)" : "evenly spaced");
    words.push_back(fmt::format("at most {} at once", vus(static_cast<double>(shape.peak_vus()))));
    words.push_back(load.late == model::LatePolicy::kDrop ? "an arrival without a free VU is dropped"
                                                          : "an arrival without a free VU waits");
  }
  if (load.every) words.push_back(fmt::format("an iteration at most every {}", spelled(*load.every)));
  if (load.warm_up > base::Duration::zero()) {
    words.push_back(fmt::format("the first {} not counted", spelled(load.warm_up)));
  }
  words.push_back(fmt::format("at the end {} for what is under way", spelled(load.grace)));
  return words;
}

std::string step_action(const model::Step& step, const model::StepKinds& kinds) {
  const model::StepKind* kind = kinds.find(step.kind);
  if (kind == nullptr) return step.kind;
  std::string action(kind->name);
  if (const model::Shorthand* shorthand = shorthand_of(step, *kind)) {
    action = shorthand->value;
    for (char& each : action) each = static_cast<char>(std::toupper(static_cast<unsigned char>(each)));
  }
  const model::Field* field = kind->field(kind->primary);
  const model::Tree* tree = field != nullptr ? step.field(field->name) : nullptr;
  if (tree == nullptr || holds_steps(*field)) return action;
  if (const auto value = value_in_words(*field, *tree)) action += " " + protocol::without_credentials(*value);
  return action;
}

std::vector<std::string> step_details(const model::Step& step, const model::StepKinds& kinds) {
  std::vector<std::string> details;
  if (!step.target.empty()) details.push_back("on " + step.target);
  if (const model::StepKind* kind = kinds.find(step.kind)) append_fields(details, step, *kind);
  if (!step.after.empty()) details.push_back(fmt::format("after {}", fmt::join(step.after, ", ")));
  if (!step.checks.empty()) details.push_back(counted(step.checks.size(), "check", "checks"));
  std::string saved;
  for (const model::Save& save : step.saves) saved += (saved.empty() ? "" : ", ") + save.name;
  if (!saved.empty()) details.push_back("saves " + saved);
  return details;
}

std::string branch_label(const model::Step& step, const model::Branch& branch) {
  if (step.kind == "if") return branch.label;
  if (step.kind != "choose") return {};
  double sum = 0;
  for (const model::Branch& each : step.branches) sum += each.weight;
  return sum > 0 ? report::plain_number(branch.weight / sum * 100) + "%" : std::string();
}

}  // namespace muster::console
