#include "console/job_source.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/escapes.h"
#include "base/identifier.h"
#include "base/letter_case.h"
#include "console/flag_check.h"
#include "console/typed_secrets.h"
#include "protocol/credentials.h"
#include "protocol/url.h"
#include "script/lua_job.h"

extern char** environ;

namespace muster::console {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMaxFileBytes = std::size_t{64} * 1024 * 1024;

// Why it cannot be read, or nothing.
std::string file_problem(const std::string& path) {
  struct stat found{};
  if (stat(path.c_str(), &found) != 0) return errno == ENOENT ? "no such file" : std::strerror(errno);
  if (S_ISDIR(found.st_mode)) return "it is a folder";
  return access(path.c_str(), R_OK) == 0 ? std::string() : std::strerror(errno);
}

// Errors say only why.
base::Expected<std::string> read_file(const std::string& path) {
  if (std::string why = file_problem(path); !why.empty()) return base::fail(std::move(why));
  std::ifstream file(path, std::ios::binary);
  if (!file) return base::fail("it may not be read");
  std::string text;
  char chunk[64 * 1024];
  while (file.read(chunk, sizeof(chunk)) || file.gcount() > 0) {
    text.append(chunk, static_cast<std::size_t>(file.gcount()));
    if (text.size() > kMaxFileBytes) return base::fail("it is larger than 64 MiB");
  }
  if (file.bad()) return base::fail("it is not a readable file");
  return text;
}

base::Expected<std::pair<std::string, std::string>> split_pair(const std::string& text, std::string_view flag,
                                                               std::string_view form) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return base::fail(fmt::format("{}: expected {}, found '{}'", flag, form, text));
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

ordered_json load_of(const JobFlags& flags) {
  ordered_json load;
  if (!flags.rate.empty()) {
    load["rate"] = with_unit(flags.rate, "/s");
    load["for"] = with_unit(flags.duration.empty() ? "10s" : flags.duration, "s");
    if (flags.max_vus) {
      load["max_vus"] = *flags.max_vus;
    } else if (flags.vus) {
      load["max_vus"] = *flags.vus;
    }
  } else {
    load["vus"] = flags.vus.value_or(flags.iterations && *flags.iterations < 10 ? *flags.iterations : 10);
    if (flags.iterations) {
      load["iterations"] = *flags.iterations;
    } else {
      load["for"] = with_unit(flags.duration.empty() ? "10s" : flags.duration, "s");
    }
  }
  if (!flags.warm_up.empty()) load["warm_up"] = with_unit(flags.warm_up, "s");
  if (!flags.grace.empty()) load["grace"] = with_unit(flags.grace, "s");
  return load;
}

// `${` in what the user typed on the command line is not ours to read.
std::string literal(std::string text) {
  for (std::size_t at = text.find("${"); at != std::string::npos; at = text.find("${", at + 3)) text.insert(at, "$");
  return text;
}

// Scheme, host and port: where the target's paths begin.
std::string origin_of(const std::string& url) {
  return url.substr(0, url.find_first_of("/?#", url.find("//") + 2));
}

// What follows the host: enough to name the only step.
std::string path_of(const std::string& url) {
  const std::size_t slash = url.find('/', url.find("//") + 2);
  return slash == std::string::npos ? "/" : url.substr(slash);
}

// A name that comes again, in whatever case, is sent again: the job has a list for that.
void add_header(ordered_json& headers, const std::string& name, std::string value) {
  for (auto& [given, values] : headers.items()) {
    if (!base::equal_ignoring_case(given, name)) continue;
    if (!values.is_array()) values = ordered_json::array({values});
    values.push_back(std::move(value));
    return;
  }
  headers[name] = std::move(value);
}

ordered_json step_of(const JobFlags& flags) {
  ordered_json http;
  http["url"] = literal(flags.url);
  http["method"] = !flags.method.empty() ? flags.method : (flags.body.empty() ? "GET" : "POST");
  for (const std::string& header : flags.headers) {
    const std::size_t colon = header.find(':');
    std::size_t value = colon + 1;
    while (value < header.size() && header[value] == ' ') ++value;
    add_header(http["headers"], header.substr(0, colon), literal(header.substr(value)));
  }
  if (flags.body.starts_with('@')) {
    http["file"] = flags.body.substr(1);
  } else if (!flags.body.empty()) {
    http["body"] = literal(flags.body);
  }
  if (!flags.basic.empty()) http["auth"] = {{"basic", literal(flags.basic)}};
  if (!flags.timeout.empty()) http["timeout"] = with_unit(flags.timeout, "s");
  if (flags.no_redirects) http["redirects"] = 0;
  ordered_json step;
  step["name"] = fmt::format("{} {}", http["method"].get<std::string>(),
                             protocol::without_credentials(literal(path_of(flags.url))));
  step["http"] = std::move(http);
  return step;
}

// What the script finds in its table `wrk`: the parts of the address as they were written, and the headers.
script::WrkInput wrk_input(const JobFlags& flags) {
  JobFlags without_redirects = flags;
  without_redirects.no_redirects = true;
  script::WrkInput wrk{.job = url_job_text(without_redirects), .arguments = {flags.url}, .settings = {}};
  wrk.arguments.insert(wrk.arguments.end(), flags.arguments.begin(), flags.arguments.end());
  const auto url = protocol::parse_url(flags.url);
  if (!url) return wrk;
  wrk.settings = {{"scheme", url->scheme}, {"host", url->host}, {"path", url->target}};
  const std::string origin = origin_of(flags.url);
  if (const std::size_t colon = origin.rfind(':');
      colon > origin.find("//") && origin.find(']', colon) == std::string::npos)
    wrk.settings.emplace_back("port", origin.substr(colon + 1));
  for (const std::string& header : flags.headers) {
    const std::size_t colon = header.find(':');
    // wrk takes away one space, and no more.
    const std::size_t value = colon + (header.substr(colon + 1).starts_with(' ') ? 2 : 1);
    wrk.settings.emplace_back("header " + header.substr(0, colon), header.substr(value));
  }
  return wrk;
}

// `files` gets the name of every file that is asked for, and outlives the input.
base::Expected<authoring::LoadInput> input_of(const JobFlags& flags, std::set<std::string>& files) {
  authoring::LoadInput input;
  input.read_file = [&files](const std::string& path) {
    files.insert(path);
    return read_file(path);
  };
  input.file_problem = [&files](const std::string& path) {
    files.insert(path);
    return file_problem(path);
  };
  for (const std::string& each : flags.environment) {
    auto pair = split_pair(each, "-e", "NAME=VALUE");
    if (!pair) return std::unexpected(pair.error());
    if (!base::identifier(pair->first)) {
      return base::fail(
          fmt::format("-e: names are letters, digits and '_', and do not begin with a digit; found '{}'", pair->first));
    }
    // What comes first wins there; of two with one name the last is meant, as with --set.
    input.environment.insert(input.environment.begin(), std::move(*pair));
  }
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (auto pair = split_pair(*entry, "", "")) input.environment.push_back(std::move(*pair));
  }
  for (const std::string& each : flags.sets) {
    if (auto text = check_utf8("--set", each, "write it as UTF-8"); !text) return std::unexpected(text.error());
    auto pair = split_pair(each, "--set", "PATH=VALUE such as load.vus=50");
    if (!pair) return std::unexpected(pair.error());
    input.sets.push_back(std::move(*pair));
  }
  return input;
}

}  // namespace

