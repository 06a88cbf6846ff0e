#include "protocol/cookie_jar.h"

#include <algorithm>

#include "base/letter_case.h"
#include "protocol/cookie_date.h"
#include "protocol/http1_scan.h"

namespace muster::protocol {
namespace {

using Time = CookieJar::Time;

struct Attributes {
  std::optional<Time> expires;
  std::optional<Time> max_age;
  std::string domain;
  std::string_view path;
  bool secure = false;
};

// IPv6 has colons; the last label of a name never is a number.
bool is_address(std::string_view host) {
  if (host.find(':') != host.npos) return true;
  const std::string_view last = host.substr(host.rfind('.') + 1);
  return !last.empty() && last.find_first_not_of("0123456789") == last.npos;
}

bool domain_matches(std::string_view host, std::string_view domain) {
  if (host == domain) return true;
  return host.size() > domain.size() && host.ends_with(domain) && host[host.size() - domain.size() - 1] == '.' &&
         !is_address(host);
}

// Section 5.1.4: the folder of the request's path.
std::string_view default_path(std::string_view path) {
  if (!path.starts_with('/')) return "/";
  const std::size_t slash = path.rfind('/');
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool path_matches(std::string_view path, std::string_view cookie_path) {
  if (!path.starts_with(cookie_path)) return false;
  return path.size() == cookie_path.size() || cookie_path.ends_with('/') || path[cookie_path.size()] == '/';
}

std::optional<Time> read_max_age(std::string_view value, Time now) {
  const bool negative = value.starts_with('-');
  const std::string_view digits = value.substr(negative ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != digits.npos) return std::nullopt;
  // Enough for 300 years; anything longer is as good as for ever.
  constexpr std::int64_t kMost = 10'000'000'000;
  std::int64_t seconds = 0;
  for (const char c : digits) seconds = std::min(kMost, seconds * 10 + (c - '0'));
  if (negative || seconds == 0) return Time::min();
  return now + std::chrono::seconds(seconds);
}

void read_attribute(Attributes& attributes, std::string_view text, Time now) {
  const std::size_t equals = text.find('=');
  const std::string_view name = scan::trim(text.substr(0, equals));
  const std::string_view value = equals == text.npos ? std::string_view{} : scan::trim(text.substr(equals + 1));
  if (scan::equals_ignoring_case(name, "expires")) {
    if (const auto expires = parse_cookie_date(value)) attributes.expires = expires;
  } else if (scan::equals_ignoring_case(name, "max-age")) {
    if (const auto max_age = read_max_age(value, now)) attributes.max_age = max_age;
  } else if (scan::equals_ignoring_case(name, "domain")) {
    if (!value.empty()) attributes.domain = base::lower(value.substr(value.starts_with('.') ? 1 : 0));
  } else if (scan::equals_ignoring_case(name, "path")) {
    attributes.path = value.starts_with('/') ? value : std::string_view{};
  } else if (scan::equals_ignoring_case(name, "secure")) {
    attributes.secure = true;
  }
}

}  // namespace

bool CookieJar::Cookie::applies(std::string_view host, std::string_view request_path, bool secure, Time now) const {
  if (expires <= now || (secure_only && !secure)) return false;
  if (host_only ? host != domain() : !domain_matches(host, domain())) return false;
  return path_matches(request_path.substr(0, request_path.find('?')), path());
}

bool CookieJar::store(std::string_view set_cookie, std::string_view host, std::string_view path, bool secure, Time now,
                      const CookieLimits& limits) {
  const char* const end = set_cookie.data() + set_cookie.size();
  if (scan::find_control(set_cookie.data(), end) != end) return false;
  const std::size_t semicolon = set_cookie.find(';');
  const std::string_view pair = set_cookie.substr(0, semicolon);
  const std::size_t equals = pair.find('=');
  if (equals == pair.npos) return false;
  const std::string_view name = scan::trim(pair.substr(0, equals));
  const std::string_view value = scan::trim(pair.substr(equals + 1));
  if (name.empty() || name.size() + value.size() > limits.max_cookie_bytes) return false;

  Attributes attributes;
  std::string_view rest = semicolon == set_cookie.npos ? std::string_view{} : set_cookie.substr(semicolon + 1);
  while (!rest.empty()) {
    const std::size_t stop = rest.find(';');
    read_attribute(attributes, rest.substr(0, stop), now);
    rest.remove_prefix(stop == rest.npos ? rest.size() : stop + 1);
  }

  if (attributes.secure && !secure) return false;

  const bool foreign = !attributes.domain.empty() && attributes.domain != host;
  if (foreign && (!domain_matches(host, attributes.domain) || attributes.domain.find('.') == std::string::npos)) {
    return false;
  }
  const bool host_only = attributes.domain.empty() || (!foreign && (is_address(host) || host.find('.') == host.npos));
  const std::string_view domain = foreign ? std::string_view(attributes.domain) : host;
  if (attributes.path.empty()) attributes.path = default_path(path.substr(0, path.find('?')));
  if (name.size() + value.size() + domain.size() + attributes.path.size() + 1 > limits.max_jar_bytes) return false;

  Cookie cookie;
  cookie.text.reserve(name.size() + 1 + value.size() + domain.size() + attributes.path.size());
  cookie.text.append(name).append("=").append(value).append(domain).append(attributes.path);
  cookie.name_size = static_cast<std::uint32_t>(name.size());
  cookie.pair_size = static_cast<std::uint32_t>(name.size() + 1 + value.size());
  cookie.domain_size = static_cast<std::uint32_t>(domain.size());
  cookie.serial = 0;
  cookie.expires = attributes.max_age ? *attributes.max_age : attributes.expires.value_or(kSession);
  cookie.host_only = host_only;
  cookie.secure_only = attributes.secure;
  insert(std::move(cookie), now, limits);
  return true;
}

void CookieJar::insert(Cookie cookie, Time now, const CookieLimits& limits) {
  if (cookies_ == nullptr) {
    if (cookie.expires <= now) return;
    cookies_ = std::make_unique<std::vector<Cookie>>();
  }
  std::vector<Cookie>& all = *cookies_;
  std::uint32_t serial = 0;
  for (const Cookie& other : all) serial = std::max(serial, other.serial + 1);
  cookie.serial = serial;
  // Section 5.3, step 11: a replaced cookie hands on its age.
  const auto same = std::ranges::find_if(all, [&](const Cookie& other) {
    return other.name() == cookie.name() && other.domain() == cookie.domain() && other.path() == cookie.path();
  });
  if (same != all.end()) {
    cookie.serial = same->serial;
    all.erase(same);
  }
  std::erase_if(all, [now](const Cookie& other) { return other.expires <= now; });
  if (cookie.expires > now && limits.max_cookies != 0) {
    std::size_t bytes = cookie.text.size();
    for (const Cookie& other : all) bytes += other.text.size();
    while (!all.empty() && (all.size() >= limits.max_cookies || bytes > limits.max_jar_bytes)) {
      const auto oldest = std::ranges::min_element(all, {}, &Cookie::serial);
      bytes -= oldest->text.size();
      all.erase(oldest);
    }
    const auto place = std::ranges::upper_bound(all, cookie, [](const Cookie& a, const Cookie& b) {
      if (a.path().size() != b.path().size()) return a.path().size() > b.path().size();
      return a.serial < b.serial;
    });
    all.insert(place, std::move(cookie));
  }
  if (all.empty()) cookies_.reset();
}

bool CookieJar::append_header(std::string& out, std::string_view host, std::string_view path, bool secure,
                              Time now) const {
  if (cookies_ == nullptr) return false;
  bool any = false;
  for (const Cookie& cookie : *cookies_) {
    if (!cookie.applies(host, path, secure, now)) continue;
    if (any) out += "; ";
    out += cookie.pair();
    any = true;
  }
  return any;
}

std::optional<std::string_view> CookieJar::find(std::string_view name) const {
  if (cookies_ == nullptr) return std::nullopt;
  for (const Cookie& cookie : *cookies_) {
    if (cookie.name() == name) return cookie.value();
  }
  return std::nullopt;
}

}  // namespace muster::protocol
