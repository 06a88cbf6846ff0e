#include "authoring/loader_load.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "authoring/loader_fields.h"
#include "base/units.h"

namespace muster::authoring {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::string_view, 10> kLoadKeys{"vus",     "iterations", "rate",  "for",  "max_vus",
                                                     "spacing", "warm_up",    "every", "late", "grace"};
constexpr std::array<std::string_view, 3> kStageKeys{"to", "over", "hold"};
constexpr std::uint64_t kMostVus = 10'000'000;
constexpr std::uint64_t kMostIterations = 1'000'000'000'000'000;
constexpr double kHighestRate = 1e8;  // per second, over all cores
constexpr double kLowestRate = 1e-6;

class LoadReader {
 public:
  LoadReader(LoaderContext& context, const YamlNode& node) : context_(context), node_(node) {}

  model::Load read() {
    load_.where = node_.where;
    if (!context_.expect_map(node_, "'load'", "{ vus: 10, for: 30s }")) return load_;
    std::vector<std::string_view> known(kLoadKeys.begin(), kLoadKeys.end());
    const LoadShapeKey* foreign = nullptr;
    for (const LoadShapeKey& shape : context_.languages.shapes) {
      known.push_back(shape.name);
      if (node_.find(shape.name) != nullptr) foreign = &shape;
    }
    known_ = context_.check_keys(node_, known, "'load'");
    if (foreign != nullptr) {
      foreign_shape(*foreign);
    } else if (given("rate")) {
      open_shape();
    } else {
      closed_shape();
    }
    settings();
    return load_;
  }

 private:
  const YamlNode* given(std::string_view key) const { return node_.find(key); }

  void refuse(std::string_view key, std::string_view why) {
    if (const YamlEntry* entry = node_.entry(key)) {
      context_.report(entry->key_where, fmt::format("'{}' {}", key, why));
    }
  }

  void foreign_shape(const LoadShapeKey& shape) {
    load_.shape = shape.name;
    const YamlEntry& entry = *node_.entry(shape.name);
    std::vector<GivenField> fields;
    if (entry.value.is_map()) {
      for (const YamlEntry& each : entry.value.map) fields.push_back({each.key, each.key_where, &each.value});
    } else if (!entry.value.null()) {
      context_.expect_map(entry.value, fmt::format("'{}'", shape.name), "{ … }");
    }
    load_.options = read_fields(context_, shape.fields, fields, entry.key_where, fmt::format("'{}'", shape.name));
    if (const YamlNode* vus = given("vus")) load_.vus = vus_from(*vus, "'vus'").value_or(1);
    if (const YamlNode* most = given("max_vus")) load_.max_vus = vus_from(*most, "'max_vus'").value_or(1);
    read_length();
    refuse("iterations", fmt::format("does not go with '{}'", shape.name));
    refuse("rate", fmt::format("does not go with '{}'", shape.name));
  }

  void closed_shape() {
    refuse("max_vus", "goes with 'rate'; here 'vus' says how many there are");
    refuse("spacing", "goes with 'rate'");
    refuse("late", "goes with 'rate'; a closed load has no arrivals that could be late");
    const YamlNode* vus = given("vus");
    if (vus != nullptr && vus->is_list()) {
      load_.shape = "ramping-vus";
      read_stages(*vus, "vus");
      load_.vus = static_cast<std::uint64_t>(peak());
      refuse("for", "does not go with stages; they say how long");
      refuse("iterations", "does not go with stages");
      return;
    }
    if (vus != nullptr) load_.vus = vus_from(*vus, "'vus'").value_or(1);
    read_length();
    if (const YamlNode* iterations = given("iterations")) {
      read_iterations(*iterations);
    } else if (given("for") != nullptr) {
      load_.shape = "constant-vus";
    } else {
      load_.shape = "constant-vus";
      if (known_) context_.report(node_.where, "this load has no end; add `for: 30s` or `iterations: 100`");
    }
  }

