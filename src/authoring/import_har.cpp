// HAR recordings → steps: the chosen requests in the order in which they were made, without what the client itself
// decides (connections, cookies, conditions on its cache), with the pauses between them.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "authoring/import.h"
#include "authoring/import_correlate.h"
#include "authoring/import_credentials.h"
#include "authoring/import_draft.h"
#include "authoring/import_har_entry.h"
#include "base/identifier.h"
#include "base/letter_case.h"
#include "base/utf8.h"
#include "protocol/http1_scan.h"
#include "protocol/url.h"

namespace muster::authoring {
namespace {

// Shorter gaps are the browser's own.
constexpr double kShortestPause = 100;         // milliseconds
constexpr double kLongestPause = 10 * 60'000;  // milliseconds
constexpr std::size_t kAtOnce = 6;             // connections that browsers open to one host

// What browsers write as `_resourceType`, those that are documented first.
constexpr std::array<std::string_view, 20> kHarTypes{
    "document",  "stylesheet", "script",       "image",           "font",
    "media",     "xhr",        "fetch",        "other",           "manifest",
    "wasm",      "ping",       "texttrack",    "eventsource",     "prefetch",
    "preflight", "websocket",  "webtransport", "signed-exchange", "csp-violation-report"};

// Headers that belong to the connection, the cookie jar or the cache of the browser.
bool own_business(std::string_view name) {
  constexpr std::array<std::string_view, 19> kNames{
      "host",    "content-length", "connection",        "keep-alive", "proxy-connection",    "proxy-authorization",
      "te",      "trailer",        "transfer-encoding", "upgrade",    "http2-settings",      "expect",
      "cookie",  "if-none-match",  "if-modified-since", "if-match",   "if-unmodified-since", "if-range",
      "alt-used"};
  return name.starts_with(':') || std::ranges::find(kNames, name) != kNames.end();
}

// What reads well as the name of a transaction and holds nothing that a template would see.
std::string page_name(std::string_view title, std::size_t number) {
  if (const std::size_t scheme = title.find("://"); scheme != std::string_view::npos) {
    const std::size_t path = title.find('/', scheme + 3);
    title = path == std::string_view::npos ? "/" : title.substr(path);
  }
  std::string name;
  for (const char c : title.substr(0, 60)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F && c != '$' && c != '{' && c != '}') name += c;
  }
  return name.empty() ? fmt::format("page {}", number) : name;
}

// Those of a step as request_step() makes it; null if it has none.
YamlOut* headers_in(YamlOut& step) {
  YamlOut* http = step.find("http");
  return (http == nullptr ? step : *http).find("headers");
}

std::string requests(std::size_t count) {
  return fmt::format("{} request{}", count, count == 1 ? "" : "s");
}

class HarImport {
 public:
  explicit HarImport(const ImportInput& input)
      : input_(input),
        draft_("har", input),
        credentials_(draft_),
        correlate_(input.setting("correlate") == "true"),
        parallel_(input.setting("parallel") == "true"),
        correlator_(input.limits) {}

  base::Expected<Imported> run() {
    auto document = parse_import_json(input_.text, input_.limits.depth);
    if (!document) return base::fail(fmt::format("the recording cannot be read: {}", document.error().message));
    const ImportJson& log = member(*document, "log");
    if (!member(log, "entries").is_array()) {
      return base::fail("expected a HAR recording with log.entries; export it from the browser's network panel");
    }
    if (correlate_ && parallel_) {
      parallel_ = false;
      draft_.note("", "--parallel is left out: values can be handed on only between steps that follow one another");
    }
    for (const ImportJson& page : member(log, "pages")) titles_[text_member(page, "id")] = text_member(page, "title");
    if (auto chosen = choose(member(log, "entries")); !chosen) return std::unexpected(chosen.error());
    document = ImportJson();  // a recording is large
    if (chosen_.empty()) return base::fail(nothing_left());
    find_shared_headers();
    for (const Chosen& each : chosen_) steps_.push_back(step(each));
    tell_cookies();
    hand_on_values();
    emit();
    return draft_.finish();
  }

