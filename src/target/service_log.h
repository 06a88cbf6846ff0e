// What each request of one core really took, kept in memory while serving and written out at the end, so that a
// client's quantiles can be held against the truth. Belongs to one core's thread; write() is called after that thread
// ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/time.h"
#include "target/options.h"

namespace muster::target {

class ServiceLog {
 public:
  explicit ServiceLog(const Limits& limits) : limits_(&limits) {}

  static constexpr std::size_t kNone = ~std::size_t{0};

  // A request whose last byte was read at `start` and whose plan asked for `delay`. Returns its number for stamp(), or
  // kNone when the log is full.
  std::size_t add(std::string_view path, base::Instant start, base::Duration delay);

  // The last byte of the reply was handed to the kernel.
  void stamp(std::size_t number, base::Instant end);

  std::size_t size() const { return count_; }
  std::size_t dropped() const { return dropped_; }

  // CSV lines without the header; requests without a stamp (never fully answered) are left out.
  static constexpr std::string_view kHeader = "path,start_ns,service_ns,delay_ns\n";
  void write(std::FILE* file) const;

 private:
  struct Record {
    base::Instant start;
    base::Duration service;
    base::Duration delay;
    std::uint32_t path;
  };
  static constexpr std::size_t kBlock = 16 * 1024;

  std::uint32_t number_of(std::string_view path);

  const Limits* limits_;
  // Blocks, so that growing copies nothing while requests wait.
  std::vector<std::unique_ptr<Record[]>> blocks_;
  std::size_t count_ = 0;
  std::size_t dropped_ = 0;
  std::string latest_path_;  // most runs ask for the same one again
  std::uint32_t latest_number_ = 0;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> paths_;
};

}  // namespace muster::target
