#include "engine/job_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "engine/verdict.h"
#include "model/test_outcomes.h"

namespace muster::engine {
namespace {

std::uint64_t fresh_seed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32U | device()) >> 11U;  // exact in a JSON number
}

base::Duration time_of_day() {
  return std::chrono::duration_cast<base::Duration>(std::chrono::system_clock::now().time_since_epoch());
}

// Whether those that depend on it may run.
bool succeeded(const model::WorkflowResult& result) {
  if (result.state != model::WorkflowState::kCompleted || never_got_past_start(result)) return false;
  model::TestOutcomes outcomes;
  outcomes.add(result);
  return !outcomes.all_failed();
}

}  // namespace

JobRun::JobRun(const model::Job& job, const Registry& registry, const JobOptions& options)
    : job_(job), registry_(registry), options_(options), judge_(job.thresholds) {
  result_.job = job.name;
  result_.version = MUSTER_VERSION;
  result_.seed = job.seed != 0 ? job.seed : fresh_seed();
  for (const model::Workflow& workflow : job.workflows) {
    model::WorkflowResult empty;
    empty.name = workflow.name;
    empty.open = workflow.load.open();
    empty.scripted = workflow.scripted.has_value();
    result_.workflows.push_back(std::move(empty));
  }
}

base::Expected<void> JobRun::start() {
  std::vector<Dependent> dependents;
  for (const model::Workflow& workflow : job_.workflows) {
    dependents.push_back({.name = workflow.name, .depends = workflow.depends});
    // Compiled again when its turn comes, with the context that it uses; errors are worth knowing now.
    auto checked = Engine::make(
        {.job = &job_, .workflow = &workflow, .cores = 1, .seed = result_.seed, .received = {}, .trace = {}},
        registry_);
    if (!checked) return std::unexpected(checked.error());
    const auto shape = registry_.shapes.make(workflow.load);
    candidates_.push_back({.name = workflow.name,
                           .priority = workflow.priority,
                           .is_test = (*checked)->program().test,
                           .vus = shape ? std::max<std::uint64_t>(1, (*shape)->peak_vus()) : 1});
  }
  auto rows = UniqueRows::open(job_.data);
  if (!rows) return std::unexpected(rows.error());
  unique_rows_ = std::move(*rows);
  auto ordered = layers(dependents);
  if (!ordered) return std::unexpected(ordered.error());
  layers_ = std::move(*ordered);
  for (const std::vector<std::size_t>& layer : layers_) {
    const auto lacking = shortage(candidates_of(layer), options_.cores);
    if (lacking) warnings_.push_back(to_text(*lacking, Tense::kWill));
  }
  epoch_ = base::now();
  result_.started = time_of_day();
  start_next_batch();
  return {};
}

bool JobRun::may_run(std::size_t index) {
  for (const std::string& name : job_.workflows[index].depends) {
    for (std::size_t i = 0; i < job_.workflows.size(); ++i) {
      if (job_.workflows[i].name != name || succeeded(result_.workflows[i])) continue;
      result_.workflows[index].state = model::WorkflowState::kSkipped;
      result_.workflows[index].reason = fmt::format("'{}', which it depends on, did not succeed", name);
      return false;
    }
  }
  return true;
}

std::vector<Candidate> JobRun::candidates_of(const std::vector<std::size_t>& layer) const {
  std::vector<Candidate> candidates;
  for (const std::size_t index : layer) candidates.push_back(candidates_[index]);
  return candidates;
}

bool JobRun::start_next_batch() {
  while (active_.empty() && !stopping_) {
    if (batches_.empty()) {
      if (next_layer_ == layers_.size()) return false;
      layer_ = layers_[next_layer_++];
      std::erase_if(layer_, [this](std::size_t index) { return !may_run(index); });
      const std::vector<Candidate> candidates = candidates_of(layer_);
      if (const auto lacking = shortage(candidates, options_.cores)) shortages_.push_back(*lacking);
      batches_ = provision(candidates, options_.cores);
      continue;
    }
    const Batch batch = std::move(batches_.front());
    batches_.erase(batches_.begin());
    for (const Placement& placement : batch) start_workflow(layer_[placement.workflow], placement.cores);
  }
  return !active_.empty();
}

