// For tests and fuzz targets: runs an HTTP/1 parser over bytes cut into pieces and records everything it said, so that
// two runs can be compared. Body parts that follow each other are joined, as their cuts are the one thing that may
// differ.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/http1_request.h"
#include "protocol/http1_response.h"

namespace muster::protocol {

class Http1Recorder {
 public:
  void on_interim(int code) { add("interim " + std::to_string(code)); }
  void on_status(int code, std::string_view reason) { add("status " + std::to_string(code) + ' ', reason); }
  void on_request(std::string_view method, std::string_view target) { add("request ", method, " ", target); }
  void on_header(std::string_view name, std::string_view value) { add("header ", name, "=", value); }
  void on_headers_end() { add("end"); }
  void on_trailer(std::string_view name, std::string_view value) { add("trailer ", name, "=", value); }
  void on_body(std::string_view part) {
    body += part;
    if (!events.empty() && events.back() == "body") return;
    add("body");
  }

  std::vector<std::string> events;
  std::string body;

 private:
  void add(std::string_view a, std::string_view b = {}, std::string_view c = {}, std::string_view d = {}) {
    events.push_back(std::string(a).append(b).append(c).append(d));
  }
};

struct Http1Recording {
  std::vector<std::string> events;
  std::string body;
  ParseState state = ParseState::kNeedMore;
  Http1Error error = Http1Error::kNone;
  std::size_t consumed = 0;  // 0 after an error: how far a parser looks before it refuses may depend on the cuts
  bool keep_alive = false;
  std::optional<std::uint64_t> content_length;

  bool operator==(const Http1Recording&) const = default;
};

inline std::ostream& operator<<(std::ostream& out, const Http1Recording& recording) {
  for (const std::string& event : recording.events) out << event << '\n';
  return out << "body of " << recording.body.size() << " bytes, state " << static_cast<int>(recording.state)
             << ", error: " << describe(recording.error) << ", consumed " << recording.consumed << '\n';
}

// `next_piece(left)` says how many of the `left` bytes the next feed gets (0 is taken as 1). Each piece is fed from a
// copy of its own exact size, so that a sanitizer sees any read past it or any view kept from the piece before.
template <class Parser, class NextPiece>
Http1Recording record(Parser& parser, std::string_view bytes, bool close, NextPiece next_piece) {
  Http1Recorder recorder;
  Http1Recording result;
  while (!bytes.empty() && result.state == ParseState::kNeedMore) {
    const std::size_t size = std::clamp<std::size_t>(next_piece(bytes.size()), 1, bytes.size());
    const auto piece = std::make_unique_for_overwrite<char[]>(size);
    std::memcpy(piece.get(), bytes.data(), size);
    const FeedResult fed = parser.feed({piece.get(), size}, recorder);
    result.state = fed.state;
    result.consumed += fed.consumed;
    bytes.remove_prefix(size);
  }
  if (close && result.state == ParseState::kNeedMore) result.state = parser.finish(recorder);
  result.events = std::move(recorder.events);
  result.body = std::move(recorder.body);
  result.error = parser.error();
  if (result.state == ParseState::kError) result.consumed = 0;
  result.keep_alive = parser.keep_alive();
  result.content_length = parser.content_length();
  return result;
}

inline std::size_t all_at_once(std::size_t left) {
  return left;
}

inline std::size_t one_byte(std::size_t) {
  return 1;
}

}  // namespace muster::protocol
