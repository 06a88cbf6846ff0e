#include "engine/http_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/letter_case.h"
#include "base/wall_clock.h"
#include "engine/http_connection.h"
#include "engine/interpreter.h"
#include "engine/options.h"
#include "protocol/credentials.h"

namespace muster::engine {
namespace {

using model::ErrorClass;

const PreparedHttp& prepared_of(const Call& call) {
  return static_cast<const PreparedHttp&>(*call.plan->prepared);
}

}  // namespace

HttpClient::HttpClient(const CoreServices& services)
    : services_(services),
      buffer_(std::make_unique_for_overwrite<char[]>(kReceiveBytes)),
      interpreter_(dynamic_cast<Interpreter*>(&services.host)) {}

HttpClient::~HttpClient() {
  mailbox_.close();
}

base::Expected<void> HttpClient::open() {
  auto opened = mailbox_.open(
      services_.loop,
      [](void* self, Resolved&& message) { static_cast<HttpClient*>(self)->resolved(std::move(message)); }, this);
  if (!opened) return opened;
  static_origins_.resize(services_.program.steps.size());
  for (const CallPlan& plan : services_.program.calls) {
    if (!plan.http) continue;
    const auto& prepared = static_cast<const PreparedHttp&>(*plan.prepared);
    if (!prepared.static_origin) continue;
    const auto found = origin_of(prepared.url, prepared.settings);
    if (!found) return base::fail(found.error().detail);
    HttpOrigin* origin = *found;
    static_origins_[plan.step] = origin;
    if (origin->asked != base::Instant{} || prepared.settings->dns == DnsPolicy::kEach) continue;
    auto answer = reactor::resolve(origin->look_up, prepared.settings->family, kResolveTimeout);
    take_addresses(*origin, answer);
  }
  return {};
}

std::expected<HttpOrigin*, HttpClient::NoOrigin> HttpClient::origin_of(
    const protocol::Url& url, const std::shared_ptr<const HttpSettings>& settings) {
  const std::string key = fmt::format("{} {} {} {}", url.scheme, url.host, url.port, settings->target);
  if (const auto known = origins_.find(key); known != origins_.end()) return known->second.get();
  if (origins_.size() >= kMaxOrigins) {
    return std::unexpected(NoOrigin{ErrorClass::kResource,
                                    fmt::format("{}:{} would be the {}th address on this core; more are not taken up",
                                                url.host, url.port, kMaxOrigins + 1)});
  }
  auto made = std::make_unique<HttpOrigin>();
  made->settings = settings;
  made->secure = url.secure();
  made->host = url.host;
  made->url_port = made->port = url.port;
  made->look_up = url.host;
  made->tls_name = settings->sni.empty() ? url.host : settings->sni;
  for (const model::HostOverride& each : settings->hosts) {
    if (!base::equal_ignoring_case(each.name, url.host)) continue;
    made->look_up = each.look_up;
    if (each.port != 0) made->port = each.port;
  }
  if (made->secure) {
    std::unique_ptr<reactor::TlsContext>& context = contexts_[settings->target];
    if (context == nullptr) {
      auto created = reactor::TlsContext::client(settings->tls);
      if (!created) return std::unexpected(NoOrigin{ErrorClass::kTls, std::move(created.error().message)});
      context = std::move(*created);
    }
    made->tls = context.get();
  }
  return origins_.emplace(key, std::move(made)).first->second.get();
}

base::Expected<void> HttpClient::pin(const std::string& address) {
  const auto instead = model::parse_host_override(address);
  if (!instead) return std::unexpected(instead.error());
  for (HttpOrigin* origin : static_origins_) {
    if (origin == nullptr) continue;
    origin->look_up = instead->look_up;
    if (instead->port != 0) origin->port = instead->port;
    auto answer = reactor::resolve(origin->look_up, origin->settings->family, kResolveTimeout);
    if (!answer) return std::unexpected(answer.error());
    origin->addresses.clear();
    take_addresses(*origin, answer);
    origin->expires = base::kNever;
  }
  return {};
}

void HttpClient::take_addresses(HttpOrigin& origin, base::Expected<reactor::Resolution>& answer) {
  origin.asking = false;
  origin.asked = services_.loop.refresh();
  if (!answer) {
    // A refresh that fails does not take away addresses that worked.
    if (origin.addresses.empty()) origin.dns_error = answer.error().message;
    origin.expires = origin.asked + std::chrono::seconds(5);
    return;
  }
  origin.addresses = std::move(answer->addresses);
  for (reactor::Address& address : origin.addresses) address.set_port(origin.port);
  origin.expires = answer->ttl == base::Duration::max() ? base::kNever : origin.asked + answer->ttl;
  // Cores begin at different addresses, so that a small run uses all of them too.
  origin.next_address = services_.core;
}

void HttpClient::ask_addresses(HttpOrigin& origin) {
  if (origin.asking) return;
  origin.asking = true;
  services_.resolver.ask(origin.look_up, origin.settings->family, kResolveTimeout,
                         [this, &origin](base::Expected<reactor::Resolution> answer) {
                           mailbox_.push(Resolved{&origin, std::move(answer)});
                         });
}

void HttpClient::resolved(Resolved&& message) {
  take_addresses(*message.origin, message.answer);
  std::vector<HttpConnection*> waiting;
  waiting.swap(message.origin->waiting);
  for (HttpConnection* connection : waiting) connection->resolved();
}

const reactor::Address* HttpClient::next_source(const HttpOrigin& origin) {
  const auto& sources = origin.settings->sources;
  if (sources.empty()) return nullptr;
  return &sources[(services_.core + services_.cores * next_source_++) % sources.size()];
}

HttpConnection& HttpClient::take_connection(Vu& vu, HttpOrigin& origin) {
  for (HttpConnection* each = vu.http.connections; each != nullptr; each = each->next()) {
    if (each->idle() && each->origin() == &origin) return *each;
  }
  if (pool_.empty()) pool_.push_back(connections_.emplace_back(std::make_unique<HttpConnection>(*this)).get());
  HttpConnection& connection = *pool_.back();
  pool_.pop_back();
  connection.attach(vu, origin);
  return connection;
}

void HttpClient::recycle(HttpConnection& connection) {
  pool_.push_back(&connection);
}

bool HttpClient::fail_at_once(Outcome& outcome, ErrorClass error, std::string detail) {
  detail_ = std::move(detail);
  outcome.ok = false;
  outcome.error = error;
  outcome.detail = detail_;
  outcome.finished = loop().now();
  return false;
}

bool HttpClient::call(Call& call, Outcome& outcome) {
  const PreparedHttp& prepared = prepared_of(call);
  Vu& vu = *call.vu;
  if (!call.bytes.empty()) [[unlikely]] {
    HttpConnection& connection = take_connection(vu, *static_origins_[call.plan->step]);
    connection.own_request() = call.bytes;
    return connection.send(call, connection.own_request(), outcome);
  }
  if (prepared.constant && vu.http.cookies.empty()) [[likely]] {
    return take_connection(vu, *static_origins_[call.plan->step]).send(call, prepared.bytes, outcome);
  }
  std::string text;
  std::size_t head = prepared.head_size;
  HttpOrigin* origin = prepared.static_origin ? static_origins_[call.plan->step] : nullptr;
  if (prepared.constant) {
    HttpConnection& connection = take_connection(vu, *origin);
    connection.own_request() = prepared.bytes;
    add_cookies(vu, *origin, head, connection);
    return connection.send(call, connection.own_request(), outcome);
  }
  if (prepared.static_origin) {
    HttpConnection& connection = take_connection(vu, *origin);
    protocol::Url unused;
    auto done = prepared.render(services_.host.evaluation(vu), connection.own_request(), head, unused);
    if (!done) {
      if (!connection.idle()) connection.close();
      return fail_at_once(outcome, ErrorClass::kValue, std::move(done.error().message));
    }
    add_cookies(vu, *origin, head, connection);
    return connection.send(call, connection.own_request(), outcome);
  }
  protocol::Url address;
  if (auto done = prepared.render(services_.host.evaluation(vu), text, head, address); !done) {
    return fail_at_once(outcome, ErrorClass::kValue, std::move(done.error().message));
  }
  auto found = origin_of(address, prepared.settings);
  if (!found) return fail_at_once(outcome, found.error().error, std::move(found.error().detail));
  HttpConnection& connection = take_connection(vu, **found);
  connection.own_request() = std::move(text);
  add_cookies(vu, **found, head, connection);
  return connection.send(call, connection.own_request(), outcome);
}

void HttpClient::add_cookies(const Vu& vu, const HttpOrigin& origin, std::size_t head, HttpConnection& connection) {
  connection.set_jar_cookie_bytes(0);
  if (vu.http.cookies.empty() || !origin.settings->cookies) return;
  std::string& request = connection.own_request();
  const std::size_t begin = request.find(' ') + 1;
  const std::string_view target = std::string_view(request).substr(begin, request.find(' ', begin) - begin);
  std::string pairs;
  if (!vu.http.cookies.append_header(pairs, origin.host, target.substr(0, target.find('?')), origin.secure,
                                     base::wall_seconds())) {
    return;
  }
  // There is at most one such line (RFC 6265, section 5.4): the step's own is made longer.
  constexpr std::string_view kLine = "\r\ncookie:";
  const auto same = [](char a, char b) { return a == b || (a | 0x20) == b; };
  const auto end = request.begin() + static_cast<std::ptrdiff_t>(head);
  const auto own = std::search(request.begin(), end, kLine.begin(), kLine.end(), same);
  if (own != end) {
    const auto line = static_cast<std::size_t>(own - request.begin());
    const std::size_t line_end = request.find("\r\n", line + 2);
    const std::size_t last = request.find_last_not_of(' ', line_end - 1);
    if (last >= line + kLine.size()) {
      pairs.insert(0, "; ");
    } else if (request[line_end - 1] != ' ') {  // there is nothing in it
      pairs.insert(0, " ");
    }
    request.insert(line_end, pairs);
  } else {
    request.insert(head, "Cookie: " + pairs + "\r\n");
  }
  connection.set_jar_cookie_bytes(pairs.size());
}

std::string HttpClient::redirected_request(const HttpConnection& from, const protocol::Url& to, bool same_origin) {
  const std::string_view original = from.request();
  const std::size_t head_end = original.find("\r\n\r\n");
  const std::string_view method = original.substr(0, original.find(' '));
  const int status = from.status();
  // RFC 9110 section 15.4: 303 turns into GET, and so do 301 and 302 for POST, by custom.
  const bool to_get = (status == 303 && method != "HEAD") || ((status == 301 || status == 302) && method == "POST");
  std::string made = fmt::format("{} {} HTTP/1.1\r\n", to_get ? "GET" : method, to.target);
  // A name that the step gave the server is the server's own: it stays while that does.
  if (!same_origin) made.append("Host: ").append(to.authority()).append("\r\n");
  std::size_t jar_cookie_bytes = from.jar_cookie_bytes();
  std::string_view lines = original.substr(0, head_end);
  lines.remove_prefix(std::min(lines.find("\r\n") + 2, lines.size()));
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find("\r\n"), lines.size());
    std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 2, lines.size()));
    const std::string name = base::lower(line.substr(0, line.find(':')));
    if (to_get && (name.starts_with("content-") || name == "transfer-encoding" || name == "expect")) continue;
    if (!same_origin &&
        (name == "host" || name == "authorization" || name == "proxy-authorization" || name == "cookie"))
      continue;
    if (name == "cookie") {
      // What came from the jar stands at the end of the first such line, and is looked up anew.
      line.remove_suffix(std::min(std::exchange(jar_cookie_bytes, 0), line.size()));
      if (line.size() <= name.size() + 2) continue;
    }
    made.append(line).append("\r\n");
  }
  made += "\r\n";
  if (!to_get) made += original.substr(head_end + 4);
  return made;
}

