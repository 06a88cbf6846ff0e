// Every VU runs the same number of iterations, unless `for` is over before.
#include "engine/shapes/built_in.h"
#include "engine/shapes/steady_vus.h"

namespace muster::engine {
namespace {

class IterationsEach final : public SteadyVus {
 public:
  IterationsEach(std::uint64_t vus, std::uint64_t count, base::Duration length)
      : SteadyVus(vus, length), count_(count) {}

  IterationBound iterations() const override { return {IterationBound::Of::kEachVu, count_}; }

 private:
  std::uint64_t count_;
};

}  // namespace

MadeShape make_iterations_each(const model::Load& load) {
  if (load.vus == 0) return base::fail("A load of iterations per VU needs at least one VU: 'vus' is 0.");
  if (load.iterations == 0) return base::fail("A load of iterations per VU needs 'iterations' of at least '1 each'.");
  const bool bounded = load.length > base::Duration::zero();
  return std::make_unique<IterationsEach>(load.vus, load.iterations, bounded ? load.length : base::Duration::max());
}

}  // namespace muster::engine
