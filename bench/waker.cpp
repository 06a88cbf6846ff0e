// What the machine itself does to a timer: a loop that sleeps until the next of 1,000 instants a second and notes how
// late it woke. Nothing else happens in it; where it goes before everybody else on its core (SCHED_FIFO), it is late
// only while that core stands still, and no load generator can be more punctual there at that time. Ends after SECONDS,
// or when told to (SIGTERM), and prints one line of JSON, in microseconds. Usage: waker SECONDS
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <vector>

namespace {

using std::chrono::nanoseconds;
constexpr auto kBetween = nanoseconds{1'000'000};
constexpr auto kPerSecond = 1'000;

volatile std::sig_atomic_t told_to_end = 0;

nanoseconds now() {
  timespec at{};
  clock_gettime(CLOCK_MONOTONIC, &at);
  return std::chrono::seconds{at.tv_sec} + nanoseconds{at.tv_nsec};
}

void sleep_until(nanoseconds due) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(due);
  const timespec at{.tv_sec = seconds.count(), .tv_nsec = (due - seconds).count()};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, nullptr);
}

double quantile(const std::vector<double>& sorted, double share) {
  return sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
}

}  // namespace

int main(int count, char** arguments) {
  const auto seconds = count == 2 ? std::atoi(arguments[1]) : 0;
  if (seconds < 1 || seconds > 3600) {
    fmt::print(stderr, "usage: waker SECONDS (1 to 3600)\n");
    return 2;
  }
  std::signal(SIGTERM, [](int) { told_to_end = 1; });
  const auto wanted = static_cast<std::size_t>(seconds * kPerSecond);
  std::vector<double> late;
  late.reserve(wanted);
  auto due = now();
  do {
    due += kBetween;
    sleep_until(due);
    late.push_back(static_cast<double>((now() - due).count()) / 1e3);
  } while (late.size() < wanted && told_to_end == 0);
  std::ranges::sort(late);
  fmt::print("{{\"p50\": {:.1f}, \"p99\": {:.1f}, \"p999\": {:.1f}, \"max\": {:.1f}}}\n", quantile(late, 0.5),
             quantile(late, 0.99), quantile(late, 0.999), late.back());
}
