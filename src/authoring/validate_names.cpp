#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <span>
#include <unordered_map>

#include "authoring/expression.h"
#include "authoring/feeder.h"
#include "authoring/holes.h"
#include "authoring/loader_steps.h"
#include "authoring/validate.h"
#include "authoring/validate_scope.h"
#include "authoring/value_text.h"
#include "base/characters.h"
#include "base/units.h"

namespace muster::authoring {
namespace {

using model::FieldType;
using model::Step;
using model::StepKind;

DataColumns read_columns(LoaderContext& context, const model::Job& job) {
  DataColumns columns;
  for (const model::DataSource& source : job.data) {
    auto& found = columns[source.name];
    if (!context.input.read_file) continue;
    const auto text = context.input.read_file(source.path);
    if (!text) {
      context.report(source.where, fmt::format("cannot read '{}': {}", source.path, text.error().message));
      continue;
    }
    const auto feeder = source.format == "json" ? Feeder::from_json(*text, source.path)
                                                : Feeder::from_csv(*text, source.path, source.delimiter.front());
    if (feeder) {
      found = feeder->columns();
    } else {
      context.report(source.where, feeder.error().message);
    }
  }
  return columns;
}

// Goes through a workflow in the order in which its steps run, and compiles what each one holds.
class Walker {
 public:
  Walker(LoaderContext& context, const DataColumns& data, const model::Job& job)
      : context_(context), scope_(context, data, job) {}

  void workflow(const model::Workflow& workflow) {
    scope_.enter(&workflow);
    check_names(workflow);
    for (const model::Tag& tag : workflow.tags) template_text(tag.value);
    section(workflow.start, Section::kStart);
    hide_steps(workflow.start);
    const bool resets = workflow.reset == model::Reset::kIteration;
    if (resets) change_values(workflow.start, -1);
    if (workflow.graph) {
      graph(workflow);
    } else {
      section(workflow.steps, Section::kSteps);
    }
    // What `start` saved is handed on when it ends, before anything drops it.
    if (resets) change_values(workflow.start, 1);
    for (const model::Provide& provide : workflow.provides) expression(provide.from);
    if (resets) change_values(workflow.start, -1);
    hide_steps(workflow.steps);
    change_values(workflow.steps, -1);
    section(workflow.stop, Section::kStop);
  }

  void job(const model::Job& job) {
    scope_.enter(nullptr);
    for (const model::Tag& tag : job.tags) template_text(tag.value);
    for (const model::Target& target : job.targets) {
      const StepKind* kind = context_.languages.kinds.find(target.kind);
      if (kind == nullptr) continue;
      for (const model::Field& field : kind->target_fields) {
        const auto found = std::ranges::find(target.options, field.name, [](const auto& each) { return each.first; });
        if (field.holes && found != target.options.end()) texts(found->second);
      }
    }
  }

 private:
  void section(const std::vector<Step>& steps, Section which) {
    scope_.set_section(which);
    sequence(steps);
  }

  void sequence(const std::vector<Step>& steps) {
    for (const Step& step : steps) {
      if (context_.reporter.full()) return;
      visit(step);
      show(step, 1);
    }
  }

