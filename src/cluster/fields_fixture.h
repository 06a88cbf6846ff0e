// For tests: fills a message, command or any value that has fields with random ones, within their limits.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "base/random.h"
#include "base/time.h"
#include "cluster/fields.h"

namespace muster::cluster {

class Fill {
 public:
  template <class T>
  using Of = T;

  explicit Fill(std::uint64_t seed) : random_(seed) {}

  template <class T>
  void number(T& value) {
    using Number = typename WireNumber<T>::type;
    value = static_cast<T>(static_cast<Number>(random_.next() >> random_.below(64)));
  }
  template <class T>
  void choice(T& value, std::size_t count) {
    value = static_cast<T>(random_.below(count));
  }
  void word(std::uint64_t& value) { value = random_.next(); }
  void flag(bool& value) { value = random_.below(2) == 1; }
  void span(base::Duration& value) {
    std::int64_t count = 0;
    stamp(count);
    value = base::Duration(count);
  }
  void stamp(std::int64_t& value) {
    value = std::clamp(static_cast<std::int64_t>(random_.next()), -kMaxSpan, kMaxSpan);
  }
  void real(double& value) { value = random_.unit(); }
  void text(std::string& value, std::size_t limit) {
    value.resize(random_.below(std::min<std::size_t>(limit, 20) + 1));
    for (char& c : value) c = static_cast<char>(random_.next());
  }
  void histogram(metrics::CoarseHistogram& value) {
    for (std::uint64_t left = random_.below(4); left > 0; --left) {
      value.record(base::Duration(static_cast<std::int64_t>(random_.below(1'000'000'000))));
    }
  }
  template <class T, class Each>
  void list(std::vector<T>& values, std::size_t limit, Each&& each) {
    values.clear();
    for (std::uint64_t left = random_.below(std::min<std::size_t>(limit, 4) + 1); left > 0; --left) {
      each(values.emplace_back());
    }
  }
  template <class T, class Each>
  void maybe(std::optional<T>& value, Each&& each) {
    value.reset();
    if (random_.below(2) == 1) each(value.emplace());
  }
  void require(bool holds, std::string_view) { fits_ = fits_ && holds; }

  // Whether a reader would take what was filled in.
  bool fits() const { return fits_; }

 private:
  base::Random random_;
  bool fits_ = true;
};

}  // namespace muster::cluster
