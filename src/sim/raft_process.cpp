#include "sim/raft_process.h"

#include <algorithm>
#include <cstring>
#include <variant>

#include "cores/raft_codec.h"

namespace muster::sim {

namespace {

const char* name_of(cores::RaftRole role) {
  switch (role) {
    case cores::RaftRole::kFollower:
      return "follower";
    case cores::RaftRole::kPreCandidate:
      return "pre-candidate";
    case cores::RaftRole::kCandidate:
      return "candidate";
    case cores::RaftRole::kLeader:
      return "LEADER";
    case cores::RaftRole::kStopped:
      return "stopped";
  }
  return "";
}

}  // namespace

void RaftProcess::start(Host& host) {
  const auto recovered = cores::recover_raft_journal(host.contents(kJournal));
  if (!recovered) {
    kernel_->violate(
        "30", fmt::format("node {} cannot read its journal, which only crashes and failed writes have touched: {}",
                          base::number(host.self()), recovered.error().message));
    host.halt("damaged journal");
    return;
  }
  if (recovered->valid_bytes < host.contents(kJournal).size()) kernel_->hit("unfinished record dropped");
  journal_ = cores::RaftJournal(recovered->next);
  cores::RaftImage image = recovered->image;
  if (recovered->valid_bytes == 0 && !options_.founders.empty()) image = cores::founding_image(options_.founders);
  oracle_->recovered(host.self(), image);
  // Answered like every write, and ahead of all others.
  if (recovered->valid_bytes < host.contents(kJournal).size())
    writing_.emplace_back(host.truncate(kJournal, recovered->valid_bytes), cores::RaftWrite{});
  raft_ = std::make_unique<cores::Raft>(host.self(), options_.raft, host.random().next(), std::move(image), host.now());
  flush(host);
  started_ = true;
}

void RaftProcess::receive(Host& host, const Packet& packet) {
  const auto message = cores::decode_raft_message(packet.bytes);
  if (!raft_ || !packet.authentic || !message) {
    if (packet.authentic && !message)
      kernel_->violate("30", fmt::format("node {} does not understand what node {} sent: {}", base::number(host.self()),
                                         base::number(packet.sender), message.error().message));
    return;
  }
  conduct_.before(*raft_, host.now());
  raft_->receive(packet.sender, *message, host.now());
  conduct_.received(*raft_, packet.sender, *message);
  flush(host);
}

void RaftProcess::wake(Host& host) {
  conduct_.before(*raft_, host.now());
  raft_->wake(host.now());
  conduct_.woken(*raft_);
  flush(host);
}

void RaftProcess::written(Host& host, WriteTicket ticket, bool ok) {
  if (writing_.empty() || writing_.front().first != ticket) {
    kernel_->violate("time", "a disk answers a write that is not the next");
    return;
  }
  const cores::RaftWrite write = std::move(writing_.front().second);
  writing_.pop_front();
  conduct_.before(*raft_, host.now());
  if (!ok) {
    raft_->disk_failed(host.now());
    conduct_.disk_failed(*raft_);
    gated_.clear();
    flush(host);
    host.halt("a write failed");
    return;
  }
  if (write.ticket == 0) return;
  oracle_->durable(host.self(), write);
  journal_.persisted(write.ticket);
  raft_->persisted(write.ticket, host.now());
  std::vector<cores::RaftSend> waiting;
  for (cores::RaftSend& each : std::exchange(gated_, {})) {
    if (each.after > write.ticket) {
      waiting.push_back(std::move(each));
    } else {
      send(host, each.to, each.message);
    }
  }
  gated_ = std::move(waiting);
  flush(host);
}

void RaftProcess::closed(Host&, Address peer) {
  std::erase_if(addresses_, [peer](const auto& known) { return known.second == peer; });
}

void RaftProcess::propose(Host& host, std::uint64_t operation, std::size_t bytes) {
  std::string command(std::max(bytes, sizeof operation), 'c');
  std::memcpy(command.data(), &operation, sizeof operation);
  conduct_.before(*raft_, host.now());
  const cores::RaftRequest request = raft_->propose(std::move(command), host.now());
  conduct_.proposed(*raft_);
  asked_[request] = {.kind = Asked::Kind::kPropose, .operation = operation, .at = kernel_->now()};
  flush(host);
}

void RaftProcess::read(Host& host) {
  conduct_.before(*raft_, host.now());
  const cores::RaftIndex floor = oracle_->last_acknowledged();
  asked_[raft_->read(host.now())] = {.kind = Asked::Kind::kRead, .floor = floor, .at = kernel_->now()};
  flush(host);
  conduct_.reads_waiting(static_cast<std::size_t>(
      std::ranges::count_if(asked_, [](const auto& each) { return each.second.kind == Asked::Kind::kRead; })));
}

void RaftProcess::change(Host& host, const cores::RaftChange& change) {
  conduct_.before(*raft_, host.now());
  const cores::RaftRequest request = raft_->change(change, host.now());
  conduct_.changed(*raft_, change);
  asked_[request] = {.kind = Asked::Kind::kChange, .at = kernel_->now(), .change = change};
  flush(host);
}

void RaftProcess::transfer(Host& host, base::NodeId to) {
  conduct_.before(*raft_, host.now());
  const cores::RaftRequest request = raft_->transfer(to, host.now());
  asked_[request] = {.kind = Asked::Kind::kTransfer, .at = kernel_->now()};
  flush(host);
  if (asked_.contains(request)) conduct_.transfers(*raft_, to, request);
}

void RaftProcess::compact(Host& host) {
  conduct_.before(*raft_, host.now());
  if (raft_->compact(applied_, state())) {
    kernel_->hit("log compacted");
    conduct_.compacted(*raft_);
  }
  flush(host);
}

void RaftProcess::send(Host& host, base::NodeId to, const cores::RaftMessage& message) {
  oracle_->leaves(host.self(), to, message);
  const auto known = addresses_.find(to);
  std::optional<Address> address;
  if (known != addresses_.end()) {
    address = known->second;
  } else if ((address = host.resolve(to))) {
    addresses_.emplace(to, *address);
  }
  if (!address) return;
  std::string bytes;
  cores::encode(message, bytes);
  conduct_.leaves(*raft_, to, message, bytes.size());
  host.send(*address, Channel::kStream, std::move(bytes));
}

void RaftProcess::flush(Host& host) {
  // An answer may make the owner ask again before this returns.
  while (!raft_->quiet()) {
    cores::RaftEffects effects = raft_->take();
    conduct_.takes(*raft_, effects);
    for (const cores::RaftWrite& write : effects.writes) persist(host, write);
    for (cores::RaftSend& each : effects.sends) {
      if (each.after == 0) {
        send(host, each.to, each.message);
      } else {
        gated_.push_back(std::move(each));
      }
    }
    for (const cores::RaftApply& each : effects.applies) apply(each);
    if (!effects.applies.empty()) oracle_->applied_all(host.self(), *raft_);
    for (const cores::RaftAnswer& each : effects.answers) answer(host, each);
    if (host.traced())
      for (const cores::RaftStanding& standing : effects.standings)
        host.trace("is {} in term {}, leader {}", name_of(standing.role), standing.term, base::number(standing.leader));
  }
  conduct_.rests(*raft_, host.now());
  host.alarm(raft_->deadline());
}

void RaftProcess::persist(Host& host, const cores::RaftWrite& write) {
  std::string bytes = journal_.record(write);
  const bool anew = std::holds_alternative<cores::RaftCheckpoint>(write.body);
  const WriteTicket ticket = anew ? host.replace(kJournal, std::move(bytes)) : host.append(kJournal, std::move(bytes));
  writing_.emplace_back(ticket, write);
}

void RaftProcess::apply(const cores::RaftApply& what) {
  const base::NodeId self = raft_->self();
  if (const auto* snapshot = std::get_if<cores::RaftSnapshot>(&what)) {
    applied_ = snapshot->index;
    state_ = 0;
    const std::string& bytes = snapshot->bytes();
    if (bytes.size() >= sizeof state_) std::memcpy(&state_, bytes.data(), sizeof state_);
    kernel_->hit(started_ ? "snapshot installed" : "snapshot read back");
    if (bytes != state())
      kernel_->violate("log-equal",
                       fmt::format("node {} takes over a snapshot at entry {} with bytes that nobody wrote",
                                   base::number(self), snapshot->index));
    oracle_->installed(self, *snapshot, state_);
    return;
  }
  const auto& entry = std::get<cores::RaftEntry>(what);
  if (entry.index != applied_ + 1) {
    kernel_->violate("log-kept",
                     fmt::format("node {} is to apply entry {} behind {}", base::number(self), entry.index, applied_));
    return;
  }
  applied_ = entry.index;
  state_ = base::mix(state_ ^ digest_of(entry));
  oracle_->applied(self, *raft_, entry, state_);
}

void RaftProcess::answer(Host& host, const cores::RaftAnswer& answer) {
  const auto found = asked_.find(answer.request);
  if (found == asked_.end()) {
    kernel_->violate("log-acknowledged", fmt::format("node {} answers request {} that nobody waits for",
                                                     base::number(host.self()), answer.request));
    return;
  }
  const Asked asked = found->second;
  asked_.erase(found);
  conduct_.answered(answer.request);
  using cores::RaftOutcome;
  if (answer.outcome == RaftOutcome::kCommitted) {
    if (asked.kind == Asked::Kind::kPropose) {
      oracle_->acknowledged(host.self(), *raft_, asked.operation, answer.index);
      if (answer.index > applied_)
        kernel_->violate("log-acknowledged", fmt::format("node {} acknowledges entry {} and has applied {}",
                                                         base::number(host.self()), answer.index, applied_));
    } else {
      kernel_->hit("members changed");
    }
  } else if (answer.outcome == RaftOutcome::kReadReady) {
    oracle_->read_ready(host.self(), asked.floor, answer.index);
  } else if (answer.outcome == RaftOutcome::kHandedOver) {
    kernel_->hit("leadership handed over");
  } else if (answer.outcome == RaftOutcome::kUnknown) {
    kernel_->hit("outcome unknown");
  } else {
    const bool changes = asked.kind == Asked::Kind::kChange;
    conduct_.refused(*raft_, answer.refusal, changes ? &asked.change : nullptr);
    if (answer.refusal != cores::RaftRefusal::kNotLeader) kernel_->hit("request refused");
  }
  if (*on_answer_) (*on_answer_)(*this, host, asked, answer);
}

std::string RaftProcess::state() const {
  std::string bytes(std::max(options_.state_bytes, sizeof state_), '\0');
  std::memcpy(bytes.data(), &state_, sizeof state_);
  // No two parts are alike, so that it shows if they are put together in another order.
  for (std::size_t i = sizeof state_; i < bytes.size(); ++i) bytes[i] = static_cast<char>(base::mix(state_ + i));
  return bytes;
}

}  // namespace muster::sim
