#include "engine/core.h"

#include <algorithm>
#include <thread>

#include "engine/http_client.h"
#include "engine/http_connection.h"
#include "engine/options.h"

namespace muster::engine {

Core::Core(const CoreContext& context)
    : context_(context),
      recordings_(context.program),
      interpreter_({.program = context.program,
                    .loop = loop_,
                    .recordings = recordings_,
                    .tags = context.tags,
                    .slice = context.slice,
                    .seed = context.seed,
                    .trace = context.trace,
                    .stop_all = context.stop_all}),
      tick_([](reactor::Timer& timer, base::Instant) { static_cast<Tick&>(timer).core->tick(); }, *this) {}

Core::~Core() {
  loop_.timers().cancel(tick_);
  mailbox_.close();
  scheduler_.reset();
  script_.reset();
  clients_.clear();
}

base::Expected<void> Core::open() {
  pthread_getcpuclockid(pthread_self(), &cpu_clock_);
  if (auto opened = loop_.open(); !opened) return opened;
  auto opened =
      mailbox_.open(loop_, [](void* self, Command&& command) { static_cast<Core*>(self)->deliver(command); }, this);
  if (!opened) return opened;
  const CoreServices services{.loop = loop_,
                              .host = interpreter_,
                              .resolver = context_.resolver,
                              .program = context_.program,
                              .core = context_.slice.core,
                              .cores = context_.slice.cores,
                              .trace = static_cast<bool>(context_.trace)};
  HttpClient* http = nullptr;
  for (const std::string& kind : context_.program.kinds) {
    Client& client = *clients_.emplace_back(context_.protocols.find(kind)->make_client(services));
    if (kind == "http") http = dynamic_cast<HttpClient*>(&client);
    if (auto ready = client.open(); !ready) return ready;
  }
  scheduler_ = std::make_unique<Scheduler>(SchedulerContext{.program = context_.program,
                                                            .shape = context_.shape,
                                                            .loop = loop_,
                                                            .recordings = recordings_,
                                                            .interpreter = interpreter_,
                                                            .clients = clients_,
                                                            .slice = context_.slice,
                                                            .seed = context_.seed});
  interpreter_.connect(*scheduler_, clients_, http);
  if (context_.script == nullptr) return {};
  script_ = context_.script->make({.program = context_.program, .host = interpreter_, .slice = context_.slice});
  interpreter_.set_script(script_.get());
  if (auto ready = script_->open(); !ready) return ready;
  const std::string address = script_->address();
  return address.empty() || http == nullptr ? base::Expected<void>() : http->pin(address);
}

void Core::run(base::Instant epoch, const RunSeconds& seconds) {
  epoch_ = epoch;
  seconds_ = seconds;
  count_from(epoch + context_.program.load.warm_up);
  counting_ = context_.program.load.warm_up == base::Duration::zero();
  interpreter_.set_epoch(epoch);
  recordings_.current().counted = counting_;
  recordings_.current().second = seconds_.at(counted_from_);
  cpu_at_start_ = cpu();
  loop_.refresh();
  scheduler_->start(epoch);
  arm_tick();
  while (!scheduler_->done()) {
    loop_.turn<HttpConnection>(interpreter_.has_ready() ? loop_.now() : base::kNever);
    if (interpreter_.has_ready()) interpreter_.run_ready();
    scheduler_->after_turn();
  }
  hand_over_last();
  finished_.store(true, std::memory_order_release);
}

base::Duration Core::cpu() const {
  timespec used{};
  clock_gettime(cpu_clock_, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

void Core::stamp(base::Instant now) {
  Recording& record = recordings_.current();
  record.vus = scheduler_->active();
  // The grace belongs to the counted time up to the last request that finished in it or was cut short at its end.
  last_finish_ = std::max(last_finish_, record.last_finish);
  const base::Instant until = std::max(std::min(now, scheduler_->load_end()), std::min(now, last_finish_));
  record.elapsed = std::max(until - counted_from_, base::Duration::zero());
  if (counting_) record.began = seconds_.since_zero(counted_from_);
  record.use.busy = cpu() - cpu_at_start_;
  record.use.elapsed = std::max(now - counted_from_, base::Duration::zero());
}

void Core::count_from(base::Instant when) {
  counted_from_ = when;
  interpreter_.count_from(when);
  scheduler_->count_from(when);
}

// What the set holds by now is of counted time already: whoever records looks at when the work began.
void Core::begin_counting() {
  counting_ = true;
  recordings_.current().counted = true;
  recordings_.current().second = seconds_.at(counted_from_);
  cpu_at_start_ = cpu();
}

void Core::tick() {
  ticks_.fetch_add(1, std::memory_order_relaxed);
  const base::Instant now = loop_.now();
  if (!counting_ && now >= counted_from_) begin_counting();
  stamp(now);
  if (recordings_.swap()) {
    Recording& fresh = recordings_.current();
    fresh.counted = counting_;
    fresh.vus = scheduler_->active();
    fresh.peak_vus = fresh.vus;
    fresh.second = seconds_.at(now);
  }
  arm_tick();
}

// On every whole second, so that what is recorded belongs to one, and where counting begins.
void Core::arm_tick() {
  const base::Instant next = seconds_.next_hand_over(loop_.now());
  loop_.timers().arm(tick_, counting_ ? next : std::min(next, counted_from_));
}

void Core::hand_over_last() {
  loop_.refresh();
  if (!counting_ && loop_.now() >= counted_from_) begin_counting();
  stamp(loop_.now());
  while (!recordings_.swap()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

const Recording* Core::seize() {
  if (!interpreter_.gate().seize()) return nullptr;
  stamp(base::now());
  return &recordings_.current();
}

// A warm-up is time under load: a pause holds it still.
void Core::pause() {
  if (!counting_ && !warm_up_left_ && !scheduler_->ending() && loop_.now() < counted_from_) {
    warm_up_left_ = counted_from_ - loop_.now();
    count_from(base::kNever);
  }
  scheduler_->pause();
}

void Core::resume() {
  if (warm_up_left_) count_from(loop_.now() + *warm_up_left_);
  warm_up_left_.reset();
  scheduler_->resume();
  if (!counting_) arm_tick();
}

void Core::deliver(const Command& command) {
  switch (command.kind) {
    case Command::Kind::kStop:
      scheduler_->stop();
      break;
    case Command::Kind::kAbort:
      scheduler_->abort();
      break;
    case Command::Kind::kPause:
      pause();
      break;
    case Command::Kind::kResume:
      resume();
      break;
    case Command::Kind::kScale:
      scheduler_->scale(command.factor);
      break;
  }
}

}  // namespace muster::engine
