// Limits and intervals of the report room, each with its meaning, unit, default and trade-off.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/time.h"

namespace muster::report {

// How old a second must be before its points are told. Cores hand over what they measured every quarter of a second and
// a workflow's own seconds may begin in the middle of the run's; longer makes late points rarer, shorter tells sooner.
constexpr base::Duration kPointSettle = std::chrono::seconds(2);

// For how many seconds back what was told is remembered, so that an addition can still be told as that second's. What
// comes later than that is told at the end, without a second. 40 bytes for each of them and step.
constexpr std::uint32_t kLateSeconds = 60;

// Bytes of lines that wait for a slow reader (a disk, a pipe, a command). More bridges a longer stall; when it is full,
// whole points are dropped and counted. A point is some 300 bytes: this is an hour of one step, or minutes of many.
constexpr std::size_t kFeedBytes = std::size_t{16} * 1024 * 1024;

// What the pipe to a reader is asked to hold, beside that. The system may give less.
constexpr int kFeedPipeBytes = 1024 * 1024;

// How long a reader has after the last point to take what is left and to end. Longer suits a command that uploads at
// its end; shorter gives the user the prompt back sooner when something hangs.
constexpr base::Duration kEndPatience = std::chrono::seconds(10);

// How long a command that was asked to end (SIGTERM) has before it is killed.
constexpr base::Duration kCommandKillAfter = std::chrono::seconds(2);

}  // namespace muster::report
