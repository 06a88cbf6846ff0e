// Names to addresses (c-ares): once and blocking, before the clock starts, or on a thread of its own while a run goes
// on, so that no core ever waits for a name server.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "reactor/address.h"

namespace muster::reactor {

enum class Family : std::uint8_t { kAny, kV4, kV6 };

struct Resolution {
  std::vector<Address> addresses;  // never empty; port 0
  base::Duration ttl{};            // least of the answers'; hosts files give kHostsFileTtl
};

constexpr base::Duration kHostsFileTtl = std::chrono::seconds(60);

// Blocks for at most `timeout`. Addresses ("127.0.0.1", "::1") come back as they are. Errors say which name and why.
base::Expected<Resolution> resolve(const std::string& host, Family family, base::Duration timeout);

// Answers one request after the other on its own thread.
class ResolverThread {
 public:
  // Called on the resolver's thread.
  using Answer = std::function<void(base::Expected<Resolution>)>;

  ResolverThread() = default;
  ~ResolverThread() { stop(); }

  void start();
  // Requests not yet served are dropped without an answer.
  void stop();

  void ask(std::string host, Family family, base::Duration timeout, Answer answer);

 private:
  struct Request {
    std::string host;
    Family family;
    base::Duration timeout;
    Answer answer;
  };
  void serve();

  std::thread thread_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Request> requests_;
  bool stopping_ = false;
};

}  // namespace muster::reactor
