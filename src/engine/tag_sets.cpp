#include "engine/tag_sets.h"

#include <algorithm>
#include <map>

#include "model/options.h"

namespace muster::engine {

TagSets::TagSets(const Program& program) : group_of_(program.steps.size()) {
  std::map<std::vector<std::string>, std::vector<std::uint32_t>> steps;
  for (const CallPlan& plan : program.calls) {
    if (plan.tags.empty()) continue;
    std::vector<std::string> names;
    for (const CompiledTag& tag : plan.tags) names.push_back(tag.name);
    std::vector<std::uint32_t>& alike = steps[names];
    if (std::ranges::count(alike, plan.step) == 0) alike.push_back(plan.step);
  }
  for (const auto& [names, alike] : steps) {
    for (const std::uint32_t step : alike) group_of_[step] = groups_.size();
    groups_.push_back({.steps = alike.size(), .sets = {}});
  }
}

bool TagSets::admit(std::uint32_t step, const std::string& tags, std::vector<std::string>& all) {
  const std::lock_guard lock(mutex_);
  Group& group = groups_[group_of_[step]];
  if (std::ranges::count(group.sets, tags) > 0) return true;
  // A place for each step that may have the combination is kept from the start: it would not be whole without.
  if (group.sets.size() >= model::kMaxTagSets || rows_ + group.steps > model::kMaxTagRows) {
    all = group.sets;
    return false;
  }
  rows_ += group.steps;
  group.sets.push_back(tags);
  return true;
}

std::size_t KnownTags::place(std::uint32_t step, const std::string& tags) {
  OfStep& known = steps_[step];
  if (const auto found = known.places.find(tags); found != known.places.end()) return found->second;
  if (known.complete) return kOther;
  std::vector<std::string> all;
  if (shared_.admit(step, tags, all)) return known.places[tags] = next_++;
  known.complete = true;
  for (std::string& each : all) {
    if (known.places.try_emplace(std::move(each), next_).second) ++next_;
  }
  return kOther;
}

}  // namespace muster::engine
