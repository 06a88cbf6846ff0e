// Runs the programs of one core's VUs: takes each strand from one operation to the next until it has to wait, judges
// responses and records what happened. Single-threaded; owned by its Core.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "authoring/scope.h"
#include "base/random.h"
#include "engine/http_client.h"
#include "engine/program.h"
#include "engine/protocol.h"
#include "engine/recording.h"
#include "engine/script.h"
#include "engine/script_gate.h"
#include "engine/split.h"
#include "engine/tag_sets.h"
#include "engine/vu.h"
#include "reactor/loop.h"

namespace muster::engine {

class Scheduler;

// One step as `muster try` shows it.
struct StepTrace {
  std::string_view name;
  const Outcome* outcome = nullptr;  // null: it makes no request
  base::Duration latency{};
  bool ok = false;
  std::string_view detail = {};                             // why it failed, where it made a request
  std::vector<std::pair<std::string, std::string>> values;  // saved name → value
  std::vector<std::pair<std::string, bool>> checks;
  std::string_view stopped = {};  // of a `stop`: the workflow in which it stands
  // Labels of failed checks and names of missing values → why the response could not be read for them.
  std::vector<std::pair<std::string, std::string>> unread = {};
};
using TraceSink = std::function<void(const StepTrace&)>;

struct InterpreterContext {
  const Program& program;
  reactor::Loop& loop;
  RecordingPair& recordings;
  TagSets& tags;
  Slice slice;
  std::uint64_t seed = 0;
  TraceSink trace;                 // may be empty
  std::function<void()> stop_all;  // ends the workflow on every core; may be empty
};

class Interpreter final : public CallHost, public ScriptHost {
 public:
  explicit Interpreter(const InterpreterContext& context);
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;
  ~Interpreter();

  // Wires the other halves of the core; both outlive the interpreter's last run().
  void connect(Scheduler& scheduler, std::vector<std::unique_ptr<Client>>& clients, HttpClient* http);

  // The script of a scripted program; outlives the interpreter's last run().
  void set_script(Script* script) { script_ = script; }

  // Makes `vu` ready to run a list from its start. False if it cannot: a data source has run out.
  bool prepare(Vu& vu, VuList list, base::Instant intended);
  // Runs `strand` until it waits or its VU has nothing more to do.
  void run(Strand& strand);
  // Runs it in the next turn of the loop.
  void run_soon(Strand& strand) { ready_.push_back(&strand); }
  bool has_ready() const { return !ready_.empty(); }
  void run_ready();

  // Ends whatever `vu` is doing. Calls under way count as cancelled if `count_calls`.
  void interrupt(Vu& vu, bool count_calls);

  // From this time on what is measured counts.
  void count_from(base::Instant when) { counted_from_ = when; }
  void set_epoch(base::Instant epoch) { epoch_ = epoch; }

  void finished(Call& call, Outcome& outcome) override;
  void answered(Call& call, Outcome& outcome) override;
  void sent_again(const Call& call) override;
  const authoring::Evaluation& evaluation(Vu& vu) override;

  // Of the script, which calls from inside the gate.
  void log(std::string_view line) override;
  void note(std::string_view text) override;
  void broken(std::string_view reason) override;
  base::Random& random() override { return random_; }
  base::Instant now() const override { return base::now(); }
  void transaction(std::uint32_t step, base::Instant began, bool ok) override;
  bool row(Vu& vu, std::uint32_t feeder) override;
  // `vu` is over or begins anew.
  void forget(Vu& vu) {
    if (script_ != nullptr) script_->forget(vu);
  }

  // Any thread.
  ScriptGate& gate() { return gate_; }

  static void on_timer(reactor::Timer& timer, base::Instant now);

 private:
  enum class Step : std::uint8_t { kNext, kWait };

  Step start_call(Strand& strand, const Op& op);
  void settle(Strand& strand, Outcome& outcome);
  bool judge(Strand& strand, Outcome& outcome, StepRecording& record, std::string& detail);
  static void record_phases(StepRecording& record, const Outcome& outcome);
  void record_call(const Call& call, const Outcome& outcome, bool ok, std::string_view detail);
  void record_tags(Vu& vu, const CallPlan& plan, base::Duration latency, bool ok);
  void sample(StepRecording& record, const Outcome& outcome, std::string_view detail);
  void trace_call(Strand& strand, const Outcome& outcome, bool ok, std::string_view detail);
  void trace_set(Strand& strand, const Op& op);
  void trace_value(std::string_view step, const std::string& name, const model::Value& value);
  void trace_stop(StopScope scope);
  void trace_checks(Strand& strand, const Op& op, bool ok);
  std::string shown(const model::Value& value) const;

