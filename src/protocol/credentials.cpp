#include "protocol/credentials.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/characters.h"
#include "base/letter_case.h"

namespace muster::protocol {
namespace {

constexpr std::string_view kMask = "***";

// refreshToken, refresh_token and user[refresh-token] end with the same two words, in small letters. The last one has
// no number: password2.
std::pair<std::string, std::string> last_words(std::string_view name) {
  std::vector<std::string> words(2);
  bool within = false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char each = name[i];
    if (!base::is_letter_or_digit(each)) {
      within = false;
      continue;
    }
    if (within && base::is_upper(each) && base::is_lower(name[i - 1])) within = false;
    if (!within) words = {std::move(words[1]), std::string()};
    within = true;
    words[1] += base::lower(each);
  }
  while (!words[1].empty() && base::is_digit(words[1].back())) words[1].pop_back();
  return {std::move(words[0]), std::move(words[1])};
}

bool comes_from_elsewhere(std::string_view value) {
  return value.contains("${") && !value.contains("$${");
}

// https://user:password@host/
void mask_user(std::string& address) {
  const std::size_t scheme = address.find("://");
  if (scheme == std::string::npos) return;
  const std::size_t begin = scheme + 3;
  const std::size_t end = std::min(address.find_first_of("/?#", begin), address.size());
  const std::size_t at = std::string_view(address).substr(begin, end - begin).rfind('@');
  if (at == std::string::npos) return;
  const std::string_view user = std::string_view(address).substr(begin, at);
  // Where a key takes the place of a user its password is empty, or not there. A user by itself is no secret, but
  // nothing tells it from a key.
  const std::size_t colon = user.find(':');
  const bool password = colon != std::string_view::npos && colon + 1 < user.size();
  if (comes_from_elsewhere(password ? user.substr(colon + 1) : user)) return;
  address.replace(begin, at, kMask);
}

}  // namespace

bool carries_credentials(std::string_view name) {
  constexpr std::array<std::string_view, 8> kParts = {"authorization", "cookie", "token",   "secret",
                                                      "password",      "key",    "session", "signature"};
  const std::string lower = base::lower(name);
  return std::ranges::any_of(kParts, [&](std::string_view part) { return lower.contains(part); });
}

bool names_credentials(std::string_view name) {
  constexpr std::array<std::string_view, 13> kEndings = {"token",  "secret",     "password",  "passwd",    "pwd",
                                                         "apikey", "passphrase", "signature", "sessionid", "accesskey",
                                                         "sessid", "secretkey",  "privatekey"};
  const auto [before, last] = last_words(name);
  if (last == "key" || last == "sig" || last == "pw" || (before == "session" && last == "id")) return true;
  return std::ranges::any_of(kEndings, [&](std::string_view ending) { return last.ends_with(ending); });
}

void mask_query(std::string& text) {
  std::size_t at = text.find_first_of("?#\n");
  while (at < text.size() && (text[at] == '?' || text[at] == '&' || text[at] == '#')) {
    const std::size_t name = at + 1;
    at = std::min(text.find_first_of("=&# \r\n", name), text.size());
    if (at == text.size() || text[at] != '=') continue;
    const std::size_t value = at + 1;
    at = std::min(text.find_first_of("&# \r\n", value), text.size());
    const std::string_view content = std::string_view(text).substr(value, at - value);
    if (content.empty() || comes_from_elsewhere(content)) continue;
    if (!names_credentials(std::string_view(text).substr(name, value - 1 - name))) continue;
    text.replace(value, at - value, kMask);
    at = value + kMask.size();
  }
}

std::string without_credentials(std::string_view address) {
  std::string shown(address);
  mask_user(shown);
  mask_query(shown);
  return shown;
}

std::string without_credentials_of_addresses(std::string_view text) {
  constexpr std::string_view kEdges = " \t\r\n\"'<>";
  std::string shown;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find_first_of(kEdges), text.size());
    shown += without_credentials(text.substr(0, length));
    text.remove_prefix(length);
    const std::size_t edges = std::min(text.find_first_not_of(kEdges), text.size());
    shown += text.substr(0, edges);
    text.remove_prefix(edges);
  }
  return shown;
}

}  // namespace muster::protocol
