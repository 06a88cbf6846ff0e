#include "sim/swim_experiments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "sim/swim_process.h"

namespace muster::sim {
namespace {

using base::NodeId;
using cores::SwimEventKind;
using std::chrono::milliseconds;
using std::chrono::seconds;

// A group whose members know one another from the beginning, in one shared roster.
class KnownGroup : public World, public SwimWatcher {
 public:
  explicit KnownGroup(std::uint32_t members, const cores::SwimOptions& options) : members_(members) {
    process_.swim = options;
    process_.swim.audit_entries = 0;
  }

  std::unique_ptr<Process> boot(NodeId node) override {
    SwimProcessOptions options = process_;
    if (number(node) > members_) {  // joins later
      options.known = nullptr;
      for (std::uint32_t seed = 1; seed <= 3; ++seed) options.seeds.push_back(NodeId{seed});
    }
    return std::make_unique<SwimProcess>(node, std::move(options), *this);
  }
  void sent(const SwimProcess&, const cores::SwimSend&) override {}
  void gone(const SwimProcess&) override {}

 protected:
  void start_all(Kernel& kernel) {
    // The network gives out addresses from 1, in the order of the starts.
    std::vector<cores::Member> known;
    const auto state = std::make_shared<const cores::MemberState>(cores::MemberState{1, 0, {}});
    for (std::uint32_t number = 1; number <= members_; ++number) {
      cores::Member member;
      member.id = NodeId{number};
      member.incarnation = 1;
      member.address = endpoint_of(Address{number});
      member.state = state;
      known.push_back(std::move(member));
      kernel.add(NodeId{number});
    }
    process_.known = std::make_shared<const cores::Roster>(std::move(known));
    for (std::uint32_t number = 1; number <= members_; ++number) kernel.start(NodeId{number});
  }

  const cores::Swim& core_of(NodeId node) const {
    return static_cast<const SwimProcess&>(*kernel_->process(node)).core();
  }

  std::uint32_t members_;
  SwimProcessOptions process_;
};

// --- Lifeguard

struct Variant {
  std::string_view name;
  cores::LifeguardParts parts;
  double stretch_per_point = 1;
  std::uint32_t suspect_probers = 0;
};

constexpr cores::LifeguardParts kNone{false, false, false, false};
constexpr cores::LifeguardParts kPaper{true, true, true, false};

constexpr std::array<Variant, 7> kVariants{{
    {"plain SWIM", kNone},
    {"health-aware probe", {true, false, false, false}},
    {"dynamic suspicion", {false, true, false, false}},
    {"buddy", {false, false, true, false}},
    {"Lifeguard", kPaper},
    {"Lifeguard, f = 0.25", kPaper, 0.25},
    {"all, as muster runs", {}, 1, cores::SwimOptions{}.suspect_probers},
}};
constexpr std::array<std::uint32_t, 5> kPaused{1, 4, 8, 16, 32};
constexpr std::array<std::uint32_t, 3> kPauseSeconds{1, 4, 16};
constexpr std::uint32_t kGroupSize = 128;
constexpr base::Duration kWarmUp = seconds(10);
constexpr base::Duration kAnomalies = seconds(120);
// So long after the first pause a healthy member crashes.
constexpr std::array<base::Duration, 3> kCrashes{seconds(30), seconds(60), seconds(90)};

// What befalls the paused members, again and again.
struct Anomaly {
  std::string_view name;
  // Messages wait at both ends while timers go on, which is how Lifeguard's authors made members slow; or the whole
  // process stands still, as a stopped virtual machine does.
  bool timers_run;
  base::Duration between;  // two pauses, a member runs so long
};

// The first is the experiment; the others show what depends on the choice.
constexpr std::array<Anomaly, 4> kAnomalyKinds{{
    {"held, 64 ms apart", true, milliseconds(64)},
    {"held, 1 s apart", true, seconds(1)},
    {"stopped, 64 ms apart", false, milliseconds(64)},
    {"stopped, 1 s apart", false, seconds(1)},
}};

cores::SwimOptions lifeguard_options(const Variant& variant) {
  cores::SwimOptions options = cores::swim_lan();
  options.suspicion_multiplier = 5;  // alpha and beta of the paper's table
  options.suspicion_max_multiplier = 6;
  options.lifeguard = variant.parts;
  options.stretch_per_point = variant.stretch_per_point;
  options.suspect_probers = variant.suspect_probers;
  return options;
}

class LifeguardWorld final : public KnownGroup {
 public:
  LifeguardWorld(const Anomaly& anomaly, const Variant& variant, std::uint32_t paused, std::uint32_t pause_seconds)
      : KnownGroup(kGroupSize, lifeguard_options(variant)),
        anomaly_(anomaly),
        variant_(fmt::format("{}|{}", anomaly.name, variant.name)),
        cell_(fmt::format("{}|{}|{}", variant_, paused, pause_seconds)),
        paused_(paused),
        pause_(seconds(pause_seconds)) {}

