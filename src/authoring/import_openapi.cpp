// OpenAPI 3.0 and 3.1 and Swagger 2.0, JSON or YAML → one step for each operation, with values from the description's
// examples and schemas.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>

#include "authoring/expression_words.h"
#include "authoring/import.h"
#include "authoring/import_draft.h"
#include "authoring/import_json.h"
#include "authoring/openapi_sample.h"
#include "authoring/openapi_style.h"
#include "authoring/yaml_tree.h"
#include "base/characters.h"
#include "base/identifier.h"
#include "base/letter_case.h"
#include "protocol/http1_scan.h"
#include "protocol/percent.h"
#include "protocol/url.h"

namespace muster::authoring {
namespace {

// With `allowReserved`: all that may stand in a query but what would end a value or mean a blank.
constexpr auto kReservedBytes = protocol::percent::letters_digits_and("-._~!$'()*,;=:@/?[]|");

// Levels of a body that is written as YAML: the loader reads 64, some of which lead to it.
constexpr std::size_t kDeepestBody = 50;

constexpr std::array<std::string_view, 7> kMethods{"get", "post", "put", "patch", "delete", "head", "options"};

ImportJson to_json(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::kNull:
      return nullptr;
    case YamlNode::Kind::kList: {
      ImportJson list = ImportJson::array();
      for (const YamlNode& each : node.list) list.push_back(to_json(each));
      return list;
    }
    case YamlNode::Kind::kMap: {
      ImportJson map = ImportJson::object();
      for (const YamlEntry& each : node.map) map[each.key] = to_json(each.value);
      return map;
    }
    case YamlNode::Kind::kScalar:
      break;
  }
  const model::Tree tree = to_tree(node);
  if (const bool* boolean = tree.boolean()) return *boolean;
  if (const std::int64_t* integer = tree.integer()) return *integer;
  if (!tree.digits.empty()) {
    // One of 64 bits without a sign, which the value has lost digits of.
    std::uint64_t large = 0;
    const char* const end = tree.digits.data() + tree.digits.size();
    const auto [stop, failure] = std::from_chars(tree.digits.data(), end, large);
    if (failure == std::errc() && stop == end) return large;
  }
  if (const double* number = tree.number()) return *number;
  return node.text;
}

constexpr std::string_view kExpected =
    "expected an OpenAPI 3 or Swagger 2.0 description, with `openapi: 3.…` or `swagger: \"2.0\"` at its top";

// Nothing but blanks and comments.
bool nothing_in(std::string_view text) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && line[first] != '#') return false;
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return true;
}

base::Expected<ImportJson> parse_description(const ImportInput& input) {
  if (nothing_in(input.text)) return base::fail(fmt::format("the input is empty; {}", kExpected));
  const std::size_t first = input.text.find_first_not_of(" \t\r\n\xEF\xBB\xBF");
  if (first != std::string::npos && input.text[first] == '{') {
    auto document = parse_import_json(input.text, input.limits.depth);
    if (document) return document;
    return base::fail(fmt::format("the description cannot be read: {}", document.error().message));
  }
  YamlLimits limits;
  limits.file_bytes = std::min<std::size_t>(input.limits.input_bytes, 32u << 20);
  limits.nodes = 2'000'000;
  limits.texts = 64u << 20;
  limits.depth = input.limits.depth;
  Reporter reporter(limits);
  const auto file = reporter.add_source(input.source.empty() ? "input" : input.source, input.text);
  const auto root = parse_yaml(input.text, file, limits, reporter);
  if (root) return to_json(*root);
  const Problems problems = reporter.take();
  return base::fail(problems.list.empty() ? std::string("the description cannot be read")
                                          : to_text(problems.list.front()));
}

bool true_member(const ImportJson& value, std::string_view key) {
  const ImportJson& found = member(value, key);
  return found.is_boolean() && found.get<bool>();
}

// An operationId as the name of a step: what later expressions can mention, and none of their own words.
std::string step_name(std::string_view id) {
  constexpr std::array<std::string_view, 5> kReserved{"data", "env", "vu", "iteration", "workflow"};
  std::string name;
  for (const char c : id.substr(0, 80)) name += base::identifier(std::string("x") + c) || c == '-' ? c : '_';
  if (std::ranges::find(kReserved, name) != kReserved.end() || expression_word(name)) name += '_';
  return name;
}

