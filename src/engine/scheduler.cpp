#include "engine/scheduler.h"

#include <algorithm>

#include "engine/marks.h"
#include "engine/options.h"

namespace muster::engine {
Scheduler::Scheduler(const SchedulerContext& context)
    : program_(context.program),
      shape_(context.shape),
      loop_(context.loop),
      recordings_(context.recordings),
      interpreter_(context.interpreter),
      clients_(context.clients),
      slice_(context.slice),
      arrivals_(context.shape, context.program.load.spacing, context.slice, context.seed),
      bound_(context.shape.iterations()),
      iterations_left_(context.slice.iterations),
      change_([](reactor::Timer& timer, base::Instant) { static_cast<Alarm&>(timer).scheduler->adjust(); }, *this),
      arrival_([](reactor::Timer& timer, base::Instant) { static_cast<Alarm&>(timer).scheduler->arrive(); }, *this),
      end_([](reactor::Timer& timer, base::Instant) { static_cast<Alarm&>(timer).scheduler->time_over(); }, *this),
      grace_([](reactor::Timer& timer, base::Instant) { static_cast<Alarm&>(timer).scheduler->grace_over(); }, *this) {}

Scheduler::~Scheduler() {
  for (Alarm* alarm : {&change_, &arrival_, &end_, &grace_}) loop_.timers().cancel(*alarm);
  for (Vu& vu : vus_) interpreter_.interrupt(vu, false);
}

base::Instant Scheduler::at(base::Duration elapsed) const {
  if (elapsed == base::Duration::max()) return base::kNever;
  return epoch_ + paused_for_ + elapsed;
}

void Scheduler::start(base::Instant epoch) {
  epoch_ = epoch;
  started_ = true;
  arm_end();
  if (shape_.open()) {
    next_arrival_ = at(arrivals_.next());
    arm_arrival();
  } else {
    loop_.timers().arm(change_, epoch);
  }
}

void Scheduler::arm_end() {
  const base::Instant end = at(shape_.length());
  if (end != base::kNever) loop_.timers().arm(end_, end);
}

void Scheduler::arm_change() {
  const base::Instant next = at(shape_.next_change(elapsed()));
  if (next != base::kNever && !ending_) loop_.timers().arm(change_, next);
}

void Scheduler::adjust() {
  if (ending_ || paused_) return;
  const double shaped = shape_.vus_at(elapsed());
  const auto share = [&](double vus) { return active_vus(slice_, shape_.peak_vus(), static_cast<std::uint64_t>(vus)); };
  wanted_ = share(shaped * factor_);
  // Scaling makes a load slower or faster; iterations that any VU may run are not left undone by it.
  if (wanted_ == 0 && bounded_work_left() && share(shaped) > 0) wanted_ = 1;
  // Counted before the first starts: one that finds no iteration or data left for it ends at once.
  const std::uint64_t running = active_ - retiring_ + spent_;
  for (std::uint64_t i = running; i < wanted_; ++i) begin(activate_one(), {});
  // The newest go first; those between iterations end at once.
  for (; retire_below_ > 0 && active_ - retiring_ > wanted_; --retire_below_) {
    Vu& vu = vus_[retire_below_ - 1];
    if (!vu.active || vu.retiring) continue;
    retire(vu);
    if (vu.list == VuList::kNone) {
      loop_.timers().cancel(vu.main);
      if (finish(vu)) interpreter_.run_soon(vu.main);
    }
  }
  arm_change();
}

// Whether there is a bound on iterations that this core has not reached, as far as it knows.
bool Scheduler::bounded_work_left() const {
  switch (bound_.of) {
    case IterationBound::Of::kNothing:
      return false;
    case IterationBound::Of::kEachVu:
      return vus_.empty() || active_ > retiring_;
    case IterationBound::Of::kWorkflow:
      return vus_.empty() || iterations_left_ > 0;
  }
  return false;
}

void Scheduler::retire(Vu& vu) {
  if (vu.retiring) return;
  vu.retiring = true;
  ++retiring_;
}

Vu& Scheduler::make_vu() {
  if (!spare_.empty()) {
    Vu& vu = *spare_.back();
    spare_.pop_back();
    return vu;
  }
  // Those that scaling adds beyond the peak are dealt out in turn, so that no two cores give the same number.
  const std::uint64_t made = vus_.size();
  const std::uint64_t number =
      made < slice_.vus ? slice_.first_vu + made : shape_.peak_vus() + (made - slice_.vus) * slice_.cores + slice_.core;
  return vus_.emplace_back(pool_, interpreter_, &Interpreter::on_timer, number);
}

Vu& Scheduler::activate_one() {
  Vu& vu = make_vu();
  retire_below_ = vus_.size();
  vu.active = true;
  vu.retiring = false;
  ++active_;
  Recording& record = recording();
  record.vus = active_;
  record.peak_vus = std::max(record.peak_vus, active_);
  return vu;
}

void Scheduler::begin(Vu& vu, base::Instant intended) {
  if (!program_.start.empty) {
    vu.arrival = intended;
    if (interpreter_.prepare(vu, VuList::kStart, {})) {
      interpreter_.run_soon(vu.main);
    } else {
      no_work_left();
      deactivate(vu);  // what did not start has nothing to stop
    }
  } else if (shape_.open() ? begin_iteration(vu, intended) : next_iteration(vu)) {
    interpreter_.run_soon(vu.main);
  }
}

bool Scheduler::take_iteration(Vu& vu) {
  switch (bound_.of) {
    case IterationBound::Of::kNothing:
      return true;
    case IterationBound::Of::kEachVu:
      return vu.iteration < bound_.count;
    case IterationBound::Of::kWorkflow:
      if (iterations_left_ == 0) return false;
      --iterations_left_;
      return true;
  }
  return false;
}

bool Scheduler::begin_iteration(Vu& vu, base::Instant intended) {
  if (interpreter_.prepare(vu, VuList::kLoop, intended)) return true;
  no_work_left();
  return finish(vu);
}

// A VU found no data for what it was about to do. In an open load an arrival was lost with it, and more would be.
void Scheduler::no_work_left() {
  out_of_work_ = true;
  if (!shape_.open()) return;
  stop_soon_ = true;
  drop_arrivals(1);
}

bool Scheduler::next_iteration(Vu& vu) {
  if (paused_ && !vu.retiring && !ending_) {
    vu.list = VuList::kNone;
    parked_.push_back(&vu);
    return false;
  }
  if (vu.retiring || ending_ || abort_soon_ || !take_iteration(vu)) return finish(vu);
  return begin_iteration(vu, {});
}

void Scheduler::account_iteration(Vu& vu) {
  if (counted(vu.began) && !vu.no_row) {
    Recording& record = recording();
    ++record.iterations;
    record.failed_iterations += vu.failed ? 1U : 0U;
    record.iteration_time.record(loop_.now() - vu.began);
    record.last_finish = loop_.now();
  }
  ++vu.iteration;
  const bool drop = program_.reset == model::Reset::kIteration;
  for (const auto& client : clients_) client->iteration_ended(vu, drop);
  if (drop) {
    vu.kept.reset();
    interpreter_.forget(vu);
  }
  vu.arena.reset();
}

bool Scheduler::list_ended(Vu& vu) {
  const VuList ended = vu.list;
  vu.list = VuList::kNone;
  if (ended == VuList::kStop) {
    deactivate(vu);
    return false;
  }
  if (ended == VuList::kStart) {
    if (vu.failed) {
      recording().note(kStartFailed);
      if (shape_.open()) drop_arrivals(1);
      return finish(vu);
    }
    if (!shape_.open()) return next_iteration(vu);
    if (!vu.retiring) return begin_iteration(vu, vu.arrival);
    drop_arrivals(1);
    return finish(vu);
  }
  account_iteration(vu);
  if (vu.no_row) [[unlikely]]
    return finish(vu);
  if (shape_.open()) return next_arrival_or_idle(vu);
  if (!vu.retiring && !ending_) {
    base::Instant due = program_.load.every ? vu.began + *program_.load.every : loop_.now();
    if (vu.failed && !vu.waited) due = std::max(due, loop_.now() + kLocalFailurePause);
    if (due > loop_.now()) {
      vu.main.due = due;
      loop_.timers().arm(vu.main, due);
      return false;
    }
  }
  if (!next_iteration(vu)) return false;
  if (++vu.in_a_row < kMaxInARow) return true;
  vu.in_a_row = 0;
  interpreter_.run_soon(vu.main);
  return false;
}

void Scheduler::woke(Strand& strand) {
  Vu& vu = *strand.vu;
  if (&strand != &vu.main || vu.list != VuList::kNone || next_iteration(vu)) interpreter_.run(strand);
}

void Scheduler::drop_arrivals(std::uint64_t count) {
  if (counted(loop_.now())) recording().dropped += count;
}

bool Scheduler::next_arrival_or_idle(Vu& vu) {
  if (!queue_.empty() && !vu.retiring && !abort_soon_ && (!paused_ || ending_)) {
    const base::Instant intended = queue_.front();
    queue_.pop_front();
    return begin_iteration(vu, intended);
  }
  if (vu.retiring || ending_) return finish(vu);
  vu.next_free = free_;
  free_ = &vu;
  return false;
}

bool Scheduler::finish(Vu& vu) {
  // Without data for it `stop` is left out.
  if (!program_.stop.empty && interpreter_.prepare(vu, VuList::kStop, {})) return true;
  deactivate(vu);
  return false;
}

void Scheduler::deactivate(Vu& vu) {
  for (const auto& client : clients_) client->iteration_ended(vu, true);
  vu.active = false;
  vu.list = VuList::kNone;
  vu.kept.reset();
  interpreter_.forget(vu);
  vu.arena.reset();
  const bool bounded = bound_.of != IterationBound::Of::kNothing;
  if (vu.retiring) {
    --retiring_;
    const bool own = bound_.of == IterationBound::Of::kEachVu && !ending_;
    if (own && vu.iteration < bound_.count) recording().note(kIterationsWithoutVu, bound_.count - vu.iteration);
  } else if (bounded) {
    ++spent_;
  }
  vu.retiring = false;
  --active_;
  recording().vus = active_;
  // A VU that ran out of iterations or data stays ended; one that a ramp retired may come back.
  if (!bounded) spare_.push_back(&vu);
  if (active_ == 0 && (out_of_work_ || out_of_vus())) no_vu_left();
}

// Where a VU or the user asked for the end, or data ran out, that is what is told.
void Scheduler::no_vu_left() {
  const bool of_itself = !out_of_work_ && !stop_soon_ && !abort_soon_ && !ending_;
  if (of_itself && bound_.of == IterationBound::Of::kWorkflow && iterations_left_ > 0) {
    recording().note(kIterationsWithoutVu, iterations_left_);
  }
  stop_soon_ = true;
}

// Whether no VU will come any more, once those that are active have ended of themselves.
bool Scheduler::out_of_vus() const {
  if (bound_.of != IterationBound::Of::kNothing) return true;
  return !shape_.open() && !paused_ && wanted_ > 0 && shape_.next_change(elapsed()) >= shape_.length();
}

void Scheduler::arm_arrival() {
  if (next_arrival_ != base::kNever && !paused_ && !ending_) loop_.timers().arm(arrival_, next_arrival_);
}

void Scheduler::arrive() {
  for (int i = 0; i < kArrivalsPerTurn; ++i) {
    // Each arrival at its own time: opening a connection for the one before took some.
    const base::Instant now = loop_.refresh();
    if (next_arrival_ > now) {
      arm_arrival();
      return;
    }
    const bool counts = counted(now);
    const base::Instant due = next_arrival_;
    next_arrival_ = at(arrivals_.next());
    Recording& record = recording();
    if (counts) {
      ++record.arrivals;
      record.lateness.record(now - due);
    }
    if (free_ == nullptr && active_ < slice_.vus) {
      begin(activate_one(), due);
    } else if (free_ != nullptr) {
      Vu& vu = *free_;
      free_ = vu.next_free;
      vu.in_a_row = 0;
      if (begin_iteration(vu, due)) interpreter_.run(vu.main);
    } else if (program_.load.late == model::LatePolicy::kDrop || queue_.size() >= kMaxQueuedArrivals) {
      record.dropped += counts ? 1U : 0U;
    } else {
      record.queued += counts ? 1U : 0U;
      queue_.push_back(due);
    }
  }
  // More are due, but first the loop looks for answers: they free VUs, and save opening connections for new ones.
  const base::Instant next_turn = loop_.now() + base::Duration(1);
  if (next_arrival_ != base::kNever) loop_.timers().arm(arrival_, std::max(next_arrival_, next_turn));
}

void Scheduler::after_turn() {
  if (abort_soon_) {
    abort_soon_ = false;
    abort();
  }
  if (stop_soon_ && !ending_) stop();
  if (ending_ && active_ == 0 && !queue_.empty()) {
    drop_arrivals(queue_.size());
    queue_.clear();
  }
}

void Scheduler::end_waiting_vus() {
  while (free_ != nullptr) {
    Vu& vu = *free_;
    free_ = vu.next_free;
    if (finish(vu)) interpreter_.run_soon(vu.main);
  }
  for (Vu* vu : parked_) {
    if (finish(*vu)) interpreter_.run_soon(vu->main);
  }
  parked_.clear();
  for (Vu& vu : vus_) {
    if (vu.active && vu.list == VuList::kNone && vu.main.armed()) {
      loop_.timers().cancel(vu.main);
      if (finish(vu)) interpreter_.run_soon(vu.main);
    }
  }
}

// Arrivals that were due before the end and never had their turn: the generator was too slow, or stood still.
void Scheduler::count_missed() {
  const base::Instant end = std::min(paused_ ? paused_at_ : loop_.now(), at(shape_.length()));
  std::uint64_t missed = 0;
  for (; next_arrival_ < end; next_arrival_ = at(arrivals_.next())) missed += counted(next_arrival_) ? 1U : 0U;
  recording().arrivals += missed;
}

std::uint64_t Scheduler::iterations_undone() const {
  if (bound_.of == IterationBound::Of::kWorkflow) return iterations_left_;
  if (bound_.of == IterationBound::Of::kNothing) return 0;
  std::uint64_t undone = 0;
  for (const Vu& vu : vus_) {
    const std::uint64_t begun = vu.iteration + (vu.list == VuList::kLoop ? 1U : 0U);
    if (vu.active && begun < bound_.count) undone += bound_.count - begun;
  }
  return undone;
}

void Scheduler::time_over() {
  if (const std::uint64_t undone = iterations_undone(); undone > 0 && !ending_) {
    recording().note(kIterationsUndone, undone);
  }
  stop();
}

void Scheduler::stop() {
  if (ending_) return;
  if (shape_.open() && started_) count_missed();
  ending_ = true;
  load_end_ = loop_.now();
  for (Alarm* alarm : {&change_, &arrival_, &end_}) loop_.timers().cancel(*alarm);
  if (!started_) {
    started_ = true;
    return;
  }
  end_waiting_vus();
  loop_.timers().arm(grace_, loop_.now() + program_.load.grace);
}

void Scheduler::grace_over() {
  drop_arrivals(queue_.size());
  queue_.clear();
  for (Vu& vu : vus_) {
    if (!vu.active) continue;
    if (vu.list == VuList::kLoop) ++recording().interrupted;
    interpreter_.interrupt(vu, true);
    deactivate(vu);
  }
}

void Scheduler::abort() {
  if (!ending_) stop();
  loop_.timers().cancel(grace_);
  grace_over();
}

void Scheduler::pause() {
  if (paused_ || ending_) return;
  paused_ = true;
  paused_at_ = loop_.now();
  for (Alarm* alarm : {&change_, &arrival_, &end_}) loop_.timers().cancel(*alarm);
}

void Scheduler::resume() {
  if (!paused_ || ending_) return;
  paused_ = false;
  const base::Duration length = loop_.now() - paused_at_;
  paused_for_ += length;
  if (next_arrival_ != base::kNever) next_arrival_ += length;
  arm_end();
  if (shape_.open()) {
    queue_.shift(length);
    while (free_ != nullptr && !queue_.empty()) {
      Vu& vu = *free_;
      free_ = vu.next_free;
      if (next_arrival_or_idle(vu)) interpreter_.run_soon(vu.main);
    }
    arm_arrival();
    return;
  }
  std::vector<Vu*> waiting;
  waiting.swap(parked_);
  for (Vu* vu : waiting) {
    if (next_iteration(*vu)) interpreter_.run_soon(vu->main);
  }
  adjust();
}

void Scheduler::scale(double factor) {
  if (!(factor >= 0) || (factor == 0 && shape_.open())) return;
  factor_ = factor;
  if (shape_.open()) {
    arrivals_.scale(factor);
  } else {
    adjust();
  }
}

}  // namespace muster::engine
