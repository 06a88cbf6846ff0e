// Which combinations of tags get a row of their own. That is decided once for all cores of a workflow and for all of
// its steps that have the same tags, so that a combination is counted whole or is a part of "other" whole.
//
// TagSets belongs to the Engine and decides, under a lock. KnownTags belongs to one core and remembers; it asks once
// for each combination that it meets, until it has heard that there will be no more. From then on it knows all there
// are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/program.h"

namespace muster::engine {

class TagSets {
 public:
  explicit TagSets(const Program& program);

  // Whether requests of `step` with these tags have a row. If not, `all` becomes the combinations that have one there:
  // no other ever will. Any thread.
  bool admit(std::uint32_t step, const std::string& tags, std::vector<std::string>& all);

 private:
  // The steps that have the same tags, by name.
  struct Group {
    std::size_t steps = 0;
    std::vector<std::string> sets;
  };

  std::vector<std::size_t> group_of_;  // by step
  std::vector<Group> groups_;
  std::mutex mutex_;  // guards what follows and `sets`
  std::size_t rows_ = 0;
};

class KnownTags {
 public:
  static constexpr std::size_t kOther = 0;

  // `shared` outlives it.
  KnownTags(TagSets& shared, std::size_t steps) : shared_(shared), steps_(steps) {}

  // Where this core keeps the row of `step` for these tags; kOther where they have none.
  std::size_t place(std::uint32_t step, const std::string& tags);

 private:
  struct OfStep {
    std::unordered_map<std::string, std::size_t> places;
    bool complete = false;
  };

  TagSets& shared_;
  std::vector<OfStep> steps_;
  std::size_t next_ = kOther + 1;
};

}  // namespace muster::engine
