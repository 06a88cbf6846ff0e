// A JSON text parsed once so that several paths can be read from it. Wraps simdjson, whose parser keeps its memory from
// one document to the next. Belongs to one core; values it gives are copied into the arena that is passed in.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "authoring/scope.h"
#include "base/arena.h"
#include "model/value.h"

namespace muster::authoring {

class JsonDocument {
 public:
  JsonDocument();
  ~JsonDocument();

  // False if `text` is not JSON (or is deeper or longer than options.h allows). The text needs not be padded. A byte
  // order mark before it is passed over.
  bool parse(std::string_view text);

  // Why the latest text was refused, for people.
  std::string fault() const;

  // The value at `path`, or missing. Arrays and objects come as JSON text. Valid until the arena is reset. Numbers that
  // no machine number holds come as the nearest double, within arrays and objects as they were written; half a
  // surrogate pair comes as U+FFFD.
  model::Value find(const Path& path, base::Arena& arena) const;

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace muster::authoring