bool json_type(std::string_view type) {
  return type.find("json") != std::string_view::npos;
}

bool form_type(std::string_view type) {
  return type.starts_with("application/x-www-form-urlencoded") || type.starts_with("multipart/");
}

// What a body of Swagger 2.0 is sent as: JSON if that is consumed, else the first that is no form. Forms have
// parameters of their own there.
std::string body_type(const std::vector<std::string>& consumed) {
  std::string chosen;
  for (const std::string& each : consumed) {
    if (json_type(each)) return each;
    if (each == "*/*" || each == "application/*") return "application/json";
    if (chosen.empty() || (form_type(chosen) && !form_type(each))) chosen = each;
  }
  return chosen.empty() ? "application/json" : chosen;
}

std::string variable(std::string_view name) {
  std::string text(1, kVariableBegin);
  text += name;
  return text + kVariableEnd;
}

class OpenApiImport {
 public:
  OpenApiImport(const ImportInput& input, const ImportJson& document)
      : input_(input),
        document_(document),
        draft_("openapi", input),
        sampler_(document, input.limits),
        swagger_(text_member(document, "swagger").starts_with("2")) {}

  base::Expected<Imported> run() {
    if (!swagger_ && !text_member(document_, "openapi").starts_with("3")) {
      return base::fail(std::string(kExpected));
    }
    const ImportJson& paths = member(document_, "paths");
    if (!paths.is_object() || paths.empty())
      return base::fail("the description has no `paths`, so there is nothing to call");
    if (auto found = find_server(); !found) return std::unexpected(found.error());
    collect(paths);
    for (const Operation& each : operations_) {
      if (by_tag_ && each.tag != workflow_) draft_.begin_workflow(workflow_ = each.tag);
      operation(each);
    }
    if (!sampler_.remote().empty()) {
      draft_.note("",
                  fmt::format("references to other files are not followed, such as {}: bundle the description first",
                              sampler_.remote().substr(0, 100)));
    }
    if (draft_.steps() == 0) return base::fail("no operation is left to import; check --tag and --operation");
    return draft_.finish();
  }

 private:
  struct Operation {
    std::size_t number = 0;
    std::string method;
    std::string path;
    std::string name;
    std::string tag;
    const ImportJson* value = nullptr;
    const ImportJson* item = nullptr;  // the path it stands under
    std::string where() const { return fmt::format("{} {}", method, path.substr(0, 80)); }
  };

  // What goes into one step.
  struct Request {
    std::string path;
    std::string written_query;  // as it stands in the URL: what `query` would escape
    YamlOut query = YamlOut::of_map();
    HeaderList headers;
    std::string cookies;
    YamlOut auth = YamlOut::of_map();
    YamlOut body = YamlOut::of_map();  // fields of the step
  };

  base::Expected<void> find_server();
  void collect(const ImportJson& paths);
  void operation(const Operation& operation);
  void tell_unresolved(const std::string& where);
  void parameters(const Operation& operation, Request& request);
  void parameter(const ImportJson& parameter, const std::string& where, Request& request, std::string& left_out);
  void query_parameter(const ImportJson& parameter, const ParameterStyle& style, const ImportJson& value,
                       const std::string& where, Request& request);
  void cookie_parameter(const std::string& name, const ParameterStyle& style, const ImportJson& value,
                        const std::string& where, Request& request);
  void add_field(YamlOut& map, std::string_view name, std::string_view value, const std::string& where);
  bool parameter_value(const ImportJson& parameter, ImportJson& value);
  void request_body(const Operation& operation, Request& request);
  void media(std::string_view type, const ImportJson& media, const std::string& where, Request& request);
  void swagger_body(const Operation& operation, Request& request);
  void security(const Operation& operation, Request& request);
  void scheme(const std::string& name, const std::string& where, Request& request);
  YamlOut expected(const Operation& operation) const;
  YamlOut yaml(const ImportJson& value, const std::string& where, std::size_t depth = 0);
  YamlOut field_map(const ImportJson& value, const ImportJson& encoding, const std::string& where);
  std::vector<const ImportJson*> all_parameters(const Operation& operation) const;

