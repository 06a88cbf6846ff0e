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
  base::Duration ttl{};            // least of the answers', those on the way to them included; at least kLeastTtl
};

// What is known without asking a name server, as the names of the hosts file, comes without a TTL.
constexpr base::Duration kHostsFileTtl = std::chrono::seconds(60);

// A TTL of 0 asks for not keeping an answer at all; a run that opens many connections keeps it for so long.
constexpr base::Duration kLeastTtl = std::chrono::seconds(1);

// Whether `host`, if it is an address ("127.0.0.1", "::1"), is one of the family. Of a name only its answer can tell.
base::Expected<void> check_family(std::string_view host, Family family);

// Blocks for at most `timeout`. Addresses of the family come back as they are. Errors say which name and why.
// `servers`: name servers to ask, as "127.0.0.1:5353"; empty: those of /etc/resolv.conf.
base::Expected<Resolution> resolve(const std::string& host, Family family, base::Duration timeout,
                                   const std::string& servers = {});

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
