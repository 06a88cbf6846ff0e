#include "report/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>

#include "base/time.h"
#include "report/options.h"

namespace muster::report {
namespace {

std::string advice(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "free some space there, or name a file on another disk";
    case EFBIG:
      return "raise the limit on the size of files (ulimit -f)";
    case EACCES:
    case EPERM:
    case EROFS:
      return "name a folder that you may write to";
    case ENOENT:
    case ENOTDIR:
      return "make the folder first, or name one that exists";
    case EISDIR:
      return "name a file, not a folder";
    case ENXIO:
    case EPIPE:
      return "nobody reads it: start its reader first";
    case ETIMEDOUT:
      return "its reader does not read";
    case EINTR:
      return "its reader had not taken all of it";
    default:
      return "name another file";
  }
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// A FIFO is opened without waiting, so that one that nobody ever reads cannot hold the end of a run.
int open_pipe(const std::string& path, base::Instant deadline) {
  constexpr int kLook = 20;  // ms
  for (;;) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file >= 0 || (errno != ENXIO && errno != EINTR) || base::now() >= deadline) return file;
    if (::poll(nullptr, 0, kLook) < 0) return -1;
  }
}

base::Expected<void> write_directly(const std::string& path, std::string_view bytes) {
  const base::Instant deadline = base::now() + kEndPatience;
  const int file = open_pipe(path, deadline);
  if (file < 0) return cannot_write(path, errno);
  int error = 0;
  while (!bytes.empty() && error == 0) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
      continue;
    }
    if (errno == EINTR) continue;
    error = errno;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - base::now()).count();
    if (error != EAGAIN || left <= 0) break;
    pollfd writable{.fd = file, .events = POLLOUT, .revents = 0};
    error = ::poll(&writable, 1, static_cast<int>(left)) < 0 ? errno : 0;
  }
  if (::close(file) != 0 && error == 0) error = errno;
  if (error != 0) return cannot_write(path, error == EAGAIN ? ETIMEDOUT : error);
  return {};
}

// What open(2) would have given a new file; reading the mask means setting it, for a moment.
mode_t usual_mode() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return 0666 & ~mask;
}

// Without links, "." and ".."; nothing if it is not there.
std::optional<std::string> real_path(const std::string& path) {
  const std::unique_ptr<char, void (*)(void*)> real(::realpath(path.c_str(), nullptr), std::free);
  return real ? std::optional<std::string>(real.get()) : std::nullopt;
}

}  // namespace

std::string resolved(const std::string& path) {
  constexpr int kMaxLinks = 40;  // as many as Linux follows
  if (auto real = real_path(path)) return *real;
  struct stat there{};
  if (::stat(path.c_str(), &there) == 0) return path;  // the link of a descriptor: its text names no file
  std::error_code error;
  std::filesystem::path place = std::filesystem::absolute(path, error);
  for (int links = 0; !error && std::filesystem::is_symlink(place, error); ++links) {
    if (links == kMaxLinks) return path;
    place = place.parent_path() / std::filesystem::read_symlink(place, error);
  }
  // To take the `..` after a folder that is not there for a step back would name a file that the path does not lead to.
  const auto folder = real_path(place.parent_path().string());
  return folder ? (std::filesystem::path(*folder) / place.filename()).string() : place.string();
}

std::string identity_of(const std::string& path) {
  struct stat found{};
  if (::stat(path.c_str(), &found) != 0) return resolved(path);
  if (S_ISCHR(found.st_mode)) return {};
  return fmt::format("device {}, inode {}", found.st_dev, found.st_ino);
}

std::unexpected<base::Error> cannot_write(const std::string& path, int error) {
  return base::fail(
      fmt::format("cannot write '{}': {}; {}", path, std::generic_category().message(error), advice(error)));
}

int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

base::Expected<void> check_writable(const std::string& path) {
  if (path == "-") return {};
  struct stat there{};
  const std::string place = resolved(path);
  if (::stat(place.c_str(), &there) == 0) {
    if (S_ISDIR(there.st_mode)) return cannot_write(path, EISDIR);
    if (!S_ISREG(there.st_mode)) return {};
  }
  const std::string folder = folder_of(place);
  if (::stat(folder.c_str(), &there) != 0) return cannot_write(path, errno);
  if (!S_ISDIR(there.st_mode)) return cannot_write(path, ENOTDIR);
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return cannot_write(path, errno);
  return {};
}

base::Expected<void> write_atomically(const std::string& path, std::string_view bytes) {
  if (path == "-") {
    if (const int error = write_all(STDOUT_FILENO, bytes); error != 0) return cannot_write("standard output", error);
    return {};
  }
  const std::string place = resolved(path);
  struct stat there{};
  const bool exists = ::stat(place.c_str(), &there) == 0;
  if (exists && S_ISDIR(there.st_mode)) return cannot_write(path, EISDIR);
  if (exists && !S_ISREG(there.st_mode)) return write_directly(place, bytes);

  std::string temporary = place + ".XXXXXX";
  const int file = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (file < 0) return cannot_write(path, errno);
  int error = write_all(file, bytes);
  if (error == 0 && ::fchmod(file, exists ? there.st_mode & 07777 : usual_mode()) != 0) error = errno;
  if (error == 0 && ::fsync(file) != 0) error = errno;
  if (::close(file) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), place.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(temporary.c_str());
  return cannot_write(path, error);
}

}  // namespace muster::report
