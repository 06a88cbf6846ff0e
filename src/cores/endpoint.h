// Where a node can be reached, as the cores know it: sixteen bytes of an IP address and a port. The cores only compare
// and carry endpoints; shells make them from sockets and hand them back to sockets.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>

namespace muster::cores {

struct Endpoint {
  std::array<std::uint8_t, 16> host{};  // IPv6, or IPv4 as ::ffff:a.b.c.d; network byte order
  std::uint16_t port = 0;

  auto operator<=>(const Endpoint&) const = default;
};

// What the first twelve bytes of an IPv4 address in IPv6 form are.
constexpr std::array<std::uint8_t, 12> kIpv4Prefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

constexpr bool ipv4(const Endpoint& endpoint) {
  return std::equal(kIpv4Prefix.begin(), kIpv4Prefix.end(), endpoint.host.begin());
}

// `host` as a number, the first octet highest.
constexpr Endpoint ipv4_endpoint(std::uint32_t host, std::uint16_t port) {
  Endpoint made;
  std::copy(kIpv4Prefix.begin(), kIpv4Prefix.end(), made.host.begin());
  for (unsigned octet = 0; octet < 4; ++octet) {
    made.host[12 + octet] = static_cast<std::uint8_t>(host >> (24 - 8 * octet));
  }
  made.port = port;
  return made;
}

constexpr std::uint32_t ipv4_host(const Endpoint& endpoint) {
  std::uint32_t host = 0;
  for (unsigned octet = 12; octet < 16; ++octet) host = host << 8 | endpoint.host[octet];
  return host;
}

}  // namespace muster::cores
