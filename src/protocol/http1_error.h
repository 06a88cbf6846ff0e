// What can be wrong with an HTTP/1 message, as a value and as a sentence for the person who reads the report.
#pragma once

#include <cstdint>
#include <string_view>

namespace muster::protocol {

enum class Http1Error : std::uint8_t {
  kNone,
  kBadStatusLine,
  kBadRequestLine,
  kBadVersion,
  kBadHeaderName,
  kSpaceBeforeColon,
  kBadHeaderValue,
  kObsoleteFold,
  kBareLineFeed,
  kLineTooLong,
  kTooManyHeaders,
  kHeadersTooLarge,
  kTooManyTrailers,
  kTooManyInterim,
  kBadContentLength,
  kConflictingContentLength,
  kBadTransferEncoding,
  kUnsupportedTransferCoding,
  kLengthAndTransferEncoding,
  kMissingHost,
  kDuplicateHost,
  kBadChunkSize,
  kBadChunkExtension,
  kChunkExtensionsTooLarge,
  kBadChunkEnd,
  kBodyTooLarge,
  kClosedBeforeMessage,  // the peer closed before the first byte: on a reused connection the request may be sent again
  kTruncated,
};

// One sentence: what was expected and what was found; static storage.
std::string_view describe(Http1Error error);

}  // namespace muster::protocol