bool JobRun::start_workflow(std::size_t index, std::uint32_t cores) {
  const model::Workflow& workflow = job_.workflows[index];
  model::WorkflowResult& result = result_.workflows[index];
  auto engine = Engine::make({.job = &job_,
                              .workflow = &workflow,
                              .cores = cores,
                              .seed = seed_of(result_.seed, index),
                              .run_began = epoch_,
                              .unique_rows = &unique_rows_,
                              .received = received_,
                              .trace = options_.trace},
                             registry_);
  base::Expected<void> started;
  std::unique_ptr<Runner> runner;
  if (engine) {
    runner = options_.in_process ? make_in_process_runner(std::move(*engine)) : make_process_runner(std::move(*engine));
    started = runner->start();
  } else {
    started = std::unexpected(engine.error());
  }
  if (!started) {
    result.state = model::WorkflowState::kFailed;
    result.reason = started.error().message;
    return false;
  }
  const base::Instant now = base::now();
  const auto shape = registry_.shapes.make(workflow.load);
  const base::Duration length = shape ? (*shape)->length() : base::Duration::max();
  result.state = model::WorkflowState::kRunning;
  result.began = (now - epoch_) + workflow.load.warm_up;  // until it tells itself
  if (factor_ != 1.0) runner->command({.kind = Command::Kind::kScale, .factor = factor_});
  if (paused_) runner->command({.kind = Command::Kind::kPause});
  active_.push_back({.workflow = index, .runner = std::move(runner), .began = now, .length = length, .looked = now});
  return true;
}

void JobRun::look(Active& active) {
  // Silence is what was looked at in vain, not what the clock says: whoever was stopped for a while, perhaps together
  // with the executor, has not seen it be silent.
  constexpr base::Duration kLongestLook = std::chrono::seconds(1);
  const base::Instant now = base::now();
  const base::Duration looked = std::min(now - active.looked, kLongestLook);
  if (active.heard && !paused_) active.seen += looked;
  if (active.runner->poll(result_.workflows[active.workflow])) {
    active.heard = true;
    active.silent = {};
  } else if (active.heard) {
    active.silent += looked;
  }
  active.looked = now;
}

void JobRun::finish_workflow(Active& active) {
  model::WorkflowResult& result = result_.workflows[active.workflow];
  const model::Workflow& workflow = job_.workflows[active.workflow];
  if (result.state == model::WorkflowState::kAborted && !active.wedged.empty()) {
    result.state = model::WorkflowState::kLost;
    result.reason = active.wedged + " and was killed";
  }
  if (result.state == model::WorkflowState::kCompleted && active.stopping && !result.reason.empty()) {
    const bool aborted = interrupted_ || active.aborted;
    result.state = aborted ? model::WorkflowState::kAborted : model::WorkflowState::kTimedOut;
  }
  if (const auto shape = registry_.shapes.make(workflow.load)) tell_undone(result.notes, **shape);
  for (const model::Provided& value : result.provided) received_.emplace_back(workflow.name, value);
}

bool JobRun::advance() {
  if (over_) return false;
  for (Active& active : active_) {
    look(active);
    if (active.runner->finished()) finish_workflow(active);
  }
  std::erase_if(active_, [](const Active& active) { return active.runner->finished(); });
  result_.elapsed = elapsed();
  check_thresholds();
  check_time();
  if (!active_.empty() || start_next_batch()) return true;
  conclude();
  return false;
}

void JobRun::check_thresholds() {
  if (job_.thresholds.empty()) return;
  judge_.observe(result_.workflows, result_.elapsed);
  result_.thresholds = judge_.verdicts();
  const model::ThresholdVerdict* const failed = judge_.abort();
  if (failed == nullptr || stopping_) return;
  stopping_ = true;
  end_pause();
  for (Active& active : active_) {
    if (active.stopping) continue;  // its own time was over
    active.aborted = true;
    tell_to_stop(active, fmt::format("the threshold '{}' failed and ended the run", failed->text));
  }
}

void JobRun::check_time() {
  if (job_.timeout && elapsed() > *job_.timeout && !stopping_) {
    stop(fmt::format("the job's timeout of {:g} s was over", base::seconds(*job_.timeout)));
  }
  for (Active& active : active_) {
    const auto& timeout = job_.workflows[active.workflow].timeout;
    if (timeout && !active.stopping && base::now() - active.began >= *timeout) {
      tell_to_stop(active, fmt::format("its timeout of {:g} s was over", base::seconds(*timeout)));
    }
    check_wedged(active);
  }
}

