#include "engine/shapes/built_in.h"
#include "engine/shapes/steady_vus.h"

namespace muster::engine {

MadeShape make_constant_vus(const model::Load& load) {
  if (load.vus == 0) return base::fail("A load of constant VUs needs at least one VU: 'vus' is 0.");
  if (load.length <= base::Duration::zero()) {
    return base::fail("A load of constant VUs needs a length: add 'for', such as 'for: 30s'.");
  }
  return std::make_unique<SteadyVus>(load.vus, load.length);
}

}  // namespace muster::engine
