// JSON that importers read: parsed by nlohmann::json with its exceptions kept in, and looked at without trusting its
// shape. Order of keys is kept, because a description's order is what people know it by.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/error.h"

namespace muster::authoring {

using ImportJson = nlohmann::ordered_json;

// Errors say where and what, in one line.
base::Expected<ImportJson> parse_import_json(std::string_view text, std::size_t most_depth);

// The member, or a null value: never fails.
const ImportJson& member(const ImportJson& value, std::string_view key);

// Text of a member that is text; otherwise `fallback`.
std::string text_member(const ImportJson& value, std::string_view key, std::string_view fallback = {});

// A member that is a number; otherwise `fallback`.
double number_member(const ImportJson& value, std::string_view key, double fallback);

}  // namespace muster::authoring
