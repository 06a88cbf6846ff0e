// A workflow compiled for running: a flat list of operations over numbered slots. Made once before the clock starts and
// then only read, by all cores at once.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "authoring/expression.h"
#include "authoring/feeder.h"
#include "authoring/text_template.h"
#include "base/error.h"
#include "engine/pause.h"
#include "engine/protocol.h"
#include "model/job.h"
#include "model/result.h"

namespace muster::engine {

// Puts one result of a response into a slot.
struct Capture {
  std::uint32_t slot = 0;
  std::uint32_t result = 0;  // position in StepKind::results
  authoring::Path rest;
};

struct CompiledCheck {
  authoring::Expression expression;
  bool required = false;
  std::uint32_t index = 0;  // among the step's checks
};

struct CompiledSave {
  std::string name;
  std::uint32_t slot = 0;
  authoring::Expression expression;
};

struct CompiledTag {
  std::string name;
  authoring::TextTemplate value;
};

// Everything about a test step that running it needs.
struct CallPlan {
  std::uint32_t step = 0;    // position in Program::steps
  std::uint32_t client = 0;  // position in Program::kinds
  bool http = false;         // the client is the built-in HTTP one, called without indirection
  std::unique_ptr<PreparedCall> prepared;
  std::vector<Capture> captures;
  std::vector<CompiledCheck> checks;
  std::vector<CompiledSave> saves;
  std::vector<CompiledTag> tags;  // those with holes
  bool judged = false;            // has captures, checks, saves or tags
  bool in_retry = false;
  std::uint64_t captured = 0;  // set of the results that are captured, by position
};

enum class OpKind : std::uint8_t {
  kCall,         // a: call plan
  kThink,        // a: think
  kSet,          // a: set
  kLog,          // a: template
  kStop,         // a: StopScope
  kMetric,       // a: metric
  kCheck,        // a: check step
  kJump,         // a: target
  kUnless,       // a: expression, b: target when it does not hold
  kChoose,       // a: choice
  kRepeatBegin,  // pushes a frame
  kRepeatTest,   // a: loop, b: target when it is over (pops the frame)
  kRetryBegin,   // pushes a frame
  kRetryTest,    // a: retry, b: start of the body (pops the frame when it is over)
  kGroupBegin,   // pushes a frame
  kGroupEnd,     // a: step; pops the frame
  kFork,         // a: fork
  kScript,       // the list's function of the script
  kReturn,       // the end of a step that the script called
  kEnd,          // of a branch or of the whole list
};

// The lists of steps of a workflow; kNone: a VU between them.
enum class VuList : std::uint8_t { kNone, kStart, kLoop, kStop };

enum class StopScope : std::uint8_t { kIteration, kVu, kWorkflow };

struct Op {
  OpKind kind = OpKind::kEnd;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  // Where a failure goes on: a kRetryTest, a kGroupEnd or a kEnd of the same strand, with so many frames kept, and what
  // is passed over, as a range of Program::skips.
  std::uint32_t fail_to = 0;
  std::uint16_t fail_depth = 0;
  std::uint32_t skips_begin = 0;
  std::uint32_t skips_end = 0;
};

// What a failure passes over.
struct Skip {
  enum class Kind : std::uint8_t {
    kStep,    // a test step
    kPause,   // one of Program::pauses
    kRounds,  // the same, as often as `loop`, whose frame of the strand is `frame`, has rounds left
  };
  Kind kind = Kind::kStep;
  std::uint16_t frame = 0;
  std::uint32_t index = 0;
  std::uint32_t loop = 0;
};

struct CompiledSet {
  std::vector<std::pair<std::uint32_t, authoring::TextTemplate>> values;
  std::vector<std::string> names;  // as `values`
};

struct CompiledLoop {
  std::uint64_t times = 0;  // at most
  std::optional<authoring::Expression> condition;
  bool after_one_round = false;  // the condition reads what the loop's own steps bring
};

struct CompiledRetry {
  std::uint64_t times = 1;
  std::optional<authoring::Expression> until;
  Think delay;
  std::string gave_up;  // what is told when `until` did not hold after all tries
};

struct CompiledChoice {
  std::vector<std::pair<double, std::uint32_t>> branches;  // cumulative weight, target
};

struct CompiledMetric {
  std::uint32_t metric = 0;
  authoring::Expression value;
};

struct CompiledCheckStep {
  std::uint32_t step = 0;
  std::vector<CompiledCheck> checks;
};

// Branches that run at once, or a graph of steps ordered by `after`.
struct CompiledFork {
  struct Node {
    std::uint32_t start = 0;                // first operation
    std::uint32_t end = 0;                  // its kEnd
    std::uint32_t predecessors = 0;         // how many must finish first
    std::vector<std::uint32_t> dependents;  // nodes that wait for this one
    std::vector<std::uint32_t> steps;       // test steps inside, skipped when a predecessor failed
  };
  std::vector<Node> nodes;
};

// A name that a script may give a value to: with `set` until something else fills it, as an argument for one call.
struct ScriptVariable {
  std::string name;
  std::uint32_t slot = 0;
  // A slot that is filled while `slot` holds an argument; the slot behind it has what `slot` held before.
  std::uint32_t given = 0;
};

// A step that a script may call: a stretch of operations that ends in kReturn.
struct Callable {
  std::string name;
  std::uint32_t entry = 0;
  std::uint32_t step = 0;  // its own figures, among Program::steps
  const model::StepKind* kind = nullptr;
  std::vector<ScriptVariable> arguments;                     // that its texts read
  std::vector<std::pair<std::string, std::uint32_t>> saves;  // name → slot that it fills
  std::vector<std::uint32_t> fills;                          // `given` of the variables that it saves or sets
  std::vector<std::uint32_t> rows;                           // feeders whose rows it reads, if they come on demand
};

// A value that a script may read by name: a column of a data source, something used from another workflow.
struct ScriptValue {
  std::string group;  // "data.users", "use"
  std::string name;
  std::uint32_t slot = 0;
  std::optional<std::uint32_t> row = {};  // the feeder, if its row comes on demand
};

struct StepInfo {
  std::string name;
  std::string kind;
  model::StepRole role = model::StepRole::kTest;
  std::vector<std::pair<std::string, std::string>> tags;
  std::vector<std::string> checks;  // labels
};

struct MetricInfo {
  std::string name;
  model::MetricType type = model::MetricType::kTrend;
};

struct FeederUse {
  std::shared_ptr<const authoring::Feeder> feeder;
  std::string name;
  model::Pick pick = model::Pick::kSequential;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> columns;  // slot, column
  std::array<bool, 4> read_by{};                                 // by VuList: only who reads it takes a row
  // Of a script, where only running it shows who reads a unique row: an iteration takes one when it first does. The
  // slot is filled once it has.
  std::optional<std::uint32_t> taken = {};
  // Pick::kUnique: the row that nobody has had yet. One for all cores, so that no row is left over on one of them
  // while another has run out; in a run with several workflows one for all of them, in shared memory.
  std::shared_ptr<std::atomic<std::uint64_t>> next_unique = std::make_shared<std::atomic<std::uint64_t>>(0);
};

struct CompiledProvide {
  model::Provide spec;
  authoring::Expression value;
};

struct Program {
  std::string workflow;
  model::Load load;
  model::Reset reset = model::Reset::kNever;
  std::vector<StepInfo> steps;
  std::vector<MetricInfo> metrics;