 private:
  using Header = std::pair<std::string, std::string>;
  struct Chosen {
    HarEntry entry;
    protocol::Url url;
    std::vector<Header> headers;  // those that are sent
  };

  base::Expected<void> choose(const ImportJson& entries);
  void take(std::vector<Chosen> all, const std::vector<std::string>& types);
  std::string nothing_left();
  std::vector<Header> kept_headers(const HarEntry& entry);
  void find_shared_headers();
  YamlOut step(const Chosen& chosen);
  void body(const Chosen& chosen, YamlOut& fields, HeaderList& headers);
  void fields_body(const HarEntry& entry, YamlOut& fields);
  YamlOut field_value(const HarEntry& entry, const HarField& field, bool multipart);
  void tell_user(const Chosen& chosen, const std::string& where);
  void tell_cookies();
  void hand_on_values();
  void replace_in_parts(YamlOut& parts, std::size_t step, std::map<std::string, std::string>& names);
  void replace_in(YamlOut& fields, std::size_t step, std::map<std::string, std::string>& names);
  void replace(YamlOut& value, std::size_t step, std::map<std::string, std::string>& names);
  void emit();

  static std::string origin_of(const protocol::Url& url) { return fmt::format("{}://{}", url.scheme, url.authority()); }

  const ImportInput& input_;
  ImportDraft draft_;
  ImportCredentials credentials_;
  bool correlate_;
  bool parallel_;
  Correlator correlator_;
  std::map<std::string, std::string> titles_;
  std::vector<Chosen> chosen_;
  std::vector<YamlOut> steps_;                         // one for each of chosen_
  std::map<std::string, std::vector<Header>> shared_;  // by origin: headers that all its requests have
  std::set<std::string> users_told_;                   // origins
  std::map<std::string, std::size_t> other_hosts_;
  std::map<std::string, std::size_t> other_types_;
  std::map<std::string, std::size_t> saved_names_;  // how many more values have that name
  std::set<std::string> taken_names_;
};

base::Expected<void> HarImport::choose(const ImportJson& entries) {
  std::vector<Chosen> all;
  std::set<std::string> recorded;  // types
  std::size_t cached = 0;
  std::size_t inside = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (input_.progress) input_.progress(i, entries.size());
    HarEntry entry = read_har_entry(entries[i], i + 1);
    recorded.insert(entry.type);
    auto url = protocol::parse_url(entry.url);
    if (!url) {
      const bool in_page = entry.url.starts_with("data:") || entry.url.starts_with("blob:");
      inside += in_page ? 1 : 0;
      if (!in_page) draft_.leave_out(entry.where(), url.error().message);
      continue;
    }
    if (entry.cached) {
      ++cached;
    } else if (entry.status == 0) {
      draft_.leave_out(entry.where(), "it was blocked or given up and has no answer");
    } else if (entry.status == 101 || entry.type == "websocket") {
      draft_.leave_out(entry.where(), "it opens a WebSocket");
    } else if (!protocol::scan::is_token(entry.method) || entry.method == "CONNECT") {
      draft_.leave_out(entry.where(), "its method is none that can be sent");
    } else {
      all.push_back({.entry = std::move(entry), .url = std::move(*url), .headers = {}});
    }
  }
  draft_.leave_out(cached, fmt::format("{} from the browser's cache left out", requests(cached)));
  draft_.leave_out(inside,
                   fmt::format("{} for a data: or blob: URL left out; nothing is sent for those", requests(inside)));
  std::vector<std::string> types = input_.list("only");
  for (std::string& each : types) {
    const std::string written = std::exchange(each, base::lower(each));
    if (!recorded.contains(each) && std::ranges::find(kHarTypes, each) == kHarTypes.end()) {
      return base::fail(fmt::format("--only: unknown type '{}'; there are {}", written, fmt::join(kHarTypes, ", ")));
    }
  }
  std::ranges::sort(all, {}, [](const Chosen& each) { return std::pair(each.entry.start, each.entry.number); });
  take(std::move(all), types);
  return {};
}

