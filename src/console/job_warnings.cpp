#include "console/job_warnings.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string_view>

namespace muster::console {
namespace {

// A bare 1 where a share is asked for is 100 %, and often meant as one in a hundred.
void about_share(const model::Threshold& threshold, std::vector<std::string>& warnings) {
  const bool share = threshold.metric == "failed" || threshold.metric == "dropped" || threshold.metric == "checks";
  if (!share || threshold.aggregate != "rate" || threshold.bound < 1) return;
  const std::size_t end = threshold.text.find_last_not_of(' ');
  if (end == std::string::npos || threshold.text[end] == '%') return;
  warnings.push_back(
      fmt::format("the threshold `{}` compares with 100 %: a bare 1 is the whole; write `1%` if one in a hundred is "
                  "meant, else `100%`",
                  threshold.text));
}

}  // namespace

std::vector<std::string> job_warnings(const model::Job& job) {
  std::vector<std::string> warnings;
  for (const model::Threshold& threshold : job.thresholds) about_share(threshold, warnings);
  return warnings;
}

}  // namespace muster::console
