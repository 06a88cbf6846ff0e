// One exchange of a HAR recording (HTTP Archive 1.2) as plain values. Pure; nothing of the file's shape is trusted.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "authoring/import_json.h"

namespace muster::authoring {

struct HarField {
  std::string name;
  std::string value;
  std::string file;  // name of an uploaded file
  std::string type;
};

struct HarEntry {
  std::size_t number = 0;  // in the file, from 1
  std::string page;
  std::string method;
  std::string url;
  std::string type;  // document, stylesheet, script, image, font, media, xhr, fetch, websocket, other
  double start = 0;  // milliseconds since 1970; 0 if the recording does not say
  double end = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  bool has_body = false;
  std::string body;
  std::string body_type;
  std::vector<HarField> fields;  // where the body is given as a form only
  int status = 0;                // 0: there was no answer
  bool cached = false;           // nothing was sent
  std::vector<std::pair<std::string, std::string>> answer_headers;
  std::string answer_type;
  std::string answer;  // text of the response, where the recording has it

  // "GET /cart (entry 7)"
  std::string where() const;
};

HarEntry read_har_entry(const ImportJson& entry, std::size_t number);

// "2026-11-15T08:00:00.123+01:00" as milliseconds since 1970; 0 if it is none.
double read_har_time(std::string_view text);

}  // namespace muster::authoring