void HarImport::take(std::vector<Chosen> all, const std::vector<std::string>& types) {
  const auto document = std::ranges::find_if(all, [](const Chosen& each) { return each.entry.type == "document"; });
  const std::string host = all.empty() ? "" : (document == all.end() ? all.front() : *document).url.host;
  std::vector<std::string> hosts = input_.list("host");
  if (hosts.empty()) hosts.push_back(host);
  for (Chosen& each : all) {
    const bool here = std::ranges::any_of(hosts, [&](const std::string& name) {
      return name == "*" || base::lower(name) == each.url.host || base::lower(name) == each.url.authority();
    });
    if (!here) {
      ++other_hosts_[each.url.host];
    } else if (!types.empty() && std::ranges::find(types, each.entry.type) == types.end()) {
      ++other_types_[each.entry.type];
    } else {
      each.headers = kept_headers(each.entry);
      chosen_.push_back(std::move(each));
    }
  }
  for (const auto& [name, count] : other_hosts_) {
    draft_.leave_out(count, fmt::format("{} to {} left out; --host {} takes {}", requests(count), name, name,
                                        count == 1 ? "it" : "them"));
  }
  for (const auto& [name, count] : other_types_) {
    draft_.leave_out(count, fmt::format("{} of type {} left out, as --only says", requests(count), name));
  }
}

// With the first of the reasons, of which there may be as many as entries.
std::string HarImport::nothing_left() {
  constexpr std::size_t kMostReasons = 5;
  const std::vector<ImportNote> notes = draft_.finish().notes;
  std::string why;
  for (std::size_t i = 0; i < std::min(notes.size(), kMostReasons); ++i) {
    why += fmt::format("{}{}{}{}", i == 0 ? ": " : "; ", notes[i].where, notes[i].where.empty() ? "" : ": ",
                       notes[i].message);
  }
  if (notes.size() > kMostReasons) why += fmt::format("; and {} more", notes.size() - kMostReasons);
  return "no request of the recording is left to import" + why;
}

std::vector<HarImport::Header> HarImport::kept_headers(const HarEntry& entry) {
  std::vector<Header> kept;
  for (const auto& [name, value] : entry.headers) {
    const std::string key = base::lower(name);
    if (name.empty() || own_business(key)) continue;
    if (correlate_ && key == "accept-encoding") continue;  // bodies must be readable
    if (kept.size() >= kMostFields) {
      draft_.note(entry.where(), fmt::format("only its first {} headers are taken", kMostFields));
      break;
    }
    if (!protocol::scan::is_token(name) || name.size() > kLongestKey ||
        value.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
      draft_.note(entry.where(),
                  fmt::format("the header '{}' cannot be sent as it is and is left out", name.substr(0, 40)));
      continue;
    }
    kept.emplace_back(name, value);
  }
  return kept;
}

// What all requests to a target say stands there once.
void HarImport::find_shared_headers() {
  std::map<std::string, std::size_t> count;
  for (const Chosen& each : chosen_) ++count[origin_of(each.url)];
  for (const Chosen& each : chosen_) {
    const std::string origin = origin_of(each.url);
    if (count[origin] < 2) continue;
    const auto [found, first] = shared_.try_emplace(origin, each.headers);
    std::vector<Header>& shared = found->second;
    if (first) std::erase_if(shared, [](const Header& header) { return base::lower(header.first) == "content-type"; });
    const std::vector<Header> before = shared;
    std::erase_if(shared, [&](const Header& header) {
      return std::ranges::count(each.headers, header) != 1 ||
             std::ranges::count(before, header.first, &Header::first) != 1;
    });
  }
}

