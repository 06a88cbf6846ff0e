#include "reactor/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace muster::reactor {
namespace {

constexpr int kBacklog = 4096;

void set_flag(int fd, int level, int option) {
  const int on = 1;
  setsockopt(fd, level, option, &on, sizeof(on));
}

}  // namespace

base::Expected<Address> Address::parse(std::string_view ip, std::uint16_t port) {
  if (ip.starts_with('[') && ip.ends_with(']')) ip = ip.substr(1, ip.size() - 2);
  const std::string text(ip);
  Address address;
  if (text.find('\0') != std::string::npos) return base::fail("expected an IPv4 or IPv6 address, found a zero byte");
  if (inet_pton(AF_INET, text.c_str(), &address.storage_.v4.sin_addr) == 1) {
    address.storage_.v4.sin_family = AF_INET;
  } else if (inet_pton(AF_INET6, text.c_str(), &address.storage_.v6.sin6_addr) == 1) {
    address.storage_.v6.sin6_family = AF_INET6;
  } else {
    return base::fail(fmt::format("expected an IPv4 or IPv6 address, found '{}'", text));
  }
  address.set_port(port);
  return address;
}

Address Address::from(const sockaddr* source, socklen_t size) {
  Address address;
  std::memcpy(&address.storage_, source, std::min<std::size_t>(size, sizeof(address.storage_)));
  return address;
}

std::uint16_t Address::port() const {
  return ntohs(family() == AF_INET6 ? storage_.v6.sin6_port : storage_.v4.sin_port);
}

void Address::set_port(std::uint16_t port) {
  if (family() == AF_INET6) {
    storage_.v6.sin6_port = htons(port);
  } else {
    storage_.v4.sin_port = htons(port);
  }
}

std::string Address::to_text() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (family() == AF_INET6) {
    inet_ntop(AF_INET6, &storage_.v6.sin6_addr, text.data(), text.size());
    return fmt::format("[{}]:{}", text.data(), port());
  }
  inet_ntop(AF_INET, &storage_.v4.sin_addr, text.data(), text.size());
  return fmt::format("{}:{}", text.data(), port());
}

int open_stream(int family) {
  const int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd >= 0) set_flag(fd, IPPROTO_TCP, TCP_NODELAY);
  return fd;
}

base::Expected<int> listen_on(const Address& address, bool reuse_port, Address& bound) {
  const int fd = open_stream(address.family());
  if (fd < 0) return base::fail(fmt::format("cannot open a socket: {}", std::strerror(errno)));
  set_flag(fd, SOL_SOCKET, SO_REUSEADDR);
  if (reuse_port) set_flag(fd, SOL_SOCKET, SO_REUSEPORT);
  if (bind(fd, address.get(), address.size()) != 0 || listen(fd, kBacklog) != 0) {
    const std::string why = std::strerror(errno);
    close(fd);
    return base::fail(fmt::format("cannot listen on {}: {}; choose another address or port", address.to_text(), why));
  }
  sockaddr_storage storage{};
  socklen_t size = sizeof(storage);
  getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size);
  bound = Address::from(reinterpret_cast<const sockaddr*>(&storage), size);
  return fd;
}

}  // namespace muster::reactor