bool HttpClient::cannot_follow(HttpConnection& from, std::string_view location, const NoOrigin& why, Outcome& outcome) {
  from.measure(outcome);
  keep_evidence(from.request(), from.evidence(),
                fmt::format("cannot follow the redirect to '{}': {}", protocol::without_credentials(location),
                            protocol::without_credentials_of_addresses(why.detail)),
                outcome);
  outcome.ok = false;
  outcome.error = why.error;
  from.let_go();
  return false;
}

bool HttpClient::follow(Call& call, HttpConnection& from, std::string_view location, Outcome& outcome) {
  const HttpOrigin& here = *from.origin();
  protocol::Url page;
  page.scheme = here.secure ? "https" : "http";
  page.host = here.host;
  page.port = here.url_port;
  page.target = from.request_target();
  auto next = protocol::resolve(page, location);
  if (!next) return cannot_follow(from, location, {ErrorClass::kProtocol, next.error().message}, outcome);
  const auto found = origin_of(*next, here.settings);
  if (!found) return cannot_follow(from, location, found.error(), outcome);
  HttpOrigin* origin = *found;
  if (trace()) heard_[&call].earlier.push_back({std::string(from.request()), std::move(heard_[&call].reply)});
  std::string request = redirected_request(from, *next, origin == &here);
  HttpConnection::SoFar so_far = from.so_far();
  ++so_far.redirects;
  from.let_go();
  HttpConnection& connection = take_connection(*call.vu, *origin);  // perhaps the same
  connection.go_on_from(so_far);
  connection.own_request() = std::move(request);
  add_cookies(*call.vu, *origin, connection.own_request().find("\r\n\r\n") + 2, connection);
  return connection.send(call, connection.own_request(), outcome);
}

