// An IPv4 or IPv6 address with a port, and the non-blocking sockets made from it.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace muster::reactor {

class Address {
 public:
  Address() = default;

  // "127.0.0.1", "::1" or "[::1]"; no names. Errors say what was found.
  static base::Expected<Address> parse(std::string_view ip, std::uint16_t port);
  // From what the kernel or a resolver filled in.
  static Address from(const sockaddr* address, socklen_t size);

  int family() const { return storage_.sa.sa_family; }
  std::uint16_t port() const;
  void set_port(std::uint16_t port);
  std::string to_text() const;  // "127.0.0.1:80", "[::1]:80"

  const sockaddr* get() const { return &storage_.sa; }
  socklen_t size() const { return family() == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in); }

 private:
  union {
    sockaddr sa;
    sockaddr_in v4;
    sockaddr_in6 v6;
  } storage_{};
};

// A TCP socket, non-blocking, close-on-exec, without Nagle's delay; -1 and errno if there is none to be had.
int open_stream(int family);

// Listens on `address` (port 0: any free one) and returns the socket; `bound` gets the address as bound.
base::Expected<int> listen_on(const Address& address, bool reuse_port, Address& bound);

}  // namespace muster::reactor
