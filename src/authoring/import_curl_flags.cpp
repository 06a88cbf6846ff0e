#include "authoring/import_curl_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/letter_case.h"
#include "protocol/url.h"

namespace muster::authoring {
namespace {

// Flags that change nothing of what is sent: output, progress, what curl does afterwards.
constexpr std::string_view kSilent =
    " append basic buffer clobber create-dirs disable fail fail-early fail-with-body ftp-pasv globoff http1.1 include"
    " keepalive list-only manual no-buffer no-clobber no-keepalive no-progress-meter no-sessionid parallel"
    " parallel-immediate progress-bar progress-meter proto-default remote-header-name remote-name remote-name-all"
    " remote-time remove-on-error sessionid show-error silent styled-output suppress-connect-headers tcp-nodelay"
    " tlsv1 tlsv1.0 tlsv1.1 tlsv1.2 trace-time verbose version xattr use-ascii ssl ssl-reqd alpn no-alpn npn no-npn"
    " ssl-no-revoke false-start tcp-fastopen disallow-username-in-url raw compressed-ssh sslv2 sslv3 fail-on-error ";
constexpr std::string_view kSilentWithValue =
    " ciphers create-file-mode curves dump-header libcurl output output-dir parallel-max stderr tls13-ciphers trace"
    " trace-ascii write-out keepalive-time cert-type key-type proto proto-redir happy-eyeballs-timeout-ms capath "
    " crlfile dns-interface dns-ipv4-addr dns-ipv6-addr dns-servers doh-url expect100-timeout hsts alt-svc rate"
    " tls-max pinnedpubkey hostpubmd5 local-port ";

// Flags that change what is sent, or where it goes, in a way that muster has no words for.
constexpr std::string_view kNoted =
    " anyauth digest ntlm ntlm-wb negotiate cert-status crlf ftp-create-dirs haproxy-protocol http0.9 http1.0 http2"
    " http2-prior-knowledge http3 http3-only ignore-content-length location-trusted metalink netrc netrc-optional"
    " path-as-is post301 post302 post303 proxy-anyauth proxy-basic proxy-digest proxy-insecure proxy-negotiate"
    " proxy-ntlm proxytunnel retry-all-errors retry-connrefused tr-encoding form-escape socks5-basic sasl-ir ";
constexpr std::string_view kNotedWithValue =
    " abstract-unix-socket aws-sigv4 config continue-at delegation engine etag-compare etag-save ftp-port"
    " login-options limit-rate mail-auth mail-from mail-rcpt max-filesize netrc-file noproxy pass preproxy proxy"
    " proxy-cacert proxy-cert proxy-header proxy-key proxy-pass proxy-user proxy1.0 quote request-target retry"
    " retry-delay retry-max-time service-name socks4 socks4a socks5 socks5-hostname speed-limit speed-time"
    " telnet-option time-cond tlsauthtype tlspassword tlsuser unix-socket ";

struct Letter {
  char letter;
  std::string_view name;
};
constexpr std::array<Letter, 54> kLetters{{
    {'a', "append"},
    {'A', "user-agent"},
    {'b', "cookie"},
    {'B', "use-ascii"},
    {'c', "cookie-jar"},
    {'C', "continue-at"},
    {'d', "data"},
    {'D', "dump-header"},
    {'e', "referer"},
    {'E', "cert"},
    {'f', "fail"},
    {'F', "form"},
    {'g', "globoff"},
    {'G', "get"},
    {'H', "header"},
    {'i', "include"},
    {'I', "head"},
    {'j', "junk-session-cookies"},
    {'J', "remote-header-name"},
    {'k', "insecure"},
    {'K', "config"},
    {'l', "list-only"},
    {'L', "location"},
    {'m', "max-time"},
    {'M', "manual"},
    {'n', "netrc"},
    {'N', "no-buffer"},
    {'o', "output"},
    {'O', "remote-name"},
    {'p', "proxytunnel"},
    {'P', "ftp-port"},
    {'q', "disable"},
    {'Q', "quote"},
    {'r', "range"},
    {'R', "remote-time"},
    {'s', "silent"},
    {'S', "show-error"},
    {'t', "telnet-option"},
    {'T', "upload-file"},
    {'u', "user"},
    {'U', "proxy-user"},
    {'v', "verbose"},
    {'V', "version"},
    {'w', "write-out"},
    {'x', "proxy"},
    {'X', "request"},
    {'y', "speed-time"},
    {'Y', "speed-limit"},
    {'z', "time-cond"},
    {'Z', "parallel"},
    {'#', "progress-bar"},
    {'0', "http1.0"},
    {'4', "ipv4"},
    {'6', "ipv6"},
}};

bool listed(std::string_view list, std::string_view name) {
  return list.find(fmt::format(" {} ", name)) != std::string_view::npos;
}

std::string_view name_of_letter(char letter) {
  const auto found = std::ranges::find(kLetters, letter, &Letter::letter);
  return found == kLetters.end() ? std::string_view() : found->name;
}

// As curl's own escaping: a blank becomes '+'. Variables stay as they are.
std::string url_encoded(std::string_view text) {
  std::string out;
  bool variable = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (const auto byte = escaped_mark(text.substr(at))) {
      protocol::append_query_encoded(out, std::string_view(&*byte, 1));
      at += kEscapedMark - 1;
      continue;
    }
    if (c == kVariableBegin) variable = true;
    if (variable) {
      out += c;
    } else if (c == ' ') {
      out += '+';
    } else {
      protocol::append_query_encoded(out, std::string_view(&c, 1));
    }
    if (c == kVariableEnd) variable = false;
  }
  return out;
}

// By the end of the name, as curl guesses it; empty if it says nothing.
std::string_view type_of_file(std::string_view file) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kTypes{{
      {".gif", "image/gif"},
      {".jpg", "image/jpeg"},
      {".jpeg", "image/jpeg"},
      {".png", "image/png"},
      {".svg", "image/svg+xml"},
      {".txt", "text/plain"},
      {".htm", "text/html"},
      {".html", "text/html"},
      {".pdf", "application/pdf"},
      {".xml", "application/xml"},
  }};
  const std::string name = base::lower(file);
  for (const auto& [ending, type] : kTypes) {
    if (name.ends_with(ending)) return type;
  }
  return {};
}