base::Duration JobRun::margin(const Active& active) const {
  // A script that does not come back is given up by its own executor, which knows why and keeps what was measured.
  const bool scripted = job_.workflows[active.workflow].scripted.has_value();
  return options_.stop_margin + (scripted ? kStarvedPatience : base::Duration{});
}

void JobRun::check_wedged(Active& active) {
  if (!active.wedged.empty()) return;
  const base::Duration grace = job_.workflows[active.workflow].load.grace;
  const bool over = active.length != base::Duration::max() && active.seen - grace - margin(active) > active.length;
  if (over || base::now() > active.must_end) {
    active.wedged = fmt::format("{}, had not ended {:g} s after its grace of {:g} s",
                                active.stopping ? "it was told to stop" : "it should have come to the end of its load",
                                base::seconds(margin(active)), base::seconds(grace));
  } else if (active.silent > options_.silence_limit) {
    active.wedged = fmt::format("it gave no sign of life for {:g} s", base::seconds(options_.silence_limit));
  } else {
    return;
  }
  active.runner->command({.kind = Command::Kind::kAbort});
}

void JobRun::command(const Command& command) {
  for (Active& active : active_) active.runner->command(command);
}

void JobRun::pause() {
  if (paused_ || stopping_) return;
  paused_ = true;
  paused_at_ = base::now();
  command({.kind = Command::Kind::kPause});
}

void JobRun::end_pause() {
  if (!paused_) return;
  paused_ = false;
  // A warm-up stands still meanwhile, and nothing of it is in the figures.
  const bool warming_up = !active_.empty() && std::ranges::all_of(active_, [this](const Active& active) {
    return result_.workflows[active.workflow].warming_up;
  });
  if (!warming_up) by_hand_.paused += base::now() - paused_at_;
}

void JobRun::resume() {
  end_pause();
  command({.kind = Command::Kind::kResume});
}

void JobRun::scale(double factor) {
  if (stopping_) return;
  factor_ = factor;
  by_hand_.least = std::min(by_hand_.least, factor);
  by_hand_.most = std::max(by_hand_.most, factor);
  command({.kind = Command::Kind::kScale, .factor = factor});
}

void JobRun::tell_to_stop(Active& active, const std::string& reason) {
  active.stopping = true;
  active.must_end =
      std::min(active.must_end, base::now() + job_.workflows[active.workflow].load.grace + margin(active));
  if (!reason.empty()) result_.workflows[active.workflow].reason = reason;
  active.runner->command({.kind = Command::Kind::kStop});
}

void JobRun::stop(const std::string& reason) {
  stopping_ = true;
  end_pause();  // an end ends a pause too
  for (Active& active : active_) tell_to_stop(active, reason);
}

void JobRun::stop_by_hand() {
  if (!stopped_) stopped_ = elapsed();
  stop("");
}

void JobRun::abort() {
  stopping_ = true;
  end_pause();
  command({.kind = Command::Kind::kAbort});
}

void JobRun::conclude() {
  over_ = true;
  end_pause();
  for (model::WorkflowResult& workflow : result_.workflows) {
    if (workflow.state != model::WorkflowState::kPending) continue;
    workflow.state = model::WorkflowState::kSkipped;
    workflow.reason = "the run ended before its turn came";
  }
  judge_.finish(result_.workflows, result_.elapsed);
  result_.thresholds = judge_.verdicts();
  result_.marks = find_marks(result_.workflows, result_.thresholds, by_hand_, {}, judge_.problems());
  for (const Shortage& each : shortages_) result_.marks.push_back({"batches", to_text(each, Tense::kDid)});
  const bool warm_up =
      std::ranges::any_of(job_.workflows, [](const model::Workflow& each) { return each.load.warm_up.count() > 0; });
  const Conclusion conclusion =
      engine::conclude(result_, {.interrupted = interrupted_, .strict = options_.strict, .warm_up = warm_up});
  result_.verdict = conclusion.verdict;
  result_.exit_code = conclusion.exit_code;
  result_.reason = conclusion.reason;
  // An interruption after it says more.
  if (stopped_ && result_.verdict != model::Verdict::kInterrupted)
    result_.reason += fmt::format("; it was stopped by hand after {:.1f} s", base::seconds(*stopped_));
}

}  // namespace muster::engine
