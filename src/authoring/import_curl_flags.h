// The flags of a curl command as a list of transfers: what curl would ask for, before it is turned into steps. Pure;
// files named by @file are read through the import's own function.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "authoring/import.h"
#include "authoring/import_curl_words.h"
#include "authoring/import_draft.h"

namespace muster::authoring {

// One part of a multipart form.
struct CurlPart {
  std::string name;
  std::string text;
  std::string file;  // of the part's bytes; empty: `text`
  std::string type;
  std::string filename;
};

// What curl sends for the URLs between two --next.
struct CurlTransfer {
  std::vector<std::string> urls;
  std::string method;                // -X
  std::vector<std::string> headers;  // -H as given, and those of @file
  bool has_data = false;
  bool json = false;      // --json was among the data
  std::string data;       // all pieces, joined as curl does
  std::string data_file;  // the only piece is this file as it stands
  std::vector<CurlPart> parts;
  std::string upload;  // -T
  std::string url_query;
  std::optional<std::string> user;
  bool only_basic = true;  // no other way to authenticate was asked for
  std::string bearer;
  std::optional<std::string> agent;
  std::string referer;
  std::string range;
  std::string cookie;
  bool cookie_jar = false;  // curl keeps cookies of its own
  bool get = false;
  bool head = false;
  bool follow = false;
  bool compressed = false;
  bool insecure = false;
  bool no_globs = false;
  int max_redirects = 50;
  std::string max_time;
  std::string connect_timeout;
  std::string ca;
  std::string cert;
  std::string key;
  std::string source;
  std::string ip;
  bool tls_1_3 = false;
  std::vector<std::string> resolve;
  std::vector<std::string> connect_to;
};

// `where` names the command in notes, which go to the draft.
std::vector<CurlTransfer> read_curl_flags(const ShellCommand& command, const std::string& where,
                                          const ImportInput& input, ImportDraft& draft);

}  // namespace muster::authoring
