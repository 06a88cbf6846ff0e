// curl commands → steps. What curl sends by default is said in full, in curl's order, so that the server sees the same
// request (curl 7.88, HTTP/1.1).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "authoring/import.h"
#include "authoring/import_credentials.h"
#include "authoring/import_curl_flags.h"
#include "authoring/import_curl_globs.h"
#include "authoring/import_curl_words.h"
#include "authoring/import_draft.h"
#include "base/identifier.h"
#include "base/letter_case.h"
#include "base/utf8.h"
#include "model/host_override.h"
#include "protocol/http1_scan.h"
#include "protocol/percent.h"
#include "protocol/url.h"

namespace muster::authoring {
namespace {

constexpr std::string_view kAgent = "curl/7.88.1";
constexpr std::string_view kAcceptedEncodings = "deflate, gzip, br, zstd";
constexpr std::string_view kFormType = "application/x-www-form-urlencoded";

// What `-H` gives: a value, an empty value (`Name;`), or nothing at all, which takes curl's own away (`Name:`).
struct GivenHeader {
  std::string name;
  std::string value;
  bool removed = false;
};

struct Address {
  std::string origin;  // scheme, host and port; may hold variables
  std::string rest;    // path and query
  std::string userinfo;
  std::string host;  // lower case, without brackets
  std::string port;
};

// Scheme, authority and the rest, also where variables stand in them.
Address split_url(std::string_view url) {
  Address made;
  url = url.substr(0, url.find('#'));
  std::string scheme = "http";
  if (const std::size_t mark = url.find("://"); mark != std::string_view::npos && mark < url.find_first_of("/?")) {
    scheme = url.substr(0, mark);
    if (scheme.find(kVariableBegin) == std::string::npos) scheme = base::lower(scheme);
    url.remove_prefix(mark + 3);
  } else if (url.starts_with(kVariableBegin)) {
    scheme.clear();  // the variable holds it, or not
  }
  const std::size_t end = std::min(url.find_first_of("/?"), url.size());
  std::string_view authority = url.substr(0, end);
  made.rest = url.substr(end);
  if (!made.rest.starts_with('/')) made.rest.insert(0, "/");
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    made.userinfo = authority.substr(0, at);
    authority.remove_prefix(at + 1);
  }
  made.origin = scheme.empty() ? std::string(authority) : fmt::format("{}://{}", scheme, authority);
  const std::size_t bracket = authority.find(']');
  const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  made.host = base::lower(authority.substr(0, colon));
  if (made.host.starts_with('[')) made.host = made.host.substr(1, made.host.size() - 2);
  made.port =
      colon == std::string_view::npos ? (scheme == "https" ? "443" : "80") : std::string(authority.substr(colon + 1));
  return made;
}

// What `convert` makes of the text between variables.
template <class Convert>
std::string around_variables(std::string_view text, const Convert& convert) {
  std::string out;
  while (!text.empty()) {
    const std::size_t begin = std::min(text.find(kVariableBegin), text.size());
    const std::size_t end = std::min(text.find(kVariableEnd, begin), text.size());
    out += escape_marks(convert(text.substr(0, begin)));
    out += text.substr(begin, end - begin + 1);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

// Bytes that are no UTF-8 as curl writes them into a request line; variables stay as they are.
std::string encode_bytes(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const auto byte = escaped_mark(rest);
    std::size_t length = byte ? kEscapedMark : base::utf8_length(rest);
    if (!byte && rest.front() == kVariableBegin) length = std::min(rest.find(kVariableEnd), rest.size() - 1) + 1;
    if (byte || length == 0) {
      out += fmt::format("%{:02x}", static_cast<unsigned char>(byte.value_or(rest.front())));
      length = std::max<std::size_t>(length, 1);
    } else {
      out += rest.substr(0, length);
    }
    at += length;
  }
  return out;
}

// What curl finds malformed in an address. Zero bytes never get this far in curl; the draft drops them.
bool holds_blank(std::string_view text) {
  return std::ranges::any_of(text, [](char c) { return (c > 0 && c <= ' ') || c == 0x7F; });
}

// Seconds as curl takes them, as a time that muster takes; empty if they are none.
std::string seconds(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0.001) || !(value <= 3600)) return {};
  return fmt::format("{}ms", std::llround(value * 1000));
}

class CurlImport {
 public:
  explicit CurlImport(const ImportInput& input) : input_(input), draft_("curl", input) {}

