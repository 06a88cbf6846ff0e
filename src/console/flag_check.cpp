#include "console/flag_check.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/units.h"
#include "base/utf8.h"
#include "protocol/http1_scan.h"
#include "protocol/url.h"

namespace muster::console {
namespace {

using Checked = base::Expected<void>;
using namespace std::chrono_literals;

constexpr double kHighestRate = 1e8;
constexpr base::Duration kLongest = std::chrono::hours(24 * 365);

bool token(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char each) { return protocol::scan::is_token_byte(each); });
}

Checked check_time(std::string_view flag, const std::string& text, base::Duration least, base::Duration most) {
  if (text.empty()) return {};
  const auto time = base::parse_duration(with_unit(text, "s"));
  if (!time) return base::fail(fmt::format("{}: {}", flag, time.error().message));
  if (*time >= least && *time <= most) return {};
  return base::fail(fmt::format("{}: expected a time between {} and {}, found '{}'", flag, base::format_duration(least),
                                base::format_duration(most), text));
}

Checked check_rate(const std::string& text) {
  if (text.empty()) return {};
  const auto rate = base::parse_rate(text);
  if (!rate) return base::fail(fmt::format("-R: {}", rate.error().message));
  if (*rate > 0 && *rate <= kHighestRate) return {};
  return base::fail(fmt::format("-R: expected a rate above 0/s and at most {:.0f}/s, found '{}'", kHighestRate, text));
}

// What the flags ask for is written down as text first. The text itself is not shown: it may be a password.
Checked check_texts(const JobFlags& flags) {
  const std::string_view percent = "write it percent-encoded";
  if (auto checked = check_utf8("--url", flags.url, percent); !checked) return checked;
  for (const std::string& header : flags.headers) {
    if (auto checked = check_utf8("-H", header, "write it as UTF-8, or percent-encoded"); !checked) return checked;
  }
  if (auto checked = check_utf8("-u", flags.basic, "write it as UTF-8"); !checked) return checked;
  return check_utf8(
      "--body", flags.body,
      flags.body.starts_with('@') ? "give the file another name" : "put the bytes into a file and write --body @FILE");
}

Checked check_together(const JobFlags& flags) {
  if (!flags.rate.empty() && flags.iterations) {
    return base::fail("-R and -n exclude each other: a rate runs for a time (-d)");
  }
  if (flags.iterations && !flags.duration.empty()) {
    return base::fail("-n and -d exclude each other: a run ends after so many requests or after a time");
  }
  if (flags.max_vus && flags.rate.empty()) {
    return base::fail("--max-vus goes with -R; without a rate, -c says how many virtual users there are");
  }
  return {};
}

Checked check_request(const JobFlags& flags) {
  if (const auto url = protocol::parse_url(flags.url); !url) {
    const bool schemed = flags.url.find("://") != std::string::npos;
    return base::fail(schemed ? fmt::format("--url: {}", url.error().message)
                              : fmt::format("--url: expected an address that begins with http:// or https://, found "
                                            "'{0}'; write http://{0}",
                                            flags.url));
  }
  if (!flags.method.empty() && !token(flags.method)) {
    return base::fail(fmt::format("-X: expected one word such as GET or PURGE, found '{}'", flags.method));
  }
  for (const std::string& header : flags.headers) {
    const std::size_t colon = header.find(':');
    if (colon == std::string::npos || !token(std::string_view(header).substr(0, colon))) {
      return base::fail(fmt::format("-H: expected 'Name: value', found '{}'", header));
    }
    if (header.find_first_of("\r\n") != std::string::npos) {
      return base::fail(fmt::format("-H: header '{}' holds a line break", header.substr(0, colon)));
    }
  }
  if (!flags.basic.empty() && flags.basic.find(':') == std::string::npos) {
    // Not shown: it may be the password.
    return base::fail("-u: expected USER:PASSWORD, with ':' between them");
  }
  if (flags.body.starts_with('@') && access(flags.body.c_str() + 1, R_OK) != 0) {
    return base::fail(fmt::format("--body: cannot read '{}': {}", flags.body.substr(1), std::strerror(errno)));
  }
  return {};
}

