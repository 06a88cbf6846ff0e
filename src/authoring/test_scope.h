// A scope over a fixed set of names, for tests and fuzz targets: each name is a slot, and what follows it in a path is
// looked up in the slot's JSON.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "authoring/scope.h"
#include "authoring/value_text.h"
#include "base/arena.h"
#include "base/closest.h"
#include "base/random.h"

namespace muster::authoring {

class TestScope : public Scope {
 public:
  void add(std::string name, model::Value value) {
    if (value.textual()) {
      const std::string& kept = texts_.emplace_back(value.text());
      value =
          value.type() == model::ValueType::kText ? model::Value::of(std::string_view(kept)) : model::Value::json(kept);
    }
    names_.push_back(std::move(name));
    values_.push_back(value);
  }

  base::Expected<Slot> resolve(const Path& path) override {
    const auto* const first = std::get_if<std::string>(&path.front());
    for (std::size_t at = 0; first != nullptr && at < names_.size(); ++at) {
      if (names_[at] == *first) return Slot{static_cast<std::uint32_t>(at), Path(path.begin() + 1, path.end())};
    }
    return base::fail("'" + to_text(path) + "' is not known here" + base::did_you_mean(first ? *first : "", names_));
  }

  Evaluation evaluation() {
    return {.slots = values_.data(),
            .arena = &arena_,
            .random = &random_,
            .counter = &counter_,
            .counter_step = 1,
            .vu = 3,
            .iteration = 5,
            .wall = std::chrono::seconds(1'000'000'000)};
  }

  base::Arena& arena() { return arena_; }

 private:
  std::vector<std::string> names_;
  std::vector<model::Value> values_;
  std::deque<std::string> texts_;
  base::BlockPool pool_;
  base::Arena arena_{pool_};
  base::Random random_{1};
  std::uint64_t counter_ = 1;
};

// A value with its type, for messages and comparisons in tests: text in quotes, JSON without white space around it.
inline std::string shown(const model::Value& value) {
  std::string out;
  if (value.missing()) return "missing";
  append_as_json(out, value);
  return out;
}

}  // namespace muster::authoring
