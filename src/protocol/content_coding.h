// Undoes Content-Encoding gzip and deflate into a buffer of the caller's, never beyond a given size. One decoder serves
// one body at a time and many in turn: its memory (about 64 KiB, from the first use on) is allocated once, so one per
// core is enough where bodies are decoded whole. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "protocol/options.h"

namespace muster::protocol {

enum class ContentCoding : std::uint8_t { kIdentity, kGzip, kDeflate };

// What a Content-Encoding header names; nothing for codings that cannot be undone here and for several at once.
std::optional<ContentCoding> content_coding(std::string_view header_value);

class ContentDecoder {
 public:
  ContentDecoder();
  ContentDecoder(ContentDecoder&&) noexcept;
  ContentDecoder& operator=(ContentDecoder&&) noexcept;
  ~ContentDecoder();

  // A whole body: appends to `out` what it decodes to. After an error `out` holds what came before it.
  base::Expected<void> decode(ContentCoding coding, std::string_view body, std::string& out,
                              const ContentCodingLimits& limits = kDefaultLimits);

  // The same in parts: start(), write() for each part as it arrives, finish() after the last.
  base::Expected<void> start(ContentCoding coding);
  base::Expected<void> write(std::string_view part, std::string& out,
                             const ContentCodingLimits& limits = kDefaultLimits);
  base::Expected<void> finish();

 private:
  enum class Phase : std::uint8_t { kStart, kInside, kEnded, kPadding };

  static constexpr ContentCodingLimits kDefaultLimits{};

  base::Expected<void> prepare(int window_bits);
  base::Expected<void> inflate_part(std::string_view part, std::string& out, const ContentCodingLimits& limits);

  struct Inflater;
  std::unique_ptr<Inflater> inflater_;
  std::size_t produced_ = 0;
  ContentCoding coding_ = ContentCoding::kIdentity;
  Phase phase_ = Phase::kStart;
  char first_ = 0;  // of a deflate body, while the second byte that tells its format is awaited
  bool has_first_ = false;
};

}  // namespace muster::protocol