  base::Expected<Imported> run() {
    ShellText text;
    if (!input_.words.empty()) {
      ShellCommand given{.words = input_.words, .input = {}, .has_input = false, .line = 1, .after_ampersand = false};
      for (std::string& word : given.words) word = escape_marks(word);
      if (!is_curl(given.words.front()) && !other_program(given.words)) given.words.insert(given.words.begin(), "curl");
      text.commands.push_back(std::move(given));
    } else {
      auto split = split_shell(input_.text, input_.limits);
      if (!split) return std::unexpected(split.error());
      text = std::move(*split);
    }
    for (ImportNote& note : text.notes) draft_.note(std::move(note.where), std::move(note.message));
    if (input_.text.find("^\"") != std::string::npos) {
      draft_.note("", "this looks like a command for cmd.exe; copy it in the form for bash");
    }
    for (std::size_t i = 0; i < text.commands.size(); ++i) {
      if (input_.progress) input_.progress(i, text.commands.size());
      command(text.commands[i], i + 1);
    }
    if (draft_.steps() == 0) {
      Imported nothing = draft_.finish();
      std::string why = "there is no curl command with a URL in it";
      if (!nothing.notes.empty())
        why += fmt::format("; {}: {}", nothing.notes.front().where, nothing.notes.front().message);
      return base::fail(std::move(why));
    }
    tell_credentials();
    return draft_.finish();
  }

 private:
  static bool is_curl(std::string_view word) { return word == "curl" || word.ends_with("/curl") || word == "curl.exe"; }

  // "wget http://shop.test/": its first word would be a host to curl.
  static bool other_program(const std::vector<std::string>& words) {
    const std::string& first = words.front();
    return !first.starts_with('-') && first != "localhost" && first.find_first_of(".:/") == std::string::npos &&
           std::ranges::any_of(words,
                               [](std::string_view word) { return word.find("://") < word.find_first_of("/?"); });
  }

  void command(ShellCommand& command, std::size_t number) {
    const std::string where = fmt::format("command {} (line {})", number, command.line);
    const auto before = [](std::string_view word) {
      constexpr std::array<std::string_view, 7> kWords{"$", "%", ">", "sudo", "time", "exec", "command"};
      return !assigned(word).empty() || std::ranges::find(kWords, word) != kWords.end();
    };
    std::vector<std::string> set;
    while (command.words.size() > 1 && !is_curl(command.words.front()) && before(command.words.front())) {
      if (const std::string_view name = assigned(command.words.front()); !name.empty()) set.emplace_back(name);
      command.words.erase(command.words.begin());
    }
    if (!is_curl(command.words.front())) return no_curl(command, where);
    for (const std::string& name : set) tell_assignment(name, where);
    for (CurlTransfer& each : read_curl_flags(command, where, input_, draft_)) transfer(each, where);
  }

  // The name in `NAME=value`; empty if the word is none.
  static std::string_view assigned(std::string_view word) {
    const std::string_view name = word.substr(0, word.find('='));
    return name.size() < word.size() && base::identifier(name) ? name : std::string_view();
  }

  void tell_assignment(std::string_view name, const std::string& where) {
    draft_.note(where,
                fmt::format("the shell variable {0} is not set here: ${{env.{0}}} is taken from the environment of "
                            "muster, so start it with {0}=…",
                            name.substr(0, 60)));
  }

  // Assignments are worth a word of their own: what they set is asked for in the environment.
  void no_curl(const ShellCommand& command, const std::string& where) {
    const bool exported = command.words.front() == "export" && command.words.size() > 1;
    const std::string& word = command.words[exported ? 1 : 0];
    const std::string_view name = assigned(word);
    if (name.empty()) {
      return draft_.note(where, fmt::format("left out: '{}' is not curl", command.words.front().substr(0, 60)));
    }
    if (command.after_ampersand) {
      return draft_.note(where,
                         fmt::format("left out: '{}' is not curl; a shell ends the command before at a bare '&': "
                                     "quote the URL",
                                     word.substr(0, 60)));
    }
    tell_assignment(name, where);
  }

  void tell_credentials() {
    if (credentials_.empty()) return;
    draft_.note("", fmt::format("the file holds credentials as they were given ({}): keep it to yourself, or write "
                                "${{env.NAME}} in their place and the name under `secrets`",
                                fmt::join(credentials_, ", ")));
  }

