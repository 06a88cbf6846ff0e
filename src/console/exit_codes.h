// What muster exits with, for every command.
#pragma once

namespace muster::console {

constexpr int kGood = 0;
constexpr int kCouldNotRun = 1;
constexpr int kBadInput = 2;

}  // namespace muster::console
