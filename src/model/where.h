// A place in a file of the user's, for messages with a line and a caret. Lines and columns count from 1; 0 means
// unknown.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace muster::model {

struct Where {
  std::shared_ptr<const std::string> file;  // as the user named it; null for values that come from the command line
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

}  // namespace muster::model
