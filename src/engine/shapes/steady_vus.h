// A fixed number of VUs from the start to the end: what constant VUs and both kinds of bounded iterations have in
// common.
#pragma once

#include "engine/load_shape.h"

namespace muster::engine {

class SteadyVus : public LoadShape {
 public:
  // length: Duration::max() if only iterations bound it.
  SteadyVus(std::uint64_t vus, base::Duration length) : vus_(vus), length_(length) {}

  bool open() const override { return false; }
  double vus_at(base::Duration elapsed) const override { return elapsed < length_ ? static_cast<double>(vus_) : 0; }
  base::Duration next_change(base::Duration elapsed) const override {
    return elapsed < length_ ? length_ : base::Duration::max();
  }
  base::Duration length() const override { return length_; }
  std::uint64_t peak_vus() const override { return vus_; }

 private:
  std::uint64_t vus_;
  base::Duration length_;
};

}  // namespace muster::engine
