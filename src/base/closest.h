// "Did you mean …?": the candidate nearest to a mistyped name. Pure; meant for messages, not for hot paths.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace muster::base {

// The candidate with the fewest edits (insert, delete, replace, swap of neighbours; upper and lower case are alike), or
// nothing where none is near enough to be what was meant: at most a third of the letters, and always one.
// Among equals the first wins.
std::optional<std::string_view> closest(std::string_view name, std::span<const std::string_view> candidates);
std::optional<std::string_view> closest(std::string_view name, std::span<const std::string> candidates);

// Whether they are alike, or one edit makes one of the other.
bool one_slip_apart(std::string_view a, std::string_view b);

// "; did you mean 'iterations'?" or an empty text.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> candidates);
std::string did_you_mean(std::string_view name, std::span<const std::string> candidates);

}  // namespace muster::base
