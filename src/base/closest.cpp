#include "base/closest.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/letter_case.h"

namespace muster::base {
namespace {

// Longer names are not worth a guess, and the distance takes time quadratic in the length.
constexpr std::size_t kLongestName = 64;

// Optimal string alignment distance over three rows.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0u : 1u)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

template <class Text>
std::optional<std::string_view> find_closest(std::string_view name, std::span<const Text> candidates) {
  if (name.empty() || name.size() > kLongestName) return std::nullopt;
  std::optional<std::string_view> best;
  std::size_t least = std::max<std::size_t>(1, name.size() / 3) + 1;
  for (std::string_view candidate : candidates) {
    if (candidate.empty() || candidate.size() > kLongestName) continue;
    const std::size_t edits = distance(name, candidate);
    // A name that shares no letter with the candidate is not a slip of it.
    if (edits >= least || edits >= std::max(name.size(), candidate.size())) continue;
    least = edits;
    best = candidate;
  }
  return best;
}

template <class Text>
std::string phrase(std::string_view name, std::span<const Text> candidates) {
  const auto found = find_closest(name, candidates);
  return found ? "; did you mean '" + std::string(*found) + "'?" : std::string();
}

}  // namespace

bool one_slip_apart(std::string_view a, std::string_view b) {
  return a.size() <= kLongestName && b.size() <= kLongestName && distance(a, b) <= 1;
}

std::optional<std::string_view> closest(std::string_view name, std::span<const std::string_view> candidates) {
  return find_closest(name, candidates);
}

std::optional<std::string_view> closest(std::string_view name, std::span<const std::string> candidates) {
  return find_closest(name, candidates);
}

std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates) {
  return phrase(name, candidates);
}

std::string did_you_mean(std::string_view name, std::span<const std::string> candidates) {
  return phrase(name, candidates);
}

}  // namespace muster::base