  void transfer(CurlTransfer& transfer, const std::string& where) {
    if (transfer.urls.empty()) return draft_.leave_out(where, "there is no URL");
    const std::string upload = transfer.upload;
    for (const std::string& url : transfer.urls) {
      const std::vector<std::string> all = spelt_out(transfer, url, input_.limits.globs, "URLs", where);
      // An upload goes to each of them.
      for (const std::string& file : spelt_out(transfer, upload, input_.limits.globs / all.size(), "files", where)) {
        transfer.upload = file;
        for (const std::string& each : all) request(transfer, each, where);
      }
    }
  }

  // What a pattern stands for; where that cannot be said, the pattern itself and a note.
  std::vector<std::string> spelt_out(const CurlTransfer& transfer, const std::string& pattern, std::size_t most,
                                     std::string_view what, const std::string& where) {
    if (transfer.no_globs) return {pattern};
    if (auto all = expand_globs(pattern, most)) return std::move(*all);
    draft_.note(where, fmt::format("the pattern in '{}' is not spelt out: it is wrong, or stands for more than {} {}",
                                   pattern.substr(0, 80), most, what));
    return {pattern};
  }

  void request(const CurlTransfer& transfer, const std::string& url, const std::string& where);
  void tell_redirects(const CurlTransfer& transfer, const std::string& method, bool has_body, const std::string& where);
  void tell_waiting(const GivenHeader& header, bool has_body, const std::string& where);
  std::string path_of(const CurlTransfer& transfer, const Address& address, const std::string& where);
  std::string method_of(const CurlTransfer& transfer, const std::string& where);
  void tell_repeated(const std::vector<GivenHeader>& all, const std::string& where);
  std::vector<GivenHeader> given_headers(const CurlTransfer& transfer, const std::string& where);
  YamlOut headers(const CurlTransfer& transfer, const std::vector<GivenHeader>& given, bool lengthless,
                  const std::string& where);
  void authorization(const CurlTransfer& transfer, const Address& address, const std::vector<GivenHeader>& given,
                     YamlOut& fields);
  void body(const CurlTransfer& transfer, const std::vector<GivenHeader>& given, const std::string& where,
            YamlOut& fields);
  void multipart(const CurlTransfer& transfer, const std::string& where, YamlOut& fields);
  YamlOut options(const CurlTransfer& transfer, const Address& address, const std::string& where);
  YamlOut hosts(const CurlTransfer& transfer, const Address& address, const std::string& where);

  // Every text that goes into the file passes here.
  std::string text(std::string_view raw, std::string_view where, std::string_view what) {
    std::string made = draft_.clean(raw, where, what);
    draft_.need_variables(made);
    return made;
  }

  void tell_missing(const std::string& file, const std::string& where) {
    if (!input_.file_problem || file.find(kVariableBegin) != std::string::npos) return;
    const std::string why = input_.file_problem(file);
    if (why.empty() || !missing_.insert(file).second) return;
    draft_.note(where, fmt::format("cannot read '{}': {}; the load test needs it, so put it there before you run it",
                                   file.substr(0, 200), why));
  }

  YamlOut path(const std::string& file, const std::string& where) {
    tell_missing(file, where);
    const bool relative = !file.starts_with('/') && !file.starts_with(kVariableBegin);
    return YamlOut::of(template_text(text(relative ? input_.to_here + file : file, where, "a path")));
  }

  const ImportInput& input_;
  ImportDraft draft_;
  std::set<std::string> credentials_;  // headers and flags that gave some in clear
  std::set<std::string> missing_;      // files that cannot be read, which was told
};

