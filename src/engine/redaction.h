// Takes secrets out of what is about to be shown: error samples, traces, log lines, tags. A secret is found as it
// stands, in the encodings in which muster itself sends it (in a JSON string, which may itself stand in JSON, in base64
// with either alphabet, in hexadecimal, in the credentials of basic authentication) and however a server may spell it:
// each character by itself, percent-encoded, escaped as in JSON or written as in HTML, and cut by the edges of chunks.
// All of that also in upper and in lower case.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::engine {

// Every spelling of `secrets` (name and value) to look for, the longest first, so that no part of one is left by
// another.
std::vector<std::string> spellings(const std::vector<std::pair<std::string, std::string>>& secrets);

// In the query on the first line, in the lines `name: value` of an exchange and in addresses among those values,
// replaces the values of those that carry credentials by ***, whether or not they were declared as secrets. Bodies stay
// as they are.
void mask_credentials(std::string& exchange);

// The same for the user and the password of every header of basic authentication in `text`, and for nothing else: a
// password may be too short to be looked for as a secret.
void mask_basic_credentials(std::string& text);

// Replaces each of `spelled` in `text` by ***.
void redact(std::string& text, const std::vector<std::string>& spelled);

}  // namespace muster::engine
