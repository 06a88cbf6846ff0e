#include "protocol/http1_error.h"

namespace muster::protocol {

std::string_view describe(Http1Error error) {
  switch (error) {
    case Http1Error::kNone:
      return "no error";
    case Http1Error::kBadStatusLine:
      return "expected a status line such as \"HTTP/1.1 200 OK\", found something else; is the peer an HTTP server?";
    case Http1Error::kBadRequestLine:
      return "expected a request line such as \"GET / HTTP/1.1\", found something else";
    case Http1Error::kBadVersion:
      return "expected HTTP/1.0 or HTTP/1.1, found another version";
    case Http1Error::kBadHeaderName:
      return "expected \"Name: value\", found a header line without a valid name and colon";
    case Http1Error::kSpaceBeforeColon:
      return "a header has white space between its name and the colon, which RFC 9112 forbids";
    case Http1Error::kBadHeaderValue:
      return "a header value holds a control character (NUL, CR or the like)";
    case Http1Error::kObsoleteFold:
      return "a header is continued on a second line, which may no longer be sent (RFC 9112)";
    case Http1Error::kBareLineFeed:
      return "a line ends with LF alone where CR LF is needed";
    case Http1Error::kLineTooLong:
      return "a start, header or chunk line is longer than the limit";
    case Http1Error::kTooManyHeaders:
      return "the message has more headers than the limit";
    case Http1Error::kHeadersTooLarge:
      return "the headers take more bytes than the limit";
    case Http1Error::kTooManyTrailers:
      return "the message has more trailers than the limit";
    case Http1Error::kTooManyInterim:
      return "more interim (1xx) responses than the limit came before the final one";
    case Http1Error::kBadContentLength:
      return "Content-Length is not a number between 0 and 2^64-1";
    case Http1Error::kConflictingContentLength:
      return "Content-Length is given more than once, with different values";
    case Http1Error::kBadTransferEncoding:
      return "Transfer-Encoding is empty, names chunked twice or does not end with chunked";
    case Http1Error::kUnsupportedTransferCoding:
      return "Transfer-Encoding names a coding other than chunked";
    case Http1Error::kLengthAndTransferEncoding:
      return "the request has both Content-Length and Transfer-Encoding, a sign of request smuggling";
    case Http1Error::kMissingHost:
      return "an HTTP/1.1 request needs a Host header, found none";
    case Http1Error::kDuplicateHost:
      return "a request needs one Host header, found several";
    case Http1Error::kBadChunkSize:
      return "expected a chunk size in hexadecimal, found something else or a number too large";
    case Http1Error::kBadChunkExtension:
      return "a chunk extension holds a control character";
    case Http1Error::kChunkExtensionsTooLarge:
      return "the chunk extensions take more bytes than the limit";
    case Http1Error::kBadChunkEnd:
      return "a chunk's data is not followed by CR LF: its size was wrong";
    case Http1Error::kBodyTooLarge:
      return "the body is larger than the limit";
    case Http1Error::kClosedBeforeMessage:
      return "the peer closed the connection before it sent anything";
    case Http1Error::kTruncated:
      return "the peer closed the connection in the middle of the message";
  }
  return "unknown error";
}

}  // namespace muster::protocol
