#include "engine/provisioner.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace muster::engine {
namespace {

using model::Priority;

std::uint32_t quarters(std::uint32_t pool, std::uint32_t count) {
  return static_cast<std::uint32_t>((std::uint64_t{pool} * count + 3) / 4);
}

// A batch while it is being filled.
struct Open {
  std::vector<std::size_t> tests;  // by falling priority
  std::uint32_t reserved = 0;      // sum of their least
  bool exclusive = false;
};

// The range of one candidate: its VUs bound what its priority allows.
CoreRange range_of(const Candidate& candidate, std::uint32_t pool) {
  CoreRange range = core_range(candidate.priority, pool);
  const std::uint64_t vus = std::max<std::uint64_t>(candidate.vus, 1);
  range.least = static_cast<std::uint32_t>(std::min<std::uint64_t>(range.least, vus));
  range.most = static_cast<std::uint32_t>(std::min<std::uint64_t>(range.most, vus));
  return range;
}

std::vector<Open> pack(std::span<const Candidate> candidates, std::uint32_t pool) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].is_test) order.push_back(i);
  }
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return candidates[a].priority != candidates[b].priority ? candidates[a].priority > candidates[b].priority : a < b;
  });
  std::vector<Open> batches;
  for (const std::size_t index : order) {
    const std::uint32_t least = range_of(candidates[index], pool).least;
    const bool exclusive = candidates[index].priority == Priority::kExclusive;
    auto batch = std::find_if(batches.begin(), batches.end(), [&](const Open& each) {
      return !exclusive && !each.exclusive && each.reserved + least <= pool;
    });
    if (batch == batches.end()) batch = batches.insert(batches.end(), Open{});
    batch->tests.push_back(index);
    batch->reserved += least;
    batch->exclusive = exclusive;
  }
  return batches;
}

// Gives what is left of the pool away, one core at a time in turn among equals, higher priorities first.
Batch spread(const Open& open, std::span<const Candidate> candidates, std::uint32_t pool) {
  Batch batch;
  for (const std::size_t index : open.tests) batch.push_back({index, range_of(candidates[index], pool).least});
  std::uint32_t left = pool - open.reserved;
  for (std::size_t first = 0, end = 0; first < batch.size(); first = end) {
    const Priority priority = candidates[batch[first].workflow].priority;
    while (end < batch.size() && candidates[batch[end].workflow].priority == priority) ++end;
    for (bool gave = true; gave && left > 0;) {
      gave = false;
      for (std::size_t i = first; i < end && left > 0; ++i) {
        if (batch[i].cores >= range_of(candidates[batch[i].workflow], pool).most) continue;
        ++batch[i].cores;
        --left;
        gave = true;
      }
    }
  }
  return batch;
}

void place_others(std::vector<Batch>& batches, bool last_is_exclusive, std::span<const Candidate> candidates,
                  std::uint32_t pool) {
  std::uint32_t room = batches.empty() || last_is_exclusive ? 0 : pool;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (candidates[i].is_test) continue;
    if (room == 0) {
      batches.emplace_back();
      room = pool;
    }
    batches.back().push_back({i, 1});
    --room;
  }
}

// Follows unplaced dependencies from an unplaced workflow until one comes up again.
std::vector<std::size_t> find_cycle(const std::vector<std::vector<std::size_t>>& needs,
                                    const std::vector<bool>& placed) {
  std::size_t at = static_cast<std::size_t>(std::find(placed.begin(), placed.end(), false) - placed.begin());
  std::vector<std::size_t> path;
  for (;;) {
    const auto seen = std::find(path.begin(), path.end(), at);
    if (seen != path.end()) return {seen, path.end()};
    path.push_back(at);
    at = *std::find_if(needs[at].begin(), needs[at].end(), [&](std::size_t need) { return !placed[need]; });
  }
}

base::Expected<std::vector<std::vector<std::size_t>>> resolve(std::span<const Dependent> workflows) {
  std::map<std::string_view, std::size_t> by_name;
  for (std::size_t i = 0; i < workflows.size(); ++i) {
    if (!by_name.emplace(workflows[i].name, i).second) {
      return base::fail(fmt::format("Two workflows are named '{}'. Give each a name of its own.", workflows[i].name));
    }
  }
  std::vector<std::vector<std::size_t>> needs(workflows.size());
  for (std::size_t i = 0; i < workflows.size(); ++i) {
    for (const std::string& name : workflows[i].depends) {
      const auto found = by_name.find(name);
      if (found == by_name.end()) {
        return base::fail(fmt::format("Workflow '{}' depends on '{}', which is not a workflow of this job.",
                                      workflows[i].name, name));
      }
      needs[i].push_back(found->second);
    }
  }
  return needs;
}