  void open_shape() {
    refuse("vus", "does not go with 'rate'; the most that may run at once is 'max_vus'");
    refuse("iterations", "does not go with 'rate'; say how long with 'for'");
    refuse("every", "does not go with 'rate'; the rate says when iterations start");
    const YamlNode& rate = *given("rate");
    if (rate.is_list()) {
      load_.shape = "ramping-arrivals";
      read_stages(rate, "rate");
      refuse("for", "does not go with stages; they say how long");
    } else {
      load_.shape = "constant-arrivals";
      if (const auto read = rate_from(rate, "'rate'", kLowestRate)) load_.rate = *read;
      read_length();
      if (given("for") == nullptr && known_) context_.report(node_.where, "this load has no end; add `for: 30s`");
    }
    if (const YamlNode* most = given("max_vus")) {
      load_.max_vus = vus_from(*most, "'max_vus'").value_or(1);
      load_.max_vus_given = true;
    } else {
      // Enough for answers that take 10 s (VUs in use = rate × response time), within what one machine carries easily.
      const double needed = std::ceil(std::max(load_.rate, peak()) * 10);
      load_.max_vus = static_cast<std::uint64_t>(std::clamp(needed, 100.0, 50'000.0));
    }
    static constexpr std::array<std::string_view, 2> kSpacings{"even", "poisson"};
    if (const YamlNode* spacing = given("spacing")) {
      if (const auto chosen = context_.choice(*spacing, "'spacing'", kSpacings)) {
        load_.spacing = static_cast<model::Spacing>(*chosen);
      }
    }
    static constexpr std::array<std::string_view, 2> kLates{"queue", "drop"};
    if (const YamlNode* late = given("late")) {
      if (const auto chosen = context_.choice(*late, "'late'", kLates)) {
        load_.late = static_cast<model::LatePolicy>(*chosen);
      }
    }
  }

  void settings() {
    if (const YamlNode* node = given("warm_up")) {
      load_.warm_up = context_.duration(*node, "'warm_up'", 0s, kLongest).value_or(0s);
      if (load_.iterations > 0 && load_.warm_up > 0s) {
        context_.report(
            node->where,
            "'warm_up' goes with a load that lasts for a time; iterations that ran in it would not be counted");
      }
      const base::Duration length = load_.length + stages_length();
      if (length_understood_ && length > 0s && load_.warm_up >= length) {
        context_.report(node->where, fmt::format("'warm_up' is the first part of the load's time, which is {} in all: "
                                                 "nothing would be counted; make it shorter",
                                                 base::format_duration(length)));
      }
    }
    if (const YamlNode* node = given("grace")) {
      load_.grace = context_.duration(*node, "'grace'", 0s, kLongest).value_or(0s);
    }
    if (const YamlNode* node = given("every")) load_.every = context_.duration(*node, "'every'", 1us, kLongest);
  }

  void read_length() {
    if (const YamlNode* node = given("for")) {
      const auto length = context_.duration(*node, "'for'", 1ms, kLongest);
      length_understood_ = length.has_value();
      load_.length = length.value_or(1s);
    }
  }

  // "1000": in all; "50 each": for every VU.
  void read_iterations(const YamlNode& node) {
    YamlNode filled = node;
    YamlNode number = node;
    load_.shape = "shared-iterations";
    if (node.is_scalar()) {
      const auto text = context_.constant_text(node, "'iterations'");
      if (!text) return;
      filled.plain = number.plain = node.plain || node.text.contains("${");
      filled.text = *text;
      number.text = *text;
      constexpr std::string_view kEach = " each";
      if (text->ends_with(kEach)) {
        load_.shape = "iterations-each";
        number.text = text->substr(0, text->size() - kEach.size());
        number.text.erase(number.text.find_last_not_of(' ') + 1);
        number.plain = true;
      }
    }
    const model::Tree tree = to_tree(number);
    if (tree.integer() == nullptr) {
      context_.report(node.where, fmt::format("'iterations' must be a whole number, in all or '50 each', found {}{}",
                                              describe(filled), number_advice(number)));
      return;
    }
    load_.iterations = context_.whole_number(number, "'iterations'", 1, kMostIterations).value_or(1);
  }

  std::optional<std::uint64_t> vus_from(const YamlNode& node, std::string_view what) {
    return context_.whole_number(node, what, 1, kMostVus);
  }

  std::optional<double> rate_from(const YamlNode& node, std::string_view what, double least) {
    if (!node.is_scalar()) {
      context_.report(node.where, fmt::format("{} must be a rate such as 200/s, found {}", what, describe(node)));
      return std::nullopt;
    }
    const auto text = context_.constant_text(node, what);
    if (!text) return std::nullopt;
    const auto parsed = base::parse_rate(*text);
    if (parsed && *parsed > 0 && text->find('/') == std::string::npos) {
      context_.report(node.where, fmt::format("{0} needs its time: write {1}/s for {1} each second", what, *text));
      return std::nullopt;
    }
    if (!parsed) {
      context_.report(node.where, fmt::format("{}: {}", what, parsed.error().message));
      return std::nullopt;
    }
    if (*parsed < least || *parsed > kHighestRate) {
      context_.report(node.where, fmt::format("{} must be {} and at most {:.0f}/s, found '{}'", what,
                                              least > 0 ? "above 0/s" : "at least 0/s", kHighestRate, *text));
      return std::nullopt;
    }
    return *parsed;
  }

  double peak() const {
    double highest = 0;
    for (const model::Stage& stage : load_.stages) highest = std::max(highest, stage.to);
    return highest;
  }

  // No longer exact where it is too long anyway, so that no number of stages overflows it.
  base::Duration stages_length() const {
    base::Duration length{};
    for (const model::Stage& stage : load_.stages) length = std::min(length, 2 * kLongest) + stage.over;
    return length;
  }

  void read_stages(const YamlNode& list, std::string_view what) {
    if (list.list.empty()) {
      context_.report(list.where, fmt::format("'{}' has no stages; write `[ {{ to: 100, over: 1m }} ]`", what));
    }
    const std::size_t before = context_.reporter.count();
    for (const YamlNode& node : list.list) read_stage(node, what);
    length_understood_ = context_.reporter.count() == before;
    if (!length_understood_ || load_.stages.empty()) return;
    if (peak() <= 0) {
      context_.report(list.where, fmt::format("the stages of '{}' never rise above 0", what));
    } else if (stages_length() == 0s) {
      context_.report(list.where,
                      fmt::format("the stages of '{}' take no time at all; give one a length, such as `over: 1m`, or "
                                  "add `{{ hold: 1m }}`",
                                  what));
    } else if (stages_length() > kLongest) {
      context_.report(list.where, fmt::format("the stages of '{}' take more than {} together; make them shorter", what,
                                              base::format_duration(kLongest)));
    }
  }

  void read_stage(const YamlNode& node, std::string_view what) {
    if (!context_.expect_map(node, "a stage", "{ to: 100, over: 1m }")) return;
    if (!context_.check_keys(node, kStageKeys, "a stage")) return;
    const YamlNode* to = node.find("to");
    const YamlNode* over = node.find("over");
    const YamlNode* hold = node.find("hold");
    if (to == nullptr && hold == nullptr) {
      context_.report(node.where, "a stage needs 'to' and 'over', or 'hold'");
      return;
    }
    if ((to == nullptr) != (over == nullptr)) {
      context_.report(node.where, to == nullptr ? "'over' needs 'to': what is reached at the end of the stage"
                                                : "'to' needs 'over': how long it takes to get there (0s: at once)");
      load_.stages.push_back({});  // so that a `hold` after it is not blamed
      return;
    }
    if (to != nullptr) {
      model::Stage stage;
      if (what == "vus") {
        stage.to = static_cast<double>(context_.whole_number(*to, "'to'", 0, kMostVus).value_or(0));
      } else {
        stage.to = rate_from(*to, "'to'", 0).value_or(0);
      }
      stage.over = context_.duration(*over, "'over'", 0s, kLongest).value_or(0s);
      load_.stages.push_back(stage);
    }
    if (hold != nullptr) {
      if (load_.stages.empty()) {
        context_.report(node.where,
                        "the first stage cannot only hold: there is nothing yet; begin with `{ to: …, over: "
                        "0s }`");
        return;
      }
      const double level = load_.stages.back().to;
      load_.stages.push_back({level, context_.duration(*hold, "'hold'", 1ms, kLongest).value_or(1s)});
    }
  }

  LoaderContext& context_;
  const YamlNode& node_;
  model::Load load_;
  bool known_ = true;              // every key was
  bool length_understood_ = true;  // what stands in place of a wrong length says nothing about it
};

}  // namespace

model::Load read_load(LoaderContext& context, const YamlNode& node) {
  return LoadReader(context, node).read();
}

model::Load default_load(const model::Where& where) {
  model::Load load;
  load.shape = "shared-iterations";
  load.vus = 1;
  load.iterations = 1;
  load.where = where;
  return load;
}

}  // namespace muster::authoring
