#include "sim/kernel.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace muster::sim {

namespace {

// Names the purposes for which generators are made of one seed, so that one more draw here moves nothing elsewhere.
enum Purpose : std::uint64_t { kNetwork = 1, kWorld, kMachines, kProcess };

std::uint64_t derive(std::uint64_t seed, std::uint64_t purpose) {
  return base::mix(seed ^ base::mix(purpose));
}

// Clocks of a new life begin anywhere in the first eleven days after this.
constexpr std::int64_t kClockBase = 1'000'000'000'000;
constexpr std::uint64_t kClockSpread = 1'000'000'000'000'000;
// 2026 on the wall.
constexpr std::int64_t kWallBase = 1'767'225'600'000'000'000;
constexpr std::int64_t kAskWhetherDone = 10'000'000;
constexpr std::uint64_t kSmallNames = 1024;

std::uint64_t hash_bytes(std::uint64_t hash, std::string_view bytes) {
  while (bytes.size() >= 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    hash = std::rotl((hash ^ word) * 0x9fb21c651e98df25u, 29);
    bytes.remove_prefix(8);
  }
  std::uint64_t word = bytes.size();
  for (const char c : bytes) word = (word << 8) | static_cast<unsigned char>(c);
  return std::rotl((hash ^ word) * 0x9fb21c651e98df25u, 29);
}

const char* name_of(EventKind kind) {
  switch (kind) {
    case EventKind::kDeliver:
      return "packet";
    case EventKind::kClosed:
      return "stream closed";
    case EventKind::kAlarm:
      return "alarm";
    case EventKind::kDisk:
      return "writes answered";
    case EventKind::kCall:
      return "asked";
    default:
      return "";
  }
}

}  // namespace

Kernel::Kernel(std::uint64_t seed, World& world, const KernelOptions& options)
    : seed_(seed),
      world_(&world),
      options_(options),
      network_(agenda_, options.network, derive(seed, kNetwork)),
      random_(derive(seed, kWorld)),
      machine_random_(derive(seed, kMachines)),
      hash_(base::mix(seed)) {
  world_->kernel_ = this;
}

void Kernel::add(base::NodeId node, std::uint32_t site) {
  const auto index = static_cast<std::uint32_t>(machines_.size());
  machines_.push_back(std::make_unique<Machine>(*this, node, index, site));
  ids_.push_back(node);
  index_of_.emplace(node, index);
  if (const std::uint64_t name = base::number(node); name < kSmallNames) {
    if (small_names_.size() <= name) small_names_.resize(name + 1, kNobody);
    small_names_[name] = index;
  }
  network_.add(node, site);
  machines_.back()->wall_ = Clock(0, kWallBase);
}

void Kernel::after(base::Duration delay, std::function<void()> action) {
  Event event;
  event.kind = EventKind::kAction;
  event.action = std::make_unique<std::function<void()>>(std::move(action));
  agenda_.push(agenda_.now() + delay.count(), std::move(event));
}

void Kernel::post(base::NodeId node, std::function<void(Process&, Host&)> call) {
  Machine& at = machine(node);
  if (!at.process_) return;
  Event event;
  event.kind = EventKind::kCall;
  event.node = at.index_;
  event.life = at.lives_;
  event.action = std::make_unique<std::function<void()>>([&at, call = std::move(call)] { call(*at.process_, at); });
  agenda_.push(agenda_.now(), std::move(event));
}

void Kernel::violate(std::string_view invariant, std::string sentence) {
  if (violated()) return;
  trace("VIOLATION of {}: {}", invariant, sentence);
  record_.violation = {.invariant = std::string(invariant), .sentence = std::move(sentence), .at = elapsed()};
}

void Kernel::count(std::string_view counter, std::uint64_t by) {
  const auto found = record_.counters.find(counter);
  if (found != record_.counters.end()) {
    found->second += by;
  } else {
    record_.counters.emplace(counter, by);
  }
}

