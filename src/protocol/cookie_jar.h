// The cookies of one VU (RFC 6265, without a public suffix list). Belongs to its VU and so to one thread; an empty jar
// is one null pointer. Hosts are given as Url::host has them: lower case, no brackets, no port.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/options.h"

namespace muster::protocol {

class CookieJar {
 public:
  using Time = std::chrono::sys_seconds;

  // Takes in one Set-Cookie value that `host` sent for `path` (a query is ignored) over TLS (`secure`) or not.
  // False if it was refused: no name, control characters, too large, a domain that is not the host's to set, or Secure
  // without TLS, as browsers do. A cookie already expired removes its namesake. HttpOnly and SameSite are of no concern
  // to a client without scripts and pages.
  bool store(std::string_view set_cookie, std::string_view host, std::string_view path, bool secure, Time now,
             const CookieLimits& limits = kDefaultLimits);

  // Appends what the Cookie header of such a request says ("a=1; b=2"), longest paths first, then oldest first
  // (section 5.4). False and nothing appended if no cookie applies.
  bool append_header(std::string& out, std::string_view host, std::string_view path, bool secure, Time now) const;

  // Calls visit(name, value) for each cookie that append_header would send.
  template <class Visit>
  void each(std::string_view host, std::string_view path, bool secure, Time now, Visit visit) const {
    if (cookies_ == nullptr) return;
    for (const Cookie& cookie : *cookies_) {
      if (cookie.applies(host, path, secure, now)) visit(cookie.name(), cookie.value());
    }
  }

  // The value of the first cookie of that name, wherever it is sent to; valid until the jar changes.
  std::optional<std::string_view> find(std::string_view name) const;

  std::size_t size() const { return cookies_ == nullptr ? 0 : cookies_->size(); }
  bool empty() const { return size() == 0; }
  void clear() { cookies_.reset(); }

 private:
  static constexpr CookieLimits kDefaultLimits{};
  static constexpr Time kSession = Time::max();

  // One string holds "name=value", domain and path, in this order.
  struct Cookie {
    std::string text;
    std::uint32_t name_size;
    std::uint32_t pair_size;
    std::uint32_t domain_size;
    std::uint32_t serial;  // grows with creation
    Time expires;
    bool host_only;
    bool secure_only;

    std::string_view pair() const { return std::string_view(text).substr(0, pair_size); }
    std::string_view name() const { return pair().substr(0, name_size); }
    std::string_view value() const { return pair().substr(name_size + 1); }
    std::string_view domain() const { return std::string_view(text).substr(pair_size, domain_size); }
    std::string_view path() const { return std::string_view(text).substr(pair_size + domain_size); }

    bool applies(std::string_view host, std::string_view path, bool secure, Time now) const;
  };

  void insert(Cookie cookie, Time now, const CookieLimits& limits);

  std::unique_ptr<std::vector<Cookie>> cookies_;  // longest path first, then by creation
};

}  // namespace muster::protocol