class FlagReader {
 public:
  FlagReader(const ShellCommand& command, const std::string& where, const ImportInput& input, ImportDraft& draft)
      : command_(command), where_(where), input_(input), draft_(draft) {
    transfers_.emplace_back();
  }

  std::vector<CurlTransfer> run() {
    bool flags = true;
    for (at_ = 1; at_ < command_.words.size(); ++at_) {
      const std::string& word = command_.words[at_];
      if (flags && word == "--") {
        flags = false;
      } else if (flags && word.starts_with("--")) {
        long_flag(std::string_view(word).substr(2));
      } else if (flags && word.size() > 1 && word.front() == '-') {
        letters(std::string_view(word).substr(1));
      } else {
        now().urls.push_back(word);
      }
    }
    // A query is written down, wherever it came from.
    for (CurlTransfer& each : transfers_) {
      if (!each.get || each.data_file.empty()) continue;
      each.data = file_text(std::exchange(each.data_file, {})).value_or("") + each.data;
    }
    return std::move(transfers_);
  }

 private:
  using Reader = void (FlagReader::*)(std::string_view value);
  struct Flag {
    std::string_view name;
    bool takes_value;
    Reader read;
  };
  static const std::vector<Flag>& known();

  CurlTransfer& now() { return transfers_.back(); }
  void note(std::string message) { draft_.note(where_, std::move(message)); }

  // The word after the flag; nothing, with a note, at the end.
  std::optional<std::string> value_of(std::string_view flag) {
    if (at_ + 1 < command_.words.size()) return command_.words[++at_];
    note(fmt::format("{} has no value", flag));
    return std::nullopt;
  }

  void long_flag(std::string_view word) {
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    std::optional<std::string> attached;
    if (equals != std::string_view::npos) attached = word.substr(equals + 1);
    if (!apply(name, "--" + std::string(name), attached)) {
      note(fmt::format("--{} is not a flag that this importer knows; it is left out", name));
    }
  }

