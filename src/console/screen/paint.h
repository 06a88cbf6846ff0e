// The bytes that turn one frame on a terminal into the next: escape codes of ECMA-48 that every terminal of the last
// decades knows, and only for the cells that changed. Pure.
#pragma once

#include <string>
#include <string_view>

#include "console/screen/frame.h"

namespace muster::console {

// Alternate screen, no cursor, no wrapping at the right edge, and back. Leaving begins with an escape, which also ends
// a sequence that was cut short.
constexpr std::string_view kEnterScreen = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[0m\x1b[2J";
constexpr std::string_view kLeaveScreen = "\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

// From what `before` shows to `after`. Where their sizes differ, or `before` is empty, all is drawn anew. Without
// `colour` tones become bold, dim and reverse.
std::string paint(const Frame& before, const Frame& after, bool colour);

}  // namespace muster::console
