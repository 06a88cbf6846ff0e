// Finds values that a response gave out and a later request of the same recording sent back: tokens, ids, session
// numbers. Recorded as they were they fail on the next run; saved from the response they work. Only values that look
// drawn and need no escaping anywhere are looked for. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "authoring/options.h"

namespace muster::authoring {

class Correlator {
 public:
  struct Source {
    std::size_t step = 0;    // whose response gave it
    std::string expression;  // over that response
    std::string name;        // what it is called there: a key, a field, a header
  };

  explicit Correlator(const ImportLimits& limits) : limits_(limits) {}

  // Responses come in order; what came first stays the source.
  void learn(std::size_t step, std::string_view type, std::string_view body,
             const std::vector<std::pair<std::string, std::string>>& headers);

  const Source* find(const std::string& value) const;

  // The pieces of `text` that could be such values, with where they begin.
  static std::vector<std::pair<std::size_t, std::string>> candidates(std::string_view text);

 private:
  void learn_json(std::size_t step, std::string_view body);
  void learn_page(std::size_t step, std::string_view body);
  void remember(std::size_t step, const std::string& value, std::string expression, std::string name);

  const ImportLimits& limits_;
  std::size_t read_ = 0;
  std::unordered_map<std::string, Source> sources_;
};

}  // namespace muster::authoring
