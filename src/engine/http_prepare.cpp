#include "engine/http_prepare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/escapes.h"
#include "base/letter_case.h"
#include "base/random.h"
#include "engine/http_body.h"

namespace muster::engine {
namespace {

using authoring::Escape;
using authoring::TextTemplate;

// The first '?' that is not inside a hole.
std::size_t query_start(std::string_view url) {
  int depth = 0;
  for (std::size_t i = 0; i < url.size(); ++i) {
    if (url.substr(i).starts_with("${")) ++depth;
    if (depth > 0 && url[i] == '}') --depth;
    if (depth == 0 && url[i] == '?') return i;
  }
  return url.size();
}

class Preparation {
 public:
  Preparation(const model::Step& step, PrepareContext& context)
      : step_(step), context_(context), made_(std::make_unique<PreparedHttp>()) {}

  base::Expected<std::unique_ptr<PreparedCall>> run() {
    auto settings = http_settings(context_.target);
    if (!settings) return std::unexpected(settings.error());
    made_->settings = std::move(*settings);
    read_scalars();
    for (auto part : {&Preparation::address, &Preparation::family, &Preparation::query, &Preparation::headers,
                      &Preparation::body}) {
      if (auto done = (this->*part)(); !done) return std::unexpected(done.error());
    }
    finish_headers();
    fold();
    return std::move(made_);
  }

 private:
  using Done = base::Expected<void>;

  void read_scalars();
  Done address();
  Done family();
  Done query();
  Done headers();
  Done header(const std::string& name, const std::string& text);
  Done auth(const model::Tree* tree);
  Done body();
  void finish_headers();
  void fold();
  Done add(Pieces& pieces, const std::string& text, Escape escape,
           authoring::Literals literals = authoring::Literals::kAsWritten) {
    auto compiled = TextTemplate::compile(text, context_.scope, escape, literals);
    if (!compiled) return base::fail(fmt::format("'{}': {}", base::one_line(text), compiled.error().message));
    if (compiled->constant()) {
      std::string rendered;
      if (auto done = compiled->render(authoring::Evaluation{}, rendered); !done) return done;
      pieces.literal(rendered);
    } else {
      pieces.hole(std::move(*compiled));
    }
    return {};
  }
  const model::Tree* target_option(std::string_view name) const {
    if (context_.target == nullptr) return nullptr;
    for (const auto& [key, tree] : context_.target->options) {
      if (key == name) return &tree;
    }
    return nullptr;
  }
  bool has_header(std::string_view name) const {
    return std::any_of(names_.begin(), names_.end(),
                       [&](const std::string& each) { return base::equal_ignoring_case(each, name); });
  }

