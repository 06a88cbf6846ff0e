#include "console/screen/captured_errors.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "console/screen/options.h"

namespace muster::console {

CapturedErrors::CapturedErrors(TerminalGuard& guard) : guard_(guard) {
  if (isatty(STDERR_FILENO) != 1) return;
  std::array<int, 2> ends{};
  // Non-blocking for the writers too: a load generator must not wait for somebody who reads its log.
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) return;
  original_ = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  if (original_ >= 0 && dup2(ends[1], STDERR_FILENO) >= 0) {
    captured_ = ends[0];
    guard_.hold_errors(original_, captured_);
  } else {
    close(ends[0]);
  }
  close(ends[1]);
}

CapturedErrors::~CapturedErrors() {
  end();
  if (captured_ >= 0) close(captured_);
  if (original_ >= 0) close(original_);
}

bool CapturedErrors::take() {
  if (captured_ < 0) return false;
  std::array<char, 4096> bytes;
  bool any = false;
  constexpr int kMostReads = 64;  // a flood does not keep the run's loop from its work
  for (int i = 0; i != kMostReads; ++i) {
    const ssize_t size = read(captured_, bytes.data(), bytes.size());
    if (size <= 0) break;
    kept_.append(bytes.data(), static_cast<std::size_t>(size));
    any = true;
  }
  if (kept_.size() > 2 * kMaxKeptBytes) {
    const std::size_t line = kept_.find('\n', kept_.size() - kMaxKeptBytes);
    const std::size_t cut = line == std::string::npos ? kept_.size() - kMaxKeptBytes : line + 1;
    left_out_ +=
        static_cast<std::uint64_t>(std::count(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(cut), '\n'));
    kept_.erase(0, cut);
  }
  return any;
}

std::vector<std::string> CapturedErrors::latest(std::size_t count) const {
  std::vector<std::string> lines;
  std::size_t end = kept_.size();
  while (end > 0 && lines.size() < count) {
    if (kept_[end - 1] == '\n') --end;
    const std::size_t before = end == 0 ? std::string::npos : kept_.rfind('\n', end - 1);
    const std::size_t begin = before == std::string::npos ? 0 : before + 1;
    if (end > begin) lines.push_back(kept_.substr(begin, end - begin));
    end = begin;
  }
  std::ranges::reverse(lines);
  return lines;
}

std::string CapturedErrors::end() {
  if (captured_ < 0) return {};
  guard_.put_back_errors();
  while (take()) {
  }
  std::string text;
  if (left_out_ > 0) text = fmt::format("({} earlier lines are left out)\n", left_out_);
  text += kept_;
  kept_.clear();
  left_out_ = 0;
  return text;
}

}  // namespace muster::console
