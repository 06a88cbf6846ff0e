// For tests: the executor that this process started.
#pragma once

#include <unistd.h>

#include <fstream>
#include <string>

namespace muster::engine {

// The process id of this thread's only child; -1 if there is none.
inline pid_t only_child() {
  std::ifstream file("/proc/self/task/" + std::to_string(gettid()) + "/children");
  pid_t child = -1;
  file >> child;
  return file ? child : -1;
}

}  // namespace muster::engine
