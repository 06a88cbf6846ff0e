// What the types of its fields cannot say about an HTTP request or target: addresses, header names, one body, forms of
// authentication. The client that prepares requests relies on none of this; it is here so that the user hears of all
// mistakes at once and in their place.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/closest.h"
#include "base/letter_case.h"
#include "model/host_override.h"
#include "model/http_kind.h"
#include "model/job.h"
#include "protocol/http1_scan.h"
#include "protocol/url.h"

namespace muster::model {
namespace {

constexpr std::array<std::string_view, 5> kBodies{"body", "file", "json", "form", "multipart"};
constexpr std::array<std::string_view, 4> kPartKeys{"file", "text", "type", "filename"};
constexpr std::array<std::string_view, 2> kAuthKeys{"basic", "bearer"};

bool has_hole(std::string_view text) {
  return text.find("${") != std::string_view::npos;
}

bool token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char each) { return protocol::scan::is_token_byte(each); });
}

bool has_scheme(std::string_view text) {
  const std::size_t colon = text.find("://");
  return colon != std::string_view::npos && colon < text.find_first_of("/?#${");
}

// The first control character outside of holes, if there is one.
std::optional<unsigned char> control_character(std::string_view text) {
  std::size_t open = 0;  // braces of the hole
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (open > 0) {
      if (byte == '{') ++open;
      if (byte == '}') --open;
    } else if (text.substr(i).starts_with("${")) {
      open = 1;
      ++i;
    } else if (byte < 0x20 || byte == 0x7f) {
      return byte;
    }
  }
  return std::nullopt;
}

void inspect_address(const Target& target, const Inspection& inspection) {
  const std::string& address = target.address;
  if (address.empty()) return;
  constexpr std::array<std::string_view, 6> kQuotes{"“", "”", "„", "‘", "’", "«"};
  if (std::ranges::any_of(kQuotes, [&](std::string_view each) { return address.starts_with(each); })) {
    inspection.report(target.where, fmt::format("{} begins with a typographic quote, which YAML takes as part of the "
                                                "text; write \" or leave it out",
                                                address));
    return;
  }
  if (!has_scheme(address)) {
    const bool port = address.find_first_not_of("0123456789") == std::string::npos;
    inspection.report(target.where,
                      fmt::format("an address begins with http:// or https://, found '{}'; write http://{}{}", address,
                                  port ? "127.0.0.1:" : "", address));
    return;
  }
  const auto url = protocol::parse_url(address);
  if (!url) {
    inspection.report(target.where, url.error().message);
    return;
  }
  const std::size_t extra = address.find_first_of("?#");
  if (extra == std::string::npos) return;
  inspection.report(target.where,
                    fmt::format("a target is where paths begin, so it cannot end in '{}'; give a {} to "
                                "the steps",
                                address.substr(extra), address[extra] == '?' ? "query (`query:`)" : "path with '#…'"));
}

void inspect_url(const Step& step, const Inspection& inspection) {
  const Tree* tree = step.field("url");
  const std::string* url = tree == nullptr ? nullptr : tree->text();
  if (url == nullptr) return;
  if (const auto byte = control_character(*url)) {
    inspection.report(tree->where, fmt::format("the URL holds a control character (byte 0x{0:02x}), which a request "
                                               "cannot carry; write %{0:02X} to send it",
                                               *byte));
    return;
  }
  if (!has_scheme(*url)) return;
  const std::string_view scheme = std::string_view(*url).substr(0, url->find("://"));
  if (!base::equal_ignoring_case(scheme, "http") && !base::equal_ignoring_case(scheme, "https")) {
    inspection.report(
        tree->where,
        fmt::format("'{}://' is not an address that this step can call; it calls http:// and https://", scheme));
    return;
  }
  const std::size_t authority_end = std::min(url->find_first_of("/?#", scheme.size() + 3), url->size());
  const std::string_view constant = has_hole(*url) ? std::string_view(*url).substr(0, authority_end) : *url;
  if (has_hole(constant)) return;
  if (const auto parsed = protocol::parse_url(constant); !parsed) {
    inspection.report(tree->where, parsed.error().message);
  }
}

// Of two names that differ only in case, one would be sent and the other forgotten.
void inspect_repeated(const TreeMap& headers, std::size_t index, const Inspection& inspection) {
  const auto& [name, value] = headers[index];
  for (std::size_t i = 0; i < index; ++i) {
    const std::string& first = headers[i].first;
    if (!base::equal_ignoring_case(first, name)) continue;
    inspection.report(
        value.key_where.line > 0 ? value.key_where : value.where,
        fmt::format("'{0}' and '{1}' are the same header, whose name may be written in any case; keep one "
                    "of them, or send it several times by a list: `{0}: [ …, … ]`",
                    first, name));
    return;
  }
}

