#include <fmt/format.h>

#include "engine/http_prepare.h"

namespace muster::engine {
namespace {

const model::Tree* option(const model::Target& target, std::string_view name) {
  for (const auto& [key, tree] : target.options) {
    if (key == name) return &tree;
  }
  return nullptr;
}

std::string text_of(const model::Target& target, std::string_view name, std::string fallback) {
  const model::Tree* tree = option(target, name);
  if (tree == nullptr) return fallback;
  if (const std::string* text = tree->text()) return *text;
  if (const std::int64_t* integer = tree->integer()) return fmt::to_string(*integer);
  if (const double* number = tree->number()) return fmt::format("{:.1f}", *number);
  return fallback;
}

bool flag_of(const model::Target& target, std::string_view name, bool fallback) {
  const model::Tree* tree = option(target, name);
  return tree != nullptr && tree->boolean() != nullptr ? *tree->boolean() : fallback;
}

base::Duration time_of(const model::Target& target, std::string_view name, base::Duration fallback) {
  const model::Tree* tree = option(target, name);
  return tree != nullptr && tree->integer() != nullptr ? base::Duration(*tree->integer()) : fallback;
}

}  // namespace

base::Expected<std::shared_ptr<const HttpSettings>> http_settings(const model::Target* target) {
  auto made = std::make_shared<HttpSettings>();
  if (target == nullptr) return made;
  made->target = target->name;
  const std::string connections = text_of(*target, "connections", "vu");
  made->connections = connections == "none"        ? ConnectionPolicy::kNone
                      : connections == "iteration" ? ConnectionPolicy::kPerIteration
                                                   : ConnectionPolicy::kPerVu;
  const std::string dns = text_of(*target, "dns", "ttl");
  made->dns = dns == "once" ? DnsPolicy::kOnce : dns == "each" ? DnsPolicy::kEach : DnsPolicy::kTtl;
  const std::string family = text_of(*target, "ip", "any");
  made->family = family == "4" ? reactor::Family::kV4 : family == "6" ? reactor::Family::kV6 : reactor::Family::kAny;
  made->connect_timeout = time_of(*target, "connect_timeout", made->connect_timeout);
  made->tls_timeout = time_of(*target, "tls_timeout", made->tls_timeout);
  made->tls.verify = !flag_of(*target, "insecure", false);
  made->tls.ca_file = text_of(*target, "ca", "");
  made->tls.cert_file = text_of(*target, "cert", "");
  made->tls.key_file = text_of(*target, "key", "");
  made->tls.at_least_1_3 = text_of(*target, "tls_min", "1.2") == "1.3";
  made->tls.resume = flag_of(*target, "resume", true);
  made->sni = text_of(*target, "sni", "");
  made->cookies = flag_of(*target, "cookies", true);
  if (const model::Tree* hosts = option(*target, "hosts"); hosts != nullptr && hosts->map() != nullptr) {
    for (const auto& [name, address] : *hosts->map()) {
      if (address.text() == nullptr) continue;
      auto instead = model::parse_host_override(*address.text());
      if (!instead) return base::fail(fmt::format("`hosts`: for '{}' {}", name, instead.error().message));
      if (auto fits = reactor::check_family(instead->look_up, made->family); !fits) {
        return base::fail(fmt::format("`hosts`: for '{}' {}", name, fits.error().message));
      }
      instead->name = name;
      made->hosts.push_back(std::move(*instead));
    }
  }
  if (const model::Tree* sources = option(*target, "source"); sources != nullptr && sources->list() != nullptr) {
    for (const model::Tree& each : *sources->list()) {
      auto address = reactor::Address::parse(each.text() != nullptr ? *each.text() : "", 0);
      if (!address) return base::fail("`source`: " + address.error().message);
      made->sources.push_back(*address);
    }
  }
  if (const model::Tree* most = option(*target, "max_body"); most != nullptr && most->integer() != nullptr) {
    made->limits.max_body_bytes = static_cast<std::uint64_t>(*most->integer());
  }
  // Contexts are made on each core; a file that cannot be read is said now, while it can still be mended. Without files
  // there is nothing to find, and loading the system's authorities takes longer than all the rest.
  if (!made->tls.ca_file.empty() || !made->tls.cert_file.empty()) {
    if (auto tls = reactor::TlsContext::client(made->tls); !tls) return std::unexpected(tls.error());
  }
  return made;
}

}  // namespace muster::engine