  const model::Step& step_;
  PrepareContext& context_;
  std::unique_ptr<PreparedHttp> made_;
  std::vector<std::string> names_;  // of headers given so far
  std::string content_type_;
};

void Preparation::read_scalars() {
  const model::Tree* method = step_.field("method");
  made_->method = method != nullptr && method->text() != nullptr ? base::upper(*method->text()) : "GET";
  made_->head_request = made_->method == "HEAD";
  for (std::string_view safe : {"GET", "HEAD", "OPTIONS", "PUT", "DELETE"}) {
    if (made_->method == safe) made_->idempotent = true;
  }
  if (const model::Tree* expect = step_.field("expect"); expect != nullptr && expect->list() != nullptr) {
    for (const model::Tree& range : *expect->list()) {
      const model::TreeList* bounds = range.list();
      if (bounds == nullptr || bounds->size() != 2) continue;
      made_->expect.emplace_back(static_cast<int>(*(*bounds)[0].integer()), static_cast<int>(*(*bounds)[1].integer()));
    }
  }
  if (made_->expect.empty()) made_->expect.emplace_back(200, 399);
  const model::Tree* timeout = step_.field("timeout");
  made_->timeout = timeout != nullptr && timeout->integer() != nullptr ? base::Duration(*timeout->integer())
                                                                       : std::chrono::seconds(30);
  const model::Tree* redirects = step_.field("redirects");
  made_->redirects =
      redirects != nullptr && redirects->integer() != nullptr ? static_cast<int>(*redirects->integer()) : 10;
}

Preparation::Done Preparation::address() {
  const model::Tree* field = step_.field("url");
  std::string url = field != nullptr && field->text() != nullptr ? *field->text() : "/";
  const std::string scheme = base::lower(std::string_view(url).substr(0, 8));  // RFC 3986 section 3.1: in any case
  const bool absolute = scheme.starts_with("http://") || scheme == "https://";
  if (!absolute && url.starts_with("${")) {
    // The hole may give a path or a whole address; which one is known only when it is filled.
    made_->static_origin = false;
    if (context_.target != nullptr) {
      if (auto page = protocol::parse_url(context_.target->address)) made_->url = std::move(*page);
    }
    return add(made_->whole_url, url, Escape::kNone);
  }
  if (!absolute) {
    if (context_.target == nullptr) {
      return base::fail(fmt::format("'{}' has no host: give the job a `target:` or write the whole address", url));
    }
    std::string_view base_address = context_.target->address;
    const bool query_alone = url.starts_with('?');  // RFC 3986 section 5.3: the path stays as it is
    if (!query_alone && base_address.ends_with('/')) base_address.remove_suffix(1);
    url = fmt::format("{}{}{}", base_address, query_alone || url.starts_with('/') ? "" : "/", url);
  }
  const std::size_t authority = url.find("//") + 2;
  const std::size_t path = std::min(url.find_first_of("/?#", authority), url.size());
  const std::size_t hole = url.find("${");
  if (hole != std::string::npos && hole < path) {
    made_->static_origin = false;
    return add(made_->whole_url, url, Escape::kNone);
  }
  if (hole == std::string::npos) {
    auto parsed = protocol::parse_url(url);
    if (!parsed) return std::unexpected(parsed.error());
    made_->url = std::move(*parsed);
    made_->target.literal(made_->url.target);
    return {};
  }
  auto origin = protocol::parse_url(url.substr(0, path));
  if (!origin) return std::unexpected(origin.error());
  made_->url = std::move(*origin);
  std::string rest = url.substr(path);
  if (const std::size_t fragment = rest.find('#'); fragment != std::string::npos) rest.resize(fragment);
  const std::size_t mark = query_start(rest);
  if (!rest.starts_with('/')) made_->target.literal("/");
  constexpr auto kRepaired = authoring::Literals::kRepaired;
  if (auto done = add(made_->target, rest.substr(0, mark), Escape::kPath, kRepaired); !done) return done;
  return mark < rest.size() ? add(made_->target, rest.substr(mark), Escape::kQuery, kRepaired) : Done{};
}

// What `hosts` gives in its place was looked at with the target.
Preparation::Done Preparation::family() {
  const auto& hosts = made_->settings->hosts;
  const bool elsewhere = std::ranges::any_of(
      hosts, [&](const model::HostOverride& each) { return base::equal_ignoring_case(each.name, made_->url.host); });
  if (!made_->static_origin || elsewhere) return {};
  return reactor::check_family(made_->url.host, made_->settings->family);
}

Preparation::Done Preparation::query() {
  const model::Tree* field = step_.field("query");
  if (field == nullptr || field->map() == nullptr) return {};
  Pieces& into = made_->static_origin ? made_->target : made_->whole_url;
  const model::Tree* url = step_.field("url");
  const std::string written = url != nullptr && url->text() != nullptr ? *url->text() : "";
  const bool marked = query_start(written) < written.size();
  std::string_view before = !marked ? "?" : written.ends_with('?') || written.ends_with('&') ? "" : "&";
  for (const auto& [name, value] : *field->map()) {
    for (const std::string& text : repeated_texts(value)) {
      into.literal(std::exchange(before, "&"));
      into.literal(protocol::encode_query(name));
      into.literal("=");
      if (text.find("${") == std::string::npos) {
        into.literal(protocol::encode_query(text));
      } else if (auto done = add(into, text, Escape::kQuery, authoring::Literals::kEscaped); !done) {
        return done;
      }
    }
  }
  return {};
}

Preparation::Done Preparation::header(const std::string& name, const std::string& text) {
  if (name.empty() || name.find_first_of(" :\r\n\t") != std::string::npos) {
    return base::fail(fmt::format("'{}' is not a header name", name));
  }
  if (text.find_first_of("\r\n") != std::string::npos) {
    return base::fail(fmt::format("the value of header '{}' must not contain line breaks", name));
  }
  made_->headers.literal(text.empty() ? name + ":" : name + ": ");
  if (auto done = add(made_->headers, text, Escape::kHeader); !done) return done;
  made_->headers.literal("\r\n");
  return {};
}

Preparation::Done Preparation::headers() {
  const std::array<const model::Tree*, 2> given{step_.field("headers"), target_option("headers")};
  const auto authorizes = [](const model::Tree* tree) {
    return tree != nullptr && tree->map() != nullptr && std::ranges::any_of(*tree->map(), [](const auto& each) {
             return base::equal_ignoring_case(each.first, "authorization");
           });
  };
  if (std::ranges::none_of(given, authorizes)) {
    const model::Tree* own = step_.field("auth");
    if (auto done = auth(own != nullptr ? own : target_option("auth")); !done) return done;
  }
  const bool multipart = step_.field("multipart") != nullptr;
  for (const model::Tree* tree : given) {
    if (tree == nullptr || tree->map() == nullptr) continue;
    for (const auto& [name, value] : *tree->map()) {
      if (has_header(name)) continue;  // the step's own come first and win
      // A boundary that the target gives is not that of these parts.
      const bool type = multipart && tree != given[0] && base::equal_ignoring_case(name, "content-type");
      if (type && !value.null()) continue;
      names_.push_back(name);
      if (value.null()) continue;  // named so that it is not sent
      // Where clients put it; a request without a body has nothing to wait with (RFC 9110 section 10.1.1).
      if (base::equal_ignoring_case(name, "expect") && value.text() != nullptr && *value.text() == "100-continue") {
        made_->expects_continue = true;
        continue;
      }
      for (const std::string& text : repeated_texts(value)) {
        if (auto done = header(name, text); !done) return done;
      }
    }
  }
  return {};
}

Preparation::Done Preparation::auth(const model::Tree* tree) {
  if (tree == nullptr) {
    if (made_->url.userinfo.empty()) return {};
    made_->headers.literal("Authorization: Basic " + base64(protocol::percent_decode(made_->url.userinfo)) + "\r\n");
    return {};
  }
  const model::Tree* basic = tree->find("basic");
  const model::Tree* bearer = tree->find("bearer");
  if ((basic == nullptr) == (bearer == nullptr)) {
    return base::fail("`auth` takes either { basic: \"user:password\" } or { bearer: token }");
  }
  const model::Tree& chosen = basic != nullptr ? *basic : *bearer;
  const std::string text = chosen.text() != nullptr ? *chosen.text() : "";
  made_->headers.literal(basic != nullptr ? "Authorization: Basic " : "Authorization: Bearer ");
  if (bearer != nullptr) {
    if (auto done = add(made_->headers, text, Escape::kHeader); !done) return done;
  } else if (text.find("${") == std::string::npos) {
    made_->headers.literal(base64(text));
  } else if (auto done = add(made_->headers, "${base64(" + concatenation(text) + ")}", Escape::kHeader); !done) {
    return done;
  }
  made_->headers.literal("\r\n");
  return {};
}

Preparation::Done Preparation::body() {
  auto built = http_body(step_, context_.scope, context_.seed);
  if (!built) return std::unexpected(built.error());
  made_->body = std::move(built->pieces);
  made_->has_body = built->present;
  content_type_ = built->content_type;
  const model::Tree* type = step_.field("type");
  if (type == nullptr || type->text() == nullptr) return {};
  if (content_type_.empty()) return add(made_->type, *type->text(), Escape::kHeader);
  return base::fail("`type` is for `body` and `file`; the other bodies have a type of their own");
}

void Preparation::finish_headers() {
  made_->own_host = has_header("host");
  made_->own_length = has_header("content-length");
  made_->type.literal(content_type_);
  if (has_header("content-type")) made_->type = Pieces();
  const model::Tree* compressed = step_.field("compressed");
  if (compressed != nullptr && compressed->boolean() != nullptr && *compressed->boolean() &&
      !has_header("accept-encoding")) {
    made_->headers.literal("Accept-Encoding: gzip, deflate\r\n");
  }
  if (!has_header("user-agent")) made_->headers.literal("User-Agent: muster/" MUSTER_VERSION "\r\n");
  if (!has_header("accept")) made_->headers.literal("Accept: */*\r\n");
  if (made_->settings->connections == ConnectionPolicy::kNone && !has_header("connection")) {
    made_->headers.literal("Connection: close\r\n");
  }
}

void Preparation::fold() {
  made_->constant = made_->static_origin && made_->target.constant() && made_->headers.constant() &&
                    made_->type.constant() && made_->body.constant();
  if (!made_->constant) return;
  protocol::Url unused;
  // Constant texts read no slot, so that an empty evaluation serves.
  if (!made_->render(authoring::Evaluation{}, made_->bytes, made_->head_size, unused)) made_->constant = false;
}

}  // namespace

void Pieces::literal(std::string_view text) {
  if (text.empty()) return;
  if (parts_.empty() || parts_.back().kind != Kind::kLiteral) parts_.emplace_back();
  parts_.back().literal += text;
}

void Pieces::append(Pieces&& others) {
  for (Part& part : others.parts_) {
    if (part.kind == Kind::kLiteral) {
      literal(part.literal);
    } else {
      parts_.push_back(std::move(part));
    }
  }
  others.parts_.clear();
}

bool Pieces::has_literal(std::string_view text) const {
  return std::ranges::any_of(parts_, [&](const Part& part) {
    if (part.kind == Kind::kLiteral) return part.literal.contains(text);
    std::vector<authoring::TextPiece> inside;
    part.hole->append_to(inside);
    return std::ranges::any_of(inside, [&](const authoring::TextPiece& piece) { return piece.text.contains(text); });
  });
}

void Pieces::hole(TextTemplate text) {
  parts_.push_back({.kind = Kind::kText, .literal = {}, .hole = std::make_unique<TextTemplate>(std::move(text))});
}

void Pieces::json_hole(TextTemplate value) {
  parts_.push_back({.kind = Kind::kJson, .literal = {}, .hole = std::make_unique<TextTemplate>(std::move(value))});
}

base::Expected<void> Pieces::render(const authoring::Evaluation& evaluation, std::string& out) const {
  for (const Part& part : parts_) {
    switch (part.kind) {
      case Kind::kLiteral:
        out += part.literal;
        break;
      case Kind::kText:
        if (auto done = part.hole->render(evaluation, out); !done) return done;
        break;
      case Kind::kJson: {
        const auto value = part.hole->value(evaluation);
        if (!value) return std::unexpected(value.error());
        authoring::append_json(out, *value);
        break;
      }
    }
  }
  return {};
}

base::Expected<void> PreparedHttp::render(const authoring::Evaluation& evaluation, std::string& out, std::size_t& head,
                                          protocol::Url& address) const {
  out.clear();
  out += method;
  out += ' ';
  if (static_origin) {
    if (auto done = target.render(evaluation, out); !done) return done;
  } else {
    std::string text;
    if (auto done = whole_url.render(evaluation, text); !done) return done;
    auto parsed = url.host.empty() ? protocol::parse_url(text) : protocol::resolve(url, text);
    if (!parsed) return std::unexpected(parsed.error());
    address = std::move(*parsed);
    out += address.target;
  }
  out += " HTTP/1.1\r\n";
  if (!own_host) {
    out += "Host: ";
    out += static_origin ? url.authority() : address.authority();
    out += "\r\n";
  }
  if (auto done = headers.render(evaluation, out); !done) return done;
  const std::size_t length_at = out.size();
  if (!has_body || own_length) {
    if (!own_length && expects_body()) out += "Content-Length: 0\r\n";
    if (auto done = has_body ? render_type(evaluation, out) : base::Expected<void>{}; !done) return done;
    head = out.size();
    out += "\r\n";
    return has_body ? body.render(evaluation, out) : base::Expected<void>{};
  }
  // The body goes behind a gap that is then filled with its length, so that it is rendered in place.
  constexpr std::string_view kGap = "Content-Length:                     \r\n";
  out += kGap;
  if (auto done = render_type(evaluation, out); !done) return done;
  out += "\r\n";
  const std::size_t body_at = out.size();
  if (auto done = body.render(evaluation, out); !done) return done;
  const std::string digits = fmt::to_string(out.size() - body_at);
  std::copy(digits.begin(), digits.end(), out.begin() + static_cast<std::ptrdiff_t>(length_at + 16));
  const std::size_t used = 16 + digits.size();
  const std::size_t unused = kGap.size() - 2 - used;
  out.erase(length_at + used, unused);
  head = body_at - unused - 2;
  return {};
}

base::Expected<void> PreparedHttp::render_type(const authoring::Evaluation& evaluation, std::string& out) const {
  if (!type.empty()) {
    out += "Content-Type: ";
    if (auto done = type.render(evaluation, out); !done) return done;
    out += "\r\n";
  }
  if (expects_continue) out += kExpectLine;
  return {};
}

base::Expected<std::unique_ptr<PreparedCall>> prepare_http(const model::Step& step, PrepareContext& context) {
  return Preparation(step, context).run();
}

}  // namespace muster::engine