// A browser answers a server that asks for a password with it; the request that did so has a header, which is imported.
void HarImport::tell_user(const Chosen& chosen, const std::string& where) {
  const bool sent = std::ranges::any_of(
      chosen.headers, [](const Header& header) { return base::equal_ignoring_case(header.first, "authorization"); });
  if (sent || !users_told_.insert(origin_of(chosen.url)).second) return;
  draft_.note(where,
              "the user and the password in the URL are left out, as the browser did not send them with this request; "
              "where the server needs them, add auth: { basic: '${env.USERNAME}:${env.PASSWORD}' }");
}

YamlOut HarImport::step(const Chosen& chosen) {
  const HarEntry& entry = chosen.entry;
  const std::string where = entry.where();
  const std::string origin = origin_of(chosen.url);
  const auto shared = shared_.find(origin);
  HeaderList headers;
  for (const Header& header : chosen.headers) {
    const bool common = shared != shared_.end() && std::ranges::find(shared->second, header) != shared->second.end();
    if (!common) headers.add(header.first, draft_.clean(header.second, where, "a header"));
  }
  YamlOut target_options = YamlOut::of_map();
  if (shared != shared_.end() && !shared->second.empty()) {
    HeaderList common;
    for (const Header& header : shared->second) common.add(header.first, draft_.clean(header.second, "", "a header"));
    YamlOut made = common.take();
    credentials_.hide(made);
    target_options.set("headers", std::move(made));
  }
  YamlOut fields = YamlOut::of_map();
  YamlOut body_fields = YamlOut::of_map();
  if (entry.has_body) body(chosen, body_fields, headers);
  if (!headers.empty()) fields.set("headers", headers.take());
  for (YamlOutEntry& each : body_fields.map) fields.map.push_back(std::move(each));
  if (correlate_) fields.set("compressed", YamlOut::bare("true"));
  // The request that a redirect led to is an entry of its own.
  if (entry.status >= 300 && entry.status < 400) fields.set("redirects", YamlOut::bare("0"));
  if (entry.status >= 400) fields.set("expect", YamlOut::bare(fmt::format("[200..399, {}]", entry.status)));
  const std::string on = draft_.target(origin, target_options);
  if (!chosen.url.userinfo.empty()) tell_user(chosen, where);
  const std::size_t path = entry.url.find('/', entry.url.find("://") + 3);
  const std::string_view recorded = path == std::string::npos ? "/" : std::string_view(entry.url).substr(path);
  if (recorded.substr(0, recorded.find('#')) != chosen.url.target && recorded.starts_with('/')) {
    draft_.note(where, "muster percent-encodes characters of the URL that the browser sent as they are");
  }
  return request_step(entry.method, template_text(chosen.url.target), on, std::move(fields));
}

void HarImport::body(const Chosen& chosen, YamlOut& fields, HeaderList& headers) {
  const HarEntry& entry = chosen.entry;
  const std::string where = entry.where();
  if (entry.body.empty()) {
    fields_body(entry, fields);
    if (fields.find("multipart") != nullptr) headers.drop("content-type");  // its boundary is not that of these parts
    return;
  }
  if (entry.body.size() > input_.limits.body_bytes) {
    draft_.note(where, fmt::format("its body of {} bytes is left out; put it into a file and name it with `file:`",
                                   entry.body.size()));
    return;
  }
  if (!base::is_utf8(entry.body) || entry.body.find('\0') != std::string::npos) {
    draft_.note(where, fmt::format("its body of {} bytes is binary and left out; put it into a file and name it with "
                                   "`file:`",
                                   entry.body.size()));
    return;
  }
  if (entry.body_type.starts_with("multipart/") && entry.body.find("filename=") != std::string::npos) {
    draft_.note(where, "it uploads a file, whose bytes recordings often leave out: look at its body");
  }
  const bool typed = headers.has("content-type");
  const bool form = entry.body_type.starts_with("application/x-www-form-urlencoded");
  if (YamlOut map = form ? form_fields(entry.body) : YamlOut::of_map(); !map.empty()) {
    fields.set("form", std::move(map));
    return;
  }
  fields.set("body", YamlOut::of(template_text(entry.body)));
  if (!typed && !entry.body_type.empty() && entry.body_type.find_first_of("\r\n") == std::string::npos) {
    fields.set("type", YamlOut::of(template_text(entry.body_type)));
  }
}

