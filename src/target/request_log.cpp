#include "target/request_log.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <iterator>

#include "target/json_text.h"

namespace muster::target {

base::Expected<void> RequestLogFile::open(const std::string& path) {
  file_.reset(std::fopen(path.c_str(), "we"));
  path_ = path;
  if (file_ == nullptr) {
    return base::fail(fmt::format("cannot write the request log '{}': {}", path, std::strerror(errno)));
  }
  return {};
}

void RequestLogFile::append(std::string_view lines) {
  const std::lock_guard lock(mutex_);
  if (file_ != nullptr) std::fwrite(lines.data(), 1, lines.size(), file_.get());
}

base::Expected<void> RequestLogFile::close() {
  if (file_ == nullptr) return {};
  const bool failed = std::ferror(file_.get()) != 0;
  if (std::fclose(file_.release()) != 0 || failed) {
    return base::fail(fmt::format("the request log '{}' is not complete: {}", path_, std::strerror(errno)));
  }
  return {};
}

void append_header_list(std::string& out, const Request& request) {
  out += '[';
  for (std::size_t i = 0; i < request.header_count(); ++i) {
    out += i == 0 ? "[" : ",[";
    append_json(out, request.header_name(i));
    out += ',';
    append_json(out, request.header_value(i));
    out += ']';
  }
  out += ']';
}

void append_request_line(std::string& out, const Request& request) {
  out += "{\"method\":";
  append_json(out, request.method());
  out += ",\"path\":";
  append_json(out, request.path());
  out += ",\"query\":";
  append_json(out, request.query());
  out += ",\"headers\":";
  append_header_list(out, request);
  fmt::format_to(std::back_inserter(out), ",\"body_bytes\":{},\"body_crc32\":\"{:08x}\",\"body\":", request.body_bytes,
                 request.body_crc);
  append_json(out, request.logged_body);
  out += "}\n";
}

}  // namespace muster::target