void Kernel::measure(std::string_view name, double value) {
  const auto found = record_.measures.find(name);
  (found != record_.measures.end() ? found->second : record_.measures[std::string(name)]).push_back(value);
}

void Kernel::crash(base::NodeId node, bool tear, bool half_open) {
  Machine& at = machine(node);
  if (!at.process_) return;
  trace("node {} goes down{}", base::number(node), half_open ? ", and its peers are not told" : "");
  at.process_.reset();
  at.disk_.crash(machine_random_, tear);
  at.answers_.clear();
  at.backlog_.clear();
  at.backlog_first_ = 0;
  at.backlog_datagrams_ = 0;
  at.alarm_ = base::kNever;
  at.alarm_event_ = kNotScheduled;
  at.busy_till_ = 0;
  at.paused_ = false;
  at.halted_ = false;
  network_.down(at.index_, half_open);
  world_->went_down(node);
}

void Kernel::restart(base::NodeId node, bool moved) {
  Machine& at = machine(node);
  if (at.process_) return;
  at.stopped_ = false;
  ++at.lives_;
  at.random_ = base::Random(derive(seed_ ^ base::mix(base::number(node)), kProcess + at.lives_));
  const std::int64_t rate = at.monotonic_.rate();
  at.monotonic_ = Clock(agenda_.now(), kClockBase + static_cast<std::int64_t>(machine_random_.below(kClockSpread)));
  at.monotonic_.run_at(rate, agenda_.now());
  network_.up(at.index_, moved);
  at.process_ = world_->boot(node);
  trace("node {} starts, life {}, at address {}", base::number(node), at.life(),
        static_cast<std::uint32_t>(at.address()));
  at.process_->start(at);
  settle(at);
}

void Kernel::pause(base::NodeId node) {
  machine(node).paused_ = true;
}

void Kernel::resume(base::NodeId node) {
  Machine& at = machine(node);
  if (!at.paused_) return;
  at.paused_ = false;
  if (at.backlog_first_ < at.backlog_.size()) schedule_drain(at);
}

void Kernel::slow_down(base::NodeId node, base::Duration service) {
  machine(node).service_ = service.count();
}

void Kernel::run_clock_at(base::NodeId node, std::int64_t rate) {
  Machine& at = machine(node);
  at.monotonic_.run_at(rate, agenda_.now());
  at.wall_.run_at(rate, agenda_.now());
  schedule_alarm(at);
}

void Kernel::leap(base::NodeId node, base::Duration monotonic, base::Duration wall) {
  Machine& at = machine(node);
  at.monotonic_.leap(std::max<std::int64_t>(0, monotonic.count()));
  at.wall_.leap(wall.count());
  schedule_alarm(at);
}

void Kernel::break_resolver(base::NodeId node, bool fails, bool lags) {
  machine(node).resolver_fails_ = fails;
  machine(node).resolver_lags_ = lags;
}

void Kernel::run(base::Duration until, const std::function<bool()>& done) {
  std::int64_t ask = agenda_.now() + kAskWhetherDone;
  while (!violated() && !agenda_.empty() && agenda_.next() <= until.count()) {
    if (done && agenda_.next() >= ask) {
      if (done()) return;
      ask = agenda_.next() + kAskWhetherDone;
    }
    step();
  }
  if (!violated()) agenda_.advance(until.count());
}

const Record& Kernel::record() {
  record_.hash = hash_;
  record_.virtual_time = elapsed();
  record_.traffic = network_.traffic();
  return record_;
}