void CurlImport::request(const CurlTransfer& transfer, const std::string& url, const std::string& where) {
  const bool appended = transfer.get && transfer.has_data;
  if (holds_blank(url) || holds_blank(transfer.url_query) || (appended && holds_blank(transfer.data))) {
    return draft_.leave_out(
        where, "the URL holds a blank or a control character, which curl refuses too; write %20 for a blank");
  }
  const std::size_t scheme = url.find("://");
  const std::size_t path_begin =
      std::min(url.find_first_of("/?", scheme == std::string::npos ? 0 : scheme + 3), url.size());
  const std::string encoded = url.substr(0, path_begin) + encode_bytes(std::string_view(url).substr(path_begin));
  const Address address = split_url(text(encoded, where, "the URL"));
  const bool variable = address.origin.find(kVariableBegin) != std::string::npos;
  if (!variable) {
    if (const auto parsed = protocol::parse_url(address.origin); !parsed) {
      return draft_.leave_out(where, parsed.error().message);
    }
  }
  const std::string method = method_of(transfer, where);
  if (!protocol::scan::is_token(method))
    return draft_.leave_out(where, fmt::format("'{}' is not a method", method.substr(0, 40)));
  const std::string path = path_of(transfer, address, where);
  const std::vector<GivenHeader> given = given_headers(transfer, where);
  const bool has_body = (transfer.has_data && !transfer.get) || !transfer.parts.empty() || !transfer.upload.empty();
  if (transfer.head && has_body) {
    return draft_.leave_out(where,
                            "curl refuses -I with a body (-d, -F, -T); take one of them out, or give -G with -d");
  }
  const bool lengthless = !has_body && (method == "POST" || method == "PUT" || method == "PATCH");

  YamlOut fields = YamlOut::of_map();
  authorization(transfer, address, given, fields);
  fields.set("headers", headers(transfer, given, lengthless, where));
  for (const GivenHeader& header : given) tell_waiting(header, has_body, where);
  if (has_body) body(transfer, given, where, fields);
  fields.set("redirects", YamlOut::bare(fmt::format("{}", transfer.follow ? transfer.max_redirects : 0)));
  if (transfer.follow) tell_redirects(transfer, method, has_body, where);
  if (!transfer.max_time.empty()) {
    const std::string time = seconds(transfer.max_time);
    if (time.empty()) {
      draft_.note(where, fmt::format("--max-time {}: a step's time-out is between 1 ms and 1 h", transfer.max_time));
    } else {
      fields.set("timeout", YamlOut::bare(time));
    }
  }
  const std::string on = draft_.target(address.origin, options(transfer, address, where));
  draft_.step(request_step(method, template_text(path), on, std::move(fields)), where);
}

// Where curl goes on in another way than docs/http.md says of muster. A method that -X named stays, the body does not.
void CurlImport::tell_redirects(const CurlTransfer& transfer, const std::string& method, bool has_body,
                                const std::string& where) {
  const bool named = !transfer.method.empty();
  if (named && method == "POST") {
    draft_.note(where, "-X POST with -L: after 301, 302 and 303 muster goes on with GET, curl with POST");
  } else if (named && method != "GET" && method != "HEAD") {
    draft_.note(where, fmt::format("-X {0} with -L: after 303 muster goes on with GET, curl with {0}{1}", method,
                                   has_body ? "; after 301 and 302 muster sends the body again, curl does not" : ""));
  } else if (named && has_body) {
    draft_.note(where,
                fmt::format("-X {} with -L: after 301 and 302 muster sends the body again, curl does not", method));
  }
  if (!transfer.cookie.empty()) {
    draft_.note(where,
                "--cookie with -L: after a redirect to another host, port or scheme muster does not send the "
                "Cookie header, curl does");
  }
}

// Path and query as muster takes them: what it would repair is repaired here, and said.
std::string CurlImport::path_of(const CurlTransfer& transfer, const Address& address, const std::string& where) {
  std::string rest = address.rest;
  const auto append = [&rest](std::string query) {
    if (query.empty()) return;
    rest += rest.find('?') == std::string::npos ? "?" : rest.ends_with('?') ? "" : "&";
    // curl writes the escapes of what it appends in small letters.
    for (std::size_t at = query.find('%'); at != std::string::npos; at = query.find('%', at + 1)) {
      for (std::size_t i = at + 1; i < std::min(at + 3, query.size()); ++i) query[i] = base::lower(query[i]);
    }
    rest += query;
  };
  std::string changed;
  const auto append_raw = [&](const std::string& query) {
    const std::string encoded = encode_bytes(query);
    if (encoded != query) changed = " bytes over 127";
    append(text(encoded, where, "the query"));
  };
  append_raw(transfer.url_query);
  if (transfer.get && transfer.has_data) append_raw(transfer.data);
  if (!transfer.upload.empty() && address.rest.substr(0, address.rest.find('?')).ends_with('/')) {
    const std::string name =
        text(transfer.upload.substr(transfer.upload.find_last_of('/') + 1), where, "the name of the file");
    rest.insert(std::min(rest.find('?'), rest.size()), around_variables(name, protocol::encode_path));
  }
  std::string out;
  bool variable = false;
  bool query = false;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const char c = rest[i];
    if (c == kVariableBegin) variable = true;
    query = query || c == '?';
    const auto& bare = query ? protocol::percent::kQueryBytes : protocol::percent::kPathBytes;
    if (variable || bare[static_cast<unsigned char>(c)] || c == '?' ||
        protocol::percent::is_triplet(std::string_view(rest).substr(i))) {
      out += c;
    } else {
      if (changed.find(c) == std::string::npos && protocol::percent::is_printable(c)) changed += c;
      if (!protocol::percent::is_printable(c) && changed.find("bytes") == std::string::npos)
        changed += " bytes over 127";
      protocol::percent::append_byte(out, c);
    }
    if (c == kVariableEnd) variable = false;
  }
  if (!changed.empty()) {
    draft_.note(where,
                fmt::format("the URL holds characters that curl sends bare and muster percent-encodes: {}", changed));
  }
  return out;
}

