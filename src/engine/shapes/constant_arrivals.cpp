#include <fmt/format.h>

#include "engine/shapes/built_in.h"

namespace muster::engine {
namespace {

class ConstantArrivals final : public LoadShape {
 public:
  ConstantArrivals(double rate, base::Duration length, std::uint64_t max_vus)
      : rate_(rate), length_(length), max_vus_(max_vus) {}

  bool open() const override { return true; }
  base::Duration arrival(double count) const override {
    const base::Duration at = base::from_seconds(count / rate_);
    return at < length_ ? at : base::Duration::max();
  }
  base::Duration length() const override { return length_; }
  std::uint64_t peak_vus() const override { return max_vus_; }

 private:
  double rate_;  // per second
  base::Duration length_;
  std::uint64_t max_vus_;
};

}  // namespace

MadeShape make_constant_arrivals(const model::Load& load) {
  constexpr double kMostPerSecond = 1e9;
  if (!(load.rate > 0) || load.rate > kMostPerSecond) {
    return base::fail(
        fmt::format("The rate of arrivals is {}/s; it must be above 0 and at most {}/s.", load.rate, kMostPerSecond));
  }
  if (load.length <= base::Duration::zero()) {
    return base::fail("A load of constant arrivals needs a length: add 'for', such as 'for: 3m'.");
  }
  if (load.max_vus == 0) return base::fail("A load of arrivals needs 'max_vus' of at least 1 to serve them.");
  return std::make_unique<ConstantArrivals>(load.rate, load.length, load.max_vus);
}

}  // namespace muster::engine
