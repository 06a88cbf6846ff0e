#include "target/service_log.h"

#include <fmt/format.h>

namespace muster::target {
namespace {

constexpr base::Duration kUnstamped = base::Duration::min();

// RFC 4180: a field with a comma or a quote stands in quotes.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::size_t ServiceLog::add(std::string_view path, base::Instant start, base::Duration delay) {
  if (count_ == limits_->max_logged_requests) {
    ++dropped_;
    return kNone;
  }
  if (count_ == blocks_.size() * kBlock) blocks_.push_back(std::make_unique<Record[]>(kBlock));
  blocks_[count_ / kBlock][count_ % kBlock] = {start, kUnstamped, delay, number_of(path)};
  return count_++;
}

void ServiceLog::stamp(std::size_t number, base::Instant end) {
  if (number == kNone) return;
  Record& record = blocks_[number / kBlock][number % kBlock];
  record.service = end - record.start;
}

void ServiceLog::write(std::FILE* file) const {
  std::vector<std::string> fields;
  fields.reserve(paths_.size());
  for (const std::string& path : paths_) fields.push_back(csv_field(path));
  std::string line;
  for (std::size_t i = 0; i < count_; ++i) {
    const Record& record = blocks_[i / kBlock][i % kBlock];
    if (record.service == kUnstamped) continue;
    line.clear();
    fmt::format_to(std::back_inserter(line), "{},{},{},{}\n", fields[record.path],
                   record.start.time_since_epoch().count(), record.service.count(), record.delay.count());
    std::fwrite(line.data(), 1, line.size(), file);
  }
}

std::uint32_t ServiceLog::number_of(std::string_view path) {
  if (path == latest_path_ && !paths_.empty()) return latest_number_;
  if (paths_.size() >= limits_->max_logged_paths && !numbers_.contains(std::string(path))) path = "(other)";
  const auto [entry, is_new] = numbers_.try_emplace(std::string(path), static_cast<std::uint32_t>(paths_.size()));
  if (is_new) paths_.push_back(entry->first);
  latest_path_ = path;
  return latest_number_ = entry->second;
}

}  // namespace muster::target