std::string CurlImport::method_of(const CurlTransfer& transfer, const std::string& where) {
  if (transfer.method.empty()) {
    if (transfer.head) return "HEAD";
    if (!transfer.upload.empty()) return "PUT";
    return (transfer.has_data && !transfer.get) || !transfer.parts.empty() ? "POST" : "GET";
  }
  const std::string upper = base::upper(transfer.method);
  if (upper != transfer.method) {
    draft_.note(where, fmt::format("-X {}: muster writes methods in capitals", transfer.method.substr(0, 40)));
  }
  return upper;
}

// Headers of one name are sent together and in the first one's spelling; curl sends them where they were given.
void CurlImport::tell_repeated(const std::vector<GivenHeader>& all, const std::string& where) {
  std::set<std::string> told;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string name = base::lower(all[i].name);
    if (all[i].removed || told.contains(name)) continue;
    bool apart = false;
    bool spelt = false;
    bool among = true;  // nothing else has come since
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      const bool same = base::lower(all[j].name) == name;
      apart = apart || (same && !among);
      spelt = spelt || (same && all[j].name != all[i].name);
      among = among && (same || all[j].removed);
    }
    if (!apart && !spelt) continue;
    told.insert(name);
    draft_.note(where, fmt::format("the header {} comes several times: muster sends them {}{}{}",
                                   all[i].name.substr(0, 40), spelt ? "in one spelling" : "",
                                   spelt && apart ? " and " : "", apart ? "one after the other" : ""));
  }
}

std::vector<GivenHeader> CurlImport::given_headers(const CurlTransfer& transfer, const std::string& where) {
  std::vector<GivenHeader> all;
  std::vector<std::string> respelt;
  if (transfer.headers.size() > kMostFields) {
    draft_.note(where, fmt::format("of {} headers the first {} are taken", transfer.headers.size(), kMostFields));
  }
  for (const std::string& raw : transfer.headers) {
    if (all.size() >= kMostFields) break;
    const std::string line = text(raw, where, "a header");
    const std::size_t mark = std::min(line.find(':'), line.size());
    // `Name;` and nothing after it is one with an empty value; without a colon curl ignores all else.
    const bool empty = mark == line.size() && line.find(';') + 1 == line.size();
    GivenHeader header;
    header.name = protocol::scan::trim(std::string_view(line).substr(0, empty ? line.size() - 1 : mark));
    if ((mark == line.size() && !empty) || !protocol::scan::is_token(header.name) || header.name.size() > kLongestKey) {
      draft_.note(where, fmt::format("'{}' is not a header{}", line.substr(0, 60),
                                     mark == line.size() ? "; it is left out, as curl does"
                                                         : " that muster can send; it is left out"));
      continue;
    }
    const std::string_view given = std::string_view(line).substr(std::min(mark + 1, line.size()));
    header.removed = !empty && protocol::scan::trim(given).empty();
    if (!header.removed) header.value = given.starts_with(' ') ? given.substr(1) : given;
    const bool exact = (empty || header.removed || given.starts_with(' ')) &&
                       header.name.size() + (empty ? 1 : 0) == std::min(mark, line.size());
    if (!exact) respelt.push_back(header.name.substr(0, 40));
    if (header.value.find_first_of("\r\n") != std::string::npos) {
      draft_.note(where, fmt::format("the header '{}' holds a line break; it is left out", header.name));
      continue;
    }
    if (base::lower(header.name) == "transfer-encoding" && !header.removed) {
      draft_.note(where, "Transfer-Encoding: muster sends bodies with their length; the header is left out");
      continue;
    }
    if (holds_credentials(header.name, header.value)) credentials_.insert(header.name.substr(0, 40));
    all.push_back(std::move(header));
  }
  if (!respelt.empty()) {
    draft_.note(where, fmt::format("muster writes a header as 'Name: value', with one blank after the colon: {}",
                                   fmt::join(respelt, ", ")));
  }
  tell_repeated(all, where);
  // --json says what it sends and wants, after the headers of the command.
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(all, [&](const GivenHeader& each) { return base::lower(each.name) == name; });
  };
  if (transfer.json && !has("content-type")) all.push_back({"Content-Type", "application/json"});
  if (transfer.json && !has("accept")) all.push_back({"Accept", "application/json"});
  return all;
}

