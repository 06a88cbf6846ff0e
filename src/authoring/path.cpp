#include <algorithm>

#include "authoring/scope.h"
#include "authoring/value_text.h"
#include "base/characters.h"

namespace muster::authoring {
namespace {

bool plain_name(std::string_view name) {
  const auto letter = [](char c) { return base::is_letter(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80; };
  if (name.empty() || !letter(name.front()) || name.back() == '-' || name.find("--") != std::string_view::npos) {
    return false;
  }
  return std::ranges::all_of(name, [&](char c) { return letter(c) || base::is_digit(c) || c == '-'; });
}

}  // namespace

std::string to_text(const Path& path) {
  std::string out;
  for (const PathPart& part : path) {
    if (const auto* index = std::get_if<std::int64_t>(&part)) {
      out += '[';
      out += NumberText(*index).text();
      out += ']';
      continue;
    }
    const std::string& name = std::get<std::string>(part);
    if (plain_name(name)) {
      if (!out.empty()) out += '.';
      out += name;
    } else {
      out += "[\"";
      append_json_escaped(out, name);
      out += "\"]";
    }
  }
  return out;
}

}  // namespace muster::authoring