  std::string text(std::string_view raw, std::string_view where) { return draft_.clean(raw, where, "a value"); }

  const ImportInput& input_;
  const ImportJson& document_;
  ImportDraft draft_;
  SchemaSampler sampler_;
  bool swagger_;
  bool by_tag_ = input_.setting("by-tag") == "true";
  std::string workflow_;
  std::string address_;
  std::vector<Operation> operations_;
};

base::Expected<void> OpenApiImport::find_server() {
  address_ = input_.setting("server");
  if (address_.empty() && swagger_) {
    const ImportJson& schemes = member(document_, "schemes");
    bool secure = false;
    for (const ImportJson& each : schemes)
      secure = secure || (each.is_string() && each.get_ref<const std::string&>() == "https");
    const std::string host = text_member(document_, "host");
    if (!host.empty()) address_ = fmt::format("{}://{}", secure || schemes.empty() ? "https" : "http", host);
    if (host.empty()) address_ = "http://localhost";
    if (host.empty()) draft_.note("", "the description names no host: change `target`, or give one with --server");
    address_ += text_member(document_, "basePath");
  } else if (address_.empty()) {
    const ImportJson& servers = member(document_, "servers");
    const ImportJson& first = servers.is_array() && !servers.empty() ? servers.front() : member(document_, "none");
    address_ = text_member(first, "url", "/");
    for (const auto& [name, value] : member(first, "variables").items()) {
      const std::string hole = "{" + name + "}";
      const std::size_t at = address_.find(hole);
      if (at == std::string::npos) continue;
      const ImportJson& chosen = member(value, "default");
      // A port without quotes is a number.
      const std::string text =
          chosen.is_number() || chosen.is_boolean() ? chosen.dump() : text_member(value, "default");
      if (text.empty() && !chosen.is_string()) {
        draft_.note("", fmt::format("the variable '{}' of the server has no default: change `target`, or give an "
                                    "address with --server",
                                    name.substr(0, 60)));
      }
      address_.replace(at, hole.size(), text);
    }
    if (address_.starts_with('/')) {
      draft_.note("", "the description names no host: change `target`, or give one with --server");
      address_ = "http://localhost" + address_;
    }
    if (servers.size() > 1)
      draft_.note("", fmt::format("the first of {} servers is used; --server picks another", servers.size()));
  }
  while (address_.ends_with('/')) address_.pop_back();
  const auto parsed = protocol::parse_url(address_);
  if (!parsed)
    return base::fail(
        fmt::format("the server's address does not serve: {}; give one with --server", parsed.error().message));
  address_ = address_.substr(0, address_.find_first_of("?#"));
  return {};
}

void OpenApiImport::collect(const ImportJson& paths) {
  const std::vector<std::string> tags = input_.list("tag");
  const std::vector<std::string> wanted = input_.list("operation");
  const auto listed = [](const std::vector<std::string>& list, const std::string& word) {
    return std::ranges::find(list, word) != list.end();
  };
  std::set<std::string> names;
  std::size_t skipped = 0;
  for (const auto& [path, given] : paths.items()) {
    if (!path.starts_with('/')) continue;
    const ImportJson& item = sampler_.resolved(given);
    tell_unresolved(path.substr(0, 80));
    if (!item.is_object()) continue;
    for (const auto& [key, value] : item.items()) {
      if (std::ranges::find(kMethods, key) == kMethods.end()) {
        if (key == "trace") draft_.leave_out("TRACE " + path, "the method is not one that is measured");
        continue;
      }
      Operation operation{.number = operations_.size(),
                          .method = base::upper(key),
                          .path = path,
                          .name = text_member(value, "operationId"),
                          .tag = "other",
                          .value = &value,
                          .item = &item};
      const ImportJson& given_tags = member(value, "tags");
      std::vector<std::string> own;
      for (const ImportJson& each : given_tags) {
        if (each.is_string() && !each.get_ref<const std::string&>().empty()) own.push_back(each.get<std::string>());
      }
      if (!own.empty()) operation.tag = own.front();
      const bool tagged =
          tags.empty() || std::ranges::any_of(own, [&](const auto& each) { return listed(tags, each); });
      const bool named = wanted.empty() || listed(wanted, operation.name) || listed(wanted, operation.where());
      if (!tagged || !named) {
        ++skipped;
        continue;
      }
      if (true_member(value, "deprecated")) draft_.note(operation.where(), "it is deprecated");
      operation.name = step_name(operation.name);
      if (!names.insert(operation.name).second) operation.name.clear();
      operations_.push_back(std::move(operation));
    }
  }
  draft_.leave_out(skipped, fmt::format("{} operations left out, as --tag and --operation say", skipped));
  if (!by_tag_) return;
  std::ranges::sort(operations_, {}, [](const Operation& each) { return std::pair(each.tag, each.number); });
}

