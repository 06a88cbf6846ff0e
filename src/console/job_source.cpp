#include "console/job_source.h"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

extern char** environ;

namespace muster::console {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMaxFileBytes = std::size_t{64} * 1024 * 1024;

base::Expected<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return base::fail(fmt::format("cannot read '{}': check that it exists and may be read", path));
  std::string text;
  char chunk[64 * 1024];
  while (file.read(chunk, sizeof(chunk)) || file.gcount() > 0) {
    text.append(chunk, static_cast<std::size_t>(file.gcount()));
    if (text.size() > kMaxFileBytes) return base::fail(fmt::format("'{}' is larger than 64 MiB", path));
  }
  if (file.bad()) return base::fail(fmt::format("cannot read '{}': it is not a readable file", path));
  return text;
}

base::Expected<std::pair<std::string, std::string>> split_pair(const std::string& text, std::string_view flag) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return base::fail(fmt::format("{} '{}': expected NAME=VALUE", flag, text));
  }
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

// wrk and hey take bare numbers for seconds.
std::string with_unit(const std::string& text, std::string_view unit) {
  const bool bare = !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
  return bare ? text + std::string(unit) : text;
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

base::Expected<ordered_json> step_of(const JobFlags& flags) {
  ordered_json http;
  http["url"] = literal(flags.url);
  http["method"] = !flags.method.empty() ? flags.method : (flags.body.empty() ? "GET" : "POST");
  for (const std::string& header : flags.headers) {
    const std::size_t colon = header.find(':');
    if (colon == std::string::npos || colon == 0) {
      return base::fail(fmt::format("-H '{}': expected 'Name: value'", header));
    }
    std::size_t value = colon + 1;
    while (value < header.size() && header[value] == ' ') ++value;
    http["headers"][header.substr(0, colon)] = literal(header.substr(value));
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
  step["name"] = fmt::format("{} {}", http["method"].get<std::string>(), literal(path_of(flags.url)));
  step["http"] = std::move(http);
  return step;
}

authoring::LoadInput input_of(const JobFlags& flags, std::string& error) {
  authoring::LoadInput input;
  input.read_file = read_file;
  for (const std::string& each : flags.environment) {
    auto pair = split_pair(each, "-e");
    if (!pair) error = pair.error().message;
    if (pair) input.environment.push_back(std::move(*pair));
  }
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (auto pair = split_pair(*entry, "")) input.environment.push_back(std::move(*pair));
  }
  for (const std::string& each : flags.sets) {
    auto pair = split_pair(each, "--set");
    if (!pair) error = pair.error().message;
    if (pair) input.sets.push_back(std::move(*pair));
  }
  return input;
}

base::Expected<void> check_flags(const JobFlags& flags) {
  if (flags.file.empty() == flags.url.empty()) {
    return base::fail(
        flags.file.empty()
            ? "nothing to run: give a file (muster run test.yaml) or an address (muster run --url http://…)"
            : "give either a file or --url, not both");
  }
  if (!flags.url.empty()) {
    if (!flags.url.starts_with("http://") && !flags.url.starts_with("https://")) {
      return base::fail(fmt::format("--url '{}': expected an address that begins with http:// or https://", flags.url));
    }
    if (!flags.rate.empty() && flags.iterations)
      return base::fail("-R and -n exclude each other: a rate runs for a time (-d)");
    return {};
  }
  const bool shaped = flags.vus || flags.iterations || flags.max_vus || !flags.duration.empty() ||
                      !flags.rate.empty() || !flags.method.empty() || !flags.headers.empty() || !flags.body.empty() ||
                      !flags.warm_up.empty() || !flags.grace.empty() || !flags.basic.empty() ||
                      !flags.timeout.empty() || flags.insecure || flags.no_keep_alive || flags.no_redirects;
  if (shaped) {
    return base::fail(
        "flags of the load (-c, -d, -n, -R, --max-vus, --warm-up, --grace) and of the request (-X, -H, --body, -u, -k, "
        "--timeout, --no-keepalive, --no-redirects) go with --url; to change a file's values use --set, for example "
        "--set workflows[0].load.vus=50");
  }
  return {};
}

}  // namespace

base::Expected<std::string> url_job_text(const JobFlags& flags) {
  auto step = step_of(flags);
  if (!step) return std::unexpected(step.error());
  ordered_json target;
  target["url"] = literal(origin_of(flags.url));
  if (flags.insecure) target["insecure"] = true;
  if (flags.no_keep_alive) target["connections"] = "none";
  ordered_json job;
  job["muster"] = 1;
  job["name"] = literal(flags.url);
  job["target"] = std::move(target);
  job["workflows"] = ordered_json::array();
  job["workflows"].push_back({{"name", "url"}, {"load", load_of(flags)}, {"steps", ordered_json::array({*step})}});
  return job.dump(2);
}

base::Expected<model::Job> load(const JobFlags& flags, const engine::Registry& registry) {
  if (auto checked = check_flags(flags); !checked) return std::unexpected(checked.error());
  std::string error;
  authoring::LoadInput input = input_of(flags, error);
  if (!error.empty()) return base::fail(error);
  if (!flags.target.empty()) input.sets.emplace_back("target", flags.target);
  if (flags.seed) input.sets.emplace_back("seed", std::to_string(*flags.seed));
  auto text = flags.url.empty() ? read_file(flags.file) : url_job_text(flags);
  if (!text) return std::unexpected(text.error());
  const authoring::Languages languages{.kinds = registry.kinds, .shapes = registry.shape_keys};
  auto job = authoring::load_job(*text, flags.url.empty() ? flags.file : "command line", input, languages);
  if (job && job->name.empty()) job->name = std::filesystem::path(flags.file).stem().string();
  if (job) return std::move(*job);
  std::string message;
  for (const authoring::Problem& problem : job.error().list) {
    if (!message.empty()) message += '\n';
    message += to_text(problem);
  }
  return base::fail(std::move(message));
}

}  // namespace muster::console