bool HttpClient::send_again(Call& call, HttpConnection& from, Outcome& outcome) {
  services_.host.sent_again(call);
  auto& origin = const_cast<HttpOrigin&>(*from.origin());
  const PreparedHttp& prepared = prepared_of(call);
  const bool constant = from.request().data() == prepared.bytes.data();
  std::string copy = constant ? std::string() : std::string(from.request());
  const HttpConnection::SoFar so_far = from.so_far();
  const std::size_t jar_cookie_bytes = from.jar_cookie_bytes();
  from.close();
  HttpConnection& fresh = take_connection(*call.vu, origin);
  fresh.go_on_from(so_far);
  if (constant) return fresh.send(call, prepared.bytes, outcome);
  fresh.own_request() = std::move(copy);
  fresh.set_jar_cookie_bytes(jar_cookie_bytes);
  return fresh.send(call, fresh.own_request(), outcome);
}

void HttpClient::measure(const Call& call, Outcome& outcome) const {
  const auto& connection = *static_cast<const HttpConnection*>(call.transport);
  connection.measure(outcome);
  outcome.request = connection.request();
  if (const auto heard = heard_.find(&call); heard != heard_.end()) {
    outcome.reply = heard->second.reply;
    outcome.earlier = &heard->second.earlier;
  }
}

