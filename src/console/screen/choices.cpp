#include "console/screen/choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/characters.h"
#include "console/screen/options.h"

namespace muster::console {

std::vector<Wish> Choices::take(const Key& key, base::Instant now) {
  std::vector<Wish> wishes;
  switch (key.kind) {
    case Key::Kind::kCharacter:
      character(key.character, now, wishes);
      break;
    case Key::Kind::kTab:
    case Key::Kind::kRight:
      show(state_.view + 1);
      break;
    case Key::Kind::kBackTab:
    case Key::Kind::kLeft:
      show(state_.view + views_ - 1);
      break;
    case Key::Kind::kEscape:
    case Key::Kind::kEnter:
      state_.help = false;
      break;
    case Key::Kind::kInterrupt:
      wishes.push_back({Wish::Kind::kInterrupt, 1.0});
      break;
    case Key::Kind::kUp:
    case Key::Kind::kDown:
      break;
  }
  return wishes;
}

void Choices::character(char each, base::Instant now, std::vector<Wish>& wishes) {
  if (base::is_digit(each)) {
    const auto view = static_cast<std::size_t>(each - '0');
    if (view < views_) show(view);
    return;
  }
  switch (each) {
    case 'q':
    case 'Q':
      wishes.push_back({Wish::Kind::kInterrupt, 1.0});
      break;
    case 's':
    case 'S':
      if (!state_.stopping) wishes.push_back({Wish::Kind::kStop, 1.0});
      break;
    case ' ':
      if (state_.stopping) break;
      state_.paused = !state_.paused;
      wishes.push_back({state_.paused ? Wish::Kind::kPause : Wish::Kind::kResume, 1.0});
      if (state_.paused) tell("paused: no new iterations begin; space goes on", now);
      break;
    case '+':
    case '=':
      scale(kScaleStep, now, wishes);
      break;
    case '-':
    case '_':
      scale(-kScaleStep, now, wishes);
      break;
    case 'a':
    case 'A':
      show(0);
      break;
    case 'c':
    case 'C':
      state_.pinned = false;
      turned_ = now;
      break;
    case '?':
    case 'h':
      state_.help = !state_.help;
      break;
    default:
      break;
  }
}

void Choices::show(std::size_t view) {
  if (!several()) return;
  state_.view = view % views_;
  state_.pinned = true;
}

void Choices::scale(double step, base::Instant now, std::vector<Wish>& wishes) {
  if (state_.stopping) return;
  // In whole tenths, so that as many steps up as down end where they began.
  const double tenths = std::round((state_.factor + step) / kScaleStep);
  const double factor = std::clamp(tenths * kScaleStep, kLeastScale, kMostScale);
  if (std::abs(factor - state_.factor) < kScaleStep / 2) {
    tell(fmt::format("the load can be scaled between {:.1f} and {:.0f} times", kLeastScale, kMostScale), now);
    return;
  }
  state_.factor = factor;
  wishes.push_back({Wish::Kind::kScale, factor});
  tell(fmt::format("load: {:.1f} times what the file asks for", factor), now);
}

void Choices::stopping(std::string_view text) {
  state_.stopping = true;
  state_.paused = false;
  state_.message = text;
  message_until_ = base::kNever;
}

void Choices::tell(std::string text, base::Instant now) {
  state_.message = std::move(text);
  message_until_ = now + kMessageTime;
}

void Choices::pass(const model::RunResult& snapshot, base::Instant now) {
  if (now >= message_until_) {
    state_.message.clear();
    message_until_ = base::kNever;
  }
  if (turned_ == base::Instant{}) turned_ = now;
  if (state_.pinned || !several() || now - turned_ < kTabInterval) return;
  turned_ = now;
  // Those that run take turns with the whole.
  for (std::size_t step = 1; step != views_; ++step) {
    const std::size_t view = (state_.view + step) % views_;
    if (view == 0 || snapshot.workflows[view - 1].state == model::WorkflowState::kRunning) {
      state_.view = view;
      return;
    }
  }
}

}  // namespace muster::console
