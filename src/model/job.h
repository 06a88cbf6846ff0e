// What the user asked for: a job of workflows of steps, exactly as written but checked and with defaults filled in.
// Made by authoring/, read by engine/, report/ and console/. Plain values; expressions stay text (with their place) and
// are compiled where the names are known.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "model/tree.h"
#include "model/where.h"

namespace muster::model {

// A piece of text that is an expression or holds ${…} expressions.
struct Text {
  std::string text;
  Where where;
};

struct Check {
  std::string label;      // shown to the user: "status: 200"
  Text subject;           // path into the response or context: `json.token`; empty: `condition` is a whole expression
  Text condition;         // "exists", "< 5", "matches …", "contains …", "in […]", a literal, or an expression
  bool required = false;  // when it fails, the step fails
};

struct Save {
  std::string name;
  Text value;  // an expression over the response and the context
};

struct Tag {
  std::string name;
  Text value;  // may hold ${…}
};

struct Step;

struct Branch {
  std::string label;    // "then", "else", "steps", or the index of the branch
  double weight = 1.0;  // `choose` only
  std::vector<Step> steps;
};

struct Step {
  std::string name;    // unique within its workflow; made up ("GET /cart", "think-2") where the user gave none
  bool named = false;  // whether the user gave it
  std::string kind;    // a StepKind's name
  Where where;
  std::string target;  // name of a target; "" is the job's default one
  TreeMap fields;      // the kind's fields, defaults filled in, types and bounds checked
  std::vector<Check> checks;
  std::vector<Save> saves;
  std::vector<Tag> tags;
  std::vector<std::string> after;  // names of steps of the same workflow
  std::vector<Branch> branches;    // control kinds only

  const Tree* field(std::string_view field_name) const {
    for (const auto& [key, tree] : fields) {
      if (key == field_name) return &tree;
    }
    return nullptr;
  }
};

struct Stage {
  double to = 0;  // VUs, or arrivals per second, reached at the end of the stage
  base::Duration over{};
};

enum class Spacing : std::uint8_t { kEven, kPoisson };
enum class LatePolicy : std::uint8_t { kQueue, kDrop };

struct Load {
  std::string shape;  // name of a load shape: constant-vus, ramping-vus, shared-iterations, iterations-each,
                      // constant-arrivals, ramping-arrivals, or one that was registered from outside
  std::uint64_t vus = 1;
  std::uint64_t iterations = 0;  // shared-iterations: in all; iterations-each: per VU
  double rate = 0;               // constant-arrivals: per second
  base::Duration length{};       // `for`
  std::vector<Stage> stages;     // ramping shapes; `{hold: 5m}` is a stage with the same `to` as before it
  std::uint64_t max_vus = 0;     // open shapes; where it was not given, the loader's default
  bool max_vus_given = false;
  Spacing spacing = Spacing::kEven;
  base::Duration warm_up{};             // runs first, not counted
  std::optional<base::Duration> every;  // pacing: an iteration starts at least this long after the one before it
  LatePolicy late = LatePolicy::kQueue;
  base::Duration grace = std::chrono::seconds(10);
  TreeMap options;  // what a shape from outside was given
  Where where;

  bool open() const { return shape == "constant-arrivals" || shape == "ramping-arrivals"; }
};

enum class Priority : std::uint8_t { kAuto, kLow, kNormal, kHigh, kExclusive };
enum class Keep : std::uint8_t { kLast, kFirst, kAll };

struct Provide {
  std::string key;
  Text from;  // an expression over the context at the end of an iteration (of `start`, where it is saved there)
  Keep keep = Keep::kLast;
  std::uint64_t max = 10'000;   // `keep: all` only
  std::vector<std::string> to;  // workflows that may receive it; empty: every one that depends on this one
};

struct Use {
  std::string key;
  std::string source;  // workflow
  std::optional<Tree> fallback;
  Where where;
};

enum class Reset : std::uint8_t { kNever, kIteration };

// A script whose functions run the VUs. The steps of its workflows run when it calls them, not in written order.
struct Script {
  std::string language;  // a registered one: "lua"
  std::string profile;   // whose habits it has: "muster" or "wrk"
  std::string file;
  std::string text;
  std::vector<std::string> arguments;                         // what follows `--` on the command line
  std::vector<std::pair<std::string, std::string>> settings;  // what its profile wants to know: name → value
  bool to_standard_error = false;                             // what it prints: standard output is for something else
};

// Which lists of a workflow are functions of the job's script.
struct ScriptedLists {
  bool start = false;
  bool loop = false;
  bool stop = false;
};

struct Workflow {
  std::string name;
  Where where;
  Load load;
  Priority priority = Priority::kAuto;
  std::vector<std::string> depends;
  std::optional<base::Duration> timeout;
  Reset reset = Reset::kNever;  // kIteration: cookies, connections and what `start` saved are dropped each iteration
  std::vector<Step> start;
  std::vector<Step> steps;
  std::vector<Step> stop;
  std::vector<Provide> provides;
  std::vector<Use> uses;
  std::vector<Tag> tags;
  bool graph = false;                     // its steps are ordered by `after`
  std::optional<ScriptedLists> scripted;  // then `steps` may be called in any order, and `start` and `stop` are empty
};

enum class Pick : std::uint8_t { kSequential, kRandom, kUnique, kPerVu };

struct DataSource {
  std::string name;
  std::string format;  // "csv" or "json"
  std::string path;    // resolved against the file that names it
  Pick pick = Pick::kSequential;
  std::string delimiter = ",";
  Where where;
};

// Where steps connect to, and with what settings. The default target's name is "".
struct Target {
  std::string name;
  std::string kind = "http";  // the StepKind that it serves
  std::string address;        // as written: https://shop.test, cache.test:6379
  TreeMap options;            // connection settings of that kind, checked against its target fields
  Where where;
};

enum class Comparison : std::uint8_t { kLess, kLessEqual, kGreater, kGreaterEqual, kEqual, kNotEqual };

struct Threshold {
  std::string text;       // as written: "latency p95 < 300ms"
  std::string metric;     // latency, failed, requests and more (threshold_reach.cpp), or a metric of the user's
  std::string aggregate;  // p95, mean, max, rate, count, …
  Comparison comparison = Comparison::kLess;
  double bound = 0;  // seconds for times, a fraction for rates of failure, else a plain number
  std::vector<std::pair<std::string, std::string>> where;  // workflow, step, or a tag's name → value
  std::optional<base::Duration> window;  // judged over the last so long rather than over the whole run
  std::uint64_t min_samples = 1;
  bool abort = false;
  Where place;
};

struct Job {
  std::string name;
  std::vector<Target> targets;
  std::vector<DataSource> data;
  std::vector<std::pair<std::string, std::string>> secrets;      // name → value, never printed
  std::vector<std::pair<std::string, std::string>> environment;  // what ${env.X} names, secrets included
  std::vector<Threshold> thresholds;
  std::vector<Workflow> workflows;
  std::vector<Tag> tags;
  std::vector<std::string> datacenters;
  std::optional<base::Duration> timeout;
  std::uint64_t seed = 0;                // 0: a fresh one is drawn and reported
  std::string source;                    // the text it was loaded from, for the record
  std::vector<std::string> files;        // that it reads beside it: included files, data, bodies, certificates
  std::shared_ptr<const Script> script;  // of the workflows that are scripted
};

}  // namespace muster::model