YamlOut CurlImport::headers(const CurlTransfer& transfer, const std::vector<GivenHeader>& given, bool lengthless,
                            const std::string& where) {
  HeaderList made;
  const auto find = [&](std::string_view name) -> const GivenHeader* {
    const auto found = std::ranges::find(given, name, [](const GivenHeader& each) { return base::lower(each.name); });
    return found == given.end() ? nullptr : &*found;
  };
  const auto own = [&](std::string_view name, std::string_view value) {
    if (find(base::lower(name)) != nullptr) return;
    if (value.find_first_of("\r\n") == std::string_view::npos) return made.add(name, value);
    draft_.note(where, fmt::format("the header '{}' holds a line break; it is left out", name));
  };
  if (const GivenHeader* host = find("host"); host != nullptr && !host->removed) made.add(host->name, host->value);
  if (!transfer.range.empty()) own("Range", text("bytes=" + transfer.range, where, "--range"));
  if (!transfer.agent) {
    own("User-Agent", kAgent);
  } else if (!transfer.agent->empty()) {
    own("User-Agent", text(*transfer.agent, where, "--user-agent"));
  } else {
    made.none("User-Agent");
  }
  own("Accept", "*/*");
  if (transfer.compressed) {
    own("Accept-Encoding", kAcceptedEncodings);
    draft_.note(where,
                "--compressed: the server may answer with br or zstd, as it may to curl; muster decodes gzip and "
                "deflate only, so change Accept-Encoding before you check the body");
  }
  if (!transfer.referer.empty()) own("Referer", text(transfer.referer, where, "--referer"));
  if (!transfer.cookie.empty()) {
    own("Cookie", text(transfer.cookie, where, "--cookie"));
    if (holds_credentials("Cookie", transfer.cookie)) credentials_.insert("--cookie");
  }
  for (const GivenHeader& header : given) {
    const std::string name = base::lower(header.name);
    if (name == "host" && !header.removed) continue;
    if (name == "content-type" && !transfer.parts.empty()) {
      draft_.note(where, "Content-Type is left out: that of --form has a boundary of its own");
      continue;
    }
    if (name == "content-length" && !header.removed && !(header.value == "0" && lengthless)) {
      draft_.note(where, "Content-Length: muster adds that of the body; the header is left out");
      continue;
    }
    if (header.removed) {
      made.none(header.name);
    } else {
      made.add(header.name, header.value);
    }
  }
  if (lengthless && find("content-length") == nullptr) made.none("Content-Length");
  if (!transfer.upload.empty()) own("Expect", "100-continue");
  return made.take();
}

// That one muster sends by rules of its own, which are those of -T in curl.
void CurlImport::tell_waiting(const GivenHeader& header, bool has_body, const std::string& where) {
  if (base::lower(header.name) != "expect" || header.value != "100-continue") return;
  draft_.note(where, has_body ? "Expect: 100-continue: muster sends it behind all other headers"
                              : "Expect: 100-continue: muster sends it only with a body");
}

