#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "report/atomic_file.h"
#include "report/line_target.h"
#include "report/side_process.h"

namespace muster::report {
namespace {

enum class Place : std::uint8_t { kRegular, kFifo, kDevice, kStandardOutput };

// What the writing process exits with when all was written, but to a file that no longer has a name; else errno.
constexpr int kRemoved = 255;

// The writing process: from the pipe to the file, however long that takes. Ends when the pipe does.
int copy_lines(int input, int file, bool regular) {
  std::array<char, 64 * 1024> bytes{};
  bool first = true;
  for (;;) {
    const ssize_t size = ::read(input, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno;
    if (size == 0) break;
    if (std::exchange(first, false) && regular && ::ftruncate(file, 0) != 0) return errno;
    if (const int error = write_all(file, {bytes.data(), static_cast<std::size_t>(size)}); error != 0) return error;
  }
  if (!regular) return 0;
  if (::fsync(file) != 0 && errno != EINVAL) return errno;
  struct stat there{};
  if (::fstat(file, &there) == 0 && there.st_nlink == 0) return kRemoved;
  return ::close(file) == 0 ? 0 : errno;
}

int open_fifo(const std::string& path) {
  for (;;) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);  // waits for a reader
    if (file >= 0 || errno != EINTR) return file;
  }
}

// Of a FIFO whose writing process has not ended: a reader that went away would have ended it.
bool has_no_reader(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return errno == ENXIO;
  ::close(file);
  return false;
}

class FileLines final : public LineTarget {
 public:
  explicit FileLines(std::string path) : path_(std::move(path)) {}

  base::Expected<void> open() override {
    int file = -1;
    if (auto found = find(file); !found) return found;
    const pid_t parent = ::getpid();
    auto started = process_.start(file, [this, file, parent](int input) {
      if (place_ == Place::kRegular) return copy_lines(input, file, true);
      // What waits for a reader would wait for ever; a disk takes what is left.
      if (!end_with_parent(parent, SIGKILL)) return 0;
      const int place = place_ == Place::kFifo ? open_fifo(path_) : file;
      return place < 0 ? errno : copy_lines(input, place, false);
    });
    if (file > STDERR_FILENO) ::close(file);
    return started;
  }

  void put(std::string_view line) override { process_.put(line); }

  base::Expected<void> look() override {
    const auto status = process_.look();
    if (told_ || !status) return {};
    told_ = true;
    return judged(*status);
  }

  base::Expected<void> close() override {
    // A person may read standard output slowly.
    const auto status = process_.finish(place_ == Place::kStandardOutput ? base::kNever : base::now() + kEndPatience);
    if (!status) {
      const bool unread = place_ == Place::kFifo && has_no_reader(path_);
      process_.end(std::chrono::seconds(1));
      if (process_.interrupted()) return base::fail(std::string(kInterrupted));
      return too_late(unread);
    }
    if (!std::exchange(told_, true)) {
      if (auto good = judged(*status); !good) return good;
    }
    if (process_.feed().dropped() == 0 || *status != 0) return {};
    return base::fail(fmt::format("{} of {} points were dropped, because {} was too slow for them",
                                  process_.feed().dropped(), process_.feed().lines(),
                                  place_ == Place::kRegular ? "the disk" : "the reader"));
  }

 private:
  base::Expected<void> find(int& file) {
    if (path_ == "-") {
      place_ = Place::kStandardOutput;
      file = STDOUT_FILENO;
      return {};
    }
    struct stat there{};
    if (::stat(path_.c_str(), &there) == 0 && S_ISFIFO(there.st_mode)) {
      place_ = Place::kFifo;
      if (::access(path_.c_str(), W_OK) != 0) return cannot_write(path_, errno);
      return {};
    }
    file = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
    if (file < 0) return cannot_write(path_, errno);
    place_ = ::fstat(file, &there) == 0 && S_ISREG(there.st_mode) ? Place::kRegular : Place::kDevice;
    return {};
  }

  std::unexpected<base::Error> too_late(bool unread) const {
    const auto patience = std::chrono::floor<std::chrono::seconds>(kEndPatience).count();
    if (unread) {
      return base::fail(
          fmt::format("nobody had opened '{}' for reading {} s after the last point, so nothing was written: start its "
                      "reader first",
                      path_, patience));
    }
    return base::fail(fmt::format("{} {} s after the last point; what was not written by then is missing",
                                  place_ == Place::kRegular
                                      ? fmt::format("the disk had not taken all of '{}'", path_)
                                      : fmt::format("the reader of '{}' had not taken all of it", path_),
                                  patience));
  }

  base::Expected<void> judged(int status) const {
    if (status == 0) return {};
    if (status == EPIPE) {
      return base::fail(
          fmt::format("the reader of {} went away before the end; the points from then on are missing: let it read all",
                      path_ == "-" ? "standard output" : fmt::format("'{}'", path_)));
    }
    if (status == kRemoved) {
      return base::fail(
          fmt::format("'{}' was removed while the run went on, and what was written to it is lost", path_));
    }
    if (status > 128) {
      return base::fail(fmt::format("the process that writes '{}' was ended by signal {}; what came after is missing",
                                    path_, status - 128));
    }
    return base::fail(fmt::format("{}; the points from then on are missing",
                                  cannot_write(path_ == "-" ? "standard output" : path_, status).error().message));
  }

  std::string path_;
  Place place_ = Place::kRegular;
  SideProcess process_;
  bool told_ = false;
};

}  // namespace

std::unique_ptr<LineTarget> lines_to_file(std::string path) {
  return std::make_unique<FileLines>(std::move(path));
}

}  // namespace muster::report
