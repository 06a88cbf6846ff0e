#include <array>

#include "model/http_kind.h"
#include "model/step_kind.h"

namespace muster::model {
namespace {

constexpr double kDay = 86400.0;

void add_branching(StepKinds& kinds) {
  kinds.add(
      {.name = "parallel",
       .doc = "Runs its children at the same time, each on a connection of its own, and waits for all.",
       .role = StepRole::kControl,
       .fields =
           {{.name = "parallel", .type = FieldType::kBranches, .doc = "The steps to run at once.", .required = true}},
       .primary = "parallel",
       .example = "- parallel:\n    - { get: /a }\n    - { get: /b }\n"});
  kinds.add({.name = "if",
             .doc = "Runs one list of steps or the other.",
             .role = StepRole::kControl,
             .fields = {{.name = "if", .type = FieldType::kExpression, .doc = "Condition.", .required = true},
                        {.name = "then", .type = FieldType::kSteps, .doc = "Steps when it holds.", .required = true},
                        {.name = "else", .type = FieldType::kSteps, .doc = "Steps when it does not."}},
             .primary = "if",
             .inline_fields = true,
             .example = "- if: stock.value > 0\n  then: [ { post: /cart } ]\n"});
  kinds.add(
      {.name = "choose",
       .doc = "Runs one of several lists of steps, drawn by weight.",
       .role = StepRole::kControl,
       .fields =
           {{.name = "choose", .type = FieldType::kBranches, .doc = "A list of { weight, steps }.", .required = true}},
       .primary = "choose",
       .example = "- choose: [ { weight: 9, steps: [ { get: / } ] }, { weight: 1, steps: [ { get: /help } ] } ]\n"});
  kinds.add(
      {.name = "group",
       .doc = "A named transaction: its steps in order, with a latency of its own.",
       .role = StepRole::kControl,
       .fields = {{.name = "group", .type = FieldType::kText, .doc = "Name of the transaction.", .required = true},
                  {.name = "steps", .type = FieldType::kSteps, .doc = "Its steps.", .required = true}},
       .primary = "group",
       .inline_fields = true,
       .example = "- group: checkout\n  steps: [ { post: /cart }, { post: /pay } ]\n"});
}

void add_loops(StepKinds& kinds) {
  kinds.add({.name = "repeat",
             .doc = "Runs its steps several times.",
             .role = StepRole::kControl,
             .fields = {{.name = "times",
                         .type = FieldType::kInteger,
                         .doc = "How often; with `while`, at most so often.",
                         .unit = "times",
                         .min = 0,
                         .max = 1e9},
                        {.name = "while",
                         .type = FieldType::kExpression,
                         .doc = "Goes on as long as this holds; asked before each round, but if it names a step of the "
                                "loop, after the first."},
                        {.name = "steps", .type = FieldType::kSteps, .doc = "What to repeat.", .required = true}},
             .primary = "times",
             .inline_fields = true,
             .example = "- repeat: 3\n  steps: [ { get: /next } ]\n"});
  kinds.add({.name = "retry",
             .doc = "Runs its steps again until a condition holds or, without one, until none of them fails.",
             .role = StepRole::kControl,
             .fields = {{.name = "times",
                         .type = FieldType::kInteger,
                         .doc = "Tries in all.",
                         .fallback = "3",
                         .unit = "tries",
                         .min = 1,
                         .max = 1e6},
                        {.name = "until", .type = FieldType::kExpression, .doc = "Stops once this holds."},
                        {.name = "delay",
                         .type = FieldType::kDurationRange,
                         .doc = "Wait between tries.",
                         .fallback = "0s",
                         .unit = "time",
                         .min = 0,
                         .max = kDay},
                        {.name = "steps", .type = FieldType::kSteps, .doc = "What to try.", .required = true}},
             .primary = "times",
             .inline_fields = true,
             .example =
                 "- retry: { until: job.json.done, times: 5, delay: 200ms }\n  steps: [ { name: job, get: /job } ]\n"});
}

void add_actions(StepKinds& kinds) {
  kinds.add({.name = "think",
             .doc = "Waits, as a person would.",
             .role = StepRole::kAction,
             .fields = {{.name = "think",
                         .type = FieldType::kDurationRange,
                         .doc = "How long: a time, or a range drawn from evenly.",
                         .unit = "time",
                         .min = 0,
                         .max = kDay,
                         .required = true}},
             .primary = "think",
             .example = "- think: 1s..3s\n"});
  kinds.add({.name = "set",
             .doc = "Gives names to values, for later steps of this iteration.",
             .role = StepRole::kAction,
             .fields = {{.name = "set",
                         .type = FieldType::kExpressionMap,
                         .doc = "Name → expression, or text with ${…} holes.",
                         .required = true,
                         .holes = true}},
             .primary = "set",
             .example = "- set: { page: \"${random(1, 10)}\" }\n"});
  kinds.add(
      {.name = "log",
       .doc = "Writes a line of at most 4000 bytes to standard error, control characters escaped; at most 100 a second "
              "for each core, the rest are counted.",
       .role = StepRole::kAction,
       .fields = {{.name = "log", .type = FieldType::kText, .doc = "What to write.", .required = true, .holes = true}},
       .primary = "log",
       .example = "- log: \"order ${order.json.id}\"\n"});
  kinds.add({.name = "stop",
             .doc = "Ends this iteration, this VU or the whole workflow.",
             .role = StepRole::kAction,
             .fields = {{.name = "stop",
                         .type = FieldType::kChoice,
                         .doc = "What ends.",
                         .fallback = "iteration",
                         .choices = {"iteration", "vu", "workflow"}}},
             .primary = "stop",
             .example = "- stop: vu\n"});
  kinds.add(
      {.name = "metric",
       .doc = "Records a number of the user's own.",
       .role = StepRole::kMetric,
       .fields =
           {{.name = "metric", .type = FieldType::kText, .doc = "Name of the metric.", .required = true},
            {.name = "type",
             .type = FieldType::kChoice,
             .doc = "counter adds up, gauge keeps the last, rate is the share of true values, trend has percentiles.",
             .fallback = "trend",
             .choices = {"counter", "gauge", "rate", "trend"}},
            {.name = "value",
             .type = FieldType::kExpression,
             .doc = "The number, or true or false for a rate.",
             .required = true}},
       .primary = "metric",
       .inline_fields = true,
       .example = "- metric: basket\n  type: trend\n  value: cart.json.total\n"});
  kinds.add({.name = "check",
             .doc = "Asserts something about the context, outside any request.",
             .role = StepRole::kCheck,
             .primary = "check",
             .example = "- check: { total: \"> 0\" }\n"});
}

}  // namespace

std::string_view to_text(StepRole role) {
  constexpr std::array<std::string_view, 5> kNames = {"test", "check", "metric", "action", "control"};
  return kNames[static_cast<std::size_t>(role)];
}

StepKinds built_in_kinds() {
  StepKinds kinds;
  kinds.add(http_kind());
  add_branching(kinds);
  add_loops(kinds);
  add_actions(kinds);
  return kinds;
}

}  // namespace muster::model
