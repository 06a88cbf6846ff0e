#include "sim/register_world.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace muster::sim {

namespace {

constexpr char kAsk = 'a';
constexpr char kDone = 'd';
constexpr std::string_view kFile = "marks";

class RegisterProcess final : public Process {
 public:
  RegisterProcess(const RegisterOptions& options, const std::vector<base::NodeId>& nodes)
      : options_(options), nodes_(nodes) {}

  void start(Host& host) override {
    marks_ = host.contents(kFile).size();
    promised = marks_;
    host.alarm(host.now() + options_.pace);
  }

  void receive(Host& host, const Packet& packet) override {
    if (packet.bytes == std::string_view(&kDone, 1)) ++answers;
    if (packet.bytes != std::string_view(&kAsk, 1)) return;
    const WriteTicket ticket = host.append(kFile, "x");
    if (options_.hasty) {
      ++marks_;
      answer(host, packet.from, packet.channel);
    } else {
      waiting_.emplace(ticket, std::pair(packet.from, packet.channel));
    }
  }

  void wake(Host& host) override {
    const base::NodeId peer = nodes_[host.random().below(nodes_.size())];
    const Channel channel = host.random().below(2) == 0 ? Channel::kDatagram : Channel::kStream;
    if (const auto address = host.resolve(peer)) host.send(*address, channel, std::string(1, kAsk));
    host.alarm(host.now() + options_.pace);
  }

  void written(Host& host, WriteTicket ticket, bool ok) override {
    if (!ok) {
      host.halt("a write failed");
      return;
    }
    const auto found = waiting_.find(ticket);
    if (found == waiting_.end()) return;
    ++marks_;
    answer(host, found->second.first, found->second.second);
    waiting_.erase(found);
  }

  void closed(Host&, Address) override { ++streams_closed; }

  std::uint64_t promised = 0;  // marks that this node said it keeps
  std::uint64_t answers = 0;
  std::uint64_t streams_closed = 0;

 private:
  void answer(Host& host, Address to, Channel channel) {
    promised = marks_;
    host.send(to, channel, std::string(1, kDone));
  }

  const RegisterOptions options_;
  const std::vector<base::NodeId>& nodes_;
  std::uint64_t marks_ = 0;
  std::map<WriteTicket, std::pair<Address, Channel>> waiting_;
};

class RegisterWorld final : public World {
 public:
  explicit RegisterWorld(const RegisterOptions& options) : options_(options) {
    for (std::uint32_t i = 1; i <= options.nodes; ++i) nodes_.push_back(base::NodeId{i});
  }

  void begin(Kernel& kernel) override {
    for (const base::NodeId node : nodes_) kernel.add(node, static_cast<std::uint32_t>(base::number(node) % 2));
    for (const base::NodeId node : nodes_) kernel.start(node);
  }

  std::unique_ptr<Process> boot(base::NodeId) override { return std::make_unique<RegisterProcess>(options_, nodes_); }

  void observe(base::NodeId node) override {
    const auto& process = static_cast<const RegisterProcess&>(*kernel_->process(node));
    std::uint64_t& kept = promised_[node];
    if (process.promised < kept)
      kernel_->violate("register", fmt::format("node {} promised {} marks and now knows of {}", base::number(node),
                                               kept, process.promised));
    kept = std::max(kept, process.promised);
    if (process.answers > 0) answered_ = true;
    if (process.streams_closed > 0 && !std::exchange(closed_, true)) kernel_->hit("stream closed");
  }

  void heal(const std::vector<base::NodeId>&) override { answered_ = false; }
  bool settled() override { return answered_; }
  void end() override {
    if (!answered_) kernel_->violate("register", "nobody answers though everything is healthy again");
    if (kernel_->record().traffic.replayed > 0) kernel_->hit("packet replayed");
  }

 private:
  const RegisterOptions options_;
  std::vector<base::NodeId> nodes_;
  std::map<base::NodeId, std::uint64_t> promised_;
  bool answered_ = false;
  bool closed_ = false;
};

}  // namespace

std::unique_ptr<World> make_register_world(const RegisterOptions& options) {
  return std::make_unique<RegisterWorld>(options);
}

void add_register_scenario(std::vector<Scenario>& scenarios) {
  Scenario scenario;
  scenario.name = "register";
  scenario.summary = "the simulator's own check: nodes keep marks for each other and answer once they are durable";
  scenario.watches = {"register", "30", "time"};
  scenario.make = [](std::uint64_t) { return make_register_world({}); };
  scenario.options = [](base::Random& random) {
    KernelOptions options;
    options.network.unruly_streams = random.below(2) == 0;
    return options;
  };
  scenario.faults = FaultProfile::everything(5, 15);
  scenario.safety = std::chrono::seconds(20);
  scenario.liveness = std::chrono::seconds(5);
  scenario.counters = {"stream closed", "packet replayed", "node halted itself"};
  scenario.enough_seeds = 500;
  scenarios.push_back(std::move(scenario));
}

}  // namespace muster::sim
