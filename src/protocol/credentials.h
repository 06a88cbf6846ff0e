// Which headers and fields hold what should not be shown: told by their names. Pure.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/letter_case.h"

namespace muster::protocol {

// Whether a header or field of that name holds credentials: Authorization, Cookie, X-Api-Key, ….
inline bool carries_credentials(std::string_view name) {
  constexpr std::array<std::string_view, 6> kParts = {"authorization", "cookie", "token", "secret", "password", "key"};
  const std::string lower = base::lower(name);
  return std::ranges::any_of(kParts, [&](std::string_view part) { return lower.contains(part); });
}

}  // namespace muster::protocol