  std::vector<Op> ops;
  // The three lists of a workflow: `start`, `steps` and `stop`.
  struct List {
    std::uint32_t entry = 0;
    std::uint32_t end = 0;  // its kEnd
    bool empty = true;
  };
  List start;
  List loop;
  List stop;
  bool test = false;            // has a test step
  bool open = false;            // its load shape describes arrivals
  std::uint64_t position = 0;   // among the workflows of its job
  std::uint64_t workflows = 1;  // of its job

  std::vector<CallPlan> calls;
  std::vector<std::string> kinds;  // protocols in use
  std::vector<Think> thinks;
  std::vector<Pause> pauses;
  std::vector<CompiledSet> sets;
  std::vector<authoring::TextTemplate> logs;
  std::vector<authoring::Expression> conditions;
  std::vector<CompiledChoice> choices;
  std::vector<CompiledLoop> loops;
  std::vector<CompiledRetry> retries;
  std::vector<CompiledMetric> metric_ops;
  std::vector<CompiledCheckStep> check_steps;
  std::vector<CompiledFork> forks;
  std::vector<Skip> skips;

  std::vector<model::Value> initial;                    // slots at the start of an iteration: constants filled in
  std::vector<std::unique_ptr<std::string>> constants;  // texts that `initial` points into
  std::vector<FeederUse> feeders;
  std::vector<std::uint32_t> kept_slots;  // that `start` fills and every iteration sees
  std::optional<std::uint32_t> vu_slot;
  std::optional<std::uint32_t> iteration_slot;
  std::vector<CompiledProvide> provides;

  std::shared_ptr<const model::Script> script;  // null: the VUs run the lists' operations
  std::vector<Callable> callables;              // in the order in which the script declares them
  std::vector<ScriptValue> script_values;
  std::vector<ScriptVariable> variables;                         // that the script may set
  std::vector<std::pair<std::string, std::string>> environment;  // name → value
  std::vector<std::string> secrets;                              // spellings to redact
};

// Values that earlier workflows provided, by workflow and key.
using ReceivedContext = std::vector<std::pair<std::string, model::Provided>>;

// Compiles `workflow` of `job`. Errors are the user's to mend. Equal seeds give equal bytes.
base::Expected<std::unique_ptr<Program>> compile(const model::Job& job, const model::Workflow& workflow,
                                                 const model::StepKinds& kinds, const Protocols& protocols,
                                                 const ReceivedContext& received, std::uint64_t seed);

}  // namespace muster::engine
