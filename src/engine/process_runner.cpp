#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/marks.h"
#include "engine/options.h"
#include "engine/runner.h"
#include "engine/snapshot_fit.h"
#include "engine/snapshot_memory.h"
#include "model/result_codec.h"

namespace muster::engine {
namespace {

constexpr int kPollMilliseconds = 20;

// The executor: what the forked child does until the load is over. Never returns.
class Executor {
 public:
  Executor(Engine& engine, SnapshotMemory& memory, int commands)
      : engine_(engine), memory_(memory), commands_(commands) {}

  [[noreturn]] void run() {
    // Ctrl-C and a hang-up reach the whole process group; the parent decides what they mean. If it dies, so do we.
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    // So does Ctrl-Z: the parent holds the load still before it stops, and a stopped process could not be told to.
    signal(SIGTSTP, SIG_IGN);
    // What the parent does when its terminal changes is not for us.
    for (const int number : {SIGWINCH, SIGCONT}) signal(number, SIG_DFL);
    signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "muster-executor");
    bool started = false;
    engine_.set_give_up([&](const std::string& reason) {
      if (started) publish();
      memory_.finish(reason);
      _exit(1);
    });
    if (auto start = engine_.start(); !start) {
      memory_.finish(start.error().message);
      _exit(1);
    }
    started = true;
    publish();  // from here on it is missed when it falls silent
    while (!engine_.finished()) {
      take_commands();
      if (engine_.poll()) publish();
      if (const std::string reason = engine_.stuck(base::now()); !reason.empty()) {
        publish();
        memory_.finish(reason);
        _exit(1);
      }
    }
    engine_.join();
    publish();
    memory_.finish(engine_.failure());
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
      model::add_note(engine_.totals().notes, "the per-second series is too long and ends early");
    }
    // Seconds that are not whole yet go with the totals: if this process is killed, that is all there is of them.
    model::WorkflowResult& totals = engine_.totals();
    model::merge_series(totals, model::WorkflowResult(engine_.open_series()));
    // If not even the counts fit, the snapshot before stays the latest.
    if (encode_to_fit(totals, kSnapshotBytes, bytes_)) memory_.publish_totals(bytes_);
    clear_series(totals);
  }

  Engine& engine_;
  SnapshotMemory& memory_;
  int commands_;
  bool series_full_ = false;
  std::string bytes_;
};

class ProcessRunner final : public Runner {
 public:
  explicit ProcessRunner(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}

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

  bool poll(model::WorkflowResult& result) override {
    if (finished_) return false;
    // First whether it has ended, then what it wrote: in this order nothing that it wrote is missed.
    int status = 0;
    if (child_ > 0 && aborted_at_ != base::kNever && base::now() - aborted_at_ > kAbortLimit) kill(child_, SIGKILL);
    const bool ended = child_ > 0 && waitpid(child_, &status, WNOHANG) == child_;
    bool changed = read_memory(result);
    if (ended) {
      child_ = -1;
      // One that left no snapshot that can be read has at least the names of its steps.
      if (!read_) {
        model::WorkflowResult names(engine_->totals());
        names.began = result.began;
        update(result, std::move(names), {});
      }
      conclude(status, result);
      changed = true;
    }
    return changed;
  }

  bool finished() const override { return finished_; }

 private:
  bool read_memory(model::WorkflowResult& result) {
    const std::uint64_t sequence = memory_.sequence();
    if (sequence == sequence_) return false;
    sequence_ = sequence;
    auto totals = model::decode_workflow_result(memory_.totals());
    if (totals && totals->steps.size() == engine_->totals().steps.size()) {
      read_ = true;
      open_ = {};
      open_.steps.resize(totals->steps.size());
      model::merge_series(open_, std::move(*totals));
      update(result, std::move(*totals), next_series());
    } else {
      unread_ = totals ? "It has another number of steps." : totals.error().message;
      model::add_note(result.notes, "a snapshot of the executor process could not be read");
    }
    return true;
  }

  // All that was appended since the last time.
  model::WorkflowResult next_series() {
    model::WorkflowResult fresh;
    fresh.steps.resize(engine_->totals().steps.size());
    std::string bytes;
    while (memory_.next_series(bytes)) {
      if (auto series = model::decode_workflow_result(bytes)) model::merge_series(fresh, std::move(*series));
    }
    return fresh;
  }

  // Of the seconds that an executor did not come to finish, as far as the series does not tell them already.
  void add_open_series(model::WorkflowResult& result) {
    if (!result.series.empty()) {
      const std::uint32_t last = result.series.back().second;
      const auto told = [last](const auto& row) { return row.second <= last; };
      std::erase_if(open_.series, told);
      for (model::StepResult& step : open_.steps) std::erase_if(step.series, told);
    }
    model::merge_series(result, std::move(open_));
  }

  void conclude(int status, model::WorkflowResult& result) {
    finished_ = true;
    if (!memory_.finished()) add_open_series(result);
    if (memory_.finished()) {
      std::string error = memory_.error();
      // Without its numbers nobody can say whether it was good.
      if (error.empty() && !read_) {
        error = fmt::format(
            "nothing of what it counted could be read. {} Use fewer steps and checks, or shorter names for them",
            unread_.empty() ? "It is too large." : unread_);
      }
      result.state = error.empty() ? model::WorkflowState::kCompleted : model::WorkflowState::kFailed;
      if (!error.empty()) result.reason = error;
      return;
    }
    if (aborted_at_ != base::kNever) {
      result.state = model::WorkflowState::kAborted;
      result.reason = fmt::format("{}; the numbers are those of its last snapshot", kKilledAtTheEnd);
      model::add_note(result.notes, kKilledAtTheEnd);
      return;
    }
    result.state = model::WorkflowState::kLost;
    // The mark says from when on its numbers are missing.
    result.reason = WIFSIGNALED(status)
                        ? fmt::format("killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
                        : fmt::format("it ended with status {}", WEXITSTATUS(status));
  }

  std::unique_ptr<Engine> engine_;
  SnapshotMemory memory_;
  std::uint64_t sequence_ = 0;
  bool read_ = false;           // a snapshot
  std::string unread_;          // why the latest one that could not be read could not
  model::WorkflowResult open_;  // series of the seconds that the latest snapshot had not finished
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
