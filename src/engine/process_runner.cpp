#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/runner.h"
#include "engine/snapshot_memory.h"
#include "model/result_codec.h"

namespace muster::engine {
namespace {

constexpr int kPollMilliseconds = 20;

// How long an executor that was told to abort may take before it is killed.
constexpr base::Duration kAbortLimit = std::chrono::seconds(1);

// The executor: what the forked child does until the load is over. Never returns.
class Executor {
 public:
  Executor(Engine& engine, SnapshotMemory& memory, int commands)
      : engine_(engine), memory_(memory), commands_(commands) {}

  [[noreturn]] void run() {
    // Ctrl-C reaches the whole process group; the parent decides what it means. If the parent dies, so do we.
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "muster-executor");
    if (auto started = engine_.start(); !started) {
      memory_.finish(started.error().message);
      _exit(1);
    }
    while (!engine_.finished()) {
      take_commands();
      if (engine_.poll()) publish();
    }
    engine_.join();
    publish();
    memory_.finish("");
    _exit(0);
  }

 private:
  void take_commands() {
    pollfd waiting{.fd = commands_, .events = POLLIN, .revents = 0};
    if (::poll(&waiting, 1, kPollMilliseconds) <= 0) return;
    Command command;
    const ssize_t size = recv(commands_, &command, sizeof(command), MSG_DONTWAIT);
    if (size == sizeof(command)) {
      engine_.command(command);
    } else if (size == 0) {
      _exit(1);  // the parent is gone
    }
  }

  void publish() {
    const model::WorkflowResult series = engine_.take_series();
    bytes_.clear();
    model::encode(series, bytes_);
    if (!series_full_ && !memory_.append_series(bytes_)) {
      series_full_ = true;
      engine_.totals().notes.emplace_back("the per-second series is too long and ends early", 1);
    }
    bytes_.clear();
    model::encode(engine_.totals(), bytes_);
    memory_.publish_totals(bytes_);
  }

  Engine& engine_;
  SnapshotMemory& memory_;
  int commands_;
  bool series_full_ = false;
  std::string bytes_;
};

class ProcessRunner final : public Runner {
 public:
  explicit ProcessRunner(std::unique_ptr<Engine> engine) : engine_(std::move(engine)), result_(engine_->totals()) {}

  ~ProcessRunner() override {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
    if (commands_ >= 0) close(commands_);
  }

  base::Expected<void> start() override {
    if (auto opened = memory_.open(); !opened) return opened;
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) {
      return base::fail(fmt::format("cannot open a socket pair: {}", std::strerror(errno)));
    }
    child_ = fork();
    if (child_ < 0) {
      const int error = errno;
      close(pair[0]);
      close(pair[1]);
      return base::fail(fmt::format("cannot start the executor process: {}", std::strerror(error)));
    }
    if (child_ == 0) {
      close(pair[0]);
      Executor(*engine_, memory_, pair[1]).run();
    }
    close(pair[1]);
    commands_ = pair[0];
    return {};
  }

  void command(const Command& command) override {
    if (child_ <= 0) return;
    if (command.kind == Command::Kind::kAbort && aborted_at_ == base::kNever) aborted_at_ = base::now();
    send(commands_, &command, sizeof(command), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  bool poll() override {
    if (finished_) return false;
    // First whether it has ended, then what it wrote: in this order nothing that it wrote is missed.
    int status = 0;
    if (child_ > 0 && aborted_at_ != base::kNever && base::now() - aborted_at_ > kAbortLimit) kill(child_, SIGKILL);
    const bool ended = child_ > 0 && waitpid(child_, &status, WNOHANG) == child_;
    bool changed = read_memory();
    if (ended) {
      child_ = -1;
      conclude(status);
      changed = true;
    }
    return changed;
  }

  bool finished() const override { return finished_; }
  const model::WorkflowResult& result() const override { return result_; }

 private:
  bool read_memory() {
    const std::uint64_t sequence = memory_.sequence();
    if (sequence == sequence_) return false;
    sequence_ = sequence;
    auto totals = model::decode_workflow_result(memory_.totals());
    if (totals && totals->steps.size() == result_.steps.size()) {
      totals->series = std::move(result_.series);
      for (std::size_t i = 0; i < result_.steps.size(); ++i)
        totals->steps[i].series = std::move(result_.steps[i].series);
      result_ = std::move(*totals);
    }
    std::string bytes;
    while (memory_.next_series(bytes)) {
      if (auto series = model::decode_workflow_result(bytes)) append_series(result_, std::move(*series));
    }
    return true;
  }

  void conclude(int status) {
    finished_ = true;
    if (memory_.finished()) {
      const std::string error = memory_.error();
      result_.state = error.empty() ? model::WorkflowState::kCompleted : model::WorkflowState::kFailed;
      result_.reason = error;
      return;
    }
    if (aborted_at_ != base::kNever) {
      result_.state = model::WorkflowState::kAborted;
      result_.reason = "its executor process did not answer and was killed; the numbers are those of its last snapshot";
      return;
    }
    result_.state = model::WorkflowState::kLost;
    const std::string how =
        WIFSIGNALED(status) ? fmt::format("was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                            : fmt::format("ended with status {}", WEXITSTATUS(status));
    result_.reason = fmt::format(
        "its executor process {} after {:.1f} s of counted time; the numbers are those of its last snapshot", how,
        base::seconds(result_.elapsed));
  }

  std::unique_ptr<Engine> engine_;
  SnapshotMemory memory_;
  model::WorkflowResult result_;
  std::uint64_t sequence_ = 0;
  pid_t child_ = -1;
  int commands_ = -1;
  base::Instant aborted_at_ = base::kNever;
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<Runner> make_process_runner(std::unique_ptr<Engine> engine) {
  return std::make_unique<ProcessRunner>(std::move(engine));
}

}  // namespace muster::engine