std::string url_job_text(const JobFlags& flags) {
  ordered_json target;
  target["url"] = literal(origin_of(flags.url));
  if (flags.insecure) target["insecure"] = true;
  if (flags.no_keep_alive) target["connections"] = "none";
  ordered_json job;
  job["muster"] = 1;
  job["name"] = protocol::without_credentials(literal(flags.url));
  job["target"] = std::move(target);
  job["workflows"] = ordered_json::array();
  job["workflows"].push_back(
      {{"name", "url"}, {"load", load_of(flags)}, {"steps", ordered_json::array({step_of(flags)})}});
  return job.dump(2);
}

namespace {

std::expected<model::Job, authoring::Problems> load_text(const JobFlags& flags, const std::string& name,
                                                         const std::string& text, const authoring::LoadInput& input,
                                                         const authoring::Languages& languages) {
  if (!is_script(flags)) return authoring::load_job(text, name, input, languages);
  if (flags.url.empty()) return script::load_lua_job(text, name, input, languages);
  return script::load_wrk_job(text, flags.file, wrk_input(flags), input, languages);
}

}  // namespace

std::expected<model::Job, authoring::Problems> load_or_explain(const JobFlags& given,
                                                               const engine::Registry& registry) {
  JobFlags flags = given;
  // An address where a file is expected is what people who know other tools write.
  if (flags.url.empty() && flags.file.find("://") != std::string::npos) std::swap(flags.url, flags.file);
  if (flags.url.empty() && is_script(flags) && !flags.arguments.empty() &&
      flags.arguments.front().find("://") != std::string::npos) {
    flags.url = flags.arguments.front();
    flags.arguments.erase(flags.arguments.begin());
  }
  const auto explain = [](std::string message) {
    return std::unexpected(authoring::Problems{{{.where = {}, .message = std::move(message), .excerpt = {}}}});
  };
  if (auto checked = check_job_flags(flags); !checked) return explain(checked.error().message);
  std::set<std::string> files;
  auto input = input_of(flags, files);
  if (!input) return explain(input.error().message);
  if (!flags.target.empty()) input->sets.emplace_back("target", flags.target);
  if (flags.seed) input->sets.emplace_back("seed", std::to_string(*flags.seed));
  auto text = !flags.file.empty() ? read_file(flags.file) : base::Expected<std::string>(url_job_text(flags));
  if (!text) return explain(fmt::format("cannot read '{}': {}", base::one_line(flags.file), text.error().message));
  const authoring::Languages languages{.kinds = registry.kinds, .shapes = registry.shape_keys};
  const std::string name = flags.url.empty() ? flags.file : "command line";
  auto job = load_text(flags, name, *text, *input, languages);
  if (job) {
    if (job->name.empty()) job->name = std::filesystem::path(flags.file).stem().string();
    hide_secrets(flags, *job);
    job->files.assign(files.begin(), files.end());
    return job;
  }
  for (authoring::Problem& problem : job.error().list) {
    const bool target = problem.where.file != nullptr && *problem.where.file == "--set target=" + flags.target;
    if (flags.target.empty() || !target) continue;
    const char* const exported = std::getenv("MUSTER_TARGET");
    const bool by_variable = exported != nullptr && flags.target == exported;
    problem.where.file =
        std::make_shared<const std::string>(by_variable ? "--target (from MUSTER_TARGET)" : "--target");
  }
  if (flags.url.empty()) return job;
  // Nobody has seen the text that the flags were turned into: places in it say nothing.
  for (authoring::Problem& problem : job.error().list) {
    if (problem.where.file == nullptr || *problem.where.file != name) continue;
    problem.where = {};
    problem.excerpt.clear();
  }
  return job;
}

base::Expected<model::Job> load(const JobFlags& flags, const engine::Registry& registry) {
  auto job = load_or_explain(flags, registry);
  if (job) return std::move(*job);
  std::string message;
  for (const authoring::Problem& problem : job.error().list) {
    if (!message.empty()) message += '\n';
    message += to_text(problem);
  }
  return base::fail(std::move(message));
}

void keep_standard_output(model::Job& job) {
  if (job.script == nullptr) return;
  auto script = std::make_shared<model::Script>(*job.script);
  script->to_standard_error = true;
  job.script = std::move(script);
}

}  // namespace muster::console
