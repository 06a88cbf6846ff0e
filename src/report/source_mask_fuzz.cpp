// The text of a job, or anything else. Masking must keep its lines, and must take out a password that stands before it.
// covers: report/source_mask.cpp
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "report/source_mask.h"

namespace muster::report {
namespace {

void require(bool condition) {
  if (!condition) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string masked = masked_source(input);
  require(std::ranges::count(masked, '\n') == std::ranges::count(input, '\n'));
  const std::string after = masked_source("password: kept-from-you\n" + std::string(input));
  require(!after.starts_with("password: kept"));
  return 0;
}

}  // namespace muster::report
