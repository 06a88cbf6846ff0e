// What the user chooses at the live screen: the view that is shown, help, pause, load, the end. Takes keys, keeps the
// state of the screen, and gives back what the run is to do. Pure; one thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "console/progress_view.h"
#include "console/screen/keys.h"
#include "console/screen/screen.h"
#include "model/result.h"

namespace muster::console {

class Choices {
 public:
  // `views` as of the RunWatch: the whole run and each workflow.
  explicit Choices(std::size_t views) : views_(views) {}

  // What the key asks of the run, if anything.
  std::vector<Wish> take(const Key& key, base::Instant now);
  // The run was told to end, by whomever.
  void stopping(std::string_view text);
  // Once a frame: views take turns, messages go.
  void pass(const model::RunResult& snapshot, base::Instant now);

  ScreenState& state() { return state_; }

 private:
  void character(char each, base::Instant now, std::vector<Wish>& wishes);
  void show(std::size_t view);
  void scale(double step, base::Instant now, std::vector<Wish>& wishes);
  void tell(std::string text, base::Instant now);
  bool several() const { return views_ > 2; }

  std::size_t views_;
  ScreenState state_;
  base::Instant turned_{};
  base::Instant message_until_ = base::kNever;
};

}  // namespace muster::console
