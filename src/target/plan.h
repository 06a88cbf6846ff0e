// What the server will do about one request: the bytes to send, when, and what becomes of the connection after them.
// Made by the routes, carried out by a Connection; a value without IO.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/time.h"

namespace muster::target {

enum class Ending : std::uint8_t {
  kKeep,       // next request
  kClose,      // orderly: stop sending, let the client finish
  kReset,      // RST
  kHalfClose,  // FIN from here, while the connection goes on to accept what the client sends
  kHold,       // nothing ever again
};

// A reply made once and sent many times.
struct FixedReply {
  std::string bytes;
  std::uint32_t insert_at = 0;  // where lines like Date go: after the status line
  std::uint32_t head_bytes = 0;
};

struct Plan {
  // The first bytes: `fixed` if there is one, otherwise `text`.
  const FixedReply* fixed = nullptr;
  std::string text;
  std::uint32_t insert_at = 0;  // of `text`; 0: raw bytes, sent as they are
  std::uint32_t head_bytes = 0;
  std::string_view interim;  // sent before all of it; static storage

  // Then this many bytes of `pattern`, repeated, made while they are sent.
  std::uint64_t filler = 0;
  std::string_view pattern;  // static storage
  std::uint64_t chunk = 0;   // not 0: in chunks of this size (RFC 9112 section 7.1), with the last chunk at the end
  base::Duration drip{};     // spread evenly over this time

  base::Duration delay{};  // before the first byte
  base::Duration stall{};  // the whole server stops for this long after the reply
  Ending ending = Ending::kKeep;

  std::string_view bytes() const { return fixed != nullptr ? std::string_view(fixed->bytes) : std::string_view(text); }
  std::uint32_t inserts_at() const { return fixed != nullptr ? fixed->insert_at : insert_at; }
  std::uint32_t head() const { return fixed != nullptr ? fixed->head_bytes : head_bytes; }

  // Keeps the buffer of `text`, unless it is large.
  void clear();
};

}  // namespace muster::target