void inspect_headers(const Tree* tree, const Inspection& inspection) {
  if (tree == nullptr || tree->map() == nullptr) return;
  for (std::size_t i = 0; i < tree->map()->size(); ++i) {
    inspect_repeated(*tree->map(), i, inspection);
    const auto& [name, value] = (*tree->map())[i];
    if (!token(name)) {
      inspection.report(value.key_where.line > 0 ? value.key_where : value.where,
                        fmt::format("'{}' cannot be the name of a header; names are letters, digits and "
                                    "-, without spaces or colons",
                                    name));
    }
    const TreeList one{value};
    for (const Tree& each : value.list() != nullptr ? *value.list() : one) {
      const std::string* text = each.text();
      if (text == nullptr || text->find_first_of(std::string_view("\r\n\0", 3)) == std::string::npos) continue;
      inspection.report(each.where, fmt::format("the value of header '{}' holds a line break, which a header cannot "
                                                "carry; write it on one line",
                                                name));
    }
  }
}

// A header by its name, whatever its case; null if it is not among them.
const Tree* header(const Tree* headers, std::string_view wanted) {
  if (headers == nullptr || headers->map() == nullptr) return nullptr;
  for (const auto& [name, value] : *headers->map()) {
    if (base::equal_ignoring_case(name, wanted)) return &value;
  }
  return nullptr;
}

// RFC 9112 section 6.1: both lengths in one request are how requests are smuggled. Who leaves Content-Length out by
// `null` writes the chunks into the body.
void inspect_coding(const Tree* headers, const Inspection& inspection) {
  const Tree* coding = header(headers, "transfer-encoding");
  const Tree* length = header(headers, "content-length");
  if (coding == nullptr || coding->null() || (length != nullptr && length->null())) return;
  inspection.report(
      coding->where,
      "muster sends a body with its Content-Length, and a request with Transfer-Encoding as well is taken "
      "for an attempt at smuggling; leave 'Transfer-Encoding' out, or write the chunks into 'body' and give "
      "`Content-Length: null`");
}

// The boundary in the header must be the one between the parts. Who gives `null` sends none at all.
void inspect_type(const Tree* headers, const Inspection& inspection) {
  const Tree* type = header(headers, "content-type");
  if (type == nullptr || type->null()) return;
  inspection.report(type->key_where.line > 0 ? type->key_where : type->where,
                    "'multipart' sends a Content-Type of its own, with the boundary of its parts; leave the header "
                    "out, or give the whole text as 'body'");
}

// `size` is that of the body.
void inspect_length(const Tree* headers, std::size_t size, const Inspection& inspection) {
  const Tree* length = header(headers, "content-length");
  if (length == nullptr || length->null()) return;
  const TreeList one{*length};
  for (const Tree& each : length->list() != nullptr ? *length->list() : one) {
    const std::string said = each.integer() != nullptr ? fmt::to_string(*each.integer())
                                                       : (each.text() != nullptr ? *each.text() : std::string());
    if (has_hole(said) || said == fmt::to_string(size)) continue;
    inspection.report(each.where, fmt::format("Content-Length is {}, and the body has {} {}; leave the header out, and "
                                              "muster adds the right one",
                                              said, size, size == 1 ? "byte" : "bytes"));
  }
}

void inspect_auth(const Tree* tree, const Inspection& inspection) {
  if (tree == nullptr) return;
  constexpr std::string_view kForms = "'auth' is { basic: \"user:password\" } or { bearer: token }";
  const TreeMap* map = tree->map();
  if (map == nullptr || map->size() != 1) {
    inspection.report(tree->where, fmt::format("{}", kForms));
    return;
  }
  const auto& [form, value] = map->front();
  if (std::ranges::find(kAuthKeys, form) == kAuthKeys.end()) {
    inspection.report(value.where, fmt::format("'{}' is no form of authentication here{}; {}", form,
                                               base::did_you_mean(form, kAuthKeys), kForms));
    return;
  }
  const std::string* text = value.text();
  if (value.list() != nullptr || value.map() != nullptr || value.null()) {
    inspection.report(value.where, fmt::format("'{}' must be text; {}", form, kForms));
  } else if (form == "basic" && (text == nullptr || (text->find(':') == std::string::npos && !has_hole(*text)))) {
    inspection.report(value.where, "'basic' needs a user and a password with ':' between them, such as \"ada:secret\"");
  }
}