  // Of a call that is under way at the end.
  void record_cut(Strand& strand);

  void fail(Strand& strand);
  // The same, where a script may ask why.
  void fail(Strand& strand, model::ErrorClass error, std::string_view detail);
  double rounds_left(const Strand& strand, const Skip& skip) const;
  Step sleep(Strand& strand, base::Duration wait);
  Step think(Strand& strand, const Think& range);
  Step set(Strand& strand, const Op& op);
  void log_step(Strand& strand, const Op& op);
  void log_line(std::string_view line);
  Step stop(Strand& strand, const Op& op);
  Step metric(Strand& strand, const Op& op);
  Step check(Strand& strand, const Op& op);
  Step choose(Strand& strand, const Op& op);
  Step repeat_test(Strand& strand, const Op& op);
  bool has_room(Vu& vu);
  Step next_round(Strand& strand);
  void retry_begin(Strand& strand);
  Step retry_test(Strand& strand, const Op& op);
  // Of a call inside a retry: whether a later try made it again.
  void count_try(Strand& strand, StepRecording& record);
  Step group_end(Strand& strand, const Op& op);
  Step fork(Strand& strand, const Op& op);
  Step begin_fork(Strand& strand, const CompiledFork& plan);
  Step end(Strand& strand);
  void start_node(Join& join, std::uint32_t node);
  void node_ended(Join& join, std::uint32_t node, bool failed);
  void skip_node(Join& join, std::uint32_t node);
  Step execute(Strand& strand, const Op& op);
  ScriptAction ask_script(Strand& strand);
  Step script(Strand& strand);
  Step fork_script(Strand& strand, std::uint32_t branches);
  Step returned(Strand& strand);
  Step ask_again(Strand& strand);
  void leave_script(Strand& strand);
  Step leave_list(Strand& strand, StopScope scope);
  void keep_report(Strand& strand, const Outcome& outcome, base::Duration latency);
  void keep_start_values(Vu& vu);
  const Program::List& list_of(const Vu& vu) const;  // that it runs
  void provide(Vu& vu);
  bool fill_slots(Vu& vu);
  bool fill_row(Vu& vu, std::size_t feeder);
  // Of a feeder on demand. False: it has none left, and the iteration is over.
  bool take_row(Vu& vu, std::uint32_t feeder);
  void release(Join& join);

  Recording& recording() { return recordings_.current(); }
  // The time for what begins now: expressions that were computed since the loop last looked have taken theirs, which is
  // no part of the next call or pause.
  base::Instant beginning() { return computed_at_ == loop_.now() ? loop_.refresh() : loop_.now(); }
  bool counted(base::Instant started) const { return started >= counted_from_; }

  const Program& program_;
  reactor::Loop& loop_;
  RecordingPair& recordings_;
  KnownTags tags_;
  Slice slice_;
  TraceSink trace_;
  std::function<void()> stop_all_;
  Scheduler* scheduler_ = nullptr;
  Script* script_ = nullptr;
  ScriptGate gate_;
  std::map<std::pair<VuList, std::uint32_t>, CompiledFork> script_forks_;  // by list and number of branches
  StepReport report_;                 // of the latest request, while it is being judged
  const Strand* reported_ = nullptr;  // whose it is; null: none
  HttpClient* http_ = nullptr;
  std::vector<std::unique_ptr<Client>>* clients_ = nullptr;

  base::Random random_;
  std::uint64_t counter_;
  authoring::Evaluation evaluation_;
  base::Instant computed_at_{};  // the loop's time when an expression or a result was last computed
  std::vector<authoring::FeederCursor> cursors_;
  base::Instant counted_from_ = base::Instant::min();
  base::Instant epoch_{};
  std::vector<Strand*> ready_;
  std::vector<Strand*> running_ready_;
  std::vector<std::unique_ptr<Join>> joins_;
  std::vector<Join*> free_joins_;
  std::vector<std::unique_ptr<Strand>> strands_;
  std::vector<Strand*> free_strands_;
  std::string text_;  // scratch
  std::uint64_t log_second_ = 0;
  std::uint32_t log_lines_ = 0;
  std::uint64_t written_ = 0;  // when the latest value was provided, in ns since the epoch
};

}  // namespace muster::engine
