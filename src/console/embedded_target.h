// `--target embedded`: the embedded HTTP server in a process of its own, for as long as this object lives.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/error.h"

namespace muster::console {

class EmbeddedTarget {
 public:
  EmbeddedTarget() = default;
  EmbeddedTarget(const EmbeddedTarget&) = delete;
  EmbeddedTarget& operator=(const EmbeddedTarget&) = delete;
  ~EmbeddedTarget();

  // Where `target` is "embedded": starts the server and puts its address, http://127.0.0.1:PORT, in its place.
  base::Expected<void> serve_if_named(std::string& target);

 private:
  base::Expected<std::string> start();

  pid_t child_ = -1;
};

}  // namespace muster::console