void OpenApiImport::operation(const Operation& operation) {
  const std::string where = operation.where();
  if (input_.progress) input_.progress(draft_.steps(), operations_.size());
  Request request;
  request.path = operation.path;
  for (const ImportJson* each : {operation.item, operation.value}) {
    if (member(*each, "servers").is_array())
      draft_.note(where, "servers of its own are left out: it goes to the job's target");
  }
  parameters(operation, request);
  swagger_ ? swagger_body(operation, request) : request_body(operation, request);
  if (const std::vector<std::string> doubts = sampler_.take_doubts(); !doubts.empty())
    draft_.note(where, fmt::format("made-up values may not fit the schema: {}", fmt::join(doubts, ", ")));
  security(operation, request);
  tell_unresolved(where);
  if (!request.cookies.empty()) request.headers.add("Cookie", request.cookies);
  if (request.path.find('{') != std::string::npos) {
    draft_.note(where, "its path has a parameter that is not described");
  }
  // Neither braces nor control characters can stand in a URL as they are.
  std::string encoded;
  for (const char c : request.path) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '{' || c == '}' || byte < 0x20 || byte == 0x7f) {
      protocol::percent::append_byte(encoded, c);
    } else {
      encoded += c;
    }
  }
  request.path = std::move(encoded);
  if (!request.written_query.empty())
    request.path += (request.path.find('?') == std::string::npos ? "?" : "&") + request.written_query;
  YamlOut fields = YamlOut::of_map();
  if (!request.query.empty()) fields.set("query", std::move(request.query));
  if (!request.auth.empty()) fields.set("auth", std::move(request.auth));
  if (!request.headers.empty()) fields.set("headers", request.headers.take());
  for (YamlOutEntry& each : request.body.map) fields.map.push_back(std::move(each));
  if (YamlOut expect = expected(operation); !expect.empty()) {
    std::string words;
    for (const YamlOut& each : expect.list) words += fmt::format("{}{}", words.empty() ? "" : ", ", each.text);
    // A redirect that is followed ends with another status.
    if (std::ranges::all_of(expect.list, [](const YamlOut& each) { return each.text.starts_with('3'); }))
      fields.set("redirects", YamlOut::bare("0"));
    fields.set("expect", YamlOut::bare(fmt::format("[{}]", words)));
  }
  const std::string on = draft_.target(address_, YamlOut::of_map());
  YamlOut step = YamlOut::of_map();
  if (!operation.name.empty()) step.set("name", YamlOut::of(operation.name));
  YamlOut call = request_step(operation.method, template_text(request.path), on, std::move(fields));
  for (YamlOutEntry& each : call.map) step.map.push_back(std::move(each));
  draft_.step(std::move(step), where);
}

void OpenApiImport::tell_unresolved(const std::string& where) {
  for (const std::string& each : sampler_.take_unresolved()) {
    draft_.note(where,
                fmt::format("the reference {} leads to {}: what it stands for is missing", each.substr(0, 100),
                            each.starts_with('#') ? "nothing in the description" : "another file, which is not read"));
  }
}

std::vector<const ImportJson*> OpenApiImport::all_parameters(const Operation& operation) const {
  std::vector<const ImportJson*> all;
  const auto key = [](const ImportJson& each) { return text_member(each, "in") + " " + text_member(each, "name"); };
  // Those of the operation replace those of its path.
  for (const ImportJson* level : {operation.item, operation.value}) {
    for (const ImportJson& each : member(*level, "parameters")) {
      const ImportJson& parameter = sampler_.resolved(each);
      if (!parameter.is_object()) continue;
      std::erase_if(all, [&](const ImportJson* before) { return key(*before) == key(parameter); });
      all.push_back(&parameter);
    }
  }
  return all;
}

