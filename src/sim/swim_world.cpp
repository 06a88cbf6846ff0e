#include "sim/swim_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "cores/swim_codec.h"
#include "sim/swim_oracle.h"
#include "sim/swim_process.h"

namespace muster::sim {
namespace {

using base::NodeId;
using cores::MemberStatus;
using cores::SwimEventKind;

constexpr std::uint64_t kGroup = 0x6d75737465722121u;
constexpr std::uint64_t kWorldPurpose = 0x7377696d;
constexpr std::size_t kSeeds = 3;
// Nodes start within this.
constexpr base::Duration kStarts = std::chrono::seconds(1);
// A node that joined looks again after this at the latest; later exchanges come once a period, some of them later by
// this factor. A request to join that met nobody is made anew after the first of the waits.
constexpr base::Duration kFirstWait = std::chrono::milliseconds(625);
constexpr base::Duration kLooksAgain = std::chrono::milliseconds(4500);
constexpr double kLatestOfPeriod = 1.25;

class SwimWorld final : public World, public SwimWatcher {
 public:
  SwimWorld(std::uint64_t seed, const SwimWorldOptions& options)
      : options_(options), random_(base::mix(seed ^ kWorldPurpose)) {
    nodes_ = 3 + static_cast<std::uint32_t>(random_.below(options.gentle ? 30 : 18));
    process_.swim = draw_options();
    process_.lives = random_.below(2) == 0   ? SwimLives::kCounted
                     : random_.below(2) == 0 ? SwimLives::kWallClock
                                             : SwimLives::kForgotten;
    for (std::uint32_t number = 1; number <= std::min<std::size_t>(kSeeds, nodes_); ++number) {
      process_.seeds.push_back(NodeId{number});
    }
  }

  void begin(Kernel& kernel) override {
    oracle_.emplace(kernel, SwimOracleOptions{.nodes = nodes_,
                                              .garbled = options_.garbled,
                                              .ordered_lives = process_.lives == SwimLives::kCounted,
                                              .true_clocks = options_.gentle});
    const std::uint64_t sites = 1 + random_.below(2);
    for (std::uint32_t number = 1; number <= nodes_; ++number) {
      kernel.add(NodeId{number}, static_cast<std::uint32_t>(random_.below(sites)));
    }
    if (random_.below(4) == 0) {
      start_acquainted(kernel);
    } else {
      for (const NodeId node : kernel.nodes()) {
        for (const NodeId other : kernel.nodes()) {
          if (other != node) strangers_.emplace(node, other);
        }
        kernel.after(base::from_seconds(base::seconds(kStarts) * random_.unit()),
                     [this, node] { kernel_->start(node); });
      }
    }
    tell_states();
    if (options_.gentle) {
      kernel.after(std::chrono::seconds(20) + base::from_seconds(20 * random_.unit()), [this] { crash_one(); });
    } else {
      let_somebody_leave();
    }
  }

  std::unique_ptr<Process> boot(NodeId node) override {
    SwimProcessOptions options = process_;
    options.state = next_state(node);
    return std::make_unique<SwimProcess>(node, std::move(options), *this);
  }

  void observe(NodeId node) override { oracle_->observe(core_of(node)); }
  void went_down(NodeId node) override { oracle_->went_down(node); }

  std::vector<NodeId> healthy_core(base::Random& random) override {
    std::vector<NodeId> core = kernel_->nodes();
    if (options_.gentle || random.below(2) == 0) return core;
    for (std::size_t i = core.size(); i > 1; --i) std::swap(core[i - 1], core[random.below(i)]);
    const std::size_t kept = core.size() - random.below(core.size() / 3 + 1);
    // Somebody must be there whom the forgetful can ask.
    const NodeId seed{1 + random.below(std::min<std::size_t>(kSeeds, nodes_))};
    std::iter_swap(core.begin(), std::ranges::find(core, seed));
    core.resize(std::max<std::size_t>(kept, 2));
    std::ranges::sort(core);
    return core;
  }

  void heal(const std::vector<NodeId>& core) override {
    healthy_ = core;
    healed_ = kernel_->now();
    quiet_ = true;
    // Whoever is about to leave would be gone for good.
    for (const NodeId node : core) {
      if (!core_of(node).leaving()) continue;
      kernel_->crash(node);
      kernel_->restart(node, false);
    }
  }

  bool settled() override {
    if (!why_unsettled().empty()) return false;
    kernel_->measure("seconds to converge", base::seconds(kernel_->now() - healed_));
    settled_ = true;
    return true;
  }

