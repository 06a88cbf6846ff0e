#include "engine/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "engine/options.h"
#include "reactor/descriptors.h"

namespace muster::engine {

Registry built_in_registry() {
  return {.kinds = model::built_in_kinds(),
          .protocols = built_in_protocols(),
          .shapes = built_in_shapes(),
          .scripts = {},
          .shape_keys = {}};
}

base::Expected<std::unique_ptr<Engine>> Engine::make(const PlanSlice& slice, const Registry& registry) {
  auto program = compile(*slice.job, *slice.workflow, registry.kinds, registry.protocols, slice.received, slice.seed);
  if (!program) return std::unexpected(program.error());
  auto shape = registry.shapes.make(slice.workflow->load);
  if (!shape) return std::unexpected(shape.error());
  (*program)->open = (*shape)->open();
  (*program)->workflows = slice.job->workflows.size();
  (*program)->position = static_cast<std::uint64_t>(slice.workflow - slice.job->workflows.data());
  for (FeederUse& use : (*program)->feeders) {
    auto shared = slice.unique_rows != nullptr ? slice.unique_rows->of(use.name) : nullptr;
    if (shared != nullptr) use.next_unique = std::move(shared);
  }
  std::unique_ptr<ScriptProgram> script;
  if ((*program)->script != nullptr) {
    ScriptLanguage* const language = registry.scripts.find((*program)->script->language);
    if (language == nullptr) {
      return base::fail(
          fmt::format("this build of muster has no scripting language '{}'", (*program)->script->language));
    }
    script = language->open(**program);
  }
  return std::unique_ptr<Engine>(
      new Engine(std::move(*program), std::move(*shape), std::move(script), registry, slice));
}

Engine::Engine(std::unique_ptr<Program> program, std::unique_ptr<LoadShape> shape,
               std::unique_ptr<ScriptProgram> script, const Registry& registry, const PlanSlice& slice)
    : program_(std::move(program)),
      shape_(std::move(shape)),
      registry_(registry),
      tags_(*program_),
      script_(std::move(script)),
      collector_(*program_, split(std::max<std::uint64_t>(1, shape_->peak_vus()), 0, slice.cores).size()),
      run_began_(slice.run_began) {
  const IterationBound bound = shape_->iterations();
  const std::uint64_t shared = bound.of == IterationBound::Of::kWorkflow ? bound.count : 0;
  for (const Slice& part : split(std::max<std::uint64_t>(1, shape_->peak_vus()), shared, slice.cores)) {
    cores_.push_back(
        std::make_unique<Core>(CoreContext{.program = *program_,
                                           .shape = *shape_,
                                           .protocols = registry_.protocols,
                                           .resolver = resolver_,
                                           .tags = tags_,
                                           .script = script_.get(),
                                           .slice = part,
                                           .seed = slice.seed,
                                           .trace = slice.trace,
                                           .stop_all = [this] { command({.kind = Command::Kind::kStop}); }}));
  }
}

Engine::~Engine() {
  {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
  }
  changed_.notify_all();
  if (!threads_.empty()) {
    for (const auto& core : cores_) core->send({.kind = Command::Kind::kAbort});
    join();
  }
  resolver_.stop();
}

void Engine::run_core(std::size_t index) {
  Core& core = *cores_[index];
  const auto opened = core.open();
  std::unique_lock lock(mutex_);
  if (!opened) {
    error_ = opened.error().message;
    cancelled_ = true;
  }
  ++ready_;
  changed_.notify_all();
  changed_.wait(lock, [this] { return go_ || cancelled_; });
  if (!go_) return;
  lock.unlock();
  core.run(epoch_, seconds_);
}

base::Expected<void> Engine::start() {
  if (script_ != nullptr) {
    if (auto begun = script_->begin(static_cast<std::uint32_t>(cores_.size()), give_up_); !begun) return begun;
  }
  reactor::reserve_descriptors(kOwnDescriptors + shape_->peak_vus());
  resolver_.start();
  for (std::size_t i = 0; i < cores_.size(); ++i) threads_.emplace_back([this, i] { run_core(i); });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return ready_ == cores_.size(); });
  if (!cancelled_) {
    epoch_ = base::now();
    seconds_ = RunSeconds(run_began_ == base::Instant{} ? epoch_ : run_began_, epoch_);
    collector_.count_from(seconds_.since_zero(epoch_ + program_->load.warm_up), seconds_.shift());
    go_ = true;
    lock.unlock();
    changed_.notify_all();
    return {};
  }
  lock.unlock();
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  return base::fail(error_);
}