void Kernel::step() {
  Event event = agenda_.pop();
  if (agenda_.now() != instant_) {
    instant_ = agenda_.now();
    events_at_instant_ = 0;
  } else if (++events_at_instant_ > kMaxEventsAtOnce) {
    violate("time", fmt::format("{} events at one instant: processes set each other to work and no time passes",
                                kMaxEventsAtOnce));
    return;
  }
  if (event.kind == EventKind::kAction) {
    ++record_.events;
    mix_in(event);
    (*event.action)();
    return;
  }
  if (event.kind == EventKind::kRetry) {
    network_.retry(event);
    return;
  }
  Machine& at = *machines_[event.node];
  switch (event.kind) {
    case EventKind::kDrain:
      drain(at);
      return;
    case EventKind::kDeliver:
      if (!network_.arrives(event)) return;
      break;
    case EventKind::kAlarm:
      if (!alarm_due(at, event)) return;
      break;
    case EventKind::kDisk: {
      if (event.life != at.lives_ || !at.process_) return;
      const std::vector<Disk::Answer> answers = at.disk_.finish(machine_random_);
      at.answers_.insert(at.answers_.end(), answers.begin(), answers.end());
      feed_disk(at);
      break;
    }
    case EventKind::kClosed:
      // The network counts lives as the kernel does.
    case EventKind::kCall:
      if (event.life != at.lives_ || !at.process_) return;
      break;
    default:
      return;
  }
  admit(at, event);
}

void Kernel::admit(Machine& machine, Event& event) {
  const bool waits =
      machine.paused_ || machine.busy_till_ > agenda_.now() || machine.backlog_first_ < machine.backlog_.size();
  if (!waits) {
    handle(machine, event);
    return;
  }
  const bool datagram = event.kind == EventKind::kDeliver && event.channel == Channel::kDatagram;
  if (datagram && machine.backlog_datagrams_ >= kMaxBacklog) {
    count("datagrams dropped by a full buffer", 1);
    return;
  }
  if (datagram) ++machine.backlog_datagrams_;
  machine.backlog_.push_back(std::move(event));
  if (machine.backlog_.size() - machine.backlog_first_ == 1 && !machine.paused_) schedule_drain(machine);
}

void Kernel::handle(Machine& machine, Event& event) {
  if (++record_.events > options_.max_events) {
    violate("time", fmt::format("the run goes on after {} events", options_.max_events));
    return;
  }
  mix_in(event);
  if (options_.trace != Trace::kNone) note_event(machine, event);
  switch (event.kind) {
    case EventKind::kDeliver: {
      const Packet packet{.from = event.from,
                          .sender = event.sender,
                          .channel = event.channel,
                          .bytes = event.bytes,
                          .authentic = event.authentic,
                          .sent = base::Duration(event.sent)};
      if (options_.tap) options_.tap(machine.id_, packet);
      machine.process_->receive(machine, packet);
      break;
    }
    case EventKind::kClosed:
      machine.process_->closed(machine, event.from);
      break;
    case EventKind::kAlarm:
      machine.process_->wake(machine);
      break;
    case EventKind::kDisk:
      answer_writes(machine);
      break;
    case EventKind::kCall:
      (*event.action)();
      break;
    default:
      break;
  }
  settle(machine);
}

void Kernel::answer_writes(Machine& machine) {
  const std::vector<Disk::Answer> answers = std::exchange(machine.answers_, {});
  for (const Disk::Answer& answer : answers) {
    if (machine.halted_) return;
    hash_ = base::mix(hash_ ^ static_cast<std::uint64_t>(answer.ticket) ^ (answer.ok ? 0 : ~std::uint64_t{0}));
    machine.disk_.heard(answer);
    machine.process_->written(machine, answer.ticket, answer.ok);
  }
}

// After the process has had its turn.
void Kernel::settle(Machine& machine) {
  if (machine.service_ > 0) {
    const auto spread = static_cast<std::uint64_t>(machine.service_) + 1;
    machine.busy_till_ =
        agenda_.now() + machine.service_ / 2 + static_cast<std::int64_t>(machine_random_.below(spread));
  }
  if (machine.halted_) {
    trace("node {} halts: {}", base::number(machine.id_), machine.halt_reason_);
    hit("node halted itself");
    crash(machine.id_);
    machine.stopped_ = true;
    return;
  }
  world_->observe(machine.id_);
}