  void end() override {
    for (const NodeId node : kernel_->nodes()) {
      if (kernel_->up(node)) count(core_of(node));
    }
    for (const auto& [name, by] : tally_) kernel_->count(name, by);
    if (options_.gentle) {
      measure_probes();
      measure_acquainted();  // also those that never were
    }
    if (settled_ || options_.garbled) return;
    const std::string why = why_unsettled();
    if (!why.empty()) kernel_->violate(invariant_, why);
  }

  void overload(NodeId node, base::Duration length) override {
    const double ratio = 0.5 + 5 * kernel_->random().unit();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(length).count();
    for (std::int64_t second = 0; second <= seconds; ++second) {
      kernel_->after(std::chrono::seconds(second), [this, node, ratio] {
        ask(node, [ratio](SwimProcess& process, Host& host) { process.lag(host, ratio); });
      });
    }
  }

  std::string describe(Channel channel, std::string_view bytes) override;

  void saw(const SwimProcess& process, const cores::SwimEvent& event) override {
    kernel_->hit(name_of(event.kind));
    kernel_->trace("n{} says: n{} {} (incarnation {}, by n{})", number(process.node()), number(event.node),
                   name_of(event.kind), event.incarnation, number(event.by));
    oracle_->saw(process.core(), event);
    if (!options_.gentle) return;
    if (event.kind == SwimEventKind::kDead) check_death(process.node(), event.node);
    const bool last = event.kind == SwimEventKind::kJoined && strangers_.erase({process.node(), event.node}) > 0;
    if (last && strangers_.empty()) measure_acquainted();
  }

  void sent(const SwimProcess& process, const cores::SwimSend& send) override { oracle_->sent(process.core(), send); }

  void received(const SwimProcess& process, const Packet& packet) override {
    if (packet.authentic) oracle_->received(process.core(), packet.bytes);
  }

  void gone(const SwimProcess& process) override {
    if (process.started()) count(process.core());
  }

 private:
  const cores::Swim& core_of(NodeId node) const {
    return static_cast<const SwimProcess&>(*kernel_->process(node)).core();
  }

  cores::SwimOptions draw_options() {
    cores::SwimOptions options = random_.below(3) == 0 ? cores::swim_local() : cores::swim_lan();
    options.group = kGroup;
    options.stretch_per_point = random_.below(4) == 0 ? 0.25 : 1;
    options.audit_entries = 64;
    if (options_.gentle) return options;
    if (random_.below(4) == 0) options.max_queued_updates = 4;
    if (random_.below(3) == 0) options.reap_after = std::chrono::seconds(20);
    if (random_.below(8) == 0) options.stream_probe = false;
    return options;
  }

  // All at once, with a view to begin with; under faults two of its entries are wrong.
  void start_acquainted(Kernel& kernel) {
    std::vector<cores::Member> known;
    for (const NodeId node : kernel.nodes()) {
      cores::Member member;
      member.id = node;
      member.incarnation = 1;
      member.address = endpoint_of(Address{static_cast<std::uint32_t>(number(node))});
      known.push_back(std::move(member));
    }
    if (!options_.gentle) {
      known.front().status = MemberStatus::kSuspect;
      known.back().status = MemberStatus::kDead;
    }
    process_.known = std::make_shared<const cores::Roster>(std::move(known));
    for (const NodeId node : kernel.nodes()) kernel.start(node);
  }

  void ask(NodeId node, std::function<void(SwimProcess&, Host&)> what) {
    kernel_->post(node, [what = std::move(what)](Process& process, Host& host) {
      what(static_cast<SwimProcess&>(process), host);
    });
  }

  std::string next_state(NodeId node) {
    const std::uint64_t made = ++states_made_[node];
    newest_state_[node] = numbered_state(made, {});
    return numbered_state(made, std::string(random_.below(cores::kMaxMemberState - 20), 's'));
  }

  void tell_states() {
    kernel_->after(base::from_seconds(0.5 + random_.unit()), [this] {
      if (quiet_) return;
      const NodeId node{1 + random_.below(nodes_)};
      if (kernel_->up(node)) {
        const bool announce = random_.below(4) == 0;
        ask(node, [state = next_state(node), announce](SwimProcess& process, Host& host) {
          process.set_state(host, state, announce);
        });
      }
      tell_states();
    });
  }

