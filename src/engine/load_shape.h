// The seam for load shapes: how many VUs (closed model) or arrivals (open model) a workflow wants as a function of the
// time since it started, for the whole workflow before it is split over cores. Shapes are immutable pure functions: any
// thread may ask, and every core and node that asks gets the same answer. A new shape is one file and one
// LoadShapes::add().
//
// Time here is the shape's own: who pauses a run holds it still. Warm-up, pacing, grace and lateness are not its
// business.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "model/job.h"

namespace muster::engine {

// A bound on iterations, beside length().
struct IterationBound {
  enum class Of : std::uint8_t { kNothing, kWorkflow, kEachVu };
  Of of = Of::kNothing;
  std::uint64_t count = 0;
};

class LoadShape {
 public:
  virtual ~LoadShape() = default;

  // Whether it describes arrivals (open) or VUs (closed).
  virtual bool open() const = 0;

  // Closed: the VUs that should run now, a whole number (fractions of a ramp are already floored); 0 from length() on.
  virtual double vus_at(base::Duration elapsed) const;

  // Closed: the first time after `elapsed` at which vus_at differs from what it is at `elapsed`; Duration::max():
  // never.
  virtual base::Duration next_change(base::Duration elapsed) const;

  // Open: the time at which the expected number of arrivals reaches `count`, the inverse of the integral of the rate.
  // Never falls as count grows; Duration::max() for what lies at or past the end.
  virtual base::Duration arrival(double count) const;

  // When it is over; Duration::max() if only iterations bound it.
  virtual base::Duration length() const = 0;

  // The most VUs that it can ask for; open: max_vus.
  virtual std::uint64_t peak_vus() const = 0;

  virtual IterationBound iterations() const { return {}; }
};

// The shapes that a job may name. Filled once at start, then only read.
class LoadShapes {
 public:
  using Factory = std::function<base::Expected<std::unique_ptr<LoadShape>>(const model::Load&)>;

  // A later shape of the same name takes the place of the earlier one.
  void add(std::string name, Factory factory);
  const Factory* find(std::string_view name) const;  // null if there is none

  // The shape that `load` names and describes, or what is wrong with it.
  base::Expected<std::unique_ptr<LoadShape>> make(const model::Load& load) const;

 private:
  std::vector<std::pair<std::string, Factory>> shapes_;
};

// The shapes that muster itself brings: constant-vus, ramping-vus, shared-iterations, iterations-each,
// constant-arrivals, ramping-arrivals.
LoadShapes built_in_shapes();

}  // namespace muster::engine
