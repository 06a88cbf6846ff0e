// Turns the part of a Plan that is made while it is sent (filler, chunked or not, dripped or not) into bytes, a piece
// at a time, so that a reply of any size costs no memory. Pure: time is handed in.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"
#include "target/plan.h"

namespace muster::target {

class ReplyStream {
 public:
  // `plan` must outlive the stream's use.
  void start(const Plan& plan, base::Instant now);

  // Writes as much as is due and fits into `room` bytes (64 at least); returns how many.
  std::size_t produce(char* into, std::size_t room, base::Instant now);

  bool done() const { return sent_ == plan_->filler && (plan_->chunk == 0 || ended_); }

  // When the next byte of a drip is due.
  base::Instant next_due(base::Instant now) const;

 private:
  std::uint64_t due(base::Instant now) const;
  std::size_t fill(char* into, std::size_t count);

  const Plan* plan_ = nullptr;
  base::Instant began_{};
  std::uint64_t sent_ = 0;
  std::size_t pattern_at_ = 0;
  bool ended_ = false;
};

}  // namespace muster::target
