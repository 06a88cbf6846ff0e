// Everything about an HTTP step that is worked out before the clock starts. A fully constant request is one string of
// bytes; any other is literals with holes, filled for each request into a buffer that is reused.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "authoring/text_template.h"
#include "base/error.h"
#include "base/time.h"
#include "engine/protocol.h"
#include "model/host_override.h"
#include "model/job.h"
#include "protocol/options.h"
#include "protocol/url.h"
#include "reactor/address.h"
#include "reactor/resolver.h"
#include "reactor/tls.h"

namespace muster::engine {

enum class ConnectionPolicy : std::uint8_t { kPerVu, kPerIteration, kNone };
enum class DnsPolicy : std::uint8_t { kOnce, kTtl, kEach };

// The settings of one target, shared by its steps.
struct HttpSettings {
  std::string target;  // its name: settings of one name are the same
  ConnectionPolicy connections = ConnectionPolicy::kPerVu;
  DnsPolicy dns = DnsPolicy::kTtl;
  reactor::Family family = reactor::Family::kAny;
  base::Duration connect_timeout = std::chrono::seconds(5);
  base::Duration tls_timeout = std::chrono::seconds(5);
  reactor::TlsOptions tls;
  std::string sni;
  bool cookies = true;
  std::vector<model::HostOverride> hosts;
  std::vector<reactor::Address> sources;
  protocol::Http1Limits limits;
};

// Text made of literals and holes.
class Pieces {
 public:
  void literal(std::string_view text);
  void hole(authoring::TextTemplate text);        // appended as rendered
  void json_hole(authoring::TextTemplate value);  // a whole JSON value, with its type
  void append(Pieces&& others);

  bool empty() const { return parts_.empty(); }
  bool constant() const { return parts_.empty() || (parts_.size() == 1 && parts_[0].kind == Kind::kLiteral); }
  std::string constant_text() const { return parts_.empty() ? std::string() : parts_[0].literal; }

  bool has_literal(std::string_view text) const;  // within what is constant

  base::Expected<void> render(const authoring::Evaluation& evaluation, std::string& out) const;
  void append_to(std::vector<authoring::TextPiece>& pieces) const;

 private:
  enum class Kind : std::uint8_t { kLiteral, kText, kJson };
  struct Part {
    Kind kind = Kind::kLiteral;
    std::string literal;
    std::unique_ptr<authoring::TextTemplate> hole;
  };
  std::vector<Part> parts_;
};

// The line of a client that would wait before it sends its body.
constexpr std::string_view kExpectLine = "Expect: 100-continue\r\n";

class PreparedHttp final : public PreparedCall {
 public:
  std::shared_ptr<const HttpSettings> settings;
  std::string method;
  bool head_request = false;
  bool idempotent = false;
  std::vector<std::pair<int, int>> expect;
  base::Duration timeout{};
  int redirects = 0;

  bool static_origin = true;  // where the request goes is known before the run
  protocol::Url url;          // if so: its origin (the target is of interest only in a constant request)

  bool constant = false;
  std::string bytes;          // constant: the whole request
  std::size_t head_size = 0;  // constant: bytes up to and without the blank line

  Pieces whole_url;  // dynamic origin: the whole address
  Pieces target;     // static origin: path and query
  Pieces headers;    // header lines, each with its CRLF, but Host and Content-Length unless the step gives them
  Pieces type;       // Content-Type unless `headers` has it; its line follows Content-Length
  Pieces body;
  bool has_body = false;
  bool expects_continue = false;  // Expect: 100-continue follows those; the body does not wait for the answer
  bool own_host = false;          // `headers` has the Host line
  bool own_length = false;        // `headers` has the Content-Length line

  bool expected(int status) const {
    for (const auto& [least, most] : expect) {
      if (status >= least && status <= most) return true;
    }
    return false;
  }

  // Servers want a length even where there is no body (RFC 9110 section 8.6).
  bool expects_body() const { return method == "POST" || method == "PUT" || method == "PATCH"; }

  CallOutline outline() const override;

  // Fills the holes: the request without cookies in `out`, where it goes in `address`, if that is not static.
  base::Expected<void> render(const authoring::Evaluation& evaluation, std::string& out, std::size_t& head,
                              protocol::Url& address) const;

 private:
  // The header lines that follow Content-Length.
  base::Expected<void> render_type(const authoring::Evaluation& evaluation, std::string& out) const;
};

base::Expected<std::unique_ptr<PreparedCall>> prepare_http(const model::Step& step, PrepareContext& context);

// A target's options as settings; errors name what does not fit.
base::Expected<std::shared_ptr<const HttpSettings>> http_settings(const model::Target* target);

}  // namespace muster::engine
