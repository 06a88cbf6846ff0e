// Iterations that all VUs of the workflow take from one stock, until it is empty or `for` is over.
#include <algorithm>

#include "engine/shapes/built_in.h"
#include "engine/shapes/steady_vus.h"

namespace muster::engine {
namespace {

class SharedIterations final : public SteadyVus {
 public:
  SharedIterations(std::uint64_t vus, std::uint64_t count, base::Duration length)
      : SteadyVus(vus, length), count_(count) {}

  IterationBound iterations() const override { return {IterationBound::Of::kWorkflow, count_}; }

 private:
  std::uint64_t count_;
};

}  // namespace

MadeShape make_shared_iterations(const model::Load& load) {
  if (load.vus == 0) return base::fail("A load of shared iterations needs at least one VU: 'vus' is 0.");
  if (load.iterations == 0) return base::fail("A load of shared iterations needs 'iterations' of at least 1.");
  const bool bounded = load.length > base::Duration::zero();
  // A VU that would find the stock empty from the start is never started.
  return std::make_unique<SharedIterations>(std::min(load.vus, load.iterations), load.iterations,
                                            bounded ? load.length : base::Duration::max());
}

}  // namespace muster::engine
