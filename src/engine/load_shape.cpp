#include "engine/load_shape.h"

#include <fmt/format.h>

#include "engine/shapes/built_in.h"

namespace muster::engine {

double LoadShape::vus_at(base::Duration) const {
  return 0;
}

base::Duration LoadShape::next_change(base::Duration) const {
  return base::Duration::max();
}

base::Duration LoadShape::arrival(double) const {
  return base::Duration::max();
}

void LoadShapes::add(std::string name, Factory factory) {
  for (auto& [known, existing] : shapes_) {
    if (known == name) {
      existing = std::move(factory);
      return;
    }
  }
  shapes_.emplace_back(std::move(name), std::move(factory));
}

const LoadShapes::Factory* LoadShapes::find(std::string_view name) const {
  for (const auto& [known, factory] : shapes_) {
    if (known == name) return &factory;
  }
  return nullptr;
}

base::Expected<std::unique_ptr<LoadShape>> LoadShapes::make(const model::Load& load) const {
  if (const Factory* factory = find(load.shape)) return (*factory)(load);
  std::string names;
  for (const auto& shape : shapes_) names += (names.empty() ? "" : ", ") + shape.first;
  return base::fail(fmt::format("There is no load shape '{}'. Known are: {}.", load.shape, names));
}

LoadShapes built_in_shapes() {
  LoadShapes shapes;
  shapes.add("constant-vus", make_constant_vus);
  shapes.add("ramping-vus", make_ramping_vus);
  shapes.add("shared-iterations", make_shared_iterations);
  shapes.add("iterations-each", make_iterations_each);
  shapes.add("constant-arrivals", make_constant_arrivals);
  shapes.add("ramping-arrivals", make_ramping_arrivals);
  return shapes;
}

}  // namespace muster::engine
