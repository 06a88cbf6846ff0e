// Absolute http and https URLs: parsed once into parts that are ready for the wire, and relative references resolved
// against them for redirects (RFC 3986 section 5). Plain values; nothing here resolves names.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "protocol/options.h"

namespace muster::protocol {

struct Url {
  std::string scheme;    // "http" or "https"
  std::string userinfo;  // as written, percent-encoded, without the '@'; empty if none
  std::string host;      // lower case, no brackets around IPv6
  std::uint16_t port = 0;
  std::string target;  // path and query for the request line, starts with '/', percent-encoded

  bool secure() const { return scheme == "https"; }
  bool ipv6() const { return host.find(':') != std::string::npos; }
  std::uint16_t default_port() const { return secure() ? 443 : 80; }

  std::string_view path() const { return std::string_view(target).substr(0, target.find('?')); }

  // Without the '?'; empty if there is none.
  std::string_view query() const;

  // For the Host header: brackets around IPv6, no default port, no userinfo.
  std::string authority() const;

  // Scheme, authority and target; userinfo left out, as it is a secret.
  std::string to_string() const;

  // Same scheme, host and port: whether credentials may follow a redirect there.
  bool same_origin(const Url& other) const {
    return port == other.port && scheme == other.scheme && host == other.host;
  }

  bool operator==(const Url&) const = default;
};

// Accepts what people write: scheme in any case, missing path, a fragment (dropped), and bytes in path and query that
// should have been percent-encoded (they are then). Refuses control characters, blanks in the authority, and other
// schemes.
base::Expected<Url> parse_url(std::string_view text, const UrlLimits& limits = {});

// What `reference` (a Location header, say) means at `page`. A reference without scheme keeps the page.s;
// userinfo is kept only with the authority.
base::Expected<Url> resolve(const Url& page, std::string_view reference, const UrlLimits& limits = {});

// Percent-encodes all but unreserved characters and, for paths, '/': one value that is to be part of a path …
void append_path_encoded(std::string& out, std::string_view value);
std::string encode_path(std::string_view value);

// … or a name or value in a query. A space becomes %20, which servers read in queries and paths alike.
void append_query_encoded(std::string& out, std::string_view value);
std::string encode_query(std::string_view value);

// Undoes percent-encoding; a '%' without two hexadecimal digits stays as it is.
std::string percent_decode(std::string_view text);

}  // namespace muster::protocol
