// The YAML front end: text in, a checked Job or all the problems found in it out. Everything that can be known to be
// wrong before a run is said here, with file, line, column, the line itself and a caret.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "model/job.h"
#include "model/step_kind.h"

namespace muster::authoring {

// What the loader needs from outside; console/ fills it from the machine, tests from memory.
struct LoadInput {
  std::vector<std::pair<std::string, std::string>> environment;  // -e KEY=VALUE first, then the process's own
  std::vector<std::pair<std::string, std::string>> sets;         // --set path=value
  // Reads a file named in the YAML (include); the path is already resolved against the including file.
  std::function<base::Expected<std::string>(const std::string& path)> read_file;
  // Why a file that is only named (a body, a certificate) could not be read later, or nothing. Unset: not looked at.
  std::function<std::string(const std::string& path)> file_problem = {};
};

// Names and options of load shapes that were registered from outside: the key under `load:` that selects each.
struct LoadShapeKey {
  std::string name;
  std::vector<model::Field> fields;
};

struct Languages {
  model::StepKinds kinds;
  std::vector<LoadShapeKey> shapes;
};

// One problem: "file:12:7: unknown key 'itertions'; did you mean 'iterations'?" followed by the line and a caret.
struct Problem {
  model::Where where;
  std::string message;
  std::string excerpt;  // the source line and the caret line; empty where there is no source
};

std::string to_text(const Problem& problem);

struct Problems {
  std::vector<Problem> list;  // in order of position, at most 20, none empty
};

// The same from a document that another front end made; `source` is the text that its places point into. Workflows with
// a key `functions` (which of start, run and stop there are) belong to `script`.
struct YamlNode;
struct ScriptDocument {
  std::shared_ptr<const model::Script> script;
  bool single_workflow = false;  // the script names no workflow: --set load.vus=5 means the only one there is
};
std::expected<model::Job, Problems> load_document(YamlNode document, std::string_view source,
                                                  const std::string& file_name, const LoadInput& input,
                                                  const Languages& languages, ScriptDocument from);

std::expected<model::Job, Problems> load_job(std::string_view yaml, const std::string& file_name,
                                             const LoadInput& input, const Languages& languages);

}  // namespace muster::authoring