  void graph(const model::Workflow& workflow) {
    scope_.set_section(Section::kSteps);
    const auto before = ancestors(workflow, context_.limits);
    if (before.empty()) return;
    const auto change_all = [&](std::size_t index, int change) {
      each_step(std::span(&workflow.steps[index], 1), [&](const Step& step) { show(step, change); });
    };
    std::vector<std::size_t> shown;
    std::vector<std::size_t> all(workflow.steps.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    // Neighbours wait for much the same steps: only the difference is shown and hidden.
    const auto show_only = [&](const std::vector<std::size_t>& wanted) {
      std::vector<std::size_t> changed;
      std::ranges::set_difference(shown, wanted, std::back_inserter(changed));
      for (const std::size_t each : changed) change_all(each, -1);
      changed.clear();
      std::ranges::set_difference(wanted, shown, std::back_inserter(changed));
      for (const std::size_t each : changed) change_all(each, 1);
      shown = wanted;
    };
    for (std::size_t i = 0; i < workflow.steps.size(); ++i) {
      show_only(before[i]);
      visit(workflow.steps[i]);
      hide_within(workflow.steps[i]);
    }
    show_only(all);
  }

  void visit(const Step& step) {
    const StepKind& kind = *context_.languages.kinds.find(step.kind);
    for (const model::Tag& tag : step.tags) template_text(tag.value);
    // A condition that is the kind's main field is judged before the steps within; any other one may be judged after
    // them, as the end of a loop is.
    for (const model::Field& field : kind.fields) {
      if (late(kind, field, step)) continue;
      if (const model::Tree* tree = step.field(field.name)) read(field, *tree);
    }
    branches(step);
    for (const model::Field& field : kind.fields) {
      if (!late(kind, field, step)) continue;
      if (const model::Tree* tree = step.field(field.name)) read(field, *tree);
    }
    own_parts(step, kind);
  }

  static bool late(const StepKind& kind, const model::Field& field, const Step& step) {
    return field.type == FieldType::kExpression && field.name != kind.primary && !step.branches.empty();
  }

  void branches(const Step& step) {
    for (const model::Branch& branch : step.branches) {
      sequence(branch.steps);
      change_branch(branch, -1, true);
    }
    for (const model::Branch& branch : step.branches) change_branch(branch, 1, false);
  }

  void change_branch(const model::Branch& branch, int change, bool elsewhere) {
    each_step(branch.steps, [&](const Step& step) {
      show(step, change);
      scope_.mark_branch(step.name, elsewhere);
      each_value(step, [&](const std::string& name, const auto&) { scope_.mark_branch(name, elsewhere); });
    });
  }

  void own_parts(const Step& step, const StepKind& kind) {
    scope_.set_own(&kind);
    for (const model::Check& check : step.checks) {
      if (this->check(check)) check_possible(check, kind);
    }
    for (const model::Save& save : step.saves) expression(save.value);
    scope_.set_own(nullptr);
  }

  // The values that the step gives names to, each with its place.
  template <class Visit>
  void each_value(const Step& step, const Visit& visit) {
    for (const model::Save& save : step.saves) visit(save.name, save.value.where);
    const StepKind& kind = *context_.languages.kinds.find(step.kind);
    for (const model::Field& field : kind.fields) {
      if (field.type != FieldType::kExpressionMap) continue;
      const model::Tree* tree = step.field(field.name);
      if (tree == nullptr || tree->map() == nullptr) continue;
      for (const auto& entry : *tree->map()) visit(entry.first, entry.second.where);
    }
  }

  void show(const Step& step, int change) {
    scope_.show_step(step.name, change);
    each_value(step, [&](const std::string& name, const auto&) { scope_.show_value(name, change); });
  }

  void hide_steps(const std::vector<Step>& steps) {
    each_step(steps, [&](const Step& step) { scope_.show_step(step.name, -1); });
  }
  void change_values(const std::vector<Step>& steps, int change) {
    each_step(steps, [&](const Step& step) {
      each_value(step, [&](const std::string& name, const auto&) { scope_.show_value(name, change); });
    });
  }
  void hide_within(const Step& step) {
    for (const model::Branch& branch : step.branches) change_branch(branch, -1, false);
  }

  void read(const model::Field& field, const model::Tree& tree) {
    if (field.type == FieldType::kExpression && tree.text() != nullptr) {
      expression({*tree.text(), tree.where});
    } else if (field.type == FieldType::kExpressionMap && tree.map() != nullptr) {
      // They are given in written order, so that a later one may mention those before it.
      for (const auto& [name, value] : *tree.map()) {
        if (value.text() != nullptr) named_expression({*value.text(), value.where});
        scope_.show_value(name, 1);
      }
      for (const auto& entry : *tree.map()) scope_.show_value(entry.first, -1);
    } else if (field.holes) {
      texts(tree);
    }
  }

  void texts(const model::Tree& tree) {
    if (const std::string* text = tree.text()) template_text({*text, tree.where});
    if (const model::TreeList* list = tree.list()) {
      for (const model::Tree& each : *list) texts(each);
    }
    if (const model::TreeMap* map = tree.map()) {
      for (const auto& entry : *map) texts(entry.second);
    }
  }

  void template_text(const model::Text& text) {
    if (context_.reporter.full()) return;
    if (mustache(text) || text.text.find("${") == std::string::npos) return;
    scope_.set_text(text.text);
    const auto pieces = split_holes(text.text);
    if (!pieces) return context_.reporter.report_inside(text, pieces.error().offset, pieces.error().message);
    for (const TextPiece& piece : *pieces) {
      if (!piece.hole) continue;
      const auto compiled = Expression::compile(piece.text, scope_);
      if (compiled) continue;
      context_.reporter.report_inside(text, piece.offset + compiled.error().offset, compiled.error().message);
    }
  }

  // {{ name }}: how other tools mark what is filled in. True: reported.
  bool mustache(const model::Text& text) {
    const std::size_t open = text.text.find("{{");
    const std::size_t close = text.text.find("}}", open);
    if (open == std::string::npos || close == std::string::npos) return false;
    std::string_view inside = std::string_view(text.text).substr(open + 2, close - open - 2);
    while (inside.starts_with(' ')) inside.remove_prefix(1);
    while (inside.ends_with(' ')) inside.remove_suffix(1);
    const bool name = !inside.empty() && std::ranges::all_of(inside, [](char c) {
      return base::is_letter_or_digit(c) || c == '_' || c == '.';
    });
    if (!name) return false;
    const bool dollar = open > 0 && text.text[open - 1] == '$';
    context_.reporter.report_inside(text, dollar ? open - 1 : open,
                                    fmt::format("what is filled in stands in ${{…}} here: write ${{{}}}", inside));
    return true;
  }

  void named_expression(const model::Text& text) {
    if (text.text.find("${") != std::string::npos) return template_text(text);
    expression(text, fmt::format("; for the text itself write \"'{}'\"", text.text));
  }

  // Nothing if it is wrong, which is reported.
  std::optional<Expression> expression(const model::Text& text, const std::string& advice = {}) {
    if (context_.reporter.full()) return std::nullopt;
    scope_.set_text(text.text);
    auto compiled = Expression::compile(text.text, scope_);
    if (compiled) return std::move(*compiled);
    const bool name = !advice.empty() && compiled.error().message.starts_with("unknown name") &&
                      compiled.error().message.find("did you mean") == std::string::npos;
    context_.reporter.report_inside(text, compiled.error().offset, compiled.error().message + (name ? advice : ""));
    return std::nullopt;
  }

  // False: reported, or there is no condition of its own to look at.
  bool check(const model::Check& check) {
    if (check.subject.text.empty()) {
      if (const auto whole = expression(check.condition)) check_reads(check.condition, *whole);
      return false;
    }
    scope_.set_text(check.subject.text + " " + check.condition.text);
    const auto compiled = Expression::compile_check(check.subject.text, check.condition.text, scope_);
    if (compiled) return true;
    // The subject alone tells whose fault it is.
    const auto subject = Expression::compile(check.subject.text, scope_);
    const model::Text& place = subject ? check.condition : check.subject;
    context_.reporter.report_inside(place, compiled.error().offset, compiled.error().message);
    return false;
  }

  // A check without a path that reads nothing is the same whatever the answer is.
  void check_reads(const model::Text& text, const Expression& check) {
    if (!check.constant()) return;
    const std::string meant = number_of(text.text).missing()
                                  ? "let it read something, such as `status == 200`"
                                  : fmt::format("for the status write `check: {{ status: {} }}`", text.text);
    context_.report(text.where, fmt::format("this check is the same whatever the answer is; {}", meant));
  }

  // Conditions that no response can meet, because of the type of what they look at.
  void check_possible(const model::Check& check, const StepKind& kind) {
    const auto result = std::ranges::find(kind.results, check.subject.text, &model::ResultField::name);
    if (result == kind.results.end() || check.condition.text.find("${") != std::string::npos) return;
    std::string_view text = check.condition.text;
    const std::size_t operand = text.find_first_not_of("<>=! ");
    const bool compares = operand != 0 && operand != std::string_view::npos;
    if (compares) text.remove_prefix(operand);
    constexpr std::array<std::string_view, 5> kWords{"exists", "not", "in", "contains", "matches"};
    const std::string_view word = text.substr(0, text.find_first_of(" ["));
    if (std::ranges::find(kWords, word) != kWords.end()) return;
    if (result->type == FieldType::kDuration) return time_possible(check, text, compares);
    if (result->type != FieldType::kInteger || compares || !number_of(text).missing()) return;
    context_.report(
        check.condition.where,
        fmt::format("'{0}' is a number and can never be '{1}'; write a number, a list such as [200, 204], or "
                    "a comparison such as \"< 300\"",
                    result->name, text));
  }

  // `limit` is the condition without its comparison.
  void time_possible(const model::Check& check, std::string_view limit, bool compares) {
    const std::string& name = check.subject.text;
    const model::Value number = number_of(limit);
    if (!number.missing() && number.number() != 0) {
      const std::string_view less = compares ? "" : "< ";
      return context_.report(
          check.condition.where,
          fmt::format("'{0}' is a time, and a time needs a unit: write {1}{2}ms or {1}{2}s", name, less, limit));
    }
    if (compares) return;
    const auto time = base::parse_duration(limit);
    context_.report(
        check.condition.where,
        time && *time > base::Duration::zero()
            ? fmt::format("'{0}' is hardly ever exactly {1}; write a comparison such as \"< {1}\"", name, limit)
            : fmt::format("'{}' is a time and can never be '{}'; write a comparison such as \"< 300ms\"", name, limit));
  }

  // Names that mean two things.
  void check_names(const model::Workflow& workflow) {
    std::unordered_map<std::string_view, const Step*> steps;
    const auto add = [&](const Step& step) {
      steps.emplace(step.name, &step);
      if (!step.named || !NameScope::reserved(step.name)) return;
      context_.report(context_.places(step).name,
                      fmt::format("'{}' is a name of muster's own; call this step something else", step.name));
    };
    const auto compare = [&](const Step& step) {
      each_value(step, [&](const std::string& name, const model::Where& place) {
        if (NameScope::reserved(name)) {
          context_.report(place, fmt::format("'{}' is a name of muster's own; choose another for what this step "
                                             "saves",
                                             name));
        } else if (const auto found = steps.find(name); found != steps.end()) {
          context_.report(place, fmt::format("this step saves '{}', which is also the name of the step on line {}; "
                                             "choose another",
                                             name, found->second->where.line));
        }
      });
    };
    for (const auto* list : {&workflow.start, &workflow.steps, &workflow.stop}) each_step(*list, add);
    for (const auto* list : {&workflow.start, &workflow.steps, &workflow.stop}) each_step(*list, compare);
    for (const model::Use& use : workflow.uses) {
      if (NameScope::reserved(use.key)) {
        context_.report(use.where, fmt::format("'{}' is a name of muster's own; choose another", use.key));
      }
    }
  }

  LoaderContext& context_;
  NameScope scope_;
};

}  // namespace

void validate_names(LoaderContext& context, const model::Job& job) {
  const DataColumns data = read_columns(context, job);
  Walker walker(context, data, job);
  walker.job(job);
  for (const model::Workflow& workflow : job.workflows) {
    if (context.reporter.full()) return;
    walker.workflow(workflow);
  }
}

}  // namespace muster::authoring
