#include "sim/cluster_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <iterator>

#include "base/hash.h"
#include "model/result_codec.h"

namespace muster::sim {

using cluster::Counts;
using cluster::JobId;
using cluster::PartId;

namespace {

std::uint64_t mixed(std::initializer_list<std::uint64_t> numbers) {
  std::uint64_t hash = 0x70726f67;
  for (const std::uint64_t each : numbers) hash = base::mix(hash ^ each);
  return hash;
}

double share_of(std::uint64_t hash) {
  return static_cast<double>(hash >> 11) * 0x1.0p-53;
}

constexpr base::Duration kLongPart = std::chrono::seconds(200);

bool clean(JobId job) {
  return (cluster::number(job) & (kCleanJob | kLongJob)) != 0;
}

bool endless(JobId job) {
  return (cluster::number(job) & kLongJob) != 0;
}

// The conduct that a workflow is given to; its parts follow it by chance.
Conduct inclination(JobId job, std::uint32_t workflow, double trouble) {
  const std::uint64_t hash = mixed({cluster::number(job), workflow, 1});
  if (clean(job) || share_of(hash) >= trouble) return Conduct::kNormal;
  static constexpr Conduct kConducts[] = {Conduct::kFails, Conduct::kCrashes, Conduct::kHangs, Conduct::kDeaf,
                                          Conduct::kQuiet};
  return kConducts[base::mix(hash) % std::size(kConducts)];
}

}  // namespace

Program program_of(const PartId& part, std::uint64_t attempt, double trouble, base::Duration longest) {
  base::Random random(mixed({cluster::number(part.job), part.workflow, part.part, attempt, 2}));
  Program program;
  program.length = std::chrono::milliseconds(200) +
                   base::Duration(static_cast<std::int64_t>(random.unit() * static_cast<double>(longest.count())));
  const Conduct inclined = inclination(part.job, part.workflow, trouble);
  // Most parts behave, and later attempts behave better than the first.
  if (inclined != Conduct::kNormal && random.below(attempt > 1 ? 4 : 2) == 0) program.conduct = inclined;
  if (inclined == Conduct::kDeaf) program.conduct = inclined;
  if (endless(part.job)) {
    program.length = kLongPart;
    if (random.below(3) == 0) program.conduct = Conduct::kDeaf;
  }
  return program;
}

bool may_fail(JobId job, std::uint32_t workflow, double trouble) {
  const Conduct inclined = inclination(job, workflow, trouble);
  return inclined != Conduct::kNormal && inclined != Conduct::kDeaf;
}

Counts counts_of(JobId job, std::uint32_t workflow, const cluster::Slice& slice) {
  Counts counts;
  for (std::uint32_t core = slice.first_core; core < slice.first_core + slice.cores; ++core) {
    const std::uint64_t iterations = 50 + mixed({cluster::number(job), workflow, core, 3}) % 100;
    counts.iterations += iterations;
    counts.failed += iterations / 10;
  }
  counts.ok = counts.iterations - counts.failed;
  return counts;
}

Counts counts_after(const Counts& all, double share) {
  const auto part = [share](std::uint64_t whole) {
    return std::min(whole, static_cast<std::uint64_t>(static_cast<double>(whole) * share));
  };
  Counts counts;
  counts.ok = part(all.ok);
  counts.failed = part(all.failed);
  counts.iterations = counts.ok + counts.failed;
  return counts;
}

std::string result_of(const PartId& part, const cluster::Fence& fence, const Counts& counts) {
  model::WorkflowResult result;
  result.name = fmt::format("w{}", part.workflow);
  result.state = model::WorkflowState::kCompleted;
  result.sequence = fence.attempt;
  result.iterations = counts.iterations;
  result.failed_iterations = counts.failed;
  model::Provided provided;
  provided.key = kToken;
  provided.values = {token_of(part.workflow, part.part)};
  result.provided.push_back(provided);
  std::string bytes;
  model::encode(result, bytes);
  return bytes;
}

cluster::JobRequest draw_job(JobId job, base::Random& random) {
  cluster::JobRequest request;
  request.job = job;
  request.bytes = fmt::format("bundle of {}", cluster::number(job));
  request.bytes.resize(request.bytes.size() + random.below(600), '.');
  // Some are run again and again.
  if (base::mix(cluster::number(job)) % 3 == 0) request.bytes = "bundle of many jobs";
  request.bundle = {hash_body(request.bytes), request.bytes.size()};
  request.outline.name = fmt::format("job {}", cluster::number(job));
  // By a hash, so that whatever is drawn is the same with limits and without.
  if (const std::uint64_t hash = mixed({cluster::number(job), 4}); !clean(job) && hash % 12 == 0) {
    request.outline.time_limit = std::chrono::seconds(5 + base::mix(hash) % 40);
  }
  std::vector<std::uint32_t> layer;
  for (std::uint32_t depth = 0; depth < 3; ++depth) {
    const std::uint64_t width = 1 + random.below(2);
    std::vector<std::uint32_t> next;
    for (std::uint64_t i = 0; i < width; ++i) {
      cluster::WorkflowOutline workflow;
      workflow.name = fmt::format("w{}.{}", depth, i);
      workflow.is_test = random.below(3) != 0;
      workflow.vus = 1 + random.below(60);
      workflow.depends = layer;
      if (random.below(8) == 0 && !endless(job)) workflow.run_limit = std::chrono::seconds(25);
      next.push_back(static_cast<std::uint32_t>(request.outline.workflows.size()));
      request.outline.workflows.push_back(std::move(workflow));
    }
    layer = std::move(next);
  }
  return request;
}

std::string token_of(std::uint32_t workflow, std::uint32_t part) {
  return fmt::format("\"{}.{}\"", workflow, part);
}

cluster::BodyHash hash_body(std::string_view bytes) {
  cluster::BodyHash hash{{1, 2, 3, bytes.size()}};
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto& word = hash.words[i % 3];
    word = base::mix(word ^ (static_cast<std::uint8_t>(bytes[i]) + 256 * i));
  }
  return hash;
}

}  // namespace muster::sim
