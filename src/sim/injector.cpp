#include "sim/injector.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace muster::sim {

namespace {

// How long a node that halted itself stays down: until somebody has looked after it.
constexpr base::Duration kRepair = std::chrono::seconds(2);

base::Duration scaled(base::Duration most, double strength) {
  return base::Duration(static_cast<std::int64_t>(static_cast<double>(most.count()) * strength));
}

}  // namespace

void Injector::schedule(const FaultPlan& plan) {
  for (const Fault& fault : plan) later(fault.begin - kernel_->elapsed(), [this, fault] { begin(fault); });
  revive_halted(kernel_->nodes());
}

void Injector::begin(const Fault& fault) {
  kernel_->trace("fault: {}", fault.describe());
  kernel_->count_fault();
  kernel_->hit(std::string("fault ").append(name_of(fault.kind)));
  base::Random random(fault.choice);
  switch (fault.kind) {
    case FaultKind::kLoss:
    case FaultKind::kDelay:
    case FaultKind::kDuplicate:
    case FaultKind::kReorder:
    case FaultKind::kReplay:
    case FaultKind::kCorrupt:
    case FaultKind::kRaw:
      make_noise(fault, random);
      break;
    case FaultKind::kGarbage:
      send_garbage(fault, random);
      break;
    case FaultKind::kPartition:
    case FaultKind::kOneWay:
    case FaultKind::kPartial:
    case FaultKind::kBridge:
    case FaultKind::kIsolate:
      make_cuts(fault, random);
      break;
    case FaultKind::kSwizzle:
      swizzle(fault, random);
      break;
    case FaultKind::kCrash:
    case FaultKind::kMove:
    case FaultKind::kTornWrite:
    case FaultKind::kRestartAll:
      make_crash(fault, random);
      break;
    case FaultKind::kClockLeap:
    case FaultKind::kClockRate:
      make_clock_trouble(fault, random);
      break;
    case FaultKind::kDiskFull:
    case FaultKind::kDiskError:
    case FaultKind::kDiskStall:
      make_disk_trouble(fault, random);
      break;
    case FaultKind::kPause:
    case FaultKind::kSlow:
    case FaultKind::kHalfOpen:
    case FaultKind::kResolver:
    case FaultKind::kOverload:
      make_node_trouble(fault, random);
      break;
    case FaultKind::kSiteLoss:
      lose_site(fault, random);
      break;
  }
}

void Injector::heal(const std::vector<base::NodeId>& core, base::Random& random) {
  ++age_;
  kernel_->network().mend_all();
  kernel_->network().hush();
  kernel_->network().end_severed();
  for (const base::NodeId node : kernel_->nodes()) {
    kernel_->disk_trouble(node) = {};
    kernel_->break_resolver(node, false, false);
    kernel_->run_clock_at(node, Clock::kTrueRate);
    kernel_->slow_down(node, base::Duration::zero());
    kernel_->resume(node);
  }
  NodeSet inside;
  for (const base::NodeId node : core) inside.add(kernel_->index(node));
  for (const base::NodeId node : kernel_->nodes()) {
    if (inside.has(kernel_->index(node))) {
      kernel_->restart(node, false);
      continue;
    }
    if (kernel_->started(node)) break_for_good(node, inside, random);
  }
  revive_halted(core);
}

// Down, or there and of little use.
void Injector::break_for_good(base::NodeId node, const NodeSet& core, base::Random& random) {
  const std::uint64_t how = random.below(6);
  const auto tell = [&](std::string_view state) {
    kernel_->trace("node {} is {} from now on", base::number(node), state);
  };
  if (how == 0) {
    tell("down");
    return kernel_->crash(node);
  }
  kernel_->restart(node, false);
  switch (how) {
    case 1:
      tell("paused");
      kernel_->pause(node);
      break;
    case 2:
      tell("slow");
      kernel_->slow_down(node, std::chrono::milliseconds(200));
      break;
    case 3: {
      tell("behind links that lose most");
      Noise& noise = kernel_->network().noise(kernel_->index(node));
      noise.loss = 0.7;
      noise.delay = std::chrono::nanoseconds(std::chrono::milliseconds(500)).count();
      break;
    }
    case 4:
      tell("without room on its disk");
      kernel_->disk_trouble(node).full = true;
      break;
    default: {
      NodeSet alone;
      alone.add(kernel_->index(node));
      const std::uint64_t ways = random.below(3);
      tell(ways == 2 ? "cut off" : ways == 1 ? "not heard" : "deaf");
      if (ways != 0) kernel_->network().cut(alone, core);
      if (ways != 1) kernel_->network().cut(core, alone);
      break;
    }
  }
}

void Injector::later(base::Duration delay, std::function<void()> action) {
  kernel_->after(delay, [this, age = age_, action = std::move(action)] {
    if (age == age_) action();
  });
}