  void letters(std::string_view word) {
    for (std::size_t i = 0; i < word.size(); ++i) {
      const std::string shown = fmt::format("-{}", word[i]);
      if (word[i] == ':') {
        next({});
        continue;
      }
      const std::string_view name = name_of_letter(word[i]);
      if (name.empty()) {
        note(fmt::format("{} is not a flag that this importer knows; it is left out", shown));
        continue;
      }
      // What follows the letter in the same word is its value, if it takes one.
      const std::string_view left = word.substr(i + 1);
      if (apply(name, shown, left.empty() ? std::nullopt : std::optional(std::string(left))) && value_used_) return;
    }
  }

  // False for a name that is not known. `attached` is what follows a letter; value_used_ says whether it was a value.
  bool apply(std::string_view name, const std::string& shown, const std::optional<std::string>& attached) {
    value_used_ = false;
    const bool negated = name.starts_with("no-") && !listed(kSilent, name);
    const std::string_view positive = negated ? name.substr(3) : name;
    const auto take = [&]() -> std::optional<std::string> {
      value_used_ = attached.has_value();
      return attached ? attached : value_of(shown);
    };
    for (const Flag& flag : known()) {
      if (flag.name != positive) continue;
      if (negated) {
        note(fmt::format("{} is left out", shown));
      } else if (!flag.takes_value) {
        (this->*flag.read)({});
      } else if (const auto value = take()) {
        (this->*flag.read)(*value);
      }
      return true;
    }
    if (listed(kSilent, positive)) return true;
    if (listed(kSilentWithValue, positive)) {
      take();
      return true;
    }
    if (listed(kNoted, positive)) {
      if (!negated) explain(positive, shown, {});
      return true;
    }
    if (!listed(kNotedWithValue, positive)) return false;
    if (const auto value = take()) explain(positive, shown, *value);
    return true;
  }

  void explain(std::string_view name, const std::string& shown, std::string_view value) {
    if (name.starts_with("http2") || name.starts_with("http3") || name == "http1.0" || name == "http0.9") {
      note(fmt::format("{}: muster sends HTTP/1.1", shown));
    } else if (name.find("proxy") != std::string_view::npos || name.starts_with("socks")) {
      note(fmt::format("{}: muster connects directly, without a proxy", shown));
    } else if (name == "config") {
      note(fmt::format("{} {}: the file is not read; put its flags into the command", shown, value));
    } else if (name == "digest" || name.starts_with("ntlm") || name == "negotiate" || name == "anyauth" ||
               name == "aws-sigv4") {
      note(fmt::format("{}: muster authenticates with basic and bearer only", shown));
      now().only_basic = false;
      now().user.reset();
    } else {
      note(fmt::format("{} has no counterpart and is left out", shown));
    }
  }

  std::optional<std::string> file_text(const std::string& path) {
    if (path == "-") {
      if (command_.has_input) return command_.input;
      note("data from standard input cannot be known; put it into a file");
      return std::nullopt;
    }
    if (!input_.read_file) return std::nullopt;
    auto text = input_.read_file(path);
    if (text) return escape_marks(*text);
    note(fmt::format("cannot read '{}': {}", path, text.error().message));
    return std::nullopt;
  }

  // The pieces of -d are joined by '&', those of --json by nothing.
  void add_data(std::string_view text, bool json) {
    CurlTransfer& transfer = now();
    if (transfer.has_data && !json) transfer.data += '&';
    if (!transfer.data_file.empty()) spell_out_file();
    transfer.data += text;
    transfer.has_data = true;
    transfer.json = transfer.json || json;
  }

  // A file and more than that: the body is no longer that file.
  void spell_out_file() {
    CurlTransfer& transfer = now();
    const std::string file = std::exchange(transfer.data_file, {});
    const std::string before = std::exchange(transfer.data, {});
    transfer.data = file_text(file).value_or("") + before;
  }

  void file_data(const std::string& path, bool stripped, bool json) {
    CurlTransfer& transfer = now();
    const bool missing = input_.file_problem && path != "-" && !input_.file_problem(path).empty();
    if (!transfer.has_data && missing) {
      // Whoever writes its name into the job tells of it.
      transfer.data_file = path;
      transfer.has_data = true;
      transfer.json = transfer.json || json;
      return;
    }
    auto text = file_text(path);
    constexpr std::string_view kStripped("\r\n\0", 3);
    const bool as_it_stands = !stripped || (text && text->find_first_of(kStripped) == std::string::npos);
    if (!transfer.has_data && path != "-" && (as_it_stands || !text)) {
      transfer.data_file = path;
      transfer.has_data = true;
      transfer.json = transfer.json || json;
      return;
    }
    if (!text) {
      // What curl sends is a body all the same.
      if (path == "-") add_data("", json);
      return;
    }
    if (stripped) std::erase_if(*text, [&](char c) { return kStripped.find(c) != std::string_view::npos; });
    add_data(*text, json);
  }

