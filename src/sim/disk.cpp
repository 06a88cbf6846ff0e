#include "sim/disk.h"

#include <algorithm>
#include <utility>

namespace muster::sim {

WriteTicket Disk::append(std::string_view file, std::string bytes) {
  return ask(Kind::kAppend, file, std::move(bytes), 0);
}

WriteTicket Disk::replace(std::string_view file, std::string bytes) {
  return ask(Kind::kReplace, file, std::move(bytes), 0);
}

WriteTicket Disk::truncate(std::string_view file, std::size_t size) {
  return ask(Kind::kTruncate, file, {}, size);
}

std::string_view Disk::contents(std::string_view file) const {
  const auto found = files_.find(file);
  return found == files_.end() ? std::string_view() : std::string_view(found->second);
}

std::int64_t Disk::take(std::int64_t now, const DiskOptions& options, base::Random& random) {
  taken_ = pending_.size();
  const auto spread = static_cast<std::uint64_t>((options.most - options.least).count()) + 1;
  const std::int64_t done = now + options.least.count() + static_cast<std::int64_t>(random.below(spread));
  return std::max(done, trouble_.stalled_till);
}

std::vector<std::string> Disk::files() const {
  std::vector<std::string> names;
  for (const auto& [name, bytes] : files_) {
    if (!bytes.empty()) names.push_back(name);
  }
  return names;
}

std::vector<Disk::Answer> Disk::finish(base::Random& random) {
  std::vector<Answer> answers;
  answers.reserve(taken_);
  for (std::size_t i = 0; i < taken_; ++i) {
    Write& write = pending_[i];
    const bool adds = write.kind != Kind::kTruncate && !write.bytes.empty();
    const bool fails = (trouble_.full && adds) || (trouble_.error_share > 0 && random.unit() < trouble_.error_share);
    const bool behind = behind_failure(write);
    answers.push_back({write.ticket, !fails && !behind});
    if (fails && !behind && write.kind == Kind::kAppend) apply_beginning(write, random.below(write.bytes.size() + 1));
    if (fails && !behind) failed_[write.file] = {write.ticket};
    if (answers.back().ok) {
      failed_.erase(write.file);
      apply(write);
    }
  }
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(taken_));
  taken_ = 0;
  return answers;
}

void Disk::heard(const Answer& answer) {
  if (answer.ok) return;
  for (auto& [file, failure] : failed_) {
    if (failure.write == answer.ticket) failure.through = tickets_;
  }
}

void Disk::crash(base::Random& random, bool tear) {
  std::erase_if(pending_, [this](const Write& write) { return behind_failure(write); });
  if (!pending_.empty()) {
    const std::size_t kept = tear ? 0 : random.below(pending_.size() + 1);
    for (std::size_t i = 0; i < kept; ++i) apply(pending_[i]);
    if (kept < pending_.size() && pending_[kept].kind == Kind::kAppend && !pending_[kept].bytes.empty()) {
      const std::size_t size = random.below(pending_[kept].bytes.size());
      if (size > 0) ++torn_;
      apply_beginning(pending_[kept], size);
    }
  }
  pending_.clear();
  taken_ = 0;
  failed_.clear();
}

WriteTicket Disk::ask(Kind kind, std::string_view file, std::string bytes, std::size_t size) {
  const WriteTicket ticket{++tickets_};
  pending_.push_back(
      {.kind = kind, .ticket = ticket, .file = std::string(file), .bytes = std::move(bytes), .size = size});
  return ticket;
}

bool Disk::behind_failure(const Write& write) const {
  const auto found = failed_.find(write.file);
  return found != failed_.end() && static_cast<std::uint64_t>(write.ticket) <= found->second.through;
}

void Disk::apply(Write& write) {
  // An empty file is told apart from none nowhere, and most bodies are emptied sooner or later.
  if (write.kind == Kind::kReplace && write.bytes.empty()) {
    files_.erase(write.file);
    return;
  }
  std::string& content = files_[write.file];
  switch (write.kind) {
    case Kind::kAppend:
      content += write.bytes;
      break;
    case Kind::kReplace:
      content = std::move(write.bytes);
      break;
    case Kind::kTruncate:
      if (content.size() > write.size) content.resize(write.size);
      break;
  }
}

void Disk::apply_beginning(const Write& write, std::size_t size) {
  files_[write.file].append(write.bytes, 0, size);
}

}  // namespace muster::sim
