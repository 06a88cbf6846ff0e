#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/characters.h"
#include "report/line_target.h"
#include "report/side_process.h"

namespace muster::report {
namespace {

constexpr const char* kShell = "/bin/sh";
constexpr int kNotFound = 127;  // what a shell exits with

[[noreturn]] void become(const std::string& command, int input, const sigset_t& signals) {
  ::setpgid(0, 0);
  for (const int each : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGTTOU, SIGXFSZ}) ::signal(each, SIG_DFL);
  if (input == STDIN_FILENO) ::fcntl(input, F_SETFD, 0);
  ::dup2(input, STDIN_FILENO);
  // Standard output is muster's own: what a command prints goes where messages go.
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
  ::sigprocmask(SIG_SETMASK, &signals, nullptr);
  ::execl(kShell, "sh", "-c", command.c_str(), nullptr);
  ::_exit(kNotFound);
}

// The keeping process: starts the command in a group of its own, waits for it, and ends that whole group when it is
// told to (SIGTERM), which the kernel also does when muster dies. Exits as the command did.
int keep_command(const std::string& command, int input, pid_t parent) {
  sigset_t watched;
  sigset_t before;
  ::sigemptyset(&watched);
  ::sigaddset(&watched, SIGCHLD);
  ::sigaddset(&watched, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &watched, &before);
  bool ending = !end_with_parent(parent, SIGTERM);
  const pid_t shell = ::fork();
  if (shell < 0) return kNotFound;
  if (shell == 0) become(command, input, before);
  ::setpgid(shell, shell);
  ::close(input);
  if (ending) ::kill(-shell, SIGTERM);
  base::Instant killed_at = base::now() + kCommandKillAfter;
  int status = 0;
  while (::waitpid(shell, &status, WNOHANG) != shell) {
    const timespec look{.tv_sec = 0, .tv_nsec = 100'000'000};
    const int signal = ending ? ::sigtimedwait(&watched, nullptr, &look) : ::sigwaitinfo(&watched, nullptr);
    if (signal == SIGTERM && !ending) {
      ending = true;
      killed_at = base::now() + kCommandKillAfter;
      ::kill(-shell, SIGTERM);
    }
    if (ending && base::now() >= killed_at) ::kill(-shell, SIGKILL);
  }
  if (ending) ::kill(-shell, SIGKILL);  // what is left of its group
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

// Runs `sh arguments…` with nothing to read and nowhere to print to but standard error; its exit status, or -1.
int shell_status(std::vector<std::string> arguments) {
  std::vector<char*> words;
  arguments.insert(arguments.begin(), "sh");
  for (std::string& each : arguments) words.push_back(each.data());
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  if (::posix_spawn_file_actions_init(&actions) != 0) return -1;
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", 0, 0);
  ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  pid_t child = -1;
  const int error = ::posix_spawn(&child, kShell, &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return -1;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The command's first word, where it is plainly one: no quotes, expansions or assignments that only a shell could read.
std::string plain_first_word(std::string_view command) {
  const std::size_t begin = command.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return {};
  command.remove_prefix(begin);
  const std::string_view word = command.substr(0, command.find_first_of(" \t\n;|&<>()"));
  const auto plain = [](char c) {
    return base::is_letter_or_digit(c) || std::string_view("_-+./").find(c) != std::string_view::npos;
  };
  return !word.starts_with('-') && std::ranges::all_of(word, plain) ? std::string(word) : std::string();
}

base::Expected<void> check_command(const std::string& command) {
  if (shell_status({"-n", "-c", command}) > 0) {
    return base::fail("the shell does not understand this command; what it says stands above");
  }
  const std::string word = plain_first_word(command);
  if (!word.empty() && shell_status({"-c", R"(command -v "$1" >/dev/null 2>&1)", "sh", word}) > 0) {
    return base::fail(fmt::format("there is no command '{}'; install it, or write its full path", word));
  }
  return {};
}

class CommandLines final : public LineTarget {
 public:
  explicit CommandLines(std::string command) : command_(std::move(command)) {}

  base::Expected<void> open() override {
    if (auto found = check_command(command_); !found) return found;
    const pid_t parent = ::getpid();
    return process_.start(-1, [this, parent](int input) { return keep_command(command_, input, parent); });
  }

  void put(std::string_view line) override { process_.put(line); }

  base::Expected<void> look() override {
    const auto status = process_.look();
    if (told_ || !status) return {};
    told_ = true;
    if (*status == 0) return {};  // it has seen enough, like `head`
    return base::fail(fmt::format("the command {} before the run did; what came after is missing", how(*status)));
  }

  base::Expected<void> close() override {
    const auto status = process_.finish(base::now() + kEndPatience);
    if (!status) {
      process_.end(kCommandKillAfter + std::chrono::seconds(1));
      if (process_.interrupted()) return base::fail(fmt::format("{}{}", kInterrupted, drops()));
      return base::fail(fmt::format("the command still ran {} s after the last point and was ended{}",
                                    std::chrono::floor<std::chrono::seconds>(kEndPatience).count(), drops()));
    }
    if (!std::exchange(told_, true) && *status != 0) {
      return base::fail(fmt::format("the command {}{}", how(*status), drops()));
    }
    if (process_.feed().dropped() == 0) return {};
    return base::fail(fmt::format("the command was too slow{}", drops()));
  }

 private:
  static std::string how(int status) {
    if (status == kNotFound) return "was not found (status 127)";
    if (status > 128 && status <= 128 + SIGRTMAX) return fmt::format("was ended by signal {}", status - 128);
    return fmt::format("ended with status {}", status);
  }

  std::string drops() const {
    const Feed& feed = process_.feed();
    if (feed.dropped() == 0) return {};
    return fmt::format("; {} of {} points were dropped", feed.dropped(), feed.lines());
  }

  std::string command_;
  SideProcess process_;
  bool told_ = false;
};

}  // namespace

std::unique_ptr<LineTarget> lines_to_command(std::string command) {
  return std::make_unique<CommandLines>(std::move(command));
}

}  // namespace muster::report