void inspect_part(const std::string& name, const Tree& value, const Inspection& inspection) {
  if (value.map() == nullptr) return;
  bool known = true;
  for (const auto& [key, part] : *value.map()) {
    if (std::ranges::find(kPartKeys, key) != kPartKeys.end()) continue;
    known = false;
    const std::string hint = base::did_you_mean(key, kPartKeys);
    inspection.report(part.where,
                      fmt::format("unknown key '{}' in part '{}'{}", key, name,
                                  hint.empty() ? "; it takes 'file' or 'text', 'type' and 'filename'" : hint));
  }
  const Tree* file = value.find("file");
  const Tree* text = value.find("text");
  if (file != nullptr && text != nullptr) {
    inspection.report(text->where, fmt::format("part '{}' has both 'file' and 'text'; keep one of them", name));
  } else if (file == nullptr ? text == nullptr : file->text() == nullptr) {
    if (known) inspection.report(value.where, fmt::format("part '{}' needs 'file', such as file: photo.jpg", name));
  } else if (file != nullptr) {
    const std::string why = inspection.file_problem(file->where, *file->text());
    if (!why.empty()) inspection.report(file->where, fmt::format("cannot read '{}': {}", *file->text(), why));
  }
}

void inspect_multipart(const Tree& tree, const Inspection& inspection) {
  if (tree.map() == nullptr) {
    inspection.report(tree.where, "'multipart' must be a map of names to texts or to { file: photo.jpg }");
    return;
  }
  for (const auto& [name, value] : *tree.map()) {
    if (value.list() == nullptr) {
      inspect_part(name, value, inspection);
      continue;
    }
    for (const Tree& each : *value.list()) inspect_part(name, each, inspection);
  }
}

void inspect_body(const Step& step, const Inspection& inspection) {
  std::vector<const TreeEntry*> given;
  for (const TreeEntry& entry : step.fields) {
    if (std::ranges::find(kBodies, entry.first) != kBodies.end()) given.push_back(&entry);
  }
  if (given.size() > 1) {
    std::ranges::sort(
        given, {}, [](const TreeEntry* each) { return std::pair(each->second.where.line, each->second.where.column); });
    inspection.report(given[1]->second.where,
                      fmt::format("a request has one body, but '{}' and '{}' both give one; keep one of them",
                                  given[0]->first, given[1]->first));
    return;
  }
  if (const Tree* parts = step.field("multipart")) inspect_multipart(*parts, inspection);
  const Tree* type = step.field("type");
  if (type == nullptr || step.field("body") != nullptr || step.field("file") != nullptr) return;
  inspection.report(type->where, "'type' is the content type of 'body' or 'file', and this step has neither");
}

void inspect_sources(const Tree* tree, const Inspection& inspection) {
  if (tree == nullptr || tree->list() == nullptr) return;
  for (const Tree& each : *tree->list()) {
    if (each.text() != nullptr && source_address(*each.text())) continue;
    inspection.report(each.where, fmt::format("'source' takes addresses of this machine such as 10.0.0.5, found '{}'",
                                              each.text() == nullptr ? "" : *each.text()));
  }
}

void inspect_hosts(const Tree* tree, const Inspection& inspection) {
  if (tree == nullptr || tree->map() == nullptr) return;
  for (const auto& [name, address] : *tree->map()) {
    if (address.text() == nullptr) continue;
    const auto instead = parse_host_override(*address.text());
    if (!instead) inspection.report(address.where, fmt::format("'hosts': for '{}' {}", name, instead.error().message));
  }
}

}  // namespace

void inspect_http_step(const Step& step, const Inspection& inspection) {
  inspect_url(step, inspection);
  const Tree* method = step.field("method");
  if (method != nullptr && method->text() != nullptr && !token(*method->text())) {
    inspection.report(method->where,
                      fmt::format("'method' must be one word such as GET or PURGE, found '{}'", *method->text()));
  }
  const Tree* headers = step.field("headers");
  inspect_headers(headers, inspection);
  const bool body = std::ranges::any_of(kBodies, [&](std::string_view each) { return step.field(each) != nullptr; });
  if (body) inspect_coding(headers, inspection);
  if (step.field("multipart") != nullptr) inspect_type(headers, inspection);
  if (const Tree* constant = step.field("body"); constant != nullptr && constant->text() != nullptr) {
    if (!has_hole(*constant->text())) inspect_length(headers, constant->text()->size(), inspection);
  } else if (!body) {
    inspect_length(headers, 0, inspection);
  }
  inspect_auth(step.field("auth"), inspection);
  inspect_body(step, inspection);
}

void inspect_http_target(const Target& target, const Inspection& inspection) {
  inspect_address(target, inspection);
  const auto option = [&](std::string_view name) -> const Tree* {
    const auto found = std::ranges::find(target.options, name, [](const auto& each) { return each.first; });
    return found == target.options.end() ? nullptr : &found->second;
  };
  inspect_headers(option("headers"), inspection);
  inspect_auth(option("auth"), inspection);
  inspect_hosts(option("hosts"), inspection);
  inspect_sources(option("source"), inspection);
  const Tree* certificate = option("cert");
  if (option("key") != nullptr && certificate == nullptr) {
    inspection.report(option("key")->where, "'key' goes with 'cert', the certificate that it belongs to");
  }
}

}  // namespace muster::model