// The recording knows the fields, not the bytes.
void HarImport::fields_body(const HarEntry& entry, YamlOut& fields) {
  const bool files = std::ranges::any_of(entry.fields, [](const HarField& field) { return !field.file.empty(); });
  const bool multipart = entry.body_type.starts_with("multipart/") || (files && entry.body_type.empty());
  YamlOut map = YamlOut::of_map();
  for (const HarField& field : entry.fields) {
    const std::string name = draft_.clean(field.name, entry.where(), "a field");
    if (name.size() > kLongestKey || map.map.size() >= kMostFields) {
      draft_.note(entry.where(), "some of its fields are left out: there are too many, or a name is too long");
      break;
    }
    YamlOut value = field_value(entry, field, multipart);
    YamlOut* before = map.find(name);
    if (before == nullptr) {
      map.set(name, std::move(value));
    } else {
      if (before->kind != YamlOut::Kind::kList) *before = YamlOut::of_list().add(*before);
      before->add(std::move(value));
    }
  }
  fields.set(multipart ? "multipart" : "form", std::move(map));
}

// A file is sent as it was recorded, where the recording has it.
YamlOut HarImport::field_value(const HarEntry& entry, const HarField& field, bool multipart) {
  const std::string where = entry.where();
  const auto text = [&](const std::string& given, std::string_view what) {
    return YamlOut::of(template_text(draft_.clean(given, where, what)));
  };
  if (field.file.empty()) return text(field.value, "a field");
  const std::string file = field.file.substr(0, 60);
  const std::string name = field.name.substr(0, 60);
  // Browsers put nothing but the name into a form that is not multipart.
  if (!multipart) return text(field.file, "a field");
  const bool large = field.value.size() > input_.limits.body_bytes;
  if (field.value.empty() || large) {
    draft_.note(where,
                fmt::format("it uploads the file '{}', {}; the part '{}' holds its name instead: put the file's "
                            "path there, as {{ file: PATH }}",
                            file,
                            large ? fmt::format("whose {} bytes are too many to be written down", field.value.size())
                                  : "whose content is not in the recording",
                            name));
    return text(field.file, "a field");
  }
  YamlOut part = YamlOut::of_map();
  part.set("text", text(field.value, fmt::format("the file '{}'", file)));
  const bool printable = std::ranges::none_of(field.type, [](unsigned char c) { return c < 0x20 || c == 0x7F; });
  if (!field.type.empty() && printable) {
    part.set("type", text(field.type, "the type of a file"));
  }
  part.set("filename", text(field.file, "the name of a file"));
  return part;
}