void Engine::command(const Command& command) {
  for (const auto& core : cores_) core->send(command);
}

bool Engine::drain() {
  bool any = false;
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    if (const Recording* recording = cores_[i]->recordings().handed_over()) {
      collector_.add(i, *recording);
      if (!recording->failure.empty() && failure_.empty()) {
        failure_ = recording->failure;
        command({.kind = Command::Kind::kAbort});
      }
      cores_[i]->recordings().release();
      any = true;
    }
  }
  return any;
}

bool Engine::poll() {
  return drain();
}

bool Engine::finished() const {
  return std::all_of(cores_.begin(), cores_.end(), [](const auto& core) { return core->finished(); });
}

std::string Engine::stuck(base::Instant now) {
  if (program_->script == nullptr || !go_) return {};
  while (pulses_.size() < cores_.size()) pulses_.emplace_back(now, cores_[pulses_.size()]->cpu());
  // This process may have been stopped itself: that time is not held against its cores.
  const base::Duration pause = last_look_ == base::Instant{} ? base::Duration{} : now - last_look_;
  last_look_ = now;
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    Pulse& pulse = pulses_[i];
    if (pause > kScriptPatience / 5) pulse.forgive(pause);
    if (cores_[i]->finished()) continue;
    const Pulse::Sign sign = pulse.look(cores_[i]->ticks(), now, cores_[i]->cpu());
    if (sign == Pulse::Sign::kAlive) continue;
    collect_last();
    if (sign == Pulse::Sign::kLoops) {
      return fmt::format(
          "'{}' did not come back for {:.0f} s: a loop in it never ends, or one call takes far too long; between two "
          "steps or thinks a script may compute for milliseconds",
          program_->script->file, base::seconds(pulse.silent()));
    }
    return fmt::format(
        "'{}' did not come back for {:.0f} s and computed for {:.1f} s of them: it got no CPU, or it hangs; see what "
        "else this machine is doing, or run with fewer `--cores`",
        program_->script->file, base::seconds(pulse.silent()), base::seconds(pulse.computed()));
  }
  return {};
}

// A core that is done hands its last recording over only once the one before it was taken.
void Engine::drain_until(base::Instant deadline) {
  while (!finished() && base::now() < deadline) {
    if (!drain()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void Engine::collect_last() {
  command({.kind = Command::Kind::kAbort});
  drain_until(base::now() + kLastRecordings);
  while (drain()) {
  }
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    if (cores_[i]->finished()) continue;
    if (const Recording* const seized = cores_[i]->seize()) collector_.add(i, *seized);
  }
}

void Engine::join() {
  if (threads_.empty()) return;
  drain_until(base::kNever);
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  while (drain()) {
  }
  if (script_ == nullptr) return;
  if (const auto ended = script_->end(collector_.totals(), give_up_); !ended && failure_.empty())
    failure_ = ended.error().message;
}

model::WorkflowResult Engine::take_series() {
  // A second is whole once every core has handed over what it recorded in it; one that is done has nothing to add.
  std::uint32_t whole = std::numeric_limits<std::uint32_t>::max();
  for (std::size_t i = 0; i < cores_.size(); ++i) {
    if (cores_[i]->finished() && cores_[i]->recordings().handed_over() == nullptr) continue;
    whole = std::min(whole, collector_.told_until(i));
  }
  return collector_.take_series(whole);
}

}  // namespace muster::engine
