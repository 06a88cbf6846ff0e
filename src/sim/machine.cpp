#include "sim/machine.h"

#include <utility>

#include "sim/kernel.h"

namespace muster::sim {

Address Machine::address() const {
  return kernel_->network_.address(index_);
}

base::Instant Machine::now() const {
  return base::Instant(base::Duration(monotonic_.show(kernel_->agenda_.now())));
}

base::Duration Machine::wall_clock() const {
  return base::Duration(wall_.show(kernel_->agenda_.now()));
}

void Machine::alarm(base::Instant at) {
  alarm_ = at;
  kernel_->schedule_alarm(*this);
}

void Machine::send(Address to, Channel channel, std::string bytes) {
  if (channel == Channel::kDatagram && bytes.size() > kMaxDatagram) {
    kernel_->violate("25", fmt::format("node {} sent a datagram of {} bytes, over {}", base::number(id_), bytes.size(),
                                       kMaxDatagram));
    return;
  }
  kernel_->network_.send(index_, to, channel, std::move(bytes));
}

void Machine::close(Address peer) {
  kernel_->network_.close(index_, peer);
}

std::optional<Address> Machine::resolve(base::NodeId node) {
  const auto found = kernel_->index_of_.find(node);
  if (resolver_fails_ || found == kernel_->index_of_.end()) return std::nullopt;
  const Network& network = kernel_->network_;
  Address address = network.address(found->second);
  if (resolver_lags_ && network.previous_address(found->second) != Address{})
    address = network.previous_address(found->second);
  return address == Address{} ? std::nullopt : std::optional(address);
}

WriteTicket Machine::append(std::string_view file, std::string bytes) {
  return asked(disk_.append(file, std::move(bytes)));
}

WriteTicket Machine::replace(std::string_view file, std::string bytes) {
  return asked(disk_.replace(file, std::move(bytes)));
}

WriteTicket Machine::truncate(std::string_view file, std::size_t size) {
  return asked(disk_.truncate(file, size));
}

void Machine::halt(std::string_view reason) {
  halted_ = true;
  halt_reason_ = reason;
}

bool Machine::traced() const {
  return kernel_->options_.trace != Trace::kNone;
}

void Machine::note(std::string text) {
  if (traced()) kernel_->note(id_, std::move(text));
}

WriteTicket Machine::asked(WriteTicket ticket) {
  kernel_->feed_disk(*this);
  return ticket;
}

}  // namespace muster::sim
