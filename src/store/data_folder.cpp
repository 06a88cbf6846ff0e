#include "store/data_folder.h"

namespace muster::store {
namespace {

constexpr const char* kFile = "/runs.db";

std::string without_last_slash(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

base::Expected<std::string> history_file(const Environment& environment) {
  const auto value = [&](const char* name) {
    const char* text = environment(name);
    return std::string(text == nullptr ? "" : text);
  };
  if (const std::string folder = value("MUSTER_DATA"); !folder.empty()) return without_last_slash(folder) + kFile;
  // A relative path is invalid there and is to be passed over, says the specification.
  if (const std::string folder = value("XDG_DATA_HOME"); folder.starts_with('/')) {
    return without_last_slash(folder) + "/muster" + kFile;
  }
  if (const std::string home = value("HOME"); home.starts_with('/')) {
    return without_last_slash(home) + "/.local/share/muster" + kFile;
  }
  return base::fail(
      "there is no place to keep runs: none of MUSTER_DATA, XDG_DATA_HOME and HOME names a folder; set "
      "MUSTER_DATA to one");
}

std::vector<std::string> history_files(const Environment& environment) {
  const auto file = history_file(environment);
  if (!file) return {};
  return {*file, *file + "-wal", *file + "-shm", *file + "-journal"};
}

}  // namespace muster::store
