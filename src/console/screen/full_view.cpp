#include "console/screen/full_view.h"

#include <algorithm>
#include <cstdio>
#include <thread>
#include <utility>

#include "console/say.h"
#include "console/screen/captured_errors.h"
#include "console/screen/choices.h"
#include "console/screen/keys.h"
#include "console/screen/options.h"
#include "console/screen/paint.h"
#include "console/screen/run_watch.h"
#include "console/screen/screen.h"
#include "console/screen/terminal.h"
#include "console/screen/terminal_guard.h"
#include "engine/marks.h"

namespace muster::console {
namespace {

constexpr std::size_t kSaidLines = 5;
constexpr base::Duration kMarkInterval = std::chrono::seconds(1);

// A turn of the run's loop takes at least this long, however fast keys come.
constexpr base::Duration kLeastTurn = std::chrono::milliseconds(10);

class FullView final : public ProgressView {
 public:
  FullView(std::unique_ptr<TerminalGuard> guard, std::unique_ptr<Terminal> terminal, const RunPlan& plan,
           const Look& look)
      : guard_(std::move(guard)),
        errors_(*guard_),
        terminal_(std::move(terminal)),
        watch_(plan),
        choices_(watch_.views()),
        look_(look) {}

  ~FullView() override { end(); }

  void show(const model::RunResult& snapshot) override {
    if (over_) return;
    if (terminal_->attend()) {
      drawn_ = {};
      due_ = {};
    }
    if (errors_.take()) choices_.state().said = errors_.latest(kSaidLines);
    const base::Instant now = base::now();
    const Size size = terminal_->size();
    const bool ready = terminal_->shown() && !terminal_->busy();
    if (ready && size != drawn_.size()) due_ = {};
    if (now < due_ || now < last_ + kFrameAfterKey) return;
    choices_.pass(snapshot, now);
    watch_.observe(snapshot, choices_.state().paused);
    due_ = now + kFrameInterval;
    last_ = now;
    // A terminal that has not taken the frame before gets the next one later: what it shows is never torn.
    if (!ready) return;
    if (now >= next_marks_) {
      choices_.state().marks = engine::find_marks(snapshot.workflows, {});
      next_marks_ = now + kMarkInterval;
    }
    Frame frame = render(watch_, snapshot, choices_.state(), size, look_.unicode);
    terminal_->write(paint(drawn_, frame, look_.colour));
    drawn_ = std::move(frame);
  }

  void stopping(std::string_view text) override {
    choices_.stopping(text);
    due_ = {};
  }

  void step_aside() override { terminal_->leave(); }
  void stood_still(base::Duration time) override { watch_.stood_still(time); }

  std::vector<Wish> wait(base::Duration longest) override {
    const base::Instant began = base::now();
    terminal_->wait(longest, errors_.descriptor());
    std::vector<Wish> wishes;
    const std::string bytes = terminal_->read();
    if (!bytes.empty()) typed_ = base::now();
    for (const Key& key : keys_.feed(bytes)) press(key, wishes);
    if (keys_.pending() && base::now() - typed_ >= kEscapeTime && keys_.idle()) press({Key::Kind::kEscape, 0}, wishes);
    const base::Duration spent = base::now() - began;
    if (spent < kLeastTurn) std::this_thread::sleep_for(kLeastTurn - spent);
    return wishes;
  }

  void end() override {
    if (over_) return;
    over_ = true;
    terminal_->leave();
    const std::string said = errors_.end();
    if (!said.empty()) muster::console::say(stderr, "{}", said);
  }

 private:
  void press(const Key& key, std::vector<Wish>& wishes) {
    for (const Wish& wish : choices_.take(key, base::now())) wishes.push_back(wish);
    due_ = {};
  }

  std::unique_ptr<TerminalGuard> guard_;
  CapturedErrors errors_;
  std::unique_ptr<Terminal> terminal_;
  RunWatch watch_;
  Choices choices_;
  Look look_;
  KeyDecoder keys_;
  base::Instant typed_{};  // when a key came last
  Frame drawn_;            // what the terminal shows, or will when it has taken what is pending
  base::Instant due_{};    // when the next frame is wanted
  base::Instant last_{};   // when the last one was made
  base::Instant next_marks_{};
  bool over_ = false;
};

}  // namespace

base::Expected<std::unique_ptr<ProgressView>> make_full_view(const RunPlan& plan, const Look& look) {
  auto guard = std::make_unique<TerminalGuard>();
  auto terminal = Terminal::open(*guard);
  if (!terminal) return std::unexpected(terminal.error());
  return std::make_unique<FullView>(std::move(guard), std::move(*terminal), plan, look);
}

}  // namespace muster::console
