#include "cores/raft_log.h"

#include <algorithm>
#include <utility>

namespace muster::cores {

RaftImage founding_image(std::vector<base::NodeId> voters) {
  std::sort(voters.begin(), voters.end());
  voters.erase(std::unique(voters.begin(), voters.end()), voters.end());
  RaftImage image;
  image.snapshot.members.voters = std::move(voters);
  return image;
}

RaftLog::RaftLog(RaftImage image)
    : snapshot_(std::move(image.snapshot)), base_(snapshot_.index), base_term_(snapshot_.term) {
  configurations_.push_back({snapshot_.members_index, snapshot_.members});
  for (RaftEntry& entry : image.entries) append(std::move(entry));
  written_ = durable_ = last();
}

std::optional<RaftTerm> RaftLog::term_at(RaftIndex index) const {
  if (index == base_) return base_term_;
  if (index < base_ || index > last()) return std::nullopt;
  return at(index).term;
}

const RaftEntry& RaftLog::at(RaftIndex index) const {
  return entries_[static_cast<std::size_t>(index - base_ - 1)].entry;
}

std::vector<RaftEntry> RaftLog::batch(RaftIndex from, std::size_t entries, std::size_t bytes) const {
  std::vector<RaftEntry> result;
  for (RaftIndex index = from; index <= last() && result.size() < entries; ++index) {
    const std::size_t size = at(index).bytes();
    if (!result.empty() && size > bytes) break;
    bytes -= std::min(bytes, size);
    result.push_back(at(index));
  }
  return result;
}

std::size_t RaftLog::bytes_behind(RaftIndex index) const {
  return bytes_through(last()) - bytes_through(index);
}

void RaftLog::append(RaftEntry entry) {
  const std::size_t through = bytes_through(last()) + entry.bytes();
  if (entry.kind == RaftEntryKind::kMembers) configurations_.push_back({entry.index, entry.members});
  entries_.push_back({std::move(entry), through});
}

void RaftLog::truncate(RaftIndex from) {
  while (last() >= from && !entries_.empty()) entries_.pop_back();
  while (configurations_.size() > 1 && configurations_.back().index >= from) configurations_.pop_back();
  // What was handed out for these indices no longer says anything about the entries that will take their place.
  while (!unsynced_.empty() && unsynced_.back().last >= from) {
    unsynced_.back().last = from - 1;
    const bool covered = unsynced_.size() > 1 ? unsynced_[unsynced_.size() - 2].last >= from - 1 : durable_ >= from - 1;
    if (!covered) break;
    unsynced_.pop_back();
  }
  written_ = std::min(written_, from - 1);
  durable_ = std::min(durable_, from - 1);
}

bool RaftLog::member_since(RaftIndex index, base::NodeId node) const {
  const RaftIndex from = members_index_at(index);
  return std::any_of(configurations_.begin(), configurations_.end(), [&](const Configuration& configuration) {
    return configuration.index >= from && configuration.members.contains(node);
  });
}

void RaftLog::compact(RaftIndex index, std::string state, std::size_t kept) {
  RaftSnapshot taken;
  taken.index = index;
  taken.term = *term_at(index);
  taken.members = members_at(index);
  taken.members_index = members_index_at(index);
  taken.state = std::make_shared<const std::string>(std::move(state));
  snapshot_ = std::move(taken);
  if (index > kept) forget_until(index - kept);
}

void RaftLog::install(RaftSnapshot snapshot) {
  const bool known = holds(snapshot.index, snapshot.term);
  snapshot_ = std::move(snapshot);
  if (known) {
    forget_until(snapshot_.index);
    return;
  }
  entries_.clear();
  configurations_.clear();
  configurations_.push_back({snapshot_.members_index, snapshot_.members});
  unsynced_.clear();
  base_ = snapshot_.index;
  base_term_ = snapshot_.term;
  base_bytes_ = 0;
  written_ = base_;
  durable_ = 0;
}

RaftImage RaftLog::image(const RaftHardState& hard) const {
  RaftImage image{.hard = hard, .snapshot = snapshot_, .entries = {}};
  for (RaftIndex index = snapshot_.index + 1; index <= last(); ++index) image.entries.push_back(at(index));
  return image;
}

void RaftLog::wrote(RaftTicket ticket) {
  written_ = last();
  unsynced_.push_back({written_, ticket});
}

void RaftLog::persisted(RaftTicket ticket) {
  while (!unsynced_.empty() && unsynced_.front().ticket <= ticket) {
    durable_ = std::max(durable_, unsynced_.front().last);
    unsynced_.pop_front();
  }
}

RaftTicket RaftLog::ticket_of(RaftIndex index) const {
  if (index <= durable_) return 0;
  for (const Unsynced& part : unsynced_) {
    if (part.last >= index) return part.ticket;
  }
  return unsynced_.empty() ? 0 : unsynced_.back().ticket;
}

const RaftLog::Configuration& RaftLog::configuration_at(RaftIndex index) const {
  std::size_t place = configurations_.size() - 1;
  while (place > 0 && configurations_[place].index > index) --place;
  return configurations_[place];
}

std::size_t RaftLog::bytes_through(RaftIndex index) const {
  return index <= base_ ? base_bytes_ : entries_[static_cast<std::size_t>(index - base_ - 1)].bytes_through;
}

void RaftLog::forget_until(RaftIndex index) {
  while (base_ < index) {
    base_term_ = entries_.front().entry.term;
    base_bytes_ = entries_.front().bytes_through;
    entries_.pop_front();
    ++base_;
  }
  while (configurations_.size() > 1 && configurations_[1].index <= base_) configurations_.pop_front();
}

}  // namespace muster::cores