// False where the parameter may be left out and nothing is known about its value.
bool OpenApiImport::parameter_value(const ImportJson& parameter, ImportJson& value) {
  const ImportJson& content = member(parameter, "content");
  const bool document = content.is_object() && !content.empty();
  const ImportJson& media = document ? sampler_.resolved(content.front()) : parameter;
  const ImportJson& schema = swagger_ ? parameter : sampler_.resolved(member(media, "schema"));
  const std::array<const ImportJson*, 3> known{&example_of(media), &example_of(schema), &member(schema, "default")};
  const auto found = std::ranges::find_if(known, [](const ImportJson* each) { return !each->is_null(); });
  if (found != known.end()) {
    value = **found;
  } else {
    if (!true_member(parameter, "required") && text_member(parameter, "in") != "path") return false;
    value = sampler_.sample(schema, text_member(parameter, "name"));
    if (value.is_null()) value = "sample";
  }
  if (document) value = plain_text(value);  // a text of that type, which has no style
  return true;
}

// A name that comes again stands for one more value.
void OpenApiImport::add_field(YamlOut& map, std::string_view name, std::string_view value, const std::string& where) {
  std::string key = text(name, where);
  if (key.size() > kLongestKey || map.map.size() >= kMostFields) {
    return draft_.note(where, fmt::format("the field '{}' is left out: its name is too long, or there are more than {}",
                                          key.substr(0, 40), kMostFields));
  }
  YamlOut written = YamlOut::of(template_text(text(value, where)));
  YamlOut* before = map.find(key);
  if (before == nullptr) {
    map.set(std::move(key), std::move(written));
    return;
  }
  if (before->kind != YamlOut::Kind::kList) *before = YamlOut::of_list().add(*before);
  before->add(std::move(written));
}

void OpenApiImport::query_parameter(const ImportJson& parameter, const ParameterStyle& style, const ImportJson& value,
                                    const std::string& where, Request& request) {
  const std::string name = text_member(parameter, "name");
  if (style.style == "deepObject" && value.is_array())
    draft_.note(where, fmt::format("the parameter '{}' is a list: deepObject has no meaning for it, it is sent as {}=…",
                                   name.substr(0, 40), name.substr(0, 40)));
  const bool reserved = true_member(parameter, "allowReserved");
  for (const StyledPair& pair : styled_pairs(name, value, style)) {
    if (pair.pieces.size() == 1 && !reserved) {
      add_field(request.query, pair.name, pair.pieces.front(), where);
      continue;
    }
    std::string written = protocol::encode_query(text(pair.name, where)) + "=";
    for (std::size_t i = 0; i < pair.pieces.size(); ++i) {
      if (i > 0) written += encoded_delimiter(style);
      const std::string piece = text(pair.pieces[i], where);
      reserved ? protocol::percent::append_encoded(written, piece, kReservedBytes)
               : protocol::append_query_encoded(written, piece);
    }
    request.written_query += (request.written_query.empty() ? "" : "&") + written;
  }
}

void OpenApiImport::cookie_parameter(const std::string& name, const ParameterStyle& style, const ImportJson& value,
                                     const std::string& where, Request& request) {
  const std::vector<StyledPair> pairs = styled_pairs(name, value, style);
  if (value.is_structured() && style.explode)
    draft_.note(where, fmt::format("the cookie '{}' has several values, which cookies cannot say in the style 'form': "
                                   "each is sent as a cookie",
                                   name.substr(0, 40)));
  for (const StyledPair& pair : pairs) {
    std::string written =
        text(fmt::format("{}={}", pair.name, fmt::join(pair.pieces, std::string(1, style.delimiter))), where);
    std::erase_if(written, [](char c) { return c == '\r' || c == '\n'; });
    request.cookies += (request.cookies.empty() ? "" : "; ") + written;
  }
}

