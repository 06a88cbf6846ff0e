#include "authoring/import_har_entry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "authoring/import_draft.h"
#include "base/characters.h"
#include "base/letter_case.h"

namespace muster::authoring {
namespace {

bool number(std::string_view text, std::size_t at, std::size_t digits, int& value) {
  if (at + digits > text.size()) return false;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + at + digits, value);
  return error == std::errc() && end == text.data() + at + digits && value >= 0;
}

std::vector<std::pair<std::string, std::string>> headers_of(const ImportJson& message) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const ImportJson& header : member(message, "headers")) {
    all.emplace_back(text_member(header, "name"), text_member(header, "value"));
  }
  return all;
}

int digit(char c) {
  if (base::is_upper(c)) return c - 'A';
  if (base::is_lower(c)) return c - 'a' + 26;
  if (base::is_digit(c)) return c - '0' + 52;
  return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

std::string decoded(std::string_view base64) {
  std::string out;
  unsigned bits = 0;
  int count = 0;
  for (const char c : base64) {
    if (digit(c) < 0) continue;  // padding and line breaks
    bits = bits << 6 | static_cast<unsigned>(digit(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    out += static_cast<char>(static_cast<unsigned char>(bits >> count & 0xFFu));
  }
  return out;
}

// Chromium says what asked for it; from others the answer's type has to tell.
std::string type_of(const ImportJson& entry, std::string_view answer_type) {
  if (std::string said = text_member(entry, "_resourceType"); !said.empty()) return base::lower(said);
  const std::string type = base::lower(answer_type.substr(0, answer_type.find(';')));
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kTypes{{{"text/html", "document"},
                                                                                 {"text/css", "stylesheet"},
                                                                                 {"javascript", "script"},
                                                                                 {"image/", "image"},
                                                                                 {"font", "font"},
                                                                                 {"video/", "media"},
                                                                                 {"audio/", "media"},
                                                                                 {"json", "xhr"}}};
  for (const auto& [part, name] : kTypes) {
    if (type.find(part) != std::string::npos) return std::string(name);
  }
  return "other";
}

void read_body(const ImportJson& data, HarEntry& made) {
  if (!data.is_object()) return;
  made.body_type = text_member(data, "mimeType");
  made.body = text_member(data, "text");
  if (text_member(data, "encoding") == "base64") made.body = decoded(made.body);
  for (const ImportJson& each : member(data, "params")) {
    made.fields.push_back({.name = text_member(each, "name"),
                           .value = text_member(each, "value"),
                           .file = text_member(each, "fileName"),
                           .type = text_member(each, "contentType")});
  }
  made.has_body = !made.body.empty() || !made.fields.empty();
}

}  // namespace

std::string HarEntry::where() const {
  const std::size_t host = url.find("://");
  const std::size_t path = host == std::string::npos ? 0 : std::min(url.find('/', host + 3), url.size());
  return fmt::format("entry {}, {} {}", number, method.substr(0, 20), url.substr(path, 60));
}

HarEntry read_har_entry(const ImportJson& entry, std::size_t number) {
  HarEntry made;
  const ImportJson& request = member(entry, "request");
  const ImportJson& response = member(entry, "response");
  const ImportJson& content = member(response, "content");
  made.number = number;
  made.page = text_member(entry, "pageref");
  made.method = text_member(request, "method", "GET");
  made.url = text_member(request, "url");
  made.start = read_har_time(text_member(entry, "startedDateTime"));
  made.end = made.start + std::max(0.0, number_member(entry, "time", 0));
  made.headers = headers_of(request);
  made.answer_headers = headers_of(response);
  made.answer_type = text_member(content, "mimeType");
  made.type = type_of(entry, made.answer_type);
  const double status = number_member(response, "status", 0);
  made.status = status >= 100 && status <= 999 ? static_cast<int>(status) : 0;
  const ImportJson& cached = member(entry, "_fromCache");
  made.cached = cached.is_string() || (cached.is_boolean() && cached.get<bool>());
  made.answer = text_member(content, "text");
  if (text_member(content, "encoding") == "base64") made.answer = decoded(made.answer);
  read_body(member(request, "postData"), made);
  return made;
}

double read_har_time(std::string_view text) {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  const bool good = text.size() >= 19 && number(text, 0, 4, year) && number(text, 5, 2, month) &&
                    number(text, 8, 2, day) && number(text, 11, 2, hour) && number(text, 14, 2, minute) &&
                    number(text, 17, 2, second);
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!good || !date.ok()) return 0;
  double seconds = static_cast<double>(std::chrono::sys_days(date).time_since_epoch().count()) * 86400 + hour * 3600 +
                   minute * 60 + second;
  std::string_view rest = text.substr(19);
  if (rest.starts_with('.')) {
    double unit = 0.1;
    rest.remove_prefix(1);
    for (; !rest.empty() && base::is_digit(rest.front()); unit /= 10) {
      seconds += (rest.front() - '0') * unit;
      rest.remove_prefix(1);
    }
  }
  int hours = 0;
  int minutes = 0;
  if ((rest.starts_with('+') || rest.starts_with('-')) && number(rest, 1, 2, hours)) {
    if (!number(rest, 4, 2, minutes)) number(rest, 3, 2, minutes);
    seconds += (rest.front() == '+' ? -1 : 1) * (hours * 3600 + minutes * 60);
  }
  return seconds * 1000;
}

}  // namespace muster::authoring