  void let_somebody_leave() {
    kernel_->after(base::from_seconds(5 + 60 * random_.unit()), [this] {
      if (quiet_) return;
      const NodeId node{1 + random_.below(nodes_)};
      ask(node, [this](SwimProcess& process, Host& host) {
        if (!quiet_) process.leave(host);
      });
      let_somebody_leave();
    });
  }

  // --- gentle: nothing but loss, and one crash that all must find in time (22)
  void crash_one() {
    const NodeId victim{1 + random_.below(nodes_)};
    crashed_ = victim;
    crashed_at_ = kernel_->now();
    kernel_->crash(victim);
    // Whoever does not know the victim has nothing to learn of it any more.
    const bool strange = std::erase_if(strangers_, [victim](const auto& pair) {
                           return pair.first == victim || pair.second == victim;
                         }) > 0;
    if (strange && strangers_.empty()) measure_acquainted();
    // Nobody happens to probe the victim for t intervals with probability exp(-t); the rest is loss and stretching.
    const base::Duration bound = suspicion_span(process_.swim, nodes_).longest + 30 * process_.swim.probe_interval;
    kernel_->after(bound, [this, victim] {
      for (const NodeId node : kernel_->nodes()) {
        if (!kernel_->up(node) || !held_to_live(core_of(node).members().get(victim))) continue;
        kernel_->violate(
            "22", fmt::format("node {} crashed and node {} still holds it to live", number(victim), number(node)));
      }
    });
  }

  void measure_probes() {
    std::uint64_t probes = 0;
    for (const NodeId node : kernel_->nodes()) probes += kernel_->up(node) ? core_of(node).counters().probes : 0;
    const double intervals = base::seconds(kernel_->elapsed()) / base::seconds(process_.swim.probe_interval);
    kernel_->measure(kSwimProbes, static_cast<double>(probes) / (intervals * (nodes_ - 1)));
  }

  // Gossip reaches nearly all; what it misses is mended by the exchanges of views that follow. One that meets somebody
  // who missed it as well is seldom enough to be left to the next percentile.
  void measure_acquainted() {
    if (acquainted_ || process_.known) return;
    acquainted_ = true;
    const double took = base::seconds(kernel_->elapsed() - kStarts);
    const double period = base::seconds(exchange_period(process_.swim.push_pull_interval, nodes_));
    kernel_->measure(kSwimAcquainted, took);
    kernel_->measure(kSwimAcquaintedShare, took / (base::seconds(kFirstWait + kLooksAgain) + kLatestOfPeriod * period));
  }

  void check_death(NodeId viewer, NodeId dead) {
    if (dead != crashed_) {
      kernel_->violate("21", fmt::format("node {} holds node {} dead, which is well", number(viewer), number(dead)));
      return;
    }
    const double took = base::seconds(kernel_->now() - crashed_at_);
    const double shortest = base::seconds(suspicion_span(process_.swim, nodes_).shortest);
    const double intervals = (took - shortest) / base::seconds(process_.swim.probe_interval);
    if (found_.insert(viewer).second && found_.size() == 1) kernel_->measure(kSwimDetection, intervals);
    if (found_.size() + 1 != nodes_) return;
    kernel_->measure("seconds to detection by all", took);
    kernel_->measure(kSwimDetectionByAll, intervals);
  }

  // What keeps the healthy from being of one mind with the truth; empty if nothing does.
  std::string why_unsettled() {
    struct Truth {
      NodeId node;
      bool healthy;
    };
    std::vector<Truth> truths;
    for (const NodeId node : kernel_->nodes()) truths.push_back({node, std::ranges::binary_search(healthy_, node)});
    const bool everybody = healthy_.size() == nodes_;
    for (const NodeId viewer : healthy_) {
      if (!kernel_->up(viewer)) return fmt::format("node {} is down", number(viewer));
      const cores::Swim& core = core_of(viewer);
      for (const auto& [node, healthy] : truths) {
        if (node == viewer) continue;
        const cores::Member* member = core.members().get(node);
        const bool alive = member != nullptr && member->status == MemberStatus::kAlive;
        if (healthy) {
          invariant_ = member != nullptr && member->status == MemberStatus::kDead ? "24" : "20";
          if (!alive) return fmt::format("node {} does not hold node {} alive", number(viewer), number(node));
          if (member->address != core_of(node).address()) {
            return fmt::format("node {} has an old address of node {}", number(viewer), number(node));
          }
          if (member->incarnation != core_of(node).incarnation()) {
            return fmt::format("node {} has an old incarnation of node {}", number(viewer), number(node));
          }
          if (!member->state || !member->state->bytes.starts_with(newest_state_[node])) {
            return fmt::format("node {} has an old state of node {}", number(viewer), number(node));
          }
        } else if (held_to_live(member) && (!kernel_->up(node) || kernel_->paused(node))) {
          invariant_ = "20";
          return fmt::format("node {} holds node {} {}, which is down", number(viewer), number(node),
                             alive ? "alive" : "suspect");
        }
      }
      invariant_ = "23";
      if (everybody && core.score() != 0) {
        return fmt::format("the score of node {} stays at {}", number(viewer), core.score());
      }
    }
    return {};
  }

