// Each line is a Set-Cookie value from one of a few hosts. The jar must stay within its limits, and what it sends must
// be safe in a header and only go where the rules allow.
// covers: protocol/cookie_jar.h protocol/cookie_jar.cpp protocol/cookie_date.h protocol/cookie_date.cpp
#include <string>
#include <string_view>

#include "base/fuzzing.h"
#include "protocol/cookie_jar.h"

namespace muster::protocol {

using base::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view kHosts[] = {"shop.test", "www.shop.test", "127.0.0.1", "localhost", "::1"};
  constexpr std::string_view kPaths[] = {"/", "/x/y", "/x", "", "/x?y"};
  std::string_view input = base::text_of(data, size);
  CookieLimits limits;
  limits.max_cookies = 4;
  limits.max_jar_bytes = 200;
  limits.max_cookie_bytes = 100;
  CookieJar jar;
  CookieJar::Time now{std::chrono::seconds(1'800'000'000)};
  for (std::size_t turn = 0; !input.empty(); ++turn) {
    const std::size_t line = input.find('\n');
    const std::string_view text = input.substr(0, line);
    const std::string_view host = kHosts[(turn + text.size()) % std::size(kHosts)];
    const std::string_view path = kPaths[turn % std::size(kPaths)];
    jar.store(text, host, path, turn % 3 != 0, now, limits);
    require(jar.size() <= limits.max_cookies && jar.empty() == (jar.size() == 0));
    std::size_t bytes = 0;
    for (const std::string_view to : kHosts) {
      std::string header;
      const bool any = jar.append_header(header, to, path, false, now);
      require(any == !header.empty());
      for (const char c : header) require(c == '\t' || (c >= 0x20 && c != 0x7f) || (c & 0x80) != 0);
      jar.each(to, path, false, now, [&](std::string_view name, std::string_view value) {
        bytes += name.size() + value.size();
        require(!name.empty() && name.find(';') == name.npos && value.find(';') == value.npos);
        require(jar.find(name).has_value());
      });
    }
    require(bytes <= std::size(kHosts) * limits.max_jar_bytes);
    now += std::chrono::seconds(7);
    input.remove_prefix(line == input.npos ? input.size() : line + 1);
  }
  require(!jar.find("no such cookie; surely"));
  jar.clear();
  require(jar.empty() && !jar.find("a"));
  return 0;
}

}  // namespace muster::protocol
