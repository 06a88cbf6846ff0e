// One simulated computer: its clock, disk, alarm and what waits for it, and the process that runs on it. Belongs to the
// kernel, which alone calls what is not in Host.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/agenda.h"
#include "sim/clock.h"
#include "sim/disk.h"
#include "sim/process.h"

namespace muster::sim {

class Kernel;

constexpr std::int64_t kNotScheduled = std::numeric_limits<std::int64_t>::max();

class Machine final : public Host {
 public:
  Machine(Kernel& kernel, base::NodeId id, std::uint32_t index, std::uint32_t site)
      : kernel_(&kernel), id_(id), index_(index), site_(site), random_(0) {}

  base::NodeId self() const override { return id_; }
  Address address() const override;
  std::uint64_t life() const override { return lives_ - 1; }
  base::Instant now() const override;
  base::Duration wall_clock() const override;
  base::Random& random() override { return random_; }
  void alarm(base::Instant at) override;
  void send(Address to, Channel channel, std::string bytes) override;
  void close(Address peer) override;
  std::optional<Address> resolve(base::NodeId node) override;
  WriteTicket append(std::string_view file, std::string bytes) override;
  WriteTicket replace(std::string_view file, std::string bytes) override;
  WriteTicket truncate(std::string_view file, std::size_t size) override;
  std::string_view contents(std::string_view file) const override { return disk_.contents(file); }
  std::vector<std::string> files() const override { return disk_.files(); }
  void halt(std::string_view reason) override;
  bool traced() const override;
  void note(std::string text) override;

 private:
  friend class Kernel;

  WriteTicket asked(WriteTicket ticket);

  Kernel* kernel_;
  base::NodeId id_;
  std::uint32_t index_;
  std::uint32_t site_;
  base::Random random_;
  std::unique_ptr<Process> process_;  // null while the node is down
  std::uint64_t lives_ = 0;           // begun; names the present one
  Clock monotonic_;
  Clock wall_;
  base::Instant alarm_ = base::kNever;
  std::int64_t alarm_event_ = kNotScheduled;  // true time of the earliest event that will look at the alarm
  Disk disk_;
  std::vector<Disk::Answer> answers_;  // of the disk, not told yet
  bool paused_ = false;
  std::int64_t service_ = 0;  // mean time that one event takes here; 0 for a healthy node
  std::int64_t busy_till_ = 0;
  bool draining_ = false;       // an event to take the next of the backlog is on the agenda
  std::vector<Event> backlog_;  // from backlog_first_
  std::size_t backlog_first_ = 0;
  std::size_t backlog_datagrams_ = 0;
  bool resolver_fails_ = false;
  bool resolver_lags_ = false;
  bool halted_ = false;   // asked to stop in this turn
  bool stopped_ = false;  // is down for that reason
  std::string halt_reason_;
};

}  // namespace muster::sim
