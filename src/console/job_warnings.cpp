#include "console/job_warnings.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "base/closest.h"
#include "model/threshold_reach.h"

namespace muster::console {
namespace {

// A bare 1 where a share is asked for is 100 %, and often meant as one in a hundred.
void about_share(const model::Threshold& threshold, std::vector<std::string>& warnings) {
  if (!model::is_share(threshold.metric, threshold.aggregate) || threshold.bound < 1) return;
  const std::size_t end = threshold.text.find_last_not_of(' ');
  if (end == std::string::npos || threshold.text[end] == '%') return;
  warnings.push_back(
      fmt::format("the threshold `{}` compares with 100 %: a bare 1 is the whole; write `1%` if one in a hundred is "
                  "meant, else `100%`",
                  threshold.text));
}

struct Word {
  std::string_view word;
  std::string_view shorter;  // how it is written by those who leave its ending out
  bool alone;                // nothing follows it
  std::string_view does;
};

constexpr std::array<Word, 3> kWords{{{"exists", "exist", true, "asks whether there is a value"},
                                      {"contains", "contain", false, "looks for a part of it"},
                                      {"matches", "match", false, "takes a regular expression"}}};

// `json.items: exist` is allowed, and compares with a text that is hardly meant.
void about_check(const model::Check& check, std::vector<std::string>& warnings) {
  constexpr std::string_view kNot = "not ";
  std::string_view text = check.condition.text;
  if (check.subject.text.empty()) return;
  if (text.starts_with(kNot)) text.remove_prefix(kNot.size());
  const std::string_view first = text.substr(0, text.find(' '));
  for (const Word& each : kWords) {
    const bool alone = first.size() == text.size();
    const bool slip = first == each.shorter || base::one_slip_apart(first, each.word);
    if (alone != each.alone || first == each.word || !slip) continue;
    warnings.push_back(fmt::format("the check `{}: {}`: '{}' is compared as text; '{}' {}", check.subject.text,
                                   check.condition.text, check.condition.text, each.word, each.does));
  }
}

void about_steps(const std::vector<model::Step>& steps, std::vector<std::string>& warnings) {
  for (const model::Step& step : steps) {
    for (const model::Check& check : step.checks) about_check(check, warnings);
    for (const model::Branch& branch : step.branches) about_steps(branch.steps, warnings);
  }
}

}  // namespace

std::string datacenters_warning(const model::Job& job) {
  if (job.datacenters.empty()) return {};
  return "`datacenters` has no effect on one machine: all of the load comes from here";
}

std::vector<std::string> job_warnings(const model::Job& job) {
  std::vector<std::string> warnings;
  if (std::string text = datacenters_warning(job); !text.empty()) warnings.push_back(std::move(text));
  for (const model::Threshold& threshold : job.thresholds) about_share(threshold, warnings);
  for (const model::Workflow& workflow : job.workflows) {
    for (const auto* steps : {&workflow.start, &workflow.steps, &workflow.stop}) about_steps(*steps, warnings);
  }
  return warnings;
}

}  // namespace muster::console