  void begin(Kernel& kernel) override {
    start_all(kernel);
    std::vector<NodeId> nodes = kernel.nodes();
    for (std::size_t i = nodes.size(); i > 1; --i) std::swap(nodes[i - 1], nodes[kernel.random().below(i)]);
    anomalous_.insert(nodes.begin(), nodes.begin() + paused_);
    for (const std::string_view what : {"runs", "false", "false at healthy", "refutations", "datagrams"})
      count(what, 0);
    count("runs", 1);
    kernel.after(kWarmUp, [this] { pause_all(); });
    for (const base::Duration when : kCrashes) {
      victims_.insert(nodes.back());
      kernel.after(kWarmUp + when, [this, victim = nodes.back()] {
        crashes_[victim].at = kernel_->now();
        kernel_->crash(victim);
      });
      nodes.pop_back();
    }
  }

  void saw(const SwimProcess& process, const cores::SwimEvent& event) override {
    if (event.kind == SwimEventKind::kRefuted) count("refutations", 1);
    if (event.kind != SwimEventKind::kDead || anomalous_.contains(event.node)) return;
    const bool healthy = !anomalous_.contains(process.node());
    const auto found = crashes_.find(event.node);
    if (found == crashes_.end()) {
      count("false", 1);
      if (healthy) count("false at healthy", 1);
      return;
    }
    Crash& crash = found->second;
    const double took = base::seconds(kernel_->now() - crash.at);
    if (!std::exchange(crash.detected, true)) kernel_->measure(variant_ + "|first", took);
    // Who is to crash as well may not live to tell.
    if (!healthy || victims_.contains(process.node())) return;
    crash.known_to.insert(process.node());
    const bool all = crash.known_to.size() + anomalous_.size() + victims_.size() == members_;
    if (all) kernel_->measure(variant_ + "|all", took);
  }

  void end() override {
    for (const NodeId node : kernel_->nodes()) {
      if (kernel_->up(node)) count("datagrams", core_of(node).counters().datagrams);
    }
  }

 private:
  struct Crash {
    base::Instant at{};
    bool detected = false;
    std::set<NodeId> known_to;
  };

  void count(std::string_view what, std::uint64_t by) { kernel_->count(fmt::format("{}|{}", cell_, what), by); }

  void pause_all() {
    for (const NodeId node : anomalous_) {
      if (anomaly_.timers_run) {
        kernel_->post(node, [](Process& process, Host&) { static_cast<SwimProcess&>(process).hold(); });
      } else {
        kernel_->pause(node);
      }
    }
    kernel_->after(pause_, [this] {
      for (const NodeId node : anomalous_) {
        if (anomaly_.timers_run) {
          kernel_->post(node, [](Process& process, Host& host) { static_cast<SwimProcess&>(process).release(host); });
        } else {
          kernel_->resume(node);
        }
      }
      if (kernel_->elapsed() < kWarmUp + kAnomalies) kernel_->after(anomaly_.between, [this] { pause_all(); });
    });
  }

