#include "target/reply_stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace muster::target {
namespace {

// "ffffffffffffffff\r\n" before a chunk, "\r\n" after it.
constexpr std::size_t kChunkCost = 20;
constexpr std::string_view kLastChunk = "0\r\n\r\n";

// A drip of many bytes a second need not wake for each of them.
constexpr base::Duration kLeastStep = std::chrono::milliseconds(1);

}  // namespace

void ReplyStream::start(const Plan& plan, base::Instant now) {
  plan_ = &plan;
  began_ = now;
  sent_ = 0;
  pattern_at_ = 0;
  ended_ = false;
}

std::size_t ReplyStream::produce(char* into, std::size_t room, base::Instant now) {
  const std::uint64_t available = due(now) - sent_;
  if (plan_->chunk == 0) return fill(into, static_cast<std::size_t>(std::min<std::uint64_t>(available, room)));

  std::size_t used = 0;
  std::uint64_t left = available;
  while (left != 0 && room - used > kChunkCost) {
    // A chunk that does not fit is cut: where chunks end carries no meaning (RFC 9112 section 7.1).
    const std::uint64_t fitting = std::min<std::uint64_t>(plan_->chunk, room - used - kChunkCost);
    const auto size = static_cast<std::size_t>(std::min(left, fitting));
    char* const end = fmt::format_to_n(into + used, kChunkCost, "{:x}\r\n", size).out;
    used = static_cast<std::size_t>(end - into);
    used += fill(into + used, size);
    std::memcpy(into + used, "\r\n", 2);
    used += 2;
    left -= size;
  }
  if (sent_ == plan_->filler && !ended_ && room - used >= kLastChunk.size()) {
    std::memcpy(into + used, kLastChunk.data(), kLastChunk.size());
    used += kLastChunk.size();
    ended_ = true;
  }
  return used;
}

base::Instant ReplyStream::next_due(base::Instant now) const {
  const double share = static_cast<double>(sent_ + 1) / static_cast<double>(plan_->filler);
  const base::Instant next = began_ + base::from_seconds(base::seconds(plan_->drip) * share);
  return std::max(next, now + kLeastStep);
}

std::uint64_t ReplyStream::due(base::Instant now) const {
  if (plan_->drip <= base::Duration::zero() || now - began_ >= plan_->drip) return plan_->filler;
  const double share = base::seconds(now - began_) / base::seconds(plan_->drip);
  const auto due = static_cast<std::uint64_t>(static_cast<double>(plan_->filler) * share);
  return std::clamp(due, sent_, plan_->filler);
}

std::size_t ReplyStream::fill(char* into, std::size_t count) {
  std::size_t left = count;
  while (left != 0) {
    const std::size_t piece = std::min(left, plan_->pattern.size() - pattern_at_);
    std::memcpy(into, plan_->pattern.data() + pattern_at_, piece);
    into += piece;
    left -= piece;
    pattern_at_ = (pattern_at_ + piece) % plan_->pattern.size();
  }
  sent_ += count;
  return count;
}

}  // namespace muster::target
