#include "console/plan_estimates.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/recording.h"
#include "engine/vu.h"

namespace muster::console {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

// An executor with nothing to do.
constexpr std::uint64_t kProcessBytes = std::uint64_t{6} << 20U;
// Parts of a step's recorders that latencies fall into, in both sets of a core.
constexpr std::uint64_t kRecordedBytes = std::uint64_t{64} << 10U;

std::int64_t count_of(const model::Step& step, std::string_view field, std::int64_t fallback) {
  const model::Tree* tree = step.field(field);
  return tree != nullptr && tree->integer() != nullptr ? *tree->integer() : fallback;
}

double times(double value, double factor) {
  return value == 0 ? 0 : value * factor;  // nothing, however often, is nothing
}

// Adds up over a tree of steps what `leaf` says of each that has no branches. `side_by_side`: whether branches that run
// at once add up (requests) or the longest counts (time).
template <class Leaf>
class Tally {
 public:
  Tally(Leaf leaf, bool side_by_side) : leaf_(std::move(leaf)), side_by_side_(side_by_side) {}

  Bounds list(const std::vector<model::Step>& steps) const {
    Bounds sum;
    for (const model::Step& step : steps) {
      const Bounds each = one(step);
      sum.least += each.least;
      sum.most += each.most;
    }
    return sum;
  }

 private:
  Bounds one(const model::Step& step) const {
    if (step.branches.empty()) return leaf_(step);
    if (step.kind == "if" || step.kind == "choose") return alternatives(step);
    Bounds body;
    for (const model::Branch& branch : step.branches) {
      const Bounds each = list(branch.steps);
      const bool add = side_by_side_ || step.kind != "parallel";
      body.least = add ? body.least + each.least : std::max(body.least, each.least);
      body.most = add ? body.most + each.most : std::max(body.most, each.most);
    }
    if (step.kind == "repeat") {
      const bool conditional = step.field("while") != nullptr;
      const auto most = static_cast<double>(count_of(step, "times", -1));
      const double rounds = most >= 0 ? most : (conditional ? kEndless : 1);
      return {conditional ? 0 : times(body.least, rounds), times(body.most, rounds)};
    }
    if (step.kind == "retry") body.most = times(body.most, static_cast<double>(count_of(step, "times", 3)));
    return body;
  }

  Bounds alternatives(const model::Step& step) const {
    Bounds either{.least = kEndless, .most = 0};
    bool otherwise = step.kind == "choose";
    for (const model::Branch& branch : step.branches) {
      const Bounds each = list(branch.steps);
      either.least = std::min(either.least, each.least);
      either.most = std::max(either.most, each.most);
      otherwise = otherwise || branch.label == "else";
    }
    if (!otherwise) either.least = 0;
    return either;
  }

  Leaf leaf_;
  bool side_by_side_;
};

std::uint64_t data_bytes(const authoring::Feeder& feeder) {
  std::uint64_t bytes = feeder.rows() * feeder.columns().size() * sizeof(model::Value);
  for (std::size_t row = 0; row < feeder.rows(); ++row) {
    for (std::size_t column = 0; column < feeder.columns().size(); ++column) {
      const model::Value& cell = feeder.cell(row, column);
      if (cell.textual()) bytes += cell.text().size();
    }
  }
  return bytes;
}

}  // namespace

Bounds requests_of(const std::vector<model::Step>& steps, const model::StepKinds& kinds) {
  const auto leaf = [&kinds](const model::Step& step) {
    const model::StepKind* kind = kinds.find(step.kind);
    const double each = kind != nullptr && kind->role == model::StepRole::kTest ? 1 : 0;
    return Bounds{each, each};
  };
  return Tally(leaf, true).list(steps);
}

Bounds checks_of(const std::vector<model::Step>& steps) {
  const auto leaf = [](const model::Step& step) {
    const auto each = static_cast<double>(step.checks.size());
    return Bounds{each, each};
  };
  return Tally(leaf, true).list(steps);
}

Bounds thinking_of(const std::vector<model::Step>& steps) {
  const auto leaf = [](const model::Step& step) {
    const model::Tree* tree = step.kind == "think" ? step.field("think") : nullptr;
    const model::TreeList* ends = tree != nullptr ? tree->list() : nullptr;
    if (ends == nullptr || ends->size() != 2) return Bounds{};
    const auto end = [&](std::size_t i) {
      const std::int64_t* value = (*ends)[i].integer();
      return value != nullptr ? base::seconds(base::Duration(*value)) : 0.0;
    };
    return Bounds{end(0), end(1)};
  };
  return Tally(leaf, false).list(steps);
}

double arrivals_of(const engine::LoadShape& shape) {
  constexpr double kMost = 1e15;
  double some = 0;
  double too_many = 1;
  while (too_many < kMost && shape.arrival(too_many) != base::Duration::max()) {
    some = too_many;
    too_many *= 2;
  }
  // To well below one arrival.
  while (too_many - some > 0.01 && too_many - some > too_many * 1e-12) {
    const double middle = some + (too_many - some) / 2;
    (shape.arrival(middle) != base::Duration::max() ? some : too_many) = middle;
  }
  return std::round(too_many);
}

std::uint64_t memory_of(const PlannedWorkflow& workflow) {
  std::size_t connection = 0;
  for (const PlannedCall& call : workflow.calls) connection = std::max(connection, call.outline.connection_bytes);
  const std::uint64_t per_vu =
      sizeof(engine::Vu) + workflow.program->initial.size() * sizeof(model::Value) + connection;
  std::uint64_t bytes = kProcessBytes;
  for (const engine::Slice& core : workflow.cores) {
    bytes += core.vus * per_vu;
    bytes += workflow.program->steps.size() * (2 * sizeof(engine::StepRecording) + kRecordedBytes);
  }
  for (const engine::FeederUse& use : workflow.program->feeders) bytes += data_bytes(*use.feeder);
  return bytes;
}

}  // namespace muster::console
