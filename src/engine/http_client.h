// The HTTP/1.1 client of one core: where requests go, which connection carries them, what happens on a redirect.
// Single-threaded; owns the connections of all VUs of its core.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "authoring/json_document.h"
#include "engine/http_prepare.h"
#include "engine/http_response.h"
#include "engine/protocol.h"
#include "engine/vu.h"
#include "protocol/content_coding.h"
#include "protocol/url.h"
#include "reactor/loop.h"
#include "reactor/mailbox.h"
#include "reactor/tls.h"

namespace muster::engine {

class HttpConnection;
class Interpreter;

// A scheme, host and port with the settings of one target, as this core sees it.
struct HttpOrigin {
  std::shared_ptr<const HttpSettings> settings;
  bool secure = false;
  std::string host;  // as in the URL
  std::uint16_t url_port = 0;
  std::uint16_t port = 0;  // to connect to: that of the URL or what `hosts` says
  std::string tls_name;    // sent as SNI and verified
  std::string look_up;     // name to resolve: `host` or what `hosts` says
  std::vector<reactor::Address> addresses;
  std::string dns_error;  // why there are none
  base::Instant expires = base::kNever;
  base::Instant asked{};
  bool asking = false;
  std::size_t next_address = 0;
  reactor::TlsContext* tls = nullptr;
  std::vector<HttpConnection*> waiting;  // connections that wait for addresses
};

class HttpClient final : public Client {
 public:
  explicit HttpClient(const CoreServices& services);
  ~HttpClient() override;

  base::Expected<void> open() override;
  bool call(Call& call, Outcome& outcome) override;
  void measure(const Call& call, Outcome& outcome) const override;
  void cancel(Call& call) override;
  void iteration_ended(Vu& vu, bool drop_everything) override;

  // From now on every request of this core goes to `address`, whatever its name resolves to.
  base::Expected<void> pin(const std::string& address);

  // For connections.
  reactor::Loop& loop() { return services_.loop; }
  CallHost& host() { return services_.host; }
  bool trace() const { return services_.trace; }
  char* buffer() { return buffer_.get(); }
  HttpResponse& response() { return response_; }
  // The next source address to bind to, or null.
  const reactor::Address* next_source(const HttpOrigin& origin);
  // Resolves the origin's name in the background; connections in `waiting` are told.
  void ask_addresses(HttpOrigin& origin);
  // Sends `call` on to where its response pointed. False if that failed at once.
  bool follow(Call& call, HttpConnection& from, std::string_view location, Outcome& outcome);
  // Sends the same bytes again on a new connection.
  bool send_again(Call& call, HttpConnection& from, Outcome& outcome);
  // Returns a closed connection to the pool.
  void recycle(HttpConnection& connection);
  // Tells the interpreter; the VU may start its next call before this returns.
  void report(Call& call, Outcome& outcome);
  // Traced: bytes of an answer, kept until the call is reported.
  void hear(const Call& call, std::string_view bytes) { heard_[&call].reply += bytes; }
  // One of several answers to a call, but not the last one.
  void report_one(Call& call, Outcome& outcome) { services_.host.answered(call, outcome); }
  // Says why a status failed the step.
  void explain_status(int status, Outcome& outcome);
  void explain_redirects(int followed, Outcome& outcome);
  // Keeps what a failing connection can tell, before it is closed.
  void keep_evidence(std::string_view request, std::string_view reply, std::string detail, Outcome& outcome);

 private:
  struct Resolved {
    HttpOrigin* origin;
    base::Expected<reactor::Resolution> answer;
  };

  struct NoOrigin {
    model::ErrorClass error;
    std::string detail;
  };
  std::expected<HttpOrigin*, NoOrigin> origin_of(const protocol::Url& url,
                                                 const std::shared_ptr<const HttpSettings>& settings);
  struct Heard {
    std::string reply;  // of the exchange under way
    std::vector<Exchange> earlier;
  };

  void tell(Call& call, Outcome& outcome);
  HttpConnection& take_connection(Vu& vu, HttpOrigin& origin);
  // To the connection's own request, whose head (without the blank line) is so long.
  void add_cookies(const Vu& vu, const HttpOrigin& origin, std::size_t head, HttpConnection& connection);
  std::string redirected_request(const HttpConnection& from, const protocol::Url& to, bool same_origin);
  void resolved(Resolved&& message);
  void take_addresses(HttpOrigin& origin, base::Expected<reactor::Resolution>& answer);
  bool cannot_follow(HttpConnection& from, std::string_view location, const NoOrigin& why, Outcome& outcome);
  bool fail_at_once(Outcome& outcome, model::ErrorClass error, std::string detail);

  CoreServices services_;
  std::unique_ptr<char[]> buffer_;
  HttpResponse response_;
  std::map<std::string, std::unique_ptr<HttpOrigin>> origins_;
  std::vector<HttpOrigin*> static_origins_;                               // by CallPlan::step
  std::map<std::string, std::unique_ptr<reactor::TlsContext>> contexts_;  // by target
  reactor::Mailbox<Resolved> mailbox_;
  std::vector<std::unique_ptr<HttpConnection>> connections_;
  std::vector<HttpConnection*> pool_;
  std::size_t next_source_ = 0;
  Interpreter* interpreter_;
  std::map<const Call*, Heard> heard_;  // traced calls only
  std::string detail_;                  // of the latest failure
  std::string request_;                 // of the latest failure
  std::string reply_;                   // of the latest failure
};

}  // namespace muster::engine
