#include "authoring/paths.h"

#include <filesystem>

namespace muster::authoring {

std::string resolve_path(const model::Where& where, const std::string& path) {
  const std::filesystem::path given(path);
  if (given.is_absolute() || where.file == nullptr || where.line == 0) return path;
  return (std::filesystem::path(*where.file).parent_path() / given).lexically_normal().string();
}

}  // namespace muster::authoring
