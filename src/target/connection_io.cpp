// How a connection's bytes reach and leave the socket, plain or TLS.
#include <sys/socket.h>

#include <cerrno>

#include "target/connection.h"

namespace muster::target {

using reactor::IoResult;
using reactor::IoStatus;

IoResult Connection::receive(char* into, std::size_t size) {
  if (tls_.open()) return tls_.read(into, size);
  const ssize_t count = recv(fd_, into, size, 0);
  if (count > 0) return {IoStatus::kDone, static_cast<std::size_t>(count)};
  if (count == 0) return {IoStatus::kClosed, 0};
  return {errno == EAGAIN || errno == EINTR ? IoStatus::kWouldBlock : IoStatus::kFailed, 0};
}

IoResult Connection::send(std::string_view bytes) {
  if (tls_.open()) return tls_.write(bytes.data(), bytes.size());
  const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (count >= 0) return {IoStatus::kDone, static_cast<std::size_t>(count)};
  return {errno == EAGAIN || errno == EINTR ? IoStatus::kWouldBlock : IoStatus::kFailed, 0};
}

Connection::Sent Connection::flush() {
  Output& output = core_.output();
  while (unsent_at_ < unsent_.size()) {
    const IoResult sent = send(std::string_view(unsent_).substr(unsent_at_));
    if (sent.status == IoStatus::kWouldBlock) {
      keep_unsent({output.bytes.data(), output.size});
      return Sent::kBlocked;
    }
    if (sent.status != IoStatus::kDone) return Sent::kFailed;
    unsent_at_ += sent.bytes;
    active_ = core_.loop().now();
  }
  if (!unsent_.empty()) {
    std::string().swap(unsent_);
    unsent_at_ = 0;
  }
  std::size_t done = 0;
  while (done < output.size) {
    const std::string_view rest(output.bytes.data() + done, output.size - done);
    const IoResult sent = send(rest);
    if (sent.status == IoStatus::kWouldBlock) {
      keep_unsent(rest);
      return Sent::kBlocked;
    }
    if (sent.status != IoStatus::kDone) return Sent::kFailed;
    done += sent.bytes;
    active_ = core_.loop().now();
  }
  output.size = 0;
  stamp_sent();
  return Sent::kAll;
}

void Connection::keep_unsent(std::string_view rest) {
  Output& output = core_.output();
  unsent_ += rest;
  output.size = 0;
  if (output.unstamped.empty()) return;
  if (unstamped_ == nullptr) unstamped_ = std::make_unique<std::vector<std::size_t>>();
  unstamped_->insert(unstamped_->end(), output.unstamped.begin(), output.unstamped.end());
  output.unstamped.clear();
}

void Connection::stamp_sent() {
  Output& output = core_.output();
  if (output.unstamped.empty() && unstamped_ == nullptr) return;
  const base::Instant now = base::now();
  for (const std::size_t number : output.unstamped) core_.service_log().stamp(number, now);
  output.unstamped.clear();
  if (unstamped_ == nullptr) return;
  for (const std::size_t number : *unstamped_) core_.service_log().stamp(number, now);
  unstamped_.reset();
}

}  // namespace muster::target