void Kernel::drain(Machine& machine) {
  machine.draining_ = false;
  if (machine.paused_ || machine.backlog_first_ >= machine.backlog_.size()) return;
  if (machine.busy_till_ > agenda_.now()) {
    schedule_drain(machine);
    return;
  }
  Event event = std::move(machine.backlog_[machine.backlog_first_++]);
  if (event.kind == EventKind::kDeliver && event.channel == Channel::kDatagram) --machine.backlog_datagrams_;
  if (machine.backlog_first_ == machine.backlog_.size()) {
    machine.backlog_.clear();
    machine.backlog_first_ = 0;
  }
  const std::uint64_t life = machine.lives_;
  handle(machine, event);
  if (machine.lives_ == life && machine.process_ && machine.backlog_first_ < machine.backlog_.size())
    schedule_drain(machine);
}

void Kernel::schedule_drain(Machine& machine) {
  if (std::exchange(machine.draining_, true)) return;
  Event event;
  event.kind = EventKind::kDrain;
  event.node = machine.index_;
  agenda_.push(machine.busy_till_, std::move(event));
}

bool Kernel::alarm_due(Machine& machine, const Event& event) {
  if (event.life != machine.lives_ || !machine.process_ || machine.alarm_event_ != agenda_.now()) return false;
  machine.alarm_event_ = kNotScheduled;
  if (machine.alarm_ == base::kNever) return false;
  if (machine.monotonic_.show(agenda_.now()) < machine.alarm_.time_since_epoch().count()) {
    schedule_alarm(machine);
    return false;
  }
  machine.alarm_ = base::kNever;
  return true;
}

// An alarm that was put off keeps its earlier event, which then puts itself off: most alarms are put off many times.
void Kernel::schedule_alarm(Machine& machine) {
  if (machine.alarm_ == base::kNever || !machine.process_) return;
  const std::int64_t due = std::max(agenda_.now(), machine.monotonic_.when(machine.alarm_.time_since_epoch().count()));
  if (due >= machine.alarm_event_) return;
  machine.alarm_event_ = due;
  Event event;
  event.kind = EventKind::kAlarm;
  event.node = machine.index_;
  event.life = machine.lives_;
  agenda_.push(due, std::move(event));
}

void Kernel::feed_disk(Machine& machine) {
  if (machine.disk_.busy() || !machine.disk_.waiting()) return;
  const std::int64_t done = machine.disk_.take(agenda_.now(), options_.disk, machine_random_);
  Event event;
  event.kind = EventKind::kDisk;
  event.node = machine.index_;
  event.life = machine.lives_;
  agenda_.push(done, std::move(event));
}

void Kernel::mix_in(const Event& event) {
  hash_ ^= static_cast<std::uint64_t>(agenda_.now()) * 0x9e3779b97f4a7c15u;
  hash_ = std::rotl(hash_ ^ (std::uint64_t{event.node} << 8 | static_cast<std::uint64_t>(event.kind)), 31) *
          0xbf58476d1ce4e5b9u;
  if (event.kind == EventKind::kDeliver) hash_ = hash_bytes(hash_ ^ base::number(event.sender), event.bytes);
}

void Kernel::note(base::NodeId node, std::string text) {
  if (options_.trace == Trace::kEnd && lines_.size() >= kTracePage) lines_.pop_front();
  const std::string who = node == base::kNoNode ? "      " : fmt::format("n{:<5}", base::number(node));
  lines_.push_back(fmt::format("{:11.6f} {}{}", base::seconds(elapsed()), who, text));
}

void Kernel::note_event(const Machine& machine, const Event& event) {
  if (event.kind == EventKind::kDeliver) {
    note(machine.id_,
         fmt::format("<- n{} {}", base::number(event.sender), world_->describe(event.channel, event.bytes)));
  } else if (event.kind != EventKind::kCall) {
    note(machine.id_, name_of(event.kind));
  }
}

}  // namespace muster::sim