  void count(const cores::Swim& core);
  static std::string_view name_of(SwimEventKind kind);

  const SwimWorldOptions options_;
  base::Random random_;
  std::uint32_t nodes_ = 0;
  SwimProcessOptions process_;
  std::optional<SwimOracle> oracle_;
  std::map<NodeId, std::uint64_t> states_made_;
  std::map<NodeId, std::string> newest_state_;  // how it begins
  std::vector<NodeId> healthy_;
  std::set<NodeId> found_;
  std::set<std::pair<NodeId, NodeId>> strangers_;  // the first has not heard of the second yet
  bool acquainted_ = false;                        // that there are none any more was measured
  base::Instant healed_{};
  base::Instant crashed_at_{};
  NodeId crashed_ = base::kNoNode;
  std::string invariant_ = "20";
  bool quiet_ = false;
  bool settled_ = false;
  std::map<std::string_view, std::uint64_t> tally_;  // by lives that are over; told at the end
};

std::string_view SwimWorld::name_of(SwimEventKind kind) {
  switch (kind) {
    case SwimEventKind::kJoined:
      return "member joined";
    case SwimEventKind::kMoved:
      return "member moved";
    case SwimEventKind::kSuspected:
      return "member suspected";
    case SwimEventKind::kCleared:
      return "member cleared";
    case SwimEventKind::kDead:
      return "member dead";
    case SwimEventKind::kLeft:
      return "member left";
    case SwimEventKind::kRemoved:
      return "member removed";
    case SwimEventKind::kStateChanged:
      return "state changed";
    case SwimEventKind::kRefuted:
      return "refutation";
    case SwimEventKind::kConflict:
      return "name in conflict";
    case SwimEventKind::kOverflow:
      return "gossip overflow";
  }
  return "";
}

void SwimWorld::count(const cores::Swim& core) {
  const cores::SwimCounters& counters = core.counters();
  const std::pair<std::string_view, std::uint64_t> told[] = {
      {"buddy told", counters.buddies},
      {"dead learned by exchange", counters.dead_by_exchange},
      {"indirect rescue", counters.indirect_rescues},
      {"nack received", counters.nacks_received},
      {"nack missing", counters.nacks_missing},
      {"other group or malformed", counters.other_group + counters.malformed},
      {"probe skipped", counters.probes_skipped},
      {"score raised", counters.score_raised},
      {"stall noticed", counters.stalls},
      {"stream rescue", counters.stream_rescues},
      {"suspect probed again", counters.rechecks},
      {"suspicion confirmed", counters.confirmations},
  };
  for (const auto& [name, by] : told) {
    if (by > 0) tally_[name] += by;
  }
}

std::string SwimWorld::describe(Channel /*channel*/, std::string_view bytes) {
  const auto packet = cores::decode_swim(bytes);
  if (!packet) return fmt::format("{} bytes of nonsense", bytes.size());
  static constexpr std::string_view kKinds[] = {"ping", "ack", "ping request", "nack", "rumours", "exchange"};
  static constexpr std::string_view kStatus[] = {"alive", "suspect", "dead", "left"};
  std::string text(kKinds[packet->message.body.index()]);
  const auto* exchange = std::get_if<cores::Exchange>(&packet->message.body);
  for (const cores::Claim& claim : exchange != nullptr ? exchange->view : packet->message.claims) {
    text += fmt::format(", n{} {} {}", number(claim.node), kStatus[static_cast<std::size_t>(claim.status)],
                        claim.incarnation);
  }
  return text;
}

}  // namespace

std::unique_ptr<World> make_swim_world(std::uint64_t seed, const SwimWorldOptions& options) {
  return std::make_unique<SwimWorld>(seed, options);
}

}  // namespace muster::sim