  void data(std::string_view value) {
    value.starts_with('@') ? file_data(std::string(value.substr(1)), true, false) : add_data(value, false);
  }
  void data_binary(std::string_view value) {
    value.starts_with('@') ? file_data(std::string(value.substr(1)), false, false) : add_data(value, false);
  }
  void data_raw(std::string_view value) { add_data(value, false); }
  void json(std::string_view value) {
    value.starts_with('@') ? file_data(std::string(value.substr(1)), false, true) : add_data(value, true);
  }
  void data_urlencode(std::string_view value) { add_data(encoded_pair(value), false); }
  void url_query(std::string_view value) {
    std::string& query = now().url_query;
    if (!query.empty()) query += '&';
    query += value.starts_with('+') ? std::string(value.substr(1)) : encoded_pair(value);
  }

  // content, =content, name=content, @file and name@file. An '@' before a '=' is part of the name.
  std::string encoded_pair(std::string_view value) {
    std::size_t mark = value.find('=');
    if (mark == std::string_view::npos) mark = value.find('@');
    if (mark == std::string_view::npos) return url_encoded(value);
    const std::string name(value.substr(0, mark));
    std::string content(value.substr(mark + 1));
    if (value[mark] == '@') content = file_text(content).value_or("");
    return name.empty() ? url_encoded(content) : fmt::format("{}={}", name, url_encoded(content));
  }

  void form(std::string_view value);
  void form_parameters(std::string_view& rest, std::string_view marks, CurlPart& part);
  void form_string(std::string_view value) {
    const std::size_t equals = std::min(value.find('='), value.size());
    CurlPart part;
    part.name = value.substr(0, equals);
    part.text = value.substr(std::min(equals + 1, value.size()));
    now().parts.push_back(std::move(part));
  }

  void header(std::string_view value) {
    if (!value.starts_with('@')) {
      now().headers.emplace_back(value);
      return;
    }
    const std::string text = file_text(std::string(value.substr(1))).value_or("");
    std::string_view rest = text;
    while (!rest.empty()) {
      std::string_view line = rest.substr(0, rest.find('\n'));
      rest.remove_prefix(std::min(line.size() + 1, rest.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!line.empty()) now().headers.emplace_back(line);
    }
  }

  void cookie(std::string_view value) {
    if (value.find('=') == std::string_view::npos) {
      now().cookie_jar = true;
      if (!value.empty()) {
        note(fmt::format("the cookies of the file '{}' are not taken over; each virtual user starts without", value));
      }
      return;
    }
    std::string& all = now().cookie;
    if (!all.empty()) all += ';';
    all += value;
  }
  void cookie_jar(std::string_view) {
    now().cookie_jar = true;
    note("--cookie-jar: cookies are kept by each virtual user, no file is written");
  }

  void next(std::string_view) { transfers_.emplace_back(); }
  void request(std::string_view value) {
    now().method = value;
    if (value.empty()) note("-X '': the method is empty and left out; curl sends a request that no server understands");
  }
  void user(std::string_view value) {
    if (now().only_basic) now().user = std::string(value);
  }
  void bearer(std::string_view value) { now().bearer = value; }
  void agent(std::string_view value) { now().agent = std::string(value); }
  void referer(std::string_view value) {
    if (value.ends_with(";auto")) {
      note("--referer: ';auto' has no counterpart; redirects keep the first Referer");
      value.remove_suffix(5);
    }
    now().referer = value;
  }
  void range(std::string_view value) { now().range = value; }
  void upload(std::string_view value) { now().upload = value; }
  void url(std::string_view value) { now().urls.emplace_back(value); }
  void get(std::string_view) { now().get = true; }
  void head(std::string_view) { now().head = true; }
  void location(std::string_view) { now().follow = true; }
  void compressed(std::string_view) { now().compressed = true; }
  void insecure(std::string_view) { now().insecure = true; }
  void globoff(std::string_view) { now().no_globs = true; }
  void ipv4(std::string_view) { now().ip = "4"; }
  void ipv6(std::string_view) { now().ip = "6"; }
  void tls_1_3(std::string_view) { now().tls_1_3 = true; }
  void junk_cookies(std::string_view) { now().cookie_jar = true; }
  void max_redirects(std::string_view value) {
    int number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || number < 0 || number > 50) {
      note(fmt::format("--max-redirs {}: muster follows at most 50 redirects", value));
      number = 50;
    }
    now().max_redirects = number;
  }
  void max_time(std::string_view value) { now().max_time = value; }
  void connect_timeout(std::string_view value) { now().connect_timeout = value; }
  void cacert(std::string_view value) { now().ca = value; }
  void cert(std::string_view value) {
    // A colon begins the password of the key, unless it is escaped.
    const std::size_t colon = value.find(':');
    if (colon != std::string_view::npos) note("--cert: a key with a password is not supported; write it without one");
    now().cert = value.substr(0, colon);
  }
  void key(std::string_view value) { now().key = value; }
  void interface(std::string_view value) { now().source = value; }
  void resolve(std::string_view value) { now().resolve.emplace_back(value); }
  void connect_to(std::string_view value) { now().connect_to.emplace_back(value); }