std::vector<base::NodeId> Injector::shuffled(base::Random& random) const {
  std::vector<base::NodeId> nodes = kernel_->nodes();
  for (std::size_t i = nodes.size(); i > 1; --i) std::swap(nodes[i - 1], nodes[random.below(i)]);
  return nodes;
}

base::NodeId Injector::one(const Fault& fault, base::Random& random) const {
  const base::NodeId anybody = kernel_->nodes()[random.below(kernel_->nodes().size())];
  if (!fault.aimed) return anybody;
  const base::NodeId wanted = world_->target(random);
  return wanted == base::kNoNode ? anybody : wanted;
}

void Injector::make_noise(const Fault& fault, base::Random& random) {
  const bool everywhere = !fault.aimed;
  const std::uint32_t node = kernel_->index(one(fault, random));
  const auto set = [this, everywhere, node, kind = fault.kind](double strength) {
    Noise& noise = everywhere ? kernel_->network().noise() : kernel_->network().noise(node);
    switch (kind) {
      case FaultKind::kLoss:
        noise.loss = strength * 0.5;
        break;
      case FaultKind::kDelay:
        noise.delay = scaled(std::chrono::milliseconds(300), strength * strength).count();
        break;
      case FaultKind::kDuplicate:
        noise.duplicate = strength * 0.5;
        break;
      case FaultKind::kReorder:
        noise.reorder = strength * 0.5;
        break;
      case FaultKind::kReplay:
        noise.replay = strength * 0.2;
        break;
      case FaultKind::kCorrupt:
        noise.corrupt = strength * 0.2;
        break;
      default:
        noise.corrupt = strength * 0.2;
        noise.raw = strength > 0;
        break;
    }
  };
  set(fault.strength);
  later(fault.length, [set] { set(0); });
}

void Injector::make_cuts(const Fault& fault, base::Random& random) {
  std::vector<base::NodeId> nodes = shuffled(random);
  if (nodes.size() < 2) return;
  if (fault.aimed || fault.kind == FaultKind::kIsolate) {
    const base::NodeId first = one(fault, random);
    std::swap(*std::ranges::find(nodes, first), nodes.front());
  }
  if (fault.kind == FaultKind::kPartial) {
    const std::uint64_t pairs = 1 + random.below(nodes.size());
    for (std::uint64_t i = 0; i < pairs; ++i) {
      const std::size_t a = random.below(nodes.size());
      const std::size_t b = random.below(nodes.size());
      if (a != b) cut_for(fault.length, {nodes[a]}, {nodes[b]}, random.below(3) != 0);
    }
    return;
  }
  const bool alone = fault.kind == FaultKind::kIsolate || (fault.aimed && random.below(2) == 0);
  const std::size_t side = alone ? 1 : 1 + random.below(nodes.size() - 1);
  const auto border = nodes.begin() + static_cast<std::ptrdiff_t>(side);
  const std::vector<base::NodeId> here(nodes.begin(), border);
  std::vector<base::NodeId> there(border, nodes.end());
  if (fault.kind == FaultKind::kBridge && there.size() > 1) there.pop_back();
  if (fault.kind == FaultKind::kOneWay && random.below(2) == 0) {
    cut_for(fault.length, there, here, false);
  } else {
    cut_for(fault.length, here, there, fault.kind != FaultKind::kOneWay);
  }
}

void Injector::cut_for(base::Duration length, const std::vector<base::NodeId>& from,
                       const std::vector<base::NodeId>& to, bool both_ways) {
  NodeSet senders, receivers;
  for (const base::NodeId node : from) senders.add(kernel_->index(node));
  for (const base::NodeId node : to) receivers.add(kernel_->index(node));
  Network& network = kernel_->network();
  const std::uint32_t there = network.cut(senders, receivers);
  const std::uint32_t back = both_ways ? network.cut(receivers, senders) : there;
  later(length, [this, there, back] {
    kernel_->network().mend(there);
    kernel_->network().mend(back);
  });
}

void Injector::swizzle(const Fault& fault, base::Random& random) {
  const std::vector<base::NodeId> order = shuffled(random);
  const std::size_t count = 1 + random.below(order.size());
  const base::Duration half = fault.length / 2;
  for (std::size_t i = 0; i < count; ++i) {
    const auto steps = static_cast<std::int64_t>(count);
    const base::Duration stop = half * static_cast<std::int64_t>(i) / steps;
    const base::Duration go = half + half * static_cast<std::int64_t>(random.below(count)) / steps;
    later(stop, [this, node = order[i], length = go - stop] {
      std::vector<base::NodeId> others = kernel_->nodes();
      std::erase(others, node);
      cut_for(length, {node}, others, true);
    });
  }
}

void Injector::make_crash(const Fault& fault, base::Random& random) {
  const bool moved = fault.kind == FaultKind::kMove;
  const bool tear = fault.kind == FaultKind::kTornWrite;
  const bool half_open = random.below(4) == 0;
  if (fault.kind != FaultKind::kRestartAll) {
    crash_for(one(fault, random), fault.length, moved, tear, half_open);
    return;
  }
  for (const base::NodeId node : shuffled(random)) {
    const base::Duration lag = scaled(std::chrono::seconds(1), fault.strength * random.unit());
    crash_for(node, std::min(fault.length, base::Duration(std::chrono::seconds(2))) + lag, false, random.below(4) == 0,
              false);
  }
}