void HttpClient::cancel(Call& call) {
  heard_.erase(&call);
  static_cast<HttpConnection*>(call.transport)->close();
}

void HttpClient::iteration_ended(Vu& vu, bool drop_everything) {
  HttpConnection* each = vu.http.connections;
  while (each != nullptr) {
    HttpConnection* next = each->next();
    if (drop_everything || each->origin()->settings->connections == ConnectionPolicy::kPerIteration) each->close();
    each = next;
  }
  if (drop_everything) vu.http.cookies.clear();
}

void HttpClient::report(Call& call, Outcome& outcome) {
  if (trace()) [[unlikely]] {
    // The call may begin anew before finished() returns.
    auto heard = heard_.extract(&call);
    if (!heard.empty()) {
      outcome.reply = heard.mapped().reply;
      outcome.earlier = &heard.mapped().earlier;
    }
    return tell(call, outcome);
  }
  tell(call, outcome);
}

void HttpClient::tell(Call& call, Outcome& outcome) {
  if (interpreter_ != nullptr) {
    interpreter_->finished(call, outcome);
  } else {
    services_.host.finished(call, outcome);
  }
}

void HttpClient::explain_status(int status, Outcome& outcome) {
  detail_ = fmt::format("status {} is not among those expected", status);
  outcome.detail = detail_;
}

void HttpClient::explain_redirects(int followed, Outcome& outcome) {
  detail_ = fmt::format("it still redirects after {} redirects; `redirects` says how many are followed", followed);
  outcome.detail = detail_;
}

void HttpClient::keep_evidence(std::string_view request, std::string_view reply, std::string detail, Outcome& outcome) {
  detail_ = std::move(detail);
  request_ = request;
  reply_ = reply;
  outcome.detail = detail_;
  outcome.request = request_;
  outcome.reply = reply_;
}

namespace {

class HttpProtocol final : public Protocol {
 public:
  base::Expected<std::unique_ptr<PreparedCall>> prepare(const model::Step& step, PrepareContext& context) override {
    return prepare_http(step, context);
  }
  std::unique_ptr<Client> make_client(const CoreServices& services) override {
    return std::make_unique<HttpClient>(services);
  }
};

}  // namespace

Protocols built_in_protocols() {
  Protocols protocols;
  protocols.add("http", std::make_shared<HttpProtocol>());
  return protocols;
}

}  // namespace muster::engine
