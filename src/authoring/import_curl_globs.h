// curl's own patterns in URLs, {a,b} and [1-9], spelt out. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::authoring {

// All URLs that the pattern stands for; nothing if there would be more than `most`, or the pattern is not one that curl
// takes. A backslash before a bracket makes it stand for itself; [::1] is an address.
std::optional<std::vector<std::string>> expand_globs(std::string_view url, std::size_t most);

}  // namespace muster::authoring
