// What masked_source is made of: one way for each language that a job is written in, and what they share. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace muster::report {

constexpr std::string_view kMask = "***";
constexpr std::size_t kNone = std::string_view::npos;

// Whether the value of such a key is not to be shown, wherever it stands. Headers by what their names speak of; other
// keys only by whole names.
bool holds_credentials(std::string_view key);

// Whether it is not to be shown unless expressions stand there: `json: { token: abc }` holds one, `save: { token:
// json.token }` shows nothing.
bool may_hold_credentials(std::string_view key);

// The keys whose maps give names to expressions: save, use, ….
bool names_expressions(std::string_view key);

// Whether a value only names where it comes from: `${env.PASSWORD}`.
inline bool comes_from_elsewhere(std::string_view value) {
  return value.contains("${") && !value.contains("$${");
}

// *** for each line of `content`.
std::string hidden(std::string_view content);

// Of user=ada&password=hunter2, as a body or behind a `?`.
std::string without_form_values(std::string_view text);

// What stands between quotes and is not the value of a key: JSON, header lines and forms with such keys are masked,
// bearer tokens too. `raw`: without escapes, as between single quotes in YAML.
std::string looked_into(std::string_view content, bool raw);

// Adds `line`, without the users of its addresses.
void append_without_users(std::string& made, std::string_view line);

// Whether a job's text is a Lua script: its first line that says something is no key of a map.
bool is_lua(std::string_view source);

// YAML or JSON.
std::string masked_yaml(std::string_view source);

// A Lua script, for muster or for wrk. Texts in an expression that is given to a key or a name that holds credentials
// become ***; texts elsewhere are looked into for JSON, header lines and forms with such keys. Comments stay.
std::string masked_lua(std::string_view source);

}  // namespace muster::report