void CurlImport::authorization(const CurlTransfer& transfer, const Address& address,
                               const std::vector<GivenHeader>& given, YamlOut& fields) {
  for (const GivenHeader& header : given) {
    if (base::lower(header.name) == "authorization" && !header.removed) return;
  }
  std::string kind;
  std::string value;
  if (!transfer.bearer.empty()) {
    kind = "bearer";
    value = text(transfer.bearer, "", "--oauth2-bearer");
  } else if (transfer.user) {
    kind = "basic";
    value = text(*transfer.user, "", "--user");
  } else if (!address.userinfo.empty()) {
    kind = "basic";
    value = text(around_variables(address.userinfo, protocol::percent_decode), "", "the user in the URL");
  } else {
    return;
  }
  if (kind == "basic" && value.find(':') == std::string::npos) value += ':';
  const std::string_view secret = std::string_view(value).substr(kind == "basic" ? value.find(':') + 1 : 0);
  if (holds_credentials("password", secret)) credentials_.insert(kind == "basic" ? "--user" : "--oauth2-bearer");
  fields.set("auth", YamlOut::of_map().set(kind, YamlOut::of(template_text(value))));
}

void CurlImport::body(const CurlTransfer& transfer, const std::vector<GivenHeader>& given, const std::string& where,
                      YamlOut& fields) {
  if (!transfer.parts.empty()) return multipart(transfer, where, fields);
  if (!transfer.upload.empty()) {
    if (transfer.upload == "-" || transfer.upload == ".") {
      draft_.note(where, "--upload-file from standard input cannot be known; the body is empty");
      fields.set("body", YamlOut::of(""));
    } else {
      fields.set("file", path(transfer.upload, where));
    }
    return;
  }
  const bool typed =
      std::ranges::any_of(given, [](const GivenHeader& each) { return base::lower(each.name) == "content-type"; });
  if (!transfer.data_file.empty()) {
    fields.set("file", path(transfer.data_file, where));
    if (!typed) fields.set("type", YamlOut::bare(std::string(kFormType)));
    return;
  }
  if (transfer.data.size() > input_.limits.body_bytes) {
    draft_.note(where, fmt::format("a body of {} bytes is left out; put it into a file and write --data-binary @FILE",
                                   transfer.data.size()));
    return;
  }
  const std::string data = text(transfer.data, where, "the body");
  if (!typed) {
    if (YamlOut form = form_fields(data); !form.empty()) {
      fields.set("form", std::move(form));
      return;
    }
  }
  fields.set("body", YamlOut::of(template_text(data)));
  if (!typed) fields.set("type", YamlOut::bare(std::string(kFormType)));
}

void CurlImport::multipart(const CurlTransfer& transfer, const std::string& where, YamlOut& fields) {
  YamlOut parts = YamlOut::of_map();
  std::string last;
  for (const CurlPart& part : transfer.parts) {
    const std::string name = text(part.name, where, "the name of a part");
    if (name.empty()) draft_.note(where, "--form: muster sends a part without a name as name=\"\", curl says no name");
    if (name.size() > kLongestKey || parts.map.size() >= kMostFields) {
      draft_.note(where, fmt::format("the part '{}…' is left out: there are too many, or its name is too long",
                                     name.substr(0, 20)));
      continue;
    }
    YamlOut value = YamlOut::of_map();
    if (part.file.empty() && part.type.empty() && part.filename.empty()) {
      value = YamlOut::of(template_text(text(part.text, where, "a part of the form")));
    } else {
      if (part.file.empty()) {
        value.set("text", YamlOut::of(template_text(text(part.text, where, "a part of the form"))));
      } else {
        value.set("file", path(part.file, where));
      }
      if (!part.type.empty()) value.set("type", YamlOut::of(template_text(text(part.type, where, "a type"))));
      if (!part.filename.empty())
        value.set("filename", YamlOut::of(template_text(text(part.filename, where, "a file name"))));
    }
    YamlOut* before = parts.find(name);
    if (before == nullptr) {
      parts.set(name, std::move(value));
    } else {
      if (before->kind != YamlOut::Kind::kList) *before = YamlOut::of_list().add(*before);
      before->add(std::move(value));
      if (last != name) draft_.note(where, fmt::format("the parts named '{}' are sent one after the other", name));
    }
    last = name;
  }
  fields.set("multipart", std::move(parts));
}

