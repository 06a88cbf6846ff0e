// What the parts of the loader share while one file is loaded: the languages, the environment, the reporter, and the
// small readers that every part needs. Lives on load_job's stack.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "authoring/loader.h"
#include "authoring/loader_reporter.h"
#include "authoring/options.h"
#include "authoring/yaml_node.h"
#include "base/identifier.h"
#include "model/job.h"

namespace muster::authoring {

// Places that the model does not keep, for the checks that come after reading.
struct StepPlaces {
  model::Where name;
  std::vector<model::Where> after;  // as Step::after
  bool has_after = false;           // `after: []` counts: the step waits for nothing
};

struct WorkflowPlaces {
  model::Where name;
  std::vector<model::Where> depends;                // as Workflow::depends
  std::vector<std::vector<model::Where>> provides;  // as Workflow::provides: the places of `to`
};

struct ThresholdPlaces {
  std::vector<model::Where> where;  // as Threshold::where
  model::Where window;
};

struct LoaderContext {
  const Languages& languages;
  const LoadInput& input;
  Reporter& reporter;
  YamlLimits limits = {};
  std::shared_ptr<const model::Script> script = {};  // that the document came from; null: it is a file of YAML
  std::map<std::string, std::string, std::less<>> environment = {};  // all that ${env.X} may name
  std::set<std::string, std::less<>> named_environment = {};         // what the file declares or mentions
  std::set<std::string, std::less<>> valueless_environment = {};     // what it declares without a value
  std::vector<std::pair<std::string, std::string>> secrets = {};     // name and value
  std::vector<model::Target> targets = {};
  bool single_workflow = false;  // there is but one, written without `workflows`
  // By the place of the step (file, line, column); steps that come from one alias share them.
  std::map<std::tuple<const std::string*, std::uint32_t, std::uint32_t>, StepPlaces> step_places = {};
  std::vector<WorkflowPlaces> workflow_places = {};    // as Job::workflows
  std::vector<ThresholdPlaces> threshold_places = {};  // as Job::thresholds

  // Why ${env.NAME} cannot be filled in, and what to do.
  std::string not_set(const std::string& name) const;

  StepPlaces& places(const model::Step& step) {
    return step_places[{step.where.file.get(), step.where.line, step.where.column}];
  }

  void report(const model::Where& where, std::string message) { reporter.report(where, std::move(message)); }

  // Reports every key of `map` that is not in `known`; `what` names the map in the message ("a workflow").
  // True: there was none, so that what seems to be missing really is.
  bool check_keys(const YamlNode& map, std::span<const std::string_view> known, std::string_view what);

  // Reports and returns false unless `node` is of that kind; `what` names the value: "'steps'".
  bool expect_map(const YamlNode& node, std::string_view what, std::string_view example);
  // A key that expressions will use behind a dot, as in data.users.
  bool expect_name(const YamlEntry& entry);
  // A key that expressions will use by itself: none of their own words.
  bool expect_value_name(const YamlEntry& entry);
  bool expect_list(const YamlNode& node, std::string_view what, std::string_view example);

  // The text of a scalar, with ${env.X} filled in; reports anything else. For places that are fixed before a run.
  std::optional<std::string> constant_text(const YamlNode& node, std::string_view what);
  // The same for what is printed and reported, such as a name: it must not be made of a secret.
  std::optional<std::string> shown_text(const YamlNode& node, std::string_view what);
  // The same for a whole value: every scalar in it is filled in.
  bool fill_constants(YamlNode& node);
  // One text or a list of texts.
  std::vector<std::string> text_list(const YamlNode& node, std::string_view what);
  std::optional<base::Duration> duration(const YamlNode& node, std::string_view what, base::Duration least,
                                         base::Duration most);
  std::optional<std::uint64_t> whole_number(const YamlNode& node, std::string_view what, std::uint64_t least,
                                            std::uint64_t most);
  // The index of the chosen word.
  std::optional<std::size_t> choice(const YamlNode& node, std::string_view what,
                                    std::span<const std::string_view> choices);
};

using base::identifier;  // what expressions can mention

constexpr base::Duration kLongest = std::chrono::hours(24 * 365);

}  // namespace muster::authoring
