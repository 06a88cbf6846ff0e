#include "authoring/loader_synonyms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace muster::authoring {
namespace {

using Pair = std::pair<std::string_view, std::string_view>;

constexpr std::array<std::string_view, 18> kProtocols{"http", "graphql",    "grpc",  "websocket", "ws",    "udp",
                                                      "tcp",  "redis",      "mysql", "mariadb",   "kafka", "postgres",
                                                      "amqp", "postgresql", "smtp",  "mongodb",   "ftp",   "rabbitmq"};

constexpr std::array<Pair, 18> kKinds{{{"sleep", "waiting is `think: 1s`"},
                                       {"wait", "waiting is `think: 1s`"},
                                       {"pause", "waiting is `think: 1s`"},
                                       {"delay", "waiting is `think: 1s`"},
                                       {"while", "a loop is `repeat: { while: … }` with `steps:` beside it"},
                                       {"for", "a loop is `repeat: 3` with `steps:` beside it"},
                                       {"loop", "a loop is `repeat: 3` with `steps:` beside it"},
                                       {"request", "a request is `get: /path` or `http: { method: …, url: … }`"},
                                       {"fetch", "a request is `get: /path` or `http: { method: …, url: … }`"},
                                       {"call", "a request is `get: /path` or `http: { method: …, url: … }`"},
                                       {"print", "a message is `log: text`"},
                                       {"echo", "a message is `log: text`"},
                                       {"debug", "a message is `log: text`"},
                                       {"assert", "an assertion is `check: { … }`"},
                                       {"var", "a value gets its name by `set: { name: … }`"},
                                       {"vars", "a value gets its name by `set: { name: … }`"},
                                       {"transaction", "a transaction is `group: name` with `steps:` beside it"},
                                       {"random", "a choice is `choose: [ { weight: 9, steps: … } ]`"}}};

constexpr std::array<Pair, 12> kFunctionWords{{{"len", "length"},
                                               {"size", "length"},
                                               {"count", "length"},
                                               {"rand", "random"},
                                               {"randint", "random"},
                                               {"guid", "uuid"},
                                               {"str", "text"},
                                               {"string", "text"},
                                               {"float", "number"},
                                               {"substring", "substr"},
                                               {"tolower", "lower"},
                                               {"toupper", "upper"}}};

template <std::size_t n>
std::string_view find(const std::array<Pair, n>& pairs, std::string_view word) {
  const auto* const found = std::ranges::find(pairs, word, &Pair::first);
  return found == pairs.end() ? std::string_view() : found->second;
}

}  // namespace

bool known_protocol(std::string_view word) {
  return std::ranges::find(kProtocols, word) != kProtocols.end();
}

std::string kind_advice(std::string_view word) {
  if (const std::string_view advice = find(kKinds, word); !advice.empty()) return fmt::format("; {}", advice);
  if (known_protocol(word)) return "; this version of muster cannot call that protocol";
  return {};
}

std::string_view function_for(std::string_view word) {
  return find(kFunctionWords, word);
}

}  // namespace muster::authoring
