// Decides when the VUs of one core run: activates and retires them as the load shape wants, hands out arrivals, paces
// iterations, and ends everything in time. Single-threaded; owned by its Core, which gives it the loop's time.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "base/arena.h"
#include "base/time.h"
#include "engine/arrival_queue.h"
#include "engine/arrivals.h"
#include "engine/interpreter.h"
#include "engine/load_shape.h"
#include "engine/program.h"
#include "engine/recording.h"
#include "engine/vu.h"
#include "reactor/loop.h"

namespace muster::engine {

struct SchedulerContext {
  const Program& program;
  const LoadShape& shape;
  reactor::Loop& loop;
  RecordingPair& recordings;
  Interpreter& interpreter;
  std::vector<std::unique_ptr<Client>>& clients;
  Slice slice;
  std::uint64_t seed = 0;
};

class Scheduler final {
 public:
  explicit Scheduler(const SchedulerContext& context);
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;
  ~Scheduler();

  // The load begins at `epoch`, the same for all cores.
  void start(base::Instant epoch);

  // From this time on what is measured counts.
  void count_from(base::Instant when) { counted_from_ = when; }

  // No new iterations; those under way have the grace to finish.
  void stop();
  // Everything ends now; calls under way count as cancelled.
  void abort();
  void pause();
  void resume();
  // `factor` times the VUs or the rate from now on; a rate of nothing is a pause, and not taken.
  void scale(double factor);

  bool done() const { return started_ && ending_ && active_ == 0 && queue_.empty(); }
  bool ending() const { return ending_; }
  std::uint64_t active() const { return active_; }
  // When the load ended and the grace began; kNever until then.
  base::Instant load_end() const { return load_end_; }
  // Time since the epoch that counts for the load shape: pauses are left out.
  base::Duration elapsed() const { return loop_.now() - epoch_ - paused_for_; }

  // Called by the interpreter. True: the VU's main strand was given a new list to run at once.
  bool list_ended(Vu& vu);
  void woke(Strand& strand);
  void stop_requested() { stop_soon_ = true; }
  void abort_requested() { abort_soon_ = true; }
  // `vu` ends after this iteration.
  void retire(Vu& vu);
  // A VU found no data for what it does or was about to do: it ends with this iteration, which does not count.
  void no_work_left();
  // Once a turn: acts on what was asked for during it.
  void after_turn();

 private:
  struct Alarm : reactor::Timer {
    Alarm(Fire fire, Scheduler& owner) : Timer(fire), scheduler(&owner) {}
    Scheduler* scheduler;
  };

  Recording& recording() { return recordings_.current(); }
  bool counted(base::Instant when) const { return when >= counted_from_; }
  void adjust();
  void arm_change();
  Vu& activate_one();
  Vu& make_vu();
  void begin(Vu& vu, base::Instant intended);
  bool next_iteration(Vu& vu);
  bool next_arrival_or_idle(Vu& vu);
  bool begin_iteration(Vu& vu, base::Instant intended);
  void drop_arrivals(std::uint64_t count);
  bool out_of_vus() const;
  bool bounded_work_left() const;
  void account_iteration(Vu& vu);
  bool finish(Vu& vu);
  void deactivate(Vu& vu);
  void end_waiting_vus();
  void arrive();
  void arm_arrival();
  void arm_end();
  void count_missed();
  void time_over();
  void no_vu_left();
  std::uint64_t iterations_undone() const;
  void grace_over();
  bool take_iteration(Vu& vu);
  base::Instant at(base::Duration elapsed) const;

  const Program& program_;
  const LoadShape& shape_;
  reactor::Loop& loop_;
  RecordingPair& recordings_;
  Interpreter& interpreter_;
  std::vector<std::unique_ptr<Client>>& clients_;
  Slice slice_;

  base::BlockPool pool_;
  std::deque<Vu> vus_;
  std::size_t retire_below_ = 0;  // those from here on are retiring or not active: a ramp down need not look at them
  std::uint64_t active_ = 0;
  std::uint64_t wanted_ = 0;    // closed: VUs that should be active on this core
  std::uint64_t retiring_ = 0;  // active ones that will end after their iteration
  Vu* free_ = nullptr;          // open: active and waiting for an arrival
  std::vector<Vu*> spare_;      // not active
  std::vector<Vu*> parked_;     // closed: waiting for a pause to end
  Arrivals arrivals_;
  base::Instant next_arrival_ = base::kNever;
  ArrivalQueue queue_;  // open: arrivals that wait for a VU
  IterationBound bound_;
  std::uint64_t iterations_left_ = 0;
  std::uint64_t spent_ = 0;  // bounded: VUs that ended of themselves; nobody takes their place

  base::Instant epoch_{};
  base::Instant counted_from_ = base::Instant::min();
  base::Instant load_end_ = base::kNever;
  base::Duration paused_for_{};
  base::Instant paused_at_{};
  double factor_ = 1.0;
  bool started_ = false;
  bool ending_ = false;
  bool paused_ = false;
  bool stop_soon_ = false;
  bool abort_soon_ = false;
  bool out_of_work_ = false;  // a VU ended for lack of iterations or data, or because its `start` failed
  Alarm change_;
  Alarm arrival_;
  Alarm end_;
  Alarm grace_;
};

}  // namespace muster::engine
