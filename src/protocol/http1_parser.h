// The incremental reader behind Http1ResponseParser and Http1RequestParser. Bytes go in as they arrive; the sink's
// callbacks are called in place, statically dispatched. Views given to a sink are valid during that call only.
// Sans-IO, single-threaded, moves freely, about 56 bytes; the limits outlive it.
#pragma once

#include "protocol/http1_framing.h"

namespace muster::protocol {

// Message supplies:
//   bool start_may_be(std::size_t place, std::string_view piece)          // of a start line; false: fail() was called
//   template <class Sink> bool start_line(std::string_view line, Sink&)   // false: fail() was called
//   template <class Sink> void headers_end(Sink&)                         // sets the phase that follows, or fails
//   bool header_hook(std::string_view name, std::string_view value)       // headers only this kind cares about
template <class Message>
class Http1Parser : public Http1Framing {
 public:
  // Reads up to the message's end and not a byte further. Every split of the same bytes gives the same events (body
  // parts may be cut differently) and the same error.
  template <class Sink>
  FeedResult feed(std::string_view bytes, Sink& sink) {
    const char* const begin = bytes.data();
    const char* const end = begin + bytes.size();
    const char* at = begin;
    bool more = true;
    while (more) {
      switch (phase_) {
        case Phase::kStartLine:
          more = read_start_line(at, end, sink);
          break;
        case Phase::kFields:
          more = read_fields<false>(at, end, sink);
          break;
        case Phase::kTrailers:
          more = read_fields<true>(at, end, sink);
          break;
        case Phase::kLengthBody:
          more = read_length_body(at, end, sink);
          break;
        case Phase::kCloseBody:
          more = read_close_body(at, end, sink);
          break;
        case Phase::kChunkSize:
          more = read_chunk_size(at, end);
          break;
        case Phase::kChunkData:
          more = read_chunk_data(at, end, sink);
          break;
        case Phase::kChunkCr:
          more = read_chunk_end(at, end, '\r', Phase::kChunkLf);
          break;
        case Phase::kChunkLf:
          more = read_chunk_end(at, end, '\n', Phase::kChunkSize);
          break;
        case Phase::kDone:
        case Phase::kFailed:
          more = false;
          break;
      }
    }
    const auto consumed = static_cast<std::size_t>(at - begin);
    if (phase_ < Phase::kDone) return {consumed, ParseState::kNeedMore};
    if (partial_ != nullptr) partial_.reset();
    return {consumed, phase_ == Phase::kDone ? ParseState::kComplete : ParseState::kError};
  }

  // The peer closed its side: ends a body that lasts until then; anything else unfinished is an error.
  ParseState finish() {
    if (phase_ == Phase::kCloseBody) phase_ = Phase::kDone;
    if (phase_ == Phase::kDone) return ParseState::kComplete;
    if (phase_ != Phase::kFailed) {
      fail(started() || interim_count_ != 0 ? Http1Error::kTruncated : Http1Error::kClosedBeforeMessage);
      partial_.reset();
    }
    return ParseState::kError;
  }

  template <class Sink>
  ParseState finish(Sink&) {
    return finish();
  }

 protected:
  using Http1Framing::Http1Framing;

 private:
  Message& message() { return static_cast<Message&>(*this); }

  template <class Sink>
  bool read_start_line(const char*& at, const char* end, Sink& sink) {
    if (partial_size() == 0) {
      const char* const stop = scan::find_control(at, end);
      if (end - stop >= 2 && stop[0] == '\r' && stop[1] == '\n') [[likely]] {
        const std::string_view line(at, static_cast<std::size_t>(stop - at));
        if (line.size() < limits_->max_line_bytes) [[likely]] {
          at = stop + 2;
          return accept_start_line(line, sink);
        }
      }
    }
    return read_odd_start_line(at, end, sink);
  }

  // A line in pieces, one that ends with LF alone, or a bad one. A peer that speaks another protocol may never end its
  // line: what cannot become a start line is refused at its first wrong byte, before anything else is said of it.
  template <class Sink>
  [[gnu::noinline]] bool read_odd_start_line(const char*& at, const char* end, Sink& sink) {
    if (!message().start_may_be(partial_size(), {at, static_cast<std::size_t>(end - at)})) return false;
    std::string_view line;
    const Take taken = take_line(at, end, line, limits_->allow_bare_lf);
    if (taken != Take::kLine) return false;
    const bool good = accept_start_line(line, sink);
    drop_line();
    return good;
  }

  template <class Sink>
  [[gnu::always_inline]] bool accept_start_line(std::string_view line, Sink& sink) {
    if (count_line(line.size() + 2)) [[likely]]
      return message().start_line(line, sink);
    message().start_may_be(0, line);  // weighs more than the limit, as it does for a line in pieces
    return false;
  }

