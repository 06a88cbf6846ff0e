#include "console/target_command.h"

#include <fmt/format.h>
#include <signal.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/units.h"
#include "console/job_flags.h"
#include "console/say.h"
#include "reactor/descriptors.h"
#include "report/atomic_file.h"
#include "target/server.h"

namespace muster::console {
namespace {

constexpr std::uint64_t kMostThreads = 256;

base::Expected<void> read_listen(std::string_view text, target::ServerOptions& options) {
  const std::size_t colon = text.rfind(':');
  const std::string_view host = text.substr(0, colon == std::string_view::npos ? 0 : colon);
  const std::string_view port = colon == std::string_view::npos ? text : text.substr(colon + 1);
  const auto [stop, error] = std::from_chars(port.data(), port.data() + port.size(), options.port);
  if (port.empty() || error != std::errc() || stop != port.data() + port.size()) {
    return base::fail(fmt::format("--listen: expected an address and a port like 127.0.0.1:8080, found '{}'", text));
  }
  if (host == "localhost") {
    options.host = "127.0.0.1";
  } else if (!host.empty()) {
    options.host = host;
  }
  return {};
}

base::Expected<target::StallWindow> read_stall(std::string_view text) {
  target::StallWindow window;
  bool has_at = false;
  bool has_length = false;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view part = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    if (equals == std::string_view::npos || (name != "at" && name != "for")) {
      return base::fail(fmt::format("--stall: expected at=TIME,for=TIME, like at=10s,for=1s, found '{}'", text));
    }
    const auto time = base::parse_duration(part.substr(equals + 1));
    if (!time) return base::fail(fmt::format("--stall: {}: {}", name, time.error().message));
    (name == "at" ? window.at : window.length) = *time;
    (name == "at" ? has_at : has_length) = true;
  }
  if (!has_at || !has_length) {
    return base::fail(fmt::format("--stall: expected both times, like at=10s,for=1s, found '{}'", text));
  }
  return window;
}

// Each of the files has its own content, and one written over another would leave neither.
base::Expected<void> apart(const TargetFlags& flags) {
  const std::array<std::pair<std::string_view, const std::string*>, 3> files = {
      {{"--cert-out", &flags.cert_out}, {"--log", &flags.log}, {"--http-log", &flags.http_log}}};
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (std::size_t j = i + 1; j < files.size(); ++j) {
      const std::string place = report::identity_of(*files[i].second);
      if (files[i].second->empty() || place.empty() || place != report::identity_of(*files[j].second)) continue;
      return base::fail(
          fmt::format("{} and {} name the same file; give each one of its own", files[i].first, files[j].first));
    }
  }
  return {};
}

base::Expected<target::ServerOptions> read_flags(const TargetFlags& flags) {
  target::ServerOptions options;
  if (auto read = read_listen(flags.listen, options); !read) return std::unexpected(read.error());
  if (!flags.stall.empty()) {
    auto window = read_stall(flags.stall);
    if (!window) return std::unexpected(window.error());
    options.stall = *window;
  }
  if (!flags.cert_out.empty() && !flags.tls) {
    return base::fail("--cert-out: there is a certificate only with --tls");
  }
  if (auto told = apart(flags); !told) return std::unexpected(told.error());
  options.tls = flags.tls;
  options.cores = flags.cores;
  options.seed = flags.seed;
  options.service_log = flags.log;
  options.request_log = flags.http_log;
  return options;
}

base::Expected<void> write_certificate(const std::string& path, const std::string& pem) {
  std::FILE* const file = std::fopen(path.c_str(), "we");
  bool good = file != nullptr && std::fwrite(pem.data(), 1, pem.size(), file) == pem.size();
  if (file != nullptr) good = std::fclose(file) == 0 && good;
  if (!good) return base::fail(fmt::format("--cert-out: cannot write '{}': {}", path, std::strerror(errno)));
  return {};
}

void print_start(const target::Server& server, bool json) {
  if (json) {
    nlohmann::ordered_json ready;
    ready["listening"] = server.url();
    say("{}\n", ready.dump());
    std::fflush(stdout);
    return;
  }
  say("listening on {}/\n"
      "  /  /json  /bytes/10KB  /status/503  /echo      what to answer\n"
      "  /delay/20  /delay/5..50  /drip/100?over=2s     when\n"
      "  /login  /me  /cookies  /redirect/3             sessions\n"
      "  /reset  /stall  /truncated  /garbage           and what can go wrong\n"
      "all paths: docs/target.md; Ctrl-C ends\n",
      server.url());
  std::fflush(stdout);
}

void print_end(const target::Server& server, bool json) {
  if (json) {
    nlohmann::ordered_json served;
    served["requests"] = server.requests();
    served["connections"] = server.connections();
    say("{}\n", served.dump());
  } else {
    say("served {} requests on {} connections\n", server.requests(), server.connections());
  }
}

int complain(const base::Error& error, int code = kBadInput) {
  say(stderr, "muster target: {}\n", error.message);
  return code;
}

}  // namespace

int run_target(const TargetFlags& flags) {
  auto options = read_flags(flags);
  if (!options) return complain(options.error());

  // Blocked before the server's threads start, so that they wait for sigwait() below.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  reactor::raise_descriptor_limit();
  target::Server server(std::move(*options));
  if (auto started = server.start(); !started) return complain(started.error(), kCouldNotRun);
  if (!flags.cert_out.empty()) {
    if (auto written = write_certificate(flags.cert_out, server.certificate()); !written) {
      return complain(written.error(), kCouldNotRun);
    }
  }
  print_start(server, flags.json);
  int received = 0;
  sigwait(&ends, &received);

  const auto stopped = server.stop();
  print_end(server, flags.json);
  if (!stopped) return complain(stopped.error(), kCouldNotRun);
  return 0;
}

void add_target(CLI::App& app, CommandContext& context) {
  CLI::App& command =
      *app.add_subcommand("target", "Serve HTTP for demos and tests: delays, errors, resets, echo and more");
  command.footer(
      "Examples:\n"
      "  muster target &\n"
      "  curl http://127.0.0.1:8080/delay/20..80\n"
      "  muster target --listen 0.0.0.0:9000 --cores 4 --log service.csv\n"
      "Ctrl-C ends it. All paths: docs/target.md");
  const auto flags = std::make_shared<TargetFlags>();
  command.add_option("--listen", flags->listen, "Where; port 0 takes any free one [127.0.0.1:8080]")
      ->type_name("ADDRESS:PORT");
  command.add_flag("--tls", flags->tls, "HTTPS with a certificate made for this run");
  command.add_option("--cert-out", flags->cert_out, "Where to write the certificate (PEM), for clients to trust")
      ->type_name("FILE");
  command.add_option("--cores", flags->cores, "Threads that serve [1]")
      ->type_name("N")
      ->check(whole_number(1, kMostThreads));
  command.add_option("--log", flags->log, "CSV of what each request really took, written at the end")
      ->type_name("FILE");
  command.add_option("--http-log", flags->http_log, "Requests as received, one JSON object per line")
      ->type_name("FILE");
  command.add_option("--stall", flags->stall, "Stand still once; `at` counts from the first request")
      ->type_name("at=10s,for=1s")
      ->configurable(false);
  command.add_option("--seed", flags->seed, "Seed of random delays and failures [1]")->type_name("N");
  command.add_flag("--json", flags->json, "Tell where it listens, and at the end what it served, as JSON");
  command.callback([flags, &context] { context.code = run_target(*flags); });
}

}  // namespace muster::console