Checked check_url_flags(const JobFlags& flags) {
  for (const Checked& checked :
       {check_texts(flags), check_request(flags), check_together(flags),
        check_time("-d", flags.duration, 1ms, kLongest), check_rate(flags.rate),
        check_time("--warm-up", flags.warm_up, 0s, kLongest), check_time("--grace", flags.grace, 0s, kLongest),
        check_time("--timeout", flags.timeout, 1ms, 1h)}) {
    if (!checked) return checked;
  }
  return {};
}

// Those that mean nothing beside a file, as the user would write them.
std::vector<std::string_view> url_only(const JobFlags& flags) {
  std::vector<std::string_view> given;
  const auto add = [&](bool is_given, std::string_view flag) {
    if (is_given) given.push_back(flag);
  };
  add(flags.vus.has_value(), "-c");
  add(!flags.duration.empty(), "-d");
  add(flags.iterations.has_value(), "-n");
  add(!flags.rate.empty(), "-R");
  add(flags.max_vus.has_value(), "--max-vus");
  add(!flags.warm_up.empty(), "--warm-up");
  add(!flags.grace.empty(), "--grace");
  add(!flags.method.empty(), "-X");
  add(!flags.headers.empty(), "-H");
  add(!flags.body.empty(), "--body");
  add(!flags.basic.empty(), "-u");
  add(!flags.timeout.empty(), "--timeout");
  add(flags.insecure, "-k");
  add(flags.no_keep_alive, "--no-keepalive");
  add(flags.no_redirects, "--no-redirects");
  return given;
}

// What such a script says itself would be without effect.
Checked check_wrk_flags(const JobFlags& flags) {
  std::vector<std::string_view> given;
  if (!flags.method.empty()) given.emplace_back("-X");
  if (!flags.body.empty()) given.emplace_back("--body");
  if (!flags.basic.empty()) given.emplace_back("-u");
  if (flags.no_keep_alive) given.emplace_back("--no-keepalive");
  if (given.empty()) return {};
  return base::fail(fmt::format(
      "{} given with a script written for wrk, which makes the requests itself; set wrk.method, wrk.body or "
      "wrk.headers in it (-H works from here too)",
      fmt::join(given, ", ")));
}

}  // namespace

base::Expected<void> check_job_flags(const JobFlags& flags) {
  if (flags.file.empty() && flags.url.empty()) {
    return base::fail(fmt::format(
        "nothing to {0}: give a file (muster {0} test.yaml) or an address (muster {0} --url http://…)", flags.command));
  }
  if (!flags.file.empty() && !flags.url.empty() && !is_script(flags)) {
    return base::fail("give either a file or --url, not both; only a script written for wrk takes an address");
  }
  if (!flags.arguments.empty() && !(is_script(flags) && !flags.url.empty())) {
    return base::fail(
        fmt::format("'{}' is one argument too many; only a script written for wrk takes more: muster run script.lua "
                    "--url … -- ARGUMENTS",
                    flags.arguments.front()));
  }
  if (!flags.url.empty() && !flags.target.empty()) {
    return base::fail(
        "--target (or MUSTER_TARGET) takes the place of a file's target, but --url says itself where requests go; "
        "leave "
        "one of them out. For muster's own server, start 'muster target' and give its address to --url");
  }
  if (!flags.url.empty() && !flags.file.empty()) {
    if (auto checked = check_wrk_flags(flags); !checked) return checked;
  }
  if (!flags.url.empty()) return check_url_flags(flags);
  const std::vector<std::string_view> given = url_only(flags);
  if (given.empty()) return {};
  return base::fail(
      fmt::format("{} given with a file, but such flags go with --url; a file says it itself, and --set "
                  "changes it, for example --set load.vus=50 or --set workflows[0].load.vus=50",
                  fmt::join(given, ", ")));
}

base::Expected<void> check_utf8(std::string_view flag, std::string_view text, std::string_view remedy) {
  const std::size_t at = base::first_not_utf8(text);
  if (at == std::string_view::npos) return {};
  return base::fail(fmt::format("{}: expected UTF-8 text, found byte 0x{:02x} at position {}; {}", flag,
                                static_cast<unsigned char>(text[at]), at + 1, remedy));
}

std::string with_unit(const std::string& text, std::string_view unit) {
  const bool bare = !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
  return bare ? text + std::string(unit) : text;
}

}  // namespace muster::console