void Injector::crash_for(base::NodeId node, base::Duration length, bool moved, bool tear, bool half_open) {
  if (!kernel_->up(node)) return;
  kernel_->crash(node, tear, half_open);
  later(length, [this, node, moved] { kernel_->restart(node, moved); });
}

void Injector::make_clock_trouble(const Fault& fault, base::Random& random) {
  const base::NodeId node = one(fault, random);
  if (fault.kind == FaultKind::kClockLeap) {
    const bool monotonic = random.below(2) == 0;
    const base::Duration by = scaled(std::chrono::seconds(60), fault.strength);
    kernel_->leap(node, monotonic ? by : base::Duration::zero(), random.below(2) == 0 ? by : -by);
    return;
  }
  const bool fast = random.below(2) == 0;
  const auto deviation = static_cast<std::int64_t>(fault.strength * static_cast<double>(fast ? 1024 : 512));
  kernel_->run_clock_at(node, Clock::kTrueRate + (fast ? deviation : -deviation));
  later(fault.length, [this, node] { kernel_->run_clock_at(node, Clock::kTrueRate); });
}

void Injector::make_disk_trouble(const Fault& fault, base::Random& random) {
  const base::NodeId node = one(fault, random);
  DiskTrouble& trouble = kernel_->disk_trouble(node);
  if (fault.kind == FaultKind::kDiskStall) {
    trouble.stalled_till = (kernel_->elapsed() + fault.length).count();
    return;
  }
  if (fault.kind == FaultKind::kDiskFull) trouble.full = true;
  if (fault.kind == FaultKind::kDiskError) trouble.error_share = 0.05 + fault.strength / 2;
  later(fault.length, [this, node, kind = fault.kind] {
    DiskTrouble& healed = kernel_->disk_trouble(node);
    (kind == FaultKind::kDiskFull) ? void(healed.full = false) : void(healed.error_share = 0);
  });
}

void Injector::make_node_trouble(const Fault& fault, base::Random& random) {
  const base::NodeId node = one(fault, random);
  switch (fault.kind) {
    case FaultKind::kPause:
      kernel_->pause(node);
      later(fault.length, [this, node] { kernel_->resume(node); });
      break;
    case FaultKind::kSlow:
      kernel_->slow_down(node, std::chrono::microseconds(100) +
                                   scaled(std::chrono::milliseconds(50), fault.strength * fault.strength));
      later(fault.length, [this, node] { kernel_->slow_down(node, base::Duration::zero()); });
      break;
    case FaultKind::kHalfOpen:
      kernel_->network().sever(kernel_->index(node));
      break;
    case FaultKind::kResolver: {
      const bool fails = random.below(2) == 0;
      kernel_->break_resolver(node, fails, !fails);
      later(fault.length, [this, node] { kernel_->break_resolver(node, false, false); });
      break;
    }
    default:
      world_->overload(node, fault.length);
      break;
  }
}

void Injector::send_garbage(const Fault& fault, base::Random& random) {
  const base::NodeId victim = one(fault, random);
  const base::NodeId name = kernel_->nodes()[random.below(kernel_->nodes().size())];
  const std::uint64_t count = 1 + static_cast<std::uint64_t>(fault.strength * 50);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::string bytes(random.below(200), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.next());
    if (!bytes.empty() && random.below(2) == 0) bytes[0] = static_cast<char>(random.below(16));
    const Channel channel = random.below(2) == 0 ? Channel::kDatagram : Channel::kStream;
    later(scaled(fault.length, random.unit()), [this, victim, name, channel, bytes = std::move(bytes)]() mutable {
      Network& network = kernel_->network();
      network.forge(name, network.address(kernel_->index(name)), kernel_->index(victim), channel, bytes, false);
    });
  }
}

void Injector::lose_site(const Fault& fault, base::Random& random) {
  const std::uint32_t site = kernel_->site(one(fault, random));
  const bool powerless = random.below(2) == 0;
  std::vector<base::NodeId> inside, outside;
  for (const base::NodeId node : kernel_->nodes()) (kernel_->site(node) == site ? inside : outside).push_back(node);
  if (powerless) {
    for (const base::NodeId node : inside) crash_for(node, fault.length, false, false, true);
  } else {
    cut_for(fault.length, inside, outside, true);
  }
}

// Those among the nodes that halted themselves come back.
void Injector::revive_halted(const std::vector<base::NodeId>& nodes) {
  later(kRepair, [this, nodes] {
    for (const base::NodeId node : nodes)
      if (kernel_->halted(node)) kernel_->restart(node, false);
    revive_halted(nodes);
  });
}

}  // namespace muster::sim
