#include "model/http_kind.h"

namespace muster::model {
namespace {

constexpr double kHour = 3600.0;

std::vector<Field> request_fields() {
  return {
      {.name = "url",
       .type = FieldType::kText,
       .doc = "Path on the target, or a whole http:// or https:// address.",
       .required = true,
       .holes = true},
      {.name = "method", .type = FieldType::kText, .doc = "Request method.", .fallback = "GET", .holes = false},
      {.name = "query",
       .type = FieldType::kTextMap,
       .doc = "Query parameters, encoded and appended to the url; a list gives a name several times.",
       .holes = true,
       .repeats = true},
      {.name = "headers",
       .type = FieldType::kTextMap,
       .doc = "Request headers; they replace muster's own. A list sends a name several times, null sends none of it.",
       .holes = true,
       .repeats = true},
      {.name = "body", .type = FieldType::kText, .doc = "Body as it stands.", .holes = true},
      {.name = "file", .type = FieldType::kPath, .doc = "File whose bytes are the body, read before the clock starts."},
      {.name = "json", .type = FieldType::kTree, .doc = "Body sent as JSON; sets content-type.", .holes = true},
      {.name = "form",
       .type = FieldType::kTextMap,
       .doc = "Body sent as application/x-www-form-urlencoded; a list gives a name several times.",
       .holes = true,
       .repeats = true},
      {.name = "multipart",
       .type = FieldType::kTree,
       .doc = "Body sent as multipart/form-data: name → text, or {file or text, type, filename}, or a list of these.",
       .holes = true},
      {.name = "type",
       .type = FieldType::kText,
       .doc = "Content type of `body` or `file`, where no header gives one.",
       .holes = true},
      {.name = "auth",
       .type = FieldType::kTree,
       .doc = "{ basic: \"user:password\" } or { bearer: token }; sets the authorization header.",
       .holes = true},
      {.name = "expect",
       .type = FieldType::kRanges,
       .doc = "Statuses that count as success: numbers and ranges; any other fails the step.",
       .fallback = "200..399",
       .min = 100,
       .max = 999},
      {.name = "timeout",
       .type = FieldType::kDuration,
       .doc = "Longest wait for the whole response, connecting included.",
       .fallback = "30s",
       .unit = "time",
       .min = 0.001,
       .max = kHour},
      {.name = "redirects",
       .type = FieldType::kInteger,
       .doc = "How many redirects are followed; 0 takes them as they are.",
       .fallback = "10",
       .unit = "redirects",
       .min = 0,
       .max = 50},
      {.name = "compressed",
       .type = FieldType::kBool,
       .doc = "Ask for gzip or deflate; decoded only when something reads the body.",
       .fallback = "false"},
  };
}

std::vector<Field> target_fields() {
  return {
      {.name = "connections",
       .type = FieldType::kChoice,
       .doc = "How long connections live: per VU, per iteration, or one for each request.",
       .fallback = "vu",
       .choices = {"vu", "iteration", "none"}},
      {.name = "connect_timeout",
       .type = FieldType::kDuration,
       .doc = "Longest wait for a TCP connection.",
       .fallback = "5s",
       .unit = "time",
       .min = 0.001,
       .max = kHour},
      {.name = "tls_timeout",
       .type = FieldType::kDuration,
       .doc = "Longest wait for a TLS handshake.",
       .fallback = "5s",
       .unit = "time",
       .min = 0.001,
       .max = kHour},
      {.name = "insecure", .type = FieldType::kBool, .doc = "Accept any server certificate.", .fallback = "false"},
      {.name = "ca", .type = FieldType::kPath, .doc = "PEM file of the authorities to trust instead of the system's."},
      {.name = "cert", .type = FieldType::kPath, .doc = "PEM file of the client certificate (and its chain)."},
      {.name = "key", .type = FieldType::kPath, .doc = "PEM file of the client certificate's key."},
      {.name = "sni", .type = FieldType::kText, .doc = "Server name sent and verified instead of the url's host."},
      {.name = "tls_min",
       .type = FieldType::kChoice,
       .doc = "Lowest TLS version that is accepted.",
       .fallback = "1.2",
       .choices = {"1.2", "1.3"}},
      {.name = "resume",
       .type = FieldType::kBool,
       .doc = "Resume TLS sessions on new connections.",
       .fallback = "true"},
      {.name = "cookies", .type = FieldType::kBool, .doc = "Keep a cookie jar per VU.", .fallback = "true"},
      {.name = "headers",
       .type = FieldType::kTextMap,
       .doc = "Headers for every request to this target.",
       .holes = true,
       .repeats = true},
      {.name = "auth",
       .type = FieldType::kTree,
       .doc = "As for a step, for every request to this target.",
       .holes = true},
      {.name = "hosts",
       .type = FieldType::kTextMap,
       .doc = "Address to connect to instead of resolving a host: name → address or address:port."},
      {.name = "source", .type = FieldType::kTextList, .doc = "Local addresses to connect from, in rotation."},
      {.name = "dns",
       .type = FieldType::kChoice,
       .doc = "When names are resolved: once, again when their TTL ends, or for each connection.",
       .fallback = "ttl",
       .choices = {"once", "ttl", "each"}},
      {.name = "ip",
       .type = FieldType::kChoice,
       .doc = "Address families to use.",
       .fallback = "any",
       .choices = {"any", "4", "6"}},
      {.name = "max_body",
       .type = FieldType::kSize,
       .doc = "Longest response body that is accepted.",
       .fallback = "64MB",
       .unit = "bytes",
       .min = 0,
       .max = 1e12},
  };
}

}  // namespace

StepKind http_kind() {
  StepKind kind;
  kind.name = "http";
  kind.doc = "One HTTP request and its response.";
  kind.role = StepRole::kTest;
  kind.fields = request_fields();
  kind.target_fields = target_fields();
  kind.results = {
      {.name = "status", .type = FieldType::kInteger, .doc = "Status code."},
      {.name = "header", .type = FieldType::kTextMap, .doc = "Response header by name, in any case: header.location."},
      {.name = "cookie", .type = FieldType::kTextMap, .doc = "Cookie of the VU's jar by name, after this response."},
      {.name = "body", .type = FieldType::kText, .doc = "Response body, decoded."},
      {.name = "json", .type = FieldType::kTree, .doc = "Response body as JSON, followed by a path: json.items[0].id."},
      {.name = "size", .type = FieldType::kInteger, .doc = "Bytes of the body as they came over the wire."},
      {.name = "latency", .type = FieldType::kDuration, .doc = "Time from the intended start to the last byte."},
  };
  kind.primary = "url";
  kind.inspect_step = inspect_http_step;
  kind.inspect_target = inspect_http_target;
  for (std::string_view verb : {"get", "post", "put", "patch", "delete", "head", "options"}) {
    kind.shorthands.push_back({.key = verb, .field = "method", .value = verb});
  }
  kind.example = "- name: login\n  post: /login\n  json: { user: ada }\n  check: { status: 200, json.token: exists }\n";
  return kind;
}

}  // namespace muster::model
