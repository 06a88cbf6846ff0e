// The files that `muster new` writes: small load tests with a comment on every line that one would change. Each is
// accepted by `muster check` and runs against the embedded target as it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace muster::console {

struct StartingFile {
  std::string_view kind;
  std::string_view doc;
  std::string_view text;  // YAML or Lua; @FILE@, @TARGET@ and @DATA@ stand for names
  std::string_view data;  // CSV that it reads; empty: none
};

const std::vector<StartingFile>& starting_files();

// For a file whose name ends in .lua; of kind `simple`.
const StartingFile& starting_script();

// Null if there is none of that kind.
const StartingFile* starting_file(std::string_view kind);

// What stands in the text for the names of things.
struct StartingNames {
  std::string file = "test.yaml";  // itself, in the comments
  std::string target = "http://127.0.0.1:8080";
  std::string data = "users.csv";  // as the YAML names it
  std::string schema;              // the JSON Schema to point editors to; empty: none
};

std::string starting_text(const StartingFile& file, const StartingNames& names);

}  // namespace muster::console
