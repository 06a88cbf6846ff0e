#include <fmt/format.h>

#include <unordered_map>

#include "authoring/loader_steps.h"
#include "base/letter_case.h"
#include "protocol/credentials.h"

namespace muster::authoring {
namespace {

constexpr std::size_t kLongestMadeUp = 80;

const std::string* primary_text(const model::StepKind& kind, const model::Step& step) {
  const model::Tree* tree = step.field(kind.primary);
  return tree == nullptr ? nullptr : tree->text();
}

// "GET /cart" for a test step, without credentials of the address; the text itself for a transaction, the kind
// otherwise.
std::string made_up(const model::StepKind& kind, const model::Step& step) {
  const std::string* text = primary_text(kind, step);
  const model::Field* primary = kind.field(kind.primary);
  if (text == nullptr || primary->type != model::FieldType::kText) return std::string(kind.name);
  if (kind.role == model::StepRole::kControl) return *text;
  if (kind.role != model::StepRole::kTest) return std::string(kind.name);
  std::string name(kind.name);
  if (!kind.shorthands.empty()) {
    const model::Tree* field = step.field(kind.shorthands.front().field);
    if (field != nullptr && field->text() != nullptr) name = base::upper(*field->text());
  }
  name += ' ';
  name += protocol::without_credentials(*text).substr(0, kLongestMadeUp);
  return name;
}

}  // namespace

void name_steps(LoaderContext& context, model::Workflow& workflow) {
  std::unordered_map<std::string, std::uint32_t> taken;  // name → line
  const auto claim = [&](model::Step& step) {
    if (!step.named) return;
    const auto [found, fresh] = taken.emplace(step.name, step.where.line);
    if (fresh) return;
    context.report(context.places(step).name,
                   fmt::format("step '{}' is there twice in workflow '{}', first on line {}; each needs a name of its "
                               "own",
                               step.name, workflow.name, found->second));
  };
  std::unordered_map<std::string, std::size_t> numbers;  // made-up name → how many have it
  const auto invent = [&](model::Step& step) {
    if (step.named) return;
    const model::StepKind* kind = context.languages.kinds.find(step.kind);
    const std::string first = made_up(*kind, step);
    const bool counted = first == kind->name;
    for (std::size_t& number = numbers[first];;) {
      ++number;
      step.name = counted || number > 1 ? fmt::format("{}-{}", first, number) : first;
      if (taken.emplace(step.name, step.where.line).second) break;
    }
  };
  for (auto* steps : {&workflow.start, &workflow.steps, &workflow.stop}) each_step(*steps, claim);
  for (auto* steps : {&workflow.start, &workflow.steps, &workflow.stop}) each_step(*steps, invent);
}

}  // namespace muster::authoring
