// The limits of everything this room parses. One object of each kind is shared by all parsers of a core and must
// outlive them; parsers keep a pointer and never write to it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace muster::protocol {

struct Http1Limits {
  // Longest start line, header line or chunk-size line, in bytes without the line feed. It bounds what a parser keeps
  // when a line arrives in pieces. Larger admits servers with giant cookies, at that much memory per connection.
  std::uint32_t max_line_bytes = 8 * 1024;

  // Header lines of one message (each interim response counts anew).
  std::uint32_t max_headers = 100;

  // Start line and header lines together, in bytes on the wire; trailers are held to the same number.
  std::uint32_t max_header_bytes = 64 * 1024;

  // Body in bytes after removal of the chunked coding, before any content coding is undone. Parsers hold no body, so
  // this guards the time a single endless response may take and the memory of sinks that collect it.
  std::uint64_t max_body_bytes = 64 * 1024 * 1024;

  // Chunk extensions of one message together, in bytes. Nobody uses them; a peer could hide endless work in them.
  std::uint32_t max_chunk_extension_bytes = 4 * 1024;

  std::uint32_t max_trailers = 32;

  // Interim (1xx) responses before the final one.
  std::uint32_t max_interim = 8;

  // Accept start and header lines that end with LF alone (RFC 9112 section 2.2 leaves the choice). Off, because two
  // parsers that disagree about where a line ends are what request smuggling is made of; turn it on for old servers.
  // Chunk lines always need CRLF.
  bool allow_bare_lf = false;
};

struct UrlLimits {
  // Whole URL in bytes. 8 KiB is what common servers take in a request line.
  std::size_t max_bytes = 8 * 1024;
};

struct CookieLimits {
  // Cookies per jar, that is, per VU. When full, expired ones make room, then the oldest.
  std::uint32_t max_cookies = 50;

  // Name and value of one cookie together, in bytes (RFC 6265 section 6.1 asks for at least 4096).
  std::uint32_t max_cookie_bytes = 4 * 1024;

  // Everything a jar holds: names, values, domains and paths, in bytes. Multiplied by the number of VUs.
  std::uint32_t max_jar_bytes = 32 * 1024;
};

struct ContentCodingLimits {
  // Decoded body in bytes: what a decompression bomb may grow to before it is refused.
  std::size_t max_output_bytes = 64 * 1024 * 1024;
};

}  // namespace muster::protocol
