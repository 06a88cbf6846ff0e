// Points as text: lines of NDJSON or CSV, described by docs/outputs.md and docs/points.schema.json. Pure; what they
// write is versioned: adding a member or a column at the end keeps the version.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/result.h"
#include "report/comparison.h"
#include "report/output.h"
#include "report/points.h"

namespace muster::report {

constexpr std::string_view kPointsSchema = "muster.points/1";

// Each text is one whole line with its end; a line is one point.
class PointFormat {
 public:
  PointFormat() = default;
  PointFormat(const PointFormat&) = delete;
  PointFormat& operator=(const PointFormat&) = delete;
  virtual ~PointFormat() = default;

  virtual std::string first(const RunInfo& run) const = 0;
  virtual std::vector<std::string> lines(const SecondPoints& points) const = 0;
  // Empty: nothing more. The comparison is null where the user named no earlier run.
  virtual std::string last(const model::RunResult& result, const Comparison* comparison) const = 0;
};

std::unique_ptr<PointFormat> ndjson_format();
std::unique_ptr<PointFormat> csv_format();

}  // namespace muster::report
