// Collects the problems of one load and turns each into a message with its source line and a caret. Belongs to one
// load_job call; knows the text of every file that was read, and the secrets that no message may show.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "authoring/loader.h"
#include "authoring/options.h"
#include "model/job.h"
#include "model/where.h"

namespace muster::authoring {

class Reporter {
 public:
  explicit Reporter(const YamlLimits& limits) : limits_(limits) {}

  // Names a source and keeps its text for excerpts; the order of calls is the order of the files in the report.
  std::shared_ptr<const std::string> add_source(const std::string& name, std::string text);
  void add_secret(std::string value);

  // Dropped once there are too many to read.
  void report(const model::Where& where, std::string message);
  // At `offset` bytes into the value of the scalar at `text.where`, where that can be told (a scalar on one line and
  // without escapes before the offset), otherwise at the scalar.
  void report_inside(const model::Text& text, std::size_t offset, std::string message);

  bool clean() const { return problems_.empty(); }
  std::size_t count() const { return problems_.size(); }
  // So many that nobody reads more: what is left may go unchecked.
  bool full() const { return problems_.size() >= 10 * limits_.problems; }

  // Sorted, without duplicates, at most `limits.problems`; secrets are replaced.
  Problems take();

 private:
  struct Source {
    std::shared_ptr<const std::string> name;
    std::string text;
  };

  std::size_t order(const model::Where& where) const;
  std::string_view line(const model::Where& where) const;
  std::string excerpt(const model::Where& where) const;
  std::string redact(std::string text) const;

  YamlLimits limits_;
  std::vector<std::unique_ptr<Source>> sources_;
  std::vector<std::string> secrets_;
  std::vector<Problem> problems_;
};

// "'a', 'b' and 'c'"
std::string quoted_list(const std::vector<std::string_view>& names, std::string_view conjunction);

}  // namespace muster::authoring