YamlOut CurlImport::options(const CurlTransfer& transfer, const Address& address, const std::string& where) {
  YamlOut made = YamlOut::of_map();
  const auto add_path = [&](std::string_view name, const std::string& file) {
    if (!file.empty()) made.set(std::string(name), path(file, where));
  };
  if (transfer.insecure) made.set("insecure", YamlOut::bare("true"));
  add_path("ca", transfer.ca);
  add_path("cert", transfer.cert);
  if (!transfer.cert.empty()) add_path("key", transfer.key);
  if (transfer.tls_1_3) made.set("tls_min", YamlOut::bare("1.3"));
  if (!transfer.connect_timeout.empty()) {
    const std::string time = seconds(transfer.connect_timeout);
    if (time.empty()) {
      draft_.note(where, fmt::format("--connect-timeout {}: it is between 1 ms and 1 h", transfer.connect_timeout));
    } else {
      made.set("connect_timeout", YamlOut::bare(time));
    }
  }
  if (YamlOut map = hosts(transfer, address, where); !map.empty()) made.set("hosts", std::move(map));
  if (!transfer.source.empty()) {
    if (model::source_address(transfer.source)) {
      made.set("source", YamlOut::of(transfer.source));
    } else {
      draft_.note(where, fmt::format("--interface {}: give an address of this machine as `source`",
                                     transfer.source.substr(0, 60)));
    }
  }
  if (!transfer.ip.empty()) made.set("ip", YamlOut::bare(transfer.ip));
  // curl keeps cookies only when told to.
  if (!transfer.cookie_jar) made.set("cookies", YamlOut::bare("false"));
  return made;
}

YamlOut CurlImport::hosts(const CurlTransfer& transfer, const Address& address, const std::string& where) {
  YamlOut map = YamlOut::of_map();
  if (address.host.find(kVariableBegin) != std::string::npos || address.host.size() > kLongestKey) {
    if (!transfer.resolve.empty() || !transfer.connect_to.empty())
      draft_.note(where, "--resolve and --connect-to are left out: the URL's host is a variable, or too long");
    return map;
  }
  const auto add = [&](const std::string& to) {
    if (map.find(address.host) != nullptr) return;
    const std::string made = text(to, where, "an address");
    const bool variable = made.find(kVariableBegin) != std::string::npos;
    if (const auto read = model::parse_host_override(made); !variable && !read) {
      draft_.note(
          where, fmt::format("the address to connect to for '{}' is left out: {}", address.host, read.error().message));
      return;
    }
    map.set(address.host, YamlOut::of(template_text(made)));
  };
  for (const std::string& each : transfer.resolve) {
    std::string_view rest = each;
    if (rest.starts_with('+')) rest.remove_prefix(1);
    const std::size_t first = rest.find(':');
    const std::size_t second = first == std::string_view::npos ? first : rest.find(':', first + 1);
    if (second == std::string_view::npos) {
      draft_.note(where, fmt::format("--resolve {}: expected HOST:PORT:ADDRESS", each.substr(0, 80)));
      continue;
    }
    const std::string name = base::lower(rest.substr(0, first));
    if ((name != address.host && name != "*") || rest.substr(first + 1, second - first - 1) != address.port) continue;
    const std::string_view addresses = rest.substr(second + 1);
    if (addresses.find(',') != std::string_view::npos) draft_.note(where, "--resolve: only the first address is used");
    std::string to(addresses.substr(0, addresses.find(',')));
    std::erase_if(to, [](char c) { return c == '[' || c == ']'; });
    add(to);
  }
  for (const std::string& each : transfer.connect_to) {
    std::array<std::string, 4> parts;
    std::size_t part = 0;
    bool bracket = false;
    for (const char c : each) {
      if (c == '[' || c == ']') bracket = c == '[';
      if (c == ':' && !bracket && part < 3) {
        ++part;
      } else {
        parts[part] += c;
      }
    }
    if (part < 3) {
      draft_.note(where, fmt::format("--connect-to {}: expected HOST:PORT:HOST:PORT", each.substr(0, 80)));
      continue;
    }
    if ((!parts[0].empty() && base::lower(parts[0]) != address.host) || (!parts[1].empty() && parts[1] != address.port))
      continue;
    if (parts[2].empty()) parts[2] = address.host;
    add(parts[3].empty() ? parts[2] : fmt::format("{}:{}", parts[2], parts[3]));
  }
  return map;
}

base::Expected<Imported> run_curl(const ImportInput& input) {
  return CurlImport(input).run();
}

}  // namespace

Importer curl_importer() {
  return {.name = "curl",
          .doc = "curl commands, as browsers copy them and manuals print them",
          .example = "muster import curl -o job.yaml -- curl https://shop.test/cart -d id=7",
          .options = {},
          .takes_words = true,
          .run = run_curl};
}

}  // namespace muster::authoring