// The jar of each virtual user sends what the server set; what was there before the recording is missing.
void HarImport::tell_cookies() {
  std::set<std::string> set;
  std::set<std::string> missing;
  bool any = false;
  for (const Chosen& each : chosen_) {
    for (const auto& [name, value] : each.entry.headers) {
      if (base::lower(name) != "cookie") continue;
      any = true;
      std::string_view rest = value;
      while (!rest.empty()) {
        const std::string_view pair = protocol::scan::trim(rest.substr(0, rest.find(';')));
        rest.remove_prefix(
            std::min(rest.find(';') == std::string_view::npos ? rest.size() : rest.find(';') + 1, rest.size()));
        const std::string key(pair.substr(0, pair.find('=')));
        if (!key.empty() && !set.contains(key)) missing.insert(key);
      }
    }
    for (const auto& [name, value] : each.entry.answer_headers) {
      // Several of them may stand in one value, a line each.
      if (base::lower(name) != "set-cookie") continue;
      std::string_view rest = value;
      while (!rest.empty()) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(line.size() + 1, rest.size()));
        set.insert(std::string(protocol::scan::trim(line.substr(0, line.find('=')))));
      }
    }
  }
  if (any) draft_.note("", "cookies are not written down: each virtual user keeps its own, as the server sets them");
  if (missing.empty()) return;
  std::vector<std::string> names(missing.begin(), missing.end());
  const std::size_t shown = std::min<std::size_t>(names.size(), 8);
  names.resize(shown);
  draft_.note("",
              fmt::format("{} cookie{} set before the recording began ({}{}): record from the log-in on, or give them "
                          "in a `Cookie` header",
                          missing.size(), missing.size() == 1 ? " was" : "s were", fmt::join(names, ", "),
                          missing.size() > shown ? ", …" : ""));
}

void HarImport::hand_on_values() {
  std::map<std::string, std::string> names;  // value → name under which it is saved
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    if (input_.progress) input_.progress(i, chosen_.size());
    // What is handed on from a response needs no variable of the environment.
    const YamlOut* recorded = headers_in(steps_[i]);
    const YamlOut before = recorded == nullptr ? YamlOut::of_map() : *recorded;
    replace_in(steps_[i], i, names);
    if (YamlOut* headers = headers_in(steps_[i])) credentials_.hide(*headers, &before);
    const HarEntry& entry = chosen_[i].entry;
    correlator_.learn(i, base::lower(entry.answer_type), entry.answer, entry.answer_headers);
  }
}

// Of a step, or of what is written under its `http`. Targets and methods are names and have no holes.
void HarImport::replace_in(YamlOut& fields, std::size_t step, std::map<std::string, std::string>& names) {
  for (YamlOutEntry& each : fields.map) {
    if (each.key == "on" || each.key == "method") continue;
    if (each.key == "http") {
      replace_in(each.value, step, names);
    } else if (each.key == "multipart") {
      replace_in_parts(each.value, step, names);
    } else {
      replace(each.value, step, names);
    }
  }
}

// Of a file, only the content has holes: its name and its type are sent as they are.
void HarImport::replace_in_parts(YamlOut& parts, std::size_t step, std::map<std::string, std::string>& names) {
  const auto part = [&](YamlOut& value) {
    YamlOut* content = value.find("text");
    replace(content == nullptr ? value : *content, step, names);
  };
  for (YamlOutEntry& each : parts.map) {
    for (YamlOut& one : each.value.list) part(one);
    if (each.value.list.empty()) part(each.value);
  }
}

void HarImport::replace(YamlOut& value, std::size_t step, std::map<std::string, std::string>& names) {
  for (YamlOut& each : value.list) replace(each, step, names);
  for (YamlOutEntry& each : value.map) replace(each.value, step, names);
  if (value.kind != YamlOut::Kind::kText) return;
  const auto candidates = Correlator::candidates(value.text);
  // From the end, so that places stay where they are.
  for (auto each = candidates.rbegin(); each != candidates.rend(); ++each) {
    const Correlator::Source* source = correlator_.find(each->second);
    if (source == nullptr) continue;
    std::string& name = names[each->second];
    if (name.empty()) {
      std::string word = "saved_";
      for (const char c : source->name.substr(0, 30)) word += base::identifier(std::string("x") + c) ? c : '_';
      name = word;
      while (!taken_names_.insert(name).second) name = fmt::format("{}_{}", word, ++saved_names_[word] + 1);
      const std::string from = chosen_[source->step].entry.where();
      if (!correlate_) {
        draft_.note(chosen_[step].entry.where(),
                    fmt::format("the value {}… came from {} of {}; --correlate saves it there "
                                "and sends it from here",
                                each->second.substr(0, 12), source->expression, from));
      } else {
        YamlOut& earlier = steps_[source->step];
        if (earlier.find("save") == nullptr) earlier.set("save", YamlOut::of_map());
        earlier.find("save")->set(name, YamlOut::of(source->expression));
      }
    }
    if (!correlate_) continue;
    // A `$` right before a hole would escape it.
    std::size_t at = each->first;
    while (at > 0 && value.text[at - 1] == '$') --at;
    const std::string dollars(each->first - at, '$');
    value.text.replace(at, dollars.size() + each->second.size(),
                       fmt::format("{}${{{}}}", dollars.empty() ? "" : fmt::format("${{'{}'}}", dollars), name));
  }
}