  template <bool kTrailer, class Sink>
  bool read_fields(const char*& at, const char* end, Sink& sink) {
    const char* line = at;
    if (partial_size() == 0) {
      while (true) {
        const char* const colon = scan::skip_token(line, end);
        if (colon == line) {
          if (end - line < 2 || line[0] != '\r' || line[1] != '\n') break;
          at = line + 2;
          return end_fields<kTrailer>(sink);
        }
        if (colon == end || *colon != ':') break;
        const char* const stop = scan::find_control(colon + 1, end);
        if (end - stop < 2 || stop[0] != '\r' || stop[1] != '\n') break;
        at = stop + 2;
        if (!accept_field<kTrailer>(line, colon, stop, sink)) return false;
        line = at;
      }
    }
    return read_odd_field<kTrailer>(at, end, sink);
  }

  // A line in pieces, one that ends with LF alone, or a bad one.
  template <bool kTrailer, class Sink>
  [[gnu::noinline]] bool read_odd_field(const char*& at, const char* end, Sink& sink) {
    std::string_view line;
    const Take taken = take_line(at, end, line, limits_->allow_bare_lf);
    if (taken != Take::kLine) return false;
    bool good = false;
    if (line.empty()) {
      good = end_fields<kTrailer>(sink);
    } else {
      const char* const stop = line.data() + line.size();
      const char* const colon = scan::skip_token(line.data(), stop);
      const bool named = colon != line.data() && colon != stop && *colon == ':';
      if (!named || scan::find_control(colon, stop) != stop) {
        fail(judge_field_line(line));
      } else {
        good = accept_field<kTrailer>(line.data(), colon, stop, sink);
      }
    }
    drop_line();
    return good;
  }

  template <bool kTrailer, class Sink>
  [[gnu::always_inline]] bool accept_field(const char* line, const char* colon, const char* stop, Sink& sink) {
    const auto line_bytes = static_cast<std::size_t>(stop - line);
    if (line_bytes >= limits_->max_line_bytes) [[unlikely]]
      return fail(Http1Error::kLineTooLong);
    if (!count_line(line_bytes + 2)) [[unlikely]]
      return false;
    // One space is what nearly everyone writes.
    const char* value = colon + 1;
    if (value != stop && *value == ' ') ++value;
    while (value != stop && scan::is_blank(*value)) ++value;
    while (stop != value && scan::is_blank(stop[-1])) --stop;
    const std::string_view name(line, static_cast<std::size_t>(colon - line));
    const std::string_view text(value, static_cast<std::size_t>(stop - value));
    ++header_count_;
    if constexpr (kTrailer) {
      if (header_count_ > limits_->max_trailers) return fail(Http1Error::kTooManyTrailers);
      if constexpr (requires { sink.on_trailer(name, text); }) sink.on_trailer(name, text);
    } else {
      if (header_count_ > limits_->max_headers) [[unlikely]]
        return fail(Http1Error::kTooManyHeaders);
      if (!note_header(name, text) || !message().header_hook(name, text)) [[unlikely]]
        return false;
      if (!has(kInterim)) [[likely]]
        sink.on_header(name, text);
    }
    return true;
  }

  template <bool kTrailer, class Sink>
  bool end_fields(Sink& sink) {
    if constexpr (kTrailer) {
      phase_ = Phase::kDone;
    } else {
      message().headers_end(sink);
    }
    return phase_ < Phase::kDone;
  }

  template <class Sink>
  bool read_length_body(const char*& at, const char* end, Sink& sink) {
    if (at == end) return false;
    const auto available = static_cast<std::uint64_t>(end - at);
    const auto part = static_cast<std::size_t>(available < remaining_ ? available : remaining_);
    remaining_ -= part;
    if (remaining_ == 0) phase_ = Phase::kDone;
    sink.on_body(std::string_view(at, part));
    at += part;
    return false;
  }

  template <class Sink>
  bool read_close_body(const char*& at, const char* end, Sink& sink) {
    if (at == end) return false;
    const auto available = static_cast<std::uint64_t>(end - at);
    const std::uint64_t room = limits_->max_body_bytes - body_bytes_;
    const auto part = static_cast<std::size_t>(available < room ? available : room);
    body_bytes_ += part;
    if (part != 0) sink.on_body(std::string_view(at, part));
    at += part;
    return available <= room ? false : fail(Http1Error::kBodyTooLarge);
  }

  bool read_chunk_size(const char*& at, const char* end) {
    std::string_view line;
    if (take_line(at, end, line, false) != Take::kLine) return false;
    const bool good = read_chunk_line(line);
    drop_line();
    return good;
  }

  template <class Sink>
  bool read_chunk_data(const char*& at, const char* end, Sink& sink) {
    if (at == end) return false;
    const auto available = static_cast<std::uint64_t>(end - at);
    const auto part = static_cast<std::size_t>(available < remaining_ ? available : remaining_);
    remaining_ -= part;
    if (remaining_ == 0) phase_ = Phase::kChunkCr;
    sink.on_body(std::string_view(at, part));
    at += part;
    return true;
  }

  bool read_chunk_end(const char*& at, const char* end, char wanted, Phase next) {
    if (at == end) return false;
    if (*at != wanted) return fail(Http1Error::kBadChunkEnd);
    ++at;
    phase_ = next;
    return true;
  }
};

}  // namespace muster::protocol
