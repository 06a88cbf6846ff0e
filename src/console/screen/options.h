// Limits and intervals of the live screen, each with its meaning, unit, default and trade-off.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace muster::console {

// The least time between two frames after a key was pressed: about 30 a second. Shorter costs CPU that nobody sees.
constexpr base::Duration kFrameAfterKey = std::chrono::milliseconds(33);

// Time between frames otherwise. Snapshots come every 250 ms; shorter would draw most of them twice.
constexpr base::Duration kFrameInterval = std::chrono::milliseconds(200);

// How long each workflow is shown before the next one, unless the user pinned one.
constexpr base::Duration kTabInterval = std::chrono::seconds(3);

// How long a message stays. Shorter may go unread, longer hides the next one.
constexpr base::Duration kMessageTime = std::chrono::seconds(6);

// What "now" means for rates and busy cores. Longer is calmer, shorter follows a change sooner.
constexpr base::Duration kRecentRate = std::chrono::seconds(3);

// What "last 10 s" means for latency; whole seconds.
constexpr std::uint32_t kRecentSeconds = 10;

// Each press of + or - changes the load by this share of what the file asks for, within these bounds. At nothing an
// open load would stand still, which is what pausing is for; above ten times a second run is the better tool.
constexpr double kScaleStep = 0.1;
constexpr double kLeastScale = 0.1;
constexpr double kMostScale = 10.0;

// Bytes of one escape sequence from the keyboard; longer ones are passed over. Real keys send 10 at most.
constexpr std::size_t kMaxKeySequence = 32;

// Bytes that are read from the keyboard at once; the rest waits. Bounds what a paste can do in one turn.
constexpr std::size_t kMaxKeyBytes = 256;

// How long an escape byte may stand alone before it is the Escape key and not the beginning of a sequence.
constexpr base::Duration kEscapeTime = std::chrono::milliseconds(50);

// A terminal's size in cells is cut to this: what lies beyond is not drawn. 512 x 256 cells are 1 MB.
constexpr std::size_t kMaxColumns = 512;
constexpr std::size_t kMaxRows = 256;

// How long leaving the screen may wait for a terminal that does not take its bytes.
constexpr base::Duration kLeaveTime = std::chrono::milliseconds(200);

// Of what is written to standard error while the screen is up, this many bytes are kept and told at the end; the oldest
// lines go first. The screen shows the latest of them.
constexpr std::size_t kMaxKeptBytes = std::size_t{64} * 1024;

}  // namespace muster::console