// Pauses, transactions by page, and with --parallel what ran at the same time.
void HarImport::emit() {
  const bool pauses = input_.setting("think", "recorded") == "recorded";
  double end = chosen_.front().entry.start;
  std::string page;
  std::size_t pages = 0;
  std::vector<YamlOut> batch;
  std::string batch_where;
  const auto flush = [&] {
    if (batch.size() == 1) draft_.step(std::move(batch.front()), batch_where);
    if (batch.size() > 1) {
      YamlOut all = YamlOut::of_list();
      for (YamlOut& each : batch) all.add(std::move(each));
      draft_.step(YamlOut::of_map().set("parallel", std::move(all)), batch_where);
    }
    batch.clear();
  };
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    const HarEntry& entry = chosen_[i].entry;
    const bool overlaps = entry.start > 0 && entry.start < end && entry.type != "document";
    const bool joins = parallel_ && overlaps && entry.page == page && batch.size() < kAtOnce;
    if (!joins) flush();
    if (entry.page != page) draft_.end_group();
    const double gap = entry.start - end;
    if (pauses && entry.start > 0 && gap >= kShortestPause) {
      if (gap > kLongestPause) {
        draft_.note(entry.where(), fmt::format("the pause of {:.0f} s before it is cut to {:.0f} s", gap / 1000,
                                               kLongestPause / 1000));
      }
      const auto rounded = std::llround(std::min(gap, kLongestPause) / 10) * 10;
      draft_.step(YamlOut::of_map().set("think", YamlOut::bare(fmt::format("{}ms", rounded))), entry.where());
    }
    if (entry.page != page) {
      page = entry.page;
      if (!page.empty()) draft_.begin_group(page_name(titles_[page], ++pages));
    }
    end = std::max(end, entry.end);
    batch_where = entry.where();
    batch.push_back(std::move(steps_[i]));
    if (!parallel_ || entry.type == "document") flush();
  }
  flush();
}

base::Expected<Imported> run_har(const ImportInput& input) {
  return HarImport(input).run();
}

}  // namespace

Importer har_importer() {
  return {.name = "har",
          .doc = "A recording of a browser's network panel (HAR)",
          .example = "muster import har shop.har -o shop.yaml --only document,xhr,fetch",
          .options = {{.name = "host",
                       .doc = "Hosts to take, or * for all",
                       .value = "HOST",
                       .fallback = "that of the first page"},
                      {.name = "only",
                       .doc = "Types to take: document, stylesheet, script, image, font, media, xhr, fetch, other",
                       .value = "TYPES",
                       .fallback = "all"},
                      {.name = "think",
                       .doc = "Pauses between requests",
                       .value = "WHICH",
                       .fallback = "recorded",
                       .choices = {"recorded", "none"}},
                      {.name = "parallel",
                       .doc = "Send what the browser loaded at the same time at the same time, six at once"},
                      {.name = "correlate",
                       .doc = "Save values of responses that later requests send back, instead of the recorded ones"}},
          .takes_words = false,
          .run = run_har};
}

}  // namespace muster::authoring