std::unexpected<base::Error> cycle_error(std::span<const Dependent> workflows, const std::vector<std::size_t>& cycle) {
  std::string path;
  for (const std::size_t index : cycle) path += fmt::format("'{}' depends on ", workflows[index].name);
  return base::fail(fmt::format("Workflows wait for each other in a circle: {}'{}'. Remove one of these dependencies.",
                                path, workflows[cycle.front()].name));
}

}  // namespace

CoreRange core_range(Priority priority, std::uint32_t pool) {
  pool = std::max(pool, 1u);
  switch (priority) {
    case Priority::kLow:
      return {1, quarters(pool, 1)};
    case Priority::kNormal:
      return {quarters(pool, 1), quarters(pool, 3)};
    case Priority::kHigh:
      return {quarters(pool, 3), pool};
    case Priority::kExclusive:
      return {pool, pool};
    case Priority::kAuto:
      break;
  }
  return {1, pool};
}

std::vector<Batch> provision(std::span<const Candidate> candidates, std::uint32_t pool) {
  pool = std::max(pool, 1u);
  const std::vector<Open> packed = pack(candidates, pool);
  std::vector<Batch> batches;
  for (const Open& open : packed) batches.push_back(spread(open, candidates, pool));
  place_others(batches, !packed.empty() && packed.back().exclusive, candidates, pool);
  return batches;
}

std::optional<Shortage> shortage(std::span<const Candidate> candidates, std::uint32_t pool) {
  constexpr std::uint32_t kMostPool = 1024;  // what --cores takes
  pool = std::max(pool, 1u);
  std::vector<Candidate> together(candidates.begin(), candidates.end());
  std::erase_if(together, [](const Candidate& each) { return each.priority == Priority::kExclusive; });
  const std::size_t batches = provision(together, pool).size();
  if (batches <= 1) return std::nullopt;
  Shortage found{.workflows = together.size(), .batches = batches, .pool = pool};
  for (std::uint32_t more = pool + 1; more <= kMostPool && found.enough == 0; ++more) {
    if (provision(together, more).size() == 1) found.enough = more;
  }
  return found;
}

std::string to_text(const Shortage& shortage, Tense tense) {
  const bool will = tense == Tense::kWill;
  const std::string_view are = shortage.pool == 1 ? (will ? "is" : "was") : (will ? "are" : "were");
  const std::string turns =
      fmt::format("{} in {} batches, one after the other", will ? "run" : "ran", shortage.batches);
  if (shortage.enough == 0) {
    return fmt::format(
        "{} workflows of one layer {} together, since their priorities {} too large a share of the "
        "cores each: they {}; a lower `priority` lets them run together",
        shortage.workflows, will ? "cannot run" : "did not run", will ? "ask for" : "asked for", turns);
  }
  return fmt::format(
      "{} workflows of one layer {} {} cores to run together, and {} {} there: they {}; --cores {} runs "
      "them together",
      shortage.workflows, will ? "need" : "needed", shortage.enough, shortage.pool, are, turns, shortage.enough);
}

base::Expected<std::vector<std::vector<std::size_t>>> layers(std::span<const Dependent> workflows) {
  const auto needs = resolve(workflows);
  if (!needs) return std::unexpected(needs.error());
  std::vector<bool> placed(workflows.size(), false);
  std::vector<std::vector<std::size_t>> made;
  for (std::size_t count = 0; count < workflows.size(); count += made.back().size()) {
    std::vector<std::size_t> layer;
    for (std::size_t i = 0; i < workflows.size(); ++i) {
      const auto& mine = (*needs)[i];
      if (!placed[i] && std::all_of(mine.begin(), mine.end(), [&](std::size_t need) { return placed[need]; })) {
        layer.push_back(i);
      }
    }
    if (layer.empty()) return cycle_error(workflows, find_cycle(*needs, placed));
    for (const std::size_t index : layer) placed[index] = true;
    made.push_back(std::move(layer));
  }
  return made;
}

}  // namespace muster::engine
