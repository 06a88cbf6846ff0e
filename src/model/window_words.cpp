#include "model/window_words.h"

#include <fmt/format.h>

namespace muster::model {

std::string window_words(base::Duration window) {
  if (window <= base::Duration::zero()) return {};
  const auto milliseconds = std::chrono::round<std::chrono::milliseconds>(window).count();
  if (milliseconds % 1000 != 0) return fmt::format(" in every {}ms", milliseconds);
  const auto seconds = milliseconds / 1000;
  std::string text = " in every ";
  if (seconds >= 3600) text += fmt::format("{}h", seconds / 3600);
  if (seconds / 60 % 60 != 0) text += fmt::format("{}m", seconds / 60 % 60);
  if (seconds % 60 != 0 || seconds == 0) text += fmt::format("{}s", seconds % 60);
  return text;
}

}  // namespace muster::model