void OpenApiImport::parameter(const ImportJson& parameter, const std::string& where, Request& request,
                              std::string& left_out) {
  const std::string name = text(text_member(parameter, "name"), where);
  const std::string in = text_member(parameter, "in");
  if (in == "body" || in == "formData" || name.empty()) return;
  ImportJson value;
  if (!parameter_value(parameter, value)) {
    left_out += (left_out.empty() ? "" : ", ") + name.substr(0, 40);
    return;
  }
  const ParameterStyle style = parameter_style(parameter, in, swagger_);
  if (!style.problem.empty())
    draft_.note(where, fmt::format("the parameter '{}': {}", name.substr(0, 40), style.problem));
  if (nested(value))
    draft_.note(where, fmt::format("the parameter '{}' has lists or objects inside, for which OpenAPI has no style: "
                                   "they are sent as JSON",
                                   name.substr(0, 40)));
  if (in == "path") {
    const std::string hole = "{" + name + "}";
    const std::string encoded = text(styled_path(name, value, style), where);
    for (std::size_t at = request.path.find(hole); at != std::string::npos;
         at = request.path.find(hole, at + encoded.size())) {
      request.path.replace(at, hole.size(), encoded);
    }
  } else if (in == "query") {
    query_parameter(parameter, style, value, where, request);
  } else if (in == "header") {
    const std::string written = text(styled_header(value, style), where);
    if (!protocol::scan::is_token(name) || name.size() > kLongestKey ||
        written.find_first_of("\r\n") != std::string::npos) {
      draft_.note(where, fmt::format("the header '{}' cannot be sent and is left out", name.substr(0, 40)));
    } else if (!request.headers.has(name)) {
      request.headers.add(name, written);
    }
  } else if (in == "cookie") {
    cookie_parameter(name, style, value, where, request);
  }
}

void OpenApiImport::parameters(const Operation& operation, Request& request) {
  const std::string where = operation.where();
  std::string left_out;
  for (const ImportJson* each : all_parameters(operation)) parameter(*each, where, request, left_out);
  if (!left_out.empty())
    draft_.note(where, fmt::format("optional parameters without an example are left out: {}", left_out.substr(0, 300)));
}

// Names to texts: lists stand for several values, deeper ones are written as JSON, unless `encoding` gives a style.
YamlOut OpenApiImport::field_map(const ImportJson& value, const ImportJson& encoding, const std::string& where) {
  YamlOut map = YamlOut::of_map();
  if (!value.is_object()) return map;
  for (const auto& [key, inside] : value.items()) {
    const ImportJson& how = member(encoding, key);
    ParameterStyle style{.style = "form", .explode = inside.is_array(), .problem = {}};
    const bool styled = !member(how, "style").is_null() || !member(how, "explode").is_null();
    if (styled) style = parameter_style(how, "query", false);
    if (!style.problem.empty()) draft_.note(where, fmt::format("the field '{}': {}", key.substr(0, 40), style.problem));
    if (inside.is_object() && !styled) {
      add_field(map, key, plain_text(inside), where);
      continue;
    }
    for (const StyledPair& pair : styled_pairs(key, inside, style)) {
      add_field(map, pair.name, fmt::format("{}", fmt::join(pair.pieces, std::string(1, style.delimiter))), where);
    }
  }
  return map;
}

YamlOut OpenApiImport::yaml(const ImportJson& value, const std::string& where, std::size_t depth) {
  if (value.is_string()) return YamlOut::of(template_text(text(value.get<std::string>(), where)));
  if (value.is_structured() && depth >= kDeepestBody) {
    draft_.note(where, fmt::format("what its body holds more than {} levels deep is left out", kDeepestBody));
    return YamlOut::bare("null");
  }
  if (value.is_array()) {
    YamlOut list = YamlOut::of_list();
    for (const ImportJson& each : value) list.add(yaml(each, where, depth + 1));
    return list;
  }
  if (value.is_object()) {
    YamlOut map = YamlOut::of_map();
    for (const auto& [key, inside] : value.items()) {
      if (key.size() > kLongestKey) {
        draft_.note(where, "a key of more than 500 bytes is left out of its body");
      } else if (const std::string name = text(key, where); map.find(name) == nullptr) {
        map.set(name, yaml(inside, where, depth + 1));
      }
    }
    return map;
  }
  return YamlOut::bare(value.dump());
}

