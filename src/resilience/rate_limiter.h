// Limits what each client may ask for, per operation, by sliding windows. It remembers a bounded number of clients and
// forgets those that have been silent for long. One per node; owned and called by its brain.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>

#include "base/time.h"
#include "resilience/options.h"
#include "resilience/sliding_window.h"

namespace muster::resilience {

struct Limited {
  bool admitted = false;
  base::Duration retry_after{};  // if not admitted
};

class RateLimiter {
 public:
  explicit RateLimiter(const RateLimitOptions& options = {}) : options_(options) {}

  // `client` is any number that names the client itself, not who forwarded the request.
  Limited admit(std::uint64_t client, Operation operation, base::Instant now);

  // Forgets who is idle. admit() does so, too: this is for nodes that nobody asks anything.
  void drop_idle(base::Instant now);

  std::size_t clients() const { return found_.size(); }

 private:
  struct Client {
    std::uint64_t name = 0;
    base::Instant last{};
    std::array<SlidingWindow, kOperations> windows{};
  };

  Client& client_of(std::uint64_t name, base::Instant now);
  void drop_oldest();

  RateLimitOptions options_;
  std::list<Client> by_use_;  // the longest silent first
  std::unordered_map<std::uint64_t, std::list<Client>::iterator> found_;
};

}  // namespace muster::resilience
