// Writes and reads the fields of a message by one description: `fields(io, value)` is called with a Pack to write and
// with an Unpack to read, so that the two cannot differ. Every length has a limit; failure sticks (metrics/wire.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/time.h"
#include "metrics/histogram_codec.h"
#include "metrics/wire.h"

namespace muster::cluster {

// Nanoseconds of a time span, or of a clock, that anybody may tell, to either side: 73 years. Whoever adds two of them
// to the present stays within 64 bits.
constexpr std::int64_t kMaxSpan = std::int64_t{1} << 61;

template <class T>
struct WireNumber {
  using type = T;
};
template <class T>
  requires std::is_enum_v<T>
struct WireNumber<T> {
  using type = std::underlying_type_t<T>;
};

class Pack {
 public:
  template <class T>
  using Of = const T;

  explicit Pack(std::string& out) : writer_(out) {}

  template <class T>
  void number(const T& value) {
    writer_.varint(static_cast<std::uint64_t>(value));
  }
  template <class T>
  void choice(const T& value, std::size_t) {
    writer_.varint(static_cast<std::uint64_t>(value));
  }
  void word(const std::uint64_t& value) { writer_.fixed64(value); }
  void flag(const bool& value) { writer_.boolean(value); }
  void span(const base::Duration& value) { stamp(value.count()); }
  void stamp(const std::int64_t& value) { writer_.zigzag(std::clamp(value, -kMaxSpan, kMaxSpan)); }
  void real(const double& value) { writer_.real(value); }
  void text(const std::string& value, std::size_t limit) { writer_.text(std::string_view(value).substr(0, limit)); }
  void histogram(const metrics::CoarseHistogram& value) { metrics::write(writer_, value); }
  template <class T, class Each>
  void list(const std::vector<T>& values, std::size_t limit, Each&& each) {
    const std::size_t size = std::min(values.size(), limit);
    writer_.varint(size);
    for (std::size_t i = 0; i < size; ++i) each(values[i]);
  }
  template <class T, class Each>
  void maybe(const std::optional<T>& value, Each&& each) {
    writer_.boolean(value.has_value());
    if (value) each(*value);
  }
  void require(bool, std::string_view) {}

 private:
  metrics::Writer writer_;
};

class Unpack {
 public:
  template <class T>
  using Of = T;

  explicit Unpack(metrics::Reader& reader) : reader_(&reader) {}

  template <class T>
  void number(T& value) {
    using Number = typename WireNumber<T>::type;
    if constexpr (sizeof(Number) == 8) {
      value = static_cast<T>(reader_->varint());
    } else {
      value = static_cast<T>(reader_->varint_below(std::uint64_t{std::numeric_limits<Number>::max()} + 1));
    }
  }
  // An enum with this many values.
  template <class T>
  void choice(T& value, std::size_t count) {
    value = static_cast<T>(reader_->varint_below(count));
  }
  void word(std::uint64_t& value) { value = reader_->fixed64(); }
  void flag(bool& value) { value = reader_->boolean(); }
  void span(base::Duration& value) {
    std::int64_t count = 0;
    stamp(count);
    value = base::Duration(count);
  }
  void stamp(std::int64_t& value) {
    value = reader_->zigzag();
    require(value >= -kMaxSpan && value <= kMaxSpan, "a time is out of range");
  }
  void real(double& value) { value = reader_->real(); }
  void text(std::string& value, std::size_t limit) { value = reader_->text(limit); }
  void histogram(metrics::CoarseHistogram& value) { value = metrics::read_histogram<6>(*reader_); }
  template <class T, class Each>
  void list(std::vector<T>& values, std::size_t limit, Each&& each) {
    const std::size_t size = reader_->length(limit);
    values.reserve(std::min<std::size_t>(size, kReserved));
    for (std::size_t i = 0; i < size && reader_->ok(); ++i) each(values.emplace_back());
  }
  template <class T, class Each>
  void maybe(std::optional<T>& value, Each&& each) {
    if (reader_->boolean()) each(value.emplace());
  }
  // What encoding never writes is refused.
  void require(bool holds, std::string_view otherwise) {
    if (!holds) reader_->fail(otherwise);
  }

 private:
  // Elements of a list for which there is memory before they are read; the rest must come first.
  static constexpr std::size_t kReserved = 8;

  metrics::Reader* reader_;
};

}  // namespace muster::cluster