void OpenApiImport::request_body(const Operation& operation, Request& request) {
  const ImportJson& body = sampler_.resolved(member(*operation.value, "requestBody"));
  const ImportJson& content = member(body, "content");
  if (!content.is_object() || content.empty()) return;
  const ImportJson* chosen = nullptr;
  std::string type;
  const auto choose = [&](const auto& fits) {
    for (const auto& [name, media] : content.items()) {
      if (chosen == nullptr && fits(name)) {
        chosen = &media;
        type = name;
      }
    }
  };
  choose(json_type);
  choose([](const std::string& name) { return name.starts_with("application/x-www-form-urlencoded"); });
  choose([](const std::string& name) { return name.starts_with("multipart/"); });
  choose([](const std::string&) { return true; });
  if (content.size() > 1)
    draft_.note(operation.where(), fmt::format("of {} kinds of body, {} is sent", content.size(), type.substr(0, 60)));
  media(type, sampler_.resolved(*chosen), operation.where(), request);
}

void OpenApiImport::media(std::string_view type, const ImportJson& media, const std::string& where, Request& request) {
  const ImportJson& example = example_of(media);
  const ImportJson value = example.is_null() ? sampler_.sample(member(media, "schema")) : example;
  if (json_type(type)) {
    request.body.set("json", yaml(value, where));
    if (type != "application/json" && protocol::scan::is_token(type.substr(0, type.find('/'))) &&
        !request.headers.has("content-type")) {
      request.headers.add("Content-Type", text(type.substr(0, type.find_first_of("\r\n*")), where));
    }
  } else if (type.starts_with("application/x-www-form-urlencoded")) {
    request.body.set("form", field_map(value, member(media, "encoding"), where));
  } else if (type.starts_with("multipart/")) {
    YamlOut parts = field_map(value, ImportJson(), where);
    if (!member(media, "encoding").is_null())
      draft_.note(where, "the encoding of its parts is left out: look at their types and at lists");
    const ImportJson& properties = member(sampler_.resolved(member(media, "schema")), "properties");
    for (const auto& [name, property] : properties.items()) {
      if (text_member(sampler_.resolved(property), "format") != "binary") continue;
      draft_.note(where, fmt::format("the part '{}' is a file: name one with {{ file: … }}", name.substr(0, 60)));
    }
    request.body.set("multipart", std::move(parts));
  } else {
    draft_.note(where, fmt::format("its body of type {} is {}", type.substr(0, 60),
                                   value.is_string() ? "the example" : "a sample; put in a real one"));
    request.body.set(
        "body", YamlOut::of(template_text(text(value.is_null() ? std::string("sample") : plain_text(value), where))));
    if (type.find_first_of("*\r\n") == std::string_view::npos)
      request.body.set("type", YamlOut::of(template_text(text(type, where))));
  }
}

void OpenApiImport::swagger_body(const Operation& operation, Request& request) {
  const std::string where = operation.where();
  ImportJson form = ImportJson::object();
  const ImportJson* consumes = &member(*operation.value, "consumes");
  if (!consumes->is_array()) consumes = &member(document_, "consumes");
  std::vector<std::string> consumed;
  for (const ImportJson& each : *consumes) {
    if (each.is_string() && !each.get_ref<const std::string&>().empty()) consumed.push_back(each.get<std::string>());
  }
  bool multipart =
      std::ranges::any_of(consumed, [](const std::string& each) { return each.starts_with("multipart/"); });
  for (const ImportJson* parameter : all_parameters(operation)) {
    const std::string in = text_member(*parameter, "in");
    if (in == "body") {
      const std::string type = body_type(consumed);
      if (consumed.size() > 1)
        draft_.note(where, fmt::format("of {} kinds of body, {} is sent", consumed.size(), type.substr(0, 60)));
      return media(type, *parameter, where, request);
    }
    if (in != "formData") continue;
    const std::string name = text_member(*parameter, "name");
    if (text_member(*parameter, "type") == "file") {
      multipart = true;
      draft_.note(where, fmt::format("the part '{}' is a file: name one with {{ file: … }}", name.substr(0, 60)));
      form[name] = "sample";
    } else if (ImportJson value; parameter_value(*parameter, value)) {
      const ParameterStyle style = parameter_style(*parameter, "query", true);
      if (!style.problem.empty())
        draft_.note(where, fmt::format("the field '{}': {}", name.substr(0, 40), style.problem));
      form[name] = style.explode || !value.is_array() ? value : ImportJson(styled_header(value, style));
    }
  }
  if (!form.empty()) request.body.set(multipart ? "multipart" : "form", field_map(form, ImportJson(), where));
}