  const Anomaly anomaly_;
  const std::string variant_;
  const std::string cell_;
  const std::uint32_t paused_;
  const base::Duration pause_;
  std::set<NodeId> anomalous_;
  std::set<NodeId> victims_;
  std::map<NodeId, Crash> crashes_;  // so far
};

// Every cell in turn, the length of the pauses first.
std::unique_ptr<World> make_lifeguard_world(std::uint64_t seed, std::size_t first_kind, std::size_t kinds) {
  std::uint64_t cell = seed - 1;
  const auto next = [&cell](std::size_t choices) { return std::exchange(cell, cell / choices) % choices; };
  const std::uint32_t pause = kPauseSeconds[next(kPauseSeconds.size())];
  const std::uint32_t paused = kPaused[next(kPaused.size())];
  const Variant& variant = kVariants[next(kVariants.size())];
  return std::make_unique<LifeguardWorld>(kAnomalyKinds[first_kind + next(kinds)], variant, paused, pause);
}

// --- scale

constexpr std::array<std::uint32_t, 7> kSizes{10, 32, 100, 316, 1000, 3162, 10'000};
// A tenth of the members crash at the end, one a second, but no more than this.
constexpr std::uint32_t kMostVictims = 20;

class ScaleWorld final : public KnownGroup {
 public:
  explicit ScaleWorld(std::uint32_t members)
      : KnownGroup(members, cores::swim_lan()), victims_(std::min(members / 10, kMostVictims)) {}

  void begin(Kernel& kernel) override {
    start_all(kernel);
    const NodeId joiner{members_ + 1};
    const NodeId late_joiner{members_ + 2};
    kernel.add(joiner);
    kernel.add(late_joiner);
    tally("idle", seconds(5), seconds(15));
    for (int update = 0; update < 35; ++update) {
      kernel.after(seconds(15) + update * milliseconds(200), [this] { announce(); });
    }
    tally("busy", seconds(17), seconds(22));
    kernel.after(seconds(28), [this, joiner] {
      await("join", SwimEventKind::kJoined, joiner, members_);
      kernel_->start(joiner);
    });
    kernel.after(seconds(33), [this, late_joiner] {
      kernel_->network().noise().loss = 0.25;
      await("join at 25 % loss", SwimEventKind::kJoined, late_joiner, members_ + 1);
      kernel_->start(late_joiner);
    });
    kernel.after(seconds(38), [this] { kernel_->network().noise().loss = 0; });
    for (std::uint32_t victim = 0; victim < victims_; ++victim) {
      kernel.after(seconds(45 + victim), [this, node = NodeId{members_ - victim}] {
        await("crash", SwimEventKind::kDead, node, members_ + 2 - victims_);
        kernel_->crash(node);
      });
    }
  }

  void saw(const SwimProcess& process, const cores::SwimEvent& event) override {
    if (event.kind == SwimEventKind::kDead && !doomed(event.node)) kernel_->hit("false deaths");
    const auto found = awaited_.find({event.kind, event.node});
    // Who is to crash as well may not live to tell.
    if (found == awaited_.end() || (event.kind == SwimEventKind::kDead && doomed(process.node()))) return;
    Awaited& awaited = found->second;
    const double took = base::seconds(kernel_->now() - awaited.since);
    ++awaited.seen;
    if (awaited.seen == 1) measure(fmt::format("{} known to one", awaited.what), took);
    if (awaited.seen == (awaited.viewers * 99 + 99) / 100) {
      measure(fmt::format("{} known to 99 %", awaited.what), took);
    }
    if (awaited.seen == awaited.viewers) measure(fmt::format("{} known to all", awaited.what), took);
  }

 private:
  struct Sums {
    std::uint64_t datagrams = 0, bytes = 0, gossip = 0, frames = 0;
  };

  Sums sums() const {
    Sums all;
    for (std::uint32_t number = 1; number <= members_; ++number) {
      const cores::SwimCounters& counters = core_of(NodeId{number}).counters();
      all.datagrams += counters.datagrams;
      all.bytes += counters.datagram_bytes;
      all.gossip += counters.gossip_datagrams;
      all.frames += counters.frame_bytes;
    }
    return all;
  }

  // An event that every one of the viewers is to tell.
  struct Awaited {
    std::string_view what;
    std::uint64_t viewers = 0;
    base::Instant since{};
    std::uint64_t seen = 0;
  };

  void await(std::string_view what, SwimEventKind kind, NodeId node, std::uint64_t viewers) {
    awaited_[{kind, node}] = {.what = what, .viewers = viewers, .since = kernel_->now()};
  }

  bool doomed(NodeId node) const { return number(node) > members_ - victims_ && number(node) <= members_; }

  // Traffic per member and second between two times.
  void tally(std::string_view what, base::Duration from, base::Duration until) {
    kernel_->after(from, [this, what, from, until] {
      const Sums before = sums();
      kernel_->after(until - from, [this, what, before, length = base::seconds(until - from)] {
        const Sums after = sums();
        const double shares = length * members_;
        const auto rate = [&](std::uint64_t Sums::* field) {
          return static_cast<double>(after.*field - before.*field) / shares;
        };
        measure(fmt::format("{} datagrams", what), rate(&Sums::datagrams));
        measure(fmt::format("{} datagram bytes", what), rate(&Sums::bytes));
        measure(fmt::format("{} gossip datagrams", what), rate(&Sums::gossip));
        measure(fmt::format("{} push/pull bytes", what), rate(&Sums::frames));
      });
    });
  }

  void announce() {
    const NodeId node{1 + kernel_->random().below(members_)};
    kernel_->post(node, [state = fmt::format("{}", ++announced_)](Process& process, Host& host) {
      static_cast<SwimProcess&>(process).set_state(host, state, true);
    });
  }

  void measure(std::string_view what, double value) { kernel_->measure(fmt::format("{}|{}", members_, what), value); }

  const std::uint32_t victims_;
  std::map<std::pair<SwimEventKind, NodeId>, Awaited> awaited_;  // by what is told of whom
  std::uint64_t announced_ = 0;
};

}  // namespace

void add_swim_experiments(std::vector<Scenario>& scenarios) {
  Scenario lifeguard;
  lifeguard.name = "swim-lifeguard";
  lifeguard.summary = "experiment: 128 members, some of them held up again and again, with each part of Lifeguard";
  lifeguard.make = [](std::uint64_t seed) { return make_lifeguard_world(seed, 0, 1); };
  lifeguard.safety = kWarmUp + kAnomalies + seconds(30);
  lifeguard.liveness = base::Duration::zero();
  lifeguard.in_all = false;
  scenarios.push_back(lifeguard);

  Scenario pauses = lifeguard;
  pauses.name = "swim-pauses";
  pauses.summary = "experiment: the same with other kinds of pauses";
  pauses.make = [](std::uint64_t seed) { return make_lifeguard_world(seed, 1, kAnomalyKinds.size() - 1); };
  scenarios.push_back(pauses);

  Scenario scale = lifeguard;
  scale.name = "swim-scale";
  scale.summary = "experiment: 10 to 10,000 members: traffic, joins, crashes";
  scale.make = [](std::uint64_t seed) { return std::make_unique<ScaleWorld>(kSizes[(seed - 1) % kSizes.size()]); };
  scale.safety = seconds(100);
  scenarios.push_back(scale);
}

}  // namespace muster::sim
