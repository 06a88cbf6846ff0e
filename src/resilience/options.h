// Every bound and default of the resilience room: what it is, its unit, and what another value would trade. Each struct
// belongs to the class named after it, which copies what it needs.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace muster::resilience {

// How the wait before another try is spread, so that those who failed together do not come back together.
enum class Jitter : std::uint8_t {
  kFull,          // anywhere from nothing to the whole wait: the least load on the peer
  kEqual,         // from half of the wait to all of it: never at once
  kDecorrelated,  // from the base to three times the last wait: forgets how often it has failed
  kNone,
};

struct RetryOptions {
  // Tries in all, the first one included. More hide longer failures, at that much more load on a peer in trouble.
  std::uint32_t attempts = 3;

  // The wait before the second try, which grows by `growth` each time and never beyond `cap`.
  base::Duration base = std::chrono::milliseconds(500);
  double growth = 2;
  base::Duration cap = std::chrono::seconds(30);

  // No try begins later than this after the first one; only clients have such a bound.
  base::Duration total = base::Duration::max();

  Jitter jitter = Jitter::kFull;
};

// For those who have nothing better to do than to try again, such as one who looks for its cluster.
constexpr std::uint32_t kUnlimitedAttempts = UINT32_MAX;

// Longest wait that a peer may ask for before the next try. It bounds how long one word of a peer can hold up a call.
constexpr base::Duration kMaxRetryAfter = std::chrono::seconds(60);

constexpr RetryOptions kDispatchRetries{.attempts = 1 + 2, .base = std::chrono::milliseconds(300)};
constexpr RetryOptions kShedClientRetries{.attempts = 1 + 3, .growth = 1.5, .total = std::chrono::seconds(60)};

struct CircuitOptions {
  // This many failures within `window` open the circuit. Fewer spare a sick peer sooner but trip on mere loss.
  // At most kMaxCircuitFailures.
  std::uint32_t failures = 3;
  base::Duration window = std::chrono::seconds(30);

  // An open circuit lets nothing through for this long; then it is half-open. It is also how long a trial may stay
  // without an answer before its place is free again.
  base::Duration open_for = std::chrono::seconds(10);

  // Trials that may be under way at once while half-open, and how many must succeed before it closes.
  std::uint32_t half_open_trials = 1;
  std::uint32_t successes_to_close = 1;
};

// A circuit remembers the times of its last failures; this is how many it has room for.
constexpr std::uint32_t kMaxCircuitFailures = 8;

struct BucketOptions {
  // Tokens per second, at least one, and how many may be taken at once after a rest. A larger burst is kinder to those
  // who come in gusts, and harder on what is behind.
  std::uint32_t rate = 1000;
  std::uint32_t burst = 2000;
};

// Calls back to one client, in all: more than this nobody can read.
constexpr BucketOptions kClientCallbacks{.rate = 20, .burst = 5};

// What a client may ask for, each with a limit of its own.
enum class Operation : std::uint8_t {
  kStats,
  kHeartbeat,
  kProgress,
  kSubmit,
  kStatus,
  kDispatch,
  kCancel,
  kReconnect,
};
constexpr std::size_t kOperations = 8;

struct RateLimitOptions {
  // Requests per client and window, in the order of Operation.
  std::array<std::uint32_t, kOperations> limits = {500, 200, 300, 50, 100, 100, 20, 10};

  // Longer windows allow larger gusts and take longer to forgive.
  base::Duration window = std::chrono::seconds(10);

  // A client that asked nothing for this long is forgotten. Not below two windows, or the limit would be forgotten too.
  base::Duration idle = std::chrono::seconds(300);

  // Clients remembered, at about 200 bytes each. When full, the one that was silent for longest makes room, so that a
  // flood of names cannot lock others out; it gains at most its own limit once more.
  std::size_t max_clients = 10'000;
};

struct OverloadOptions {
  // Weight of one more handler latency in the baseline, which follows behind the recent ones. Larger follows faster,
  // and so forgives a lasting rise sooner.
  double baseline_weight = 0.1;

  // Latencies whose mean is compared with the baseline, and how many there must be to say anything.
  std::size_t recent = 10;
  std::size_t least = 3;

  // How far the mean may lie above the baseline, as a share of it, before one is busy, stressed, overloaded.
  std::array<double, 3> above_baseline = {0.2, 0.5, 1.0};

  // Overloaded, too, if a line through the last `trend` latencies (at most kMaxTrend) rises by more than this share of
  // the baseline from one to the next.
  std::size_t trend = 20;
  double slope = 0.1;

  // Comparisons with the baseline say nothing while the mean is below this: twice nearly nothing is nearly nothing.
  base::Duration floor = std::chrono::milliseconds(50);

  // Mean latency from which one is busy, stressed, overloaded whatever the baseline.
  std::array<base::Duration, 3> latency = {std::chrono::milliseconds(200), std::chrono::milliseconds(500),
                                           std::chrono::milliseconds(2000)};

  // Share used of the node's own cpu, memory or queue, the fullest of them, from which one is busy, stressed,
  // overloaded.
  std::array<double, 3> resources = {0.70, 0.85, 0.95};

  // Latencies older than this do not count. Without it a node that sheds everything would never measure that it is well
  // again.
  base::Duration sample_life = std::chrono::seconds(10);
};

constexpr std::size_t kMaxTrend = 32;

struct SheddingOptions {
  // What is told to those turned away, by how loaded the node is: busy, stressed, overloaded.
  std::array<base::Duration, 3> retry_after = {std::chrono::seconds(1), std::chrono::seconds(2),
                                               std::chrono::seconds(5)};

  // The time over which fair shares are counted. Shorter reacts faster, longer lets clients come in gusts.
  base::Duration window = std::chrono::seconds(1);

  // Requests per window that every client has even if its fair share is less.
  std::uint32_t least_share = 2;

  // Clients told apart within a window; those beyond it share one share.
  std::size_t max_clients = 10'000;
};

struct BackpressureOptions {
  // Share of the intake queue in use, in percent, from which senders are asked to throttle, to batch, and are rejected.
  std::array<std::uint32_t, 3> percent = {70, 85, 95};

  // How long a sender collects before it flushes: without pressure, throttled, batching, rejected. Longer costs
  // freshness only: what is flushed is cumulative.
  std::array<base::Duration, 4> flush = {std::chrono::milliseconds(50), std::chrono::milliseconds(100),
                                         std::chrono::milliseconds(250), std::chrono::milliseconds(1000)};
};

struct ExtensionOptions {
  // The n-th extension (from 0) is longest / 2^(n+1), but at least `shortest`: 15, 7.5, 3.75, 1.875, 1 s. Their sum
  // bounds how long a worker that does nothing but ask can put off its eviction.
  base::Duration longest = std::chrono::seconds(30);
  base::Duration shortest = std::chrono::seconds(1);
  std::uint32_t most = 5;

  // After the last extension has run out, time for the workflow to save what it has.
  base::Duration grace = std::chrono::seconds(10);
};

struct CallOptions {
  // Calls under way at once. When full nothing new is begun, and the caller treats it as an overload of its own.
  std::size_t max_calls = 4096;
};

struct FenceOptions {
  // Keys remembered, of some 150 bytes each. When full, new keys are refused: to forget a fence that is in use would
  // let an older one pass.
  std::size_t max_keys = 65'536;

  // How long a key is remembered after it was released. Longer than any message can be under way: envelopes refuse what
  // is older than 5 minutes.
  base::Duration life = std::chrono::minutes(10);
};

}  // namespace muster::resilience