  const ShellCommand& command_;
  const std::string& where_;
  const ImportInput& input_;
  ImportDraft& draft_;
  std::size_t at_ = 0;
  bool value_used_ = false;
  std::vector<CurlTransfer> transfers_;
};

const std::vector<FlagReader::Flag>& FlagReader::known() {
  static const std::vector<Flag> kFlags{
      {"request", true, &FlagReader::request},
      {"header", true, &FlagReader::header},
      {"data", true, &FlagReader::data},
      {"data-ascii", true, &FlagReader::data},
      {"data-raw", true, &FlagReader::data_raw},
      {"data-binary", true, &FlagReader::data_binary},
      {"data-urlencode", true, &FlagReader::data_urlencode},
      {"json", true, &FlagReader::json},
      {"form", true, &FlagReader::form},
      {"form-string", true, &FlagReader::form_string},
      {"get", false, &FlagReader::get},
      {"user", true, &FlagReader::user},
      {"oauth2-bearer", true, &FlagReader::bearer},
      {"user-agent", true, &FlagReader::agent},
      {"referer", true, &FlagReader::referer},
      {"cookie", true, &FlagReader::cookie},
      {"cookie-jar", true, &FlagReader::cookie_jar},
      {"junk-session-cookies", false, &FlagReader::junk_cookies},
      {"insecure", false, &FlagReader::insecure},
      {"location", false, &FlagReader::location},
      {"max-redirs", true, &FlagReader::max_redirects},
      {"compressed", false, &FlagReader::compressed},
      {"head", false, &FlagReader::head},
      {"max-time", true, &FlagReader::max_time},
      {"connect-timeout", true, &FlagReader::connect_timeout},
      {"resolve", true, &FlagReader::resolve},
      {"connect-to", true, &FlagReader::connect_to},
      {"cacert", true, &FlagReader::cacert},
      {"cert", true, &FlagReader::cert},
      {"key", true, &FlagReader::key},
      {"interface", true, &FlagReader::interface},
      {"ipv4", false, &FlagReader::ipv4},
      {"ipv6", false, &FlagReader::ipv6},
      {"tlsv1.3", false, &FlagReader::tls_1_3},
      {"range", true, &FlagReader::range},
      {"upload-file", true, &FlagReader::upload},
      {"url", true, &FlagReader::url},
      {"url-query", true, &FlagReader::url_query},
      {"globoff", false, &FlagReader::globoff},
      {"next", false, &FlagReader::next},
  };
  return kFlags;
}