void OpenApiImport::security(const Operation& operation, Request& request) {
  const ImportJson* wanted = &member(*operation.value, "security");
  if (!wanted->is_array()) wanted = &member(document_, "security");
  if (!wanted->is_array() || wanted->empty()) return;
  for (const auto& [name, scopes] : wanted->front().items()) scheme(name, operation.where(), request);
}

void OpenApiImport::scheme(const std::string& name, const std::string& where, Request& request) {
  const ImportJson& schemes =
      swagger_ ? member(document_, "securityDefinitions") : member(member(document_, "components"), "securitySchemes");
  const ImportJson& scheme = sampler_.resolved(member(schemes, name));
  const std::string type = text_member(scheme, "type");
  const bool basic = type == "basic" || (type == "http" && base::lower(text_member(scheme, "scheme")) == "basic");
  if (type == "apiKey") {
    const std::string key = text(text_member(scheme, "name"), where);
    const std::string in = text_member(scheme, "in");
    if (key.empty() || key.size() > kLongestKey || key.find_first_of("\r\n") != std::string::npos)
      return draft_.note(where, fmt::format("the API key '{}' cannot be sent and is left out", key.substr(0, 40)));
    draft_.need_variable("API_KEY", true);
    if (in == "query" && request.query.find(key) == nullptr) request.query.set(key, YamlOut::of("${env.API_KEY}"));
    if (in == "header" && protocol::scan::is_token(key) && !request.headers.has(key))
      request.headers.add(key, variable("API_KEY"));
    if (in == "cookie")
      request.cookies += fmt::format("{}{}={}", request.cookies.empty() ? "" : "; ", key, variable("API_KEY"));
  } else if (basic && request.auth.empty()) {
    draft_.need_variable("USERNAME", false);
    draft_.need_variable("PASSWORD", true);
    request.auth.set("basic", YamlOut::of("${env.USERNAME}:${env.PASSWORD}"));
  } else if ((type == "http" || type == "oauth2" || type == "openIdConnect") && request.auth.empty()) {
    draft_.need_variable("TOKEN", true);
    request.auth.set("bearer", YamlOut::of("${env.TOKEN}"));
  } else {
    draft_.note(where, fmt::format("the security scheme '{}' is left out: muster has basic, bearer and API keys",
                                   name.substr(0, 60)));
  }
}

// Statuses that the description calls a success.
YamlOut OpenApiImport::expected(const Operation& operation) const {
  YamlOut list = YamlOut::of_list();
  const ImportJson& responses = member(*operation.value, "responses");
  if (!responses.is_object()) return list;
  for (const auto& [code, response] : responses.items()) {
    if (code.size() != 3 || (code[0] != '2' && code[0] != '3')) continue;
    const bool digits = base::is_digit(code[1]) && base::is_digit(code[2]);
    if (digits) list.add(YamlOut::bare(code));
    if (base::lower(code.substr(1)) == "xx") list.add(YamlOut::bare(fmt::format("{0}00..{0}99", code[0])));
  }
  return list;
}

base::Expected<Imported> run_openapi(const ImportInput& input) {
  auto document = parse_description(input);
  if (!document) return std::unexpected(document.error());
  return OpenApiImport(input, *document).run();
}

}  // namespace

Importer openapi_importer() {
  return {
      .name = "openapi",
      .doc = "An OpenAPI 3 or Swagger 2.0 description, JSON or YAML",
      .example = "muster import openapi shop-api.yaml -o shop.yaml --tag cart",
      .options =
          {{.name = "server", .doc = "Address to call", .value = "URL", .fallback = "the first of the description"},
           {.name = "tag", .doc = "Take only operations with one of these tags", .value = "TAGS", .fallback = "all"},
           {.name = "operation",
            .doc = "Take only these operations, by operationId or as 'GET /path'",
            .value = "NAMES",
            .fallback = "all"},
           {.name = "by-tag", .doc = "A workflow for each tag, instead of one for all"}},
      .takes_words = false,
      .run = run_openapi};
}

}  // namespace muster::authoring
