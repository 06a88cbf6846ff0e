// Requests as received, one JSON object per line: {"method", "path", "query", "headers" as a list of [name, value],
// "body_bytes", "body_crc32" in hexadecimal and "body", its first 64 KiB}.
// One file shared by all cores; each core buffers its own lines and hands them over in large pieces.
#pragma once

#include <cstdio>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/error.h"
#include "target/request.h"

namespace muster::target {

// Any thread.
class RequestLogFile {
 public:
  base::Expected<void> open(const std::string& path);
  bool is_open() const { return file_ != nullptr; }
  void append(std::string_view lines);
  base::Expected<void> close();

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::mutex mutex_;
  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;
};

// A list of [name, value], because names repeat and their order may matter.
void append_header_list(std::string& out, const Request& request);
void append_request_line(std::string& out, const Request& request);

// One core's side.
class RequestLog {
 public:
  explicit RequestLog(RequestLogFile& file) : file_(&file) {}

  void add(const Request& request) {
    append_request_line(lines_, request);
    if (lines_.size() >= kPiece) flush();
  }
  void flush() {
    file_->append(lines_);
    lines_.clear();
  }

 private:
  static constexpr std::size_t kPiece = 256 * 1024;
  RequestLogFile* file_;
  std::string lines_;
};

}  // namespace muster::target
