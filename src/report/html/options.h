// The limits of the HTML report: how much of a result it shows and how finely. Together they keep the file of an hour
// with a hundred steps well below 5 MB, and that of any result bounded.
#pragma once

#include <cstddef>

namespace muster::report::html {

// Points of one series of the whole run or of a workflow. A screen is hardly wider; a longer run has wider points.
constexpr std::size_t kMaxPoints = 1'000;

// Points of the series of all steps together, and the least that one step gets. Each takes about ten bytes.
constexpr std::size_t kAllStepPoints = 120'000;
constexpr std::size_t kMinPoints = 150;

// Columns of one heat map, of the heat maps of all steps together, and the least that one step gets. A column takes
// about fifty bytes.
constexpr std::size_t kMaxHeatColumns = 480;
constexpr std::size_t kAllStepHeatColumns = 16'000;
constexpr std::size_t kMinHeatColumns = 60;

// Workflows and steps that have charts of their own: the first workflows and the busiest steps. All are in the tables.
constexpr std::size_t kMaxChartedWorkflows = 50;
constexpr std::size_t kMaxChartedSteps = 200;

// Rows of one table; the number of rows left out is told below it.
constexpr std::size_t kMaxRows = 1'000;

// Examples of failing exchanges in all, and bytes of a request or response that one of them shows.
constexpr std::size_t kMaxExamples = 60;
constexpr std::size_t kMaxExampleBytes = 4'096;

// Bytes of the configuration that are shown.
constexpr std::size_t kMaxSourceBytes = std::size_t{256} << 10;

}  // namespace muster::report::html
