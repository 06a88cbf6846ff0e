// The shell around one membership core on a simulated machine: hands packets and wake-ups in, effects out, resolves its
// seeds again from time to time, and tells a watcher what happened.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cores/swim.h"
#include "sim/process.h"

namespace muster::sim {

class SwimProcess;

// Looks over the shoulders of all processes of a world; outlives them.
class SwimWatcher {
 public:
  virtual ~SwimWatcher() = default;
  virtual void saw(const SwimProcess& process, const cores::SwimEvent& event) = 0;
  virtual void sent(const SwimProcess& process, const cores::SwimSend& send) = 0;
  virtual void received(const SwimProcess& /*process*/, const Packet& /*packet*/) {}  // after the core has seen it
  virtual void gone(const SwimProcess& process) = 0;                                  // its life is over
};

// What a new life takes for its incarnation.
enum class SwimLives : std::uint8_t {
  kForgotten,  // it knows nothing of those before it
  kCounted,    // it knows how many there were, and so one higher than any of them had
  kWallClock,  // the wall clock's milliseconds: higher, unless the clock was set back
};

struct SwimProcessOptions {
  cores::SwimOptions swim;
  std::vector<base::NodeId> seeds;
  std::shared_ptr<const cores::Roster> known;  // a view to begin with
  SwimLives lives = SwimLives::kForgotten;
  std::string state;
};

cores::Endpoint endpoint_of(Address address);
Address address_of(const cores::Endpoint& endpoint);

class SwimProcess final : public Process {
 public:
  SwimProcess(base::NodeId node, SwimProcessOptions options, SwimWatcher& watcher)
      : node_(node), options_(std::move(options)), watcher_(&watcher) {}
  ~SwimProcess() override { watcher_->gone(*this); }

  void start(Host& host) override;
  void receive(Host& host, const Packet& packet) override;
  void wake(Host& host) override;
  void written(Host& /*host*/, WriteTicket /*ticket*/, bool /*ok*/) override {}

  // For the world, by Kernel::post.
  void leave(Host& host);
  void set_state(Host& host, std::string state, bool announce);
  void lag(Host& host, double ratio);

  // What Lifeguard's authors call an anomaly: timers go on, but nothing is received or sent until release(), when all
  // that waited goes out and in.
  void hold() { held_ = true; }
  void release(Host& host);

  base::NodeId node() const { return node_; }
  bool started() const { return core_ != nullptr; }
  const cores::Swim& core() const { return *core_; }

 private:
  std::uint64_t first_incarnation(Host& host) const;
  void resolve_seeds(Host& host);
  void settle(Host& host);
  void send(Host& host, cores::SwimSend send);

  struct Received {
    Address from;
    base::NodeId sender;
    Channel channel;
    std::string bytes;
  };

  base::NodeId node_;
  SwimProcessOptions options_;
  SwimWatcher* watcher_;
  std::unique_ptr<cores::Swim> core_;
  base::Instant resolve_at_ = base::kNever;
  bool held_ = false;
  std::vector<Received> held_in_;
  std::vector<cores::SwimSend> held_out_;
};

}  // namespace muster::sim
