// The response under judgement on one core: gives checks, saves and captures what the `http` kind promises.
#pragma once

#include <string>
#include <string_view>

#include "authoring/json_document.h"
#include "engine/protocol.h"
#include "protocol/content_coding.h"
#include "protocol/cookie_jar.h"

namespace muster::engine {

class HttpResponse final : public Response {
 public:
  // The views must stay valid until the call is reported. `headers` is "name: value\n" for each header.
  void set(int status, std::string_view headers, std::string_view body, std::uint64_t wire_size, base::Duration latency,
           const protocol::CookieJar* cookies);
  void set_coding(protocol::ContentCoding coding, std::size_t max_bytes) {
    coding_ = coding;
    max_bytes_ = max_bytes;
  }

  // As they came: every header as "name: value\n", and the body without transfer coding.
  std::string_view headers() const { return headers_; }
  std::string_view raw_body() const { return body_; }

  model::Value result(std::size_t result, const authoring::Path& rest, base::Arena& arena) override;
  std::string trouble(std::size_t result) override;
  bool garbled() const override { return broken_; }

 private:
  model::Value header(const authoring::Path& rest, base::Arena& arena) const;
  std::string_view decoded_body();

  int status_ = 0;
  std::string_view headers_;
  std::string_view body_;
  std::uint64_t wire_size_ = 0;
  base::Duration latency_{};
  const protocol::CookieJar* cookies_ = nullptr;
  protocol::ContentCoding coding_ = protocol::ContentCoding::kIdentity;
  std::size_t max_bytes_ = 0;
  bool decoded_ = false;
  bool broken_ = false;  // its coding is not what it says, or it is too long
  bool parsed_ = false;
  bool is_json_ = false;
  std::string decoded_text_;
  std::string trouble_;  // of a broken one
  protocol::ContentDecoder decoder_;
  authoring::JsonDocument document_;
};

}  // namespace muster::engine
