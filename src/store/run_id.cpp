#include "store/run_id.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/characters.h"
#include "base/letter_case.h"

namespace muster::store {
namespace {

constexpr std::string_view kDigits = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::uint32_t kPerSecond = 8;
constexpr std::size_t kPlaces = 4;
constexpr std::uint32_t kMostOfDay = (1U << (5 * kPlaces)) - 1;

}  // namespace

std::string run_id(base::Duration started, std::uint32_t attempt) {
  using Days = std::chrono::duration<std::int64_t, std::ratio<86'400>>;
  const auto clamped = std::max(started, base::Duration::zero());
  const auto day = std::chrono::floor<Days>(clamped);
  const auto second = std::chrono::floor<std::chrono::seconds>(clamped - day);
  std::uint32_t rest = std::min(static_cast<std::uint32_t>(second.count()) * kPerSecond + attempt, kMostOfDay);
  std::string time(kPlaces, '0');
  for (std::size_t place = kPlaces; place-- > 0; rest >>= 5U) time[place] = kDigits[rest & 31U];
  const auto midnight = static_cast<std::time_t>(std::chrono::seconds(day).count());
  return fmt::format("r-{:%Y%m%d}-{}", fmt::gmtime(midnight), time);
}

std::string normalised_id(std::string_view typed) {
  std::string id = base::lower(typed);
  if (!id.empty() && base::is_digit(id.front())) id.insert(0, "r-");
  // Letters that the names do not have, as people read them; only behind "r-", which has none of them.
  for (std::size_t i = 2; i < id.size(); ++i) {
    if (id[i] == 'o') id[i] = '0';
    if (id[i] == 'i' || id[i] == 'l') id[i] = '1';
  }
  return id;
}

}  // namespace muster::store