bool blank(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

void skip_blanks(std::string_view& text) {
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
}

// What stands before the next of `marks`, without blanks at its end; `text` goes on at the mark.
std::string_view cut(std::string_view& text, std::string_view marks) {
  std::string_view piece = text.substr(0, text.find_first_of(marks));
  text.remove_prefix(piece.size());
  while (!piece.empty() && blank(piece.back())) piece.remove_suffix(1);
  return piece;
}

// A word of a part: in quotes as it stands there, else without blanks around it. A quote that is not closed is none.
std::string form_word(std::string_view& text, std::string_view marks) {
  skip_blanks(text);
  if (text.starts_with('"')) {
    std::string word;
    for (std::size_t at = 1; at < text.size(); ++at) {
      if (text[at] == '"') {
        text.remove_prefix(at);
        cut(text, marks);
        return word;
      }
      const bool pair = text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == '"' || text[at + 1] == '\\');
      word += text[pair ? ++at : at];
    }
  }
  return std::string(cut(text, marks));
}

// What curl knows at the front of `text`; empty if it is nothing of that.
std::string_view form_parameter(std::string_view text) {
  constexpr std::array<std::string_view, 4> kKnown{"type=", "filename=", "headers=", "encoder="};
  for (const std::string_view each : kKnown) {
    if (base::lower(text.substr(0, each.size())) == each) return each;
  }
  return {};
}

// ;type=, ;filename= and the like. A type goes on over ';' until something else that curl knows.
void FlagReader::form_parameters(std::string_view& rest, std::string_view marks, CurlPart& part) {
  const std::string_view whole = rest;
  std::optional<std::size_t> type;  // where it begins, while it goes on
  while (rest.starts_with(';')) {
    rest.remove_prefix(1);
    skip_blanks(rest);
    const std::string_view name = form_parameter(rest);
    if (name == "type=" || (type && name.empty())) {
      if (!type) {
        rest.remove_prefix(name.size());
        skip_blanks(rest);
        type = whole.size() - rest.size();
      }
      const std::size_t from = whole.size() - rest.size();
      part.type = whole.substr(*type, from + cut(rest, marks).size() - *type);
      continue;
    }
    type.reset();
    rest.remove_prefix(name.size());
    if (name == "headers=" && (rest.starts_with('@') || rest.starts_with('<'))) rest.remove_prefix(1);
    const std::string given = form_word(rest, marks);
    if (name == "filename=") {
      part.filename = given;
    } else if (!name.empty()) {
      note(fmt::format("--form: ';{}' of part '{}' has no counterpart and is left out", name, part.name));
    } else if (!given.empty()) {
      note(fmt::format("--form: ';{}' of part '{}' is left out, as curl does", given, part.name));
    }
  }
}

// name=text, name=@file and name=<file, each with parameters.
void FlagReader::form(std::string_view value) {
  const std::size_t equals = value.find('=');
  if (equals == std::string_view::npos) return note(fmt::format("--form '{}' has no '='; it is left out", value));
  CurlPart part;
  part.name = value.substr(0, equals);
  std::string_view rest = value.substr(equals + 1);
  const char kind = rest.empty() ? '\0' : rest.front();
  if (kind == '@' || kind == '<') rest.remove_prefix(1);
  const std::string_view marks = kind == '@' ? ";," : ";";
  const std::string content = form_word(rest, marks);
  form_parameters(rest, marks, part);
  if (kind == '@') {
    if (!rest.empty()) {
      note(fmt::format("--form: several files in one part ('{}') are not supported; the first is sent", part.name));
    }
    if (part.filename.empty()) part.filename = content.substr(content.find_last_of('/') + 1);
  }
  if (part.type.empty()) part.type = type_of_file(part.filename);
  if (kind == '@' && content != "-") {
    part.file = content;
    if (part.type.empty()) part.type = type_of_file(part.file);
    if (part.type.empty()) part.type = "application/octet-stream";
  } else if (kind == '@' || kind == '<') {
    part.text = file_text(content).value_or("");
  } else {
    part.text = content;
  }
  if (!part.filename.empty() && part.type.empty()) {
    note(fmt::format("--form: muster sends part '{}' as application/octet-stream, curl without a type", part.name));
  }
  now().parts.push_back(std::move(part));
}

}  // namespace

std::vector<CurlTransfer> read_curl_flags(const ShellCommand& command, const std::string& where,
                                          const ImportInput& input, ImportDraft& draft) {
  return FlagReader(command, where, input, draft).run();
}

}  // namespace muster::authoring
