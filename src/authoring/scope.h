// How names in expressions find their values. While an expression is compiled, a Scope turns each path it mentions into
// a slot: an index into the array of values that a VU carries. At run time a name is one array access.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/arena.h"
#include "base/error.h"
#include "base/random.h"
#include "base/time.h"
#include "model/value.h"

namespace muster::authoring {

// One part of a path: a name (`token`, `["odd name"]`) or an index (`[0]`, `[-1]` counts from the end).
using PathPart = std::variant<std::string, std::int64_t>;
using Path = std::vector<PathPart>;

// "catalog.json.items[0].id", for messages and as a key.
std::string to_text(const Path& path);

struct Slot {
  std::uint32_t index = 0;
  // Parts of the path that the scope did not resolve; they are looked up inside the slot's JSON text at run time.
  Path rest;
};

class Scope {
 public:
  virtual ~Scope() = default;
  // Called once for each path while compiling. An error names what was not found and, where one is close, what was
  // meant.
  virtual base::Expected<Slot> resolve(const Path& path) = 0;
  // Called for what may differ from one evaluation to the next, as it is written: vu, iteration, random(), time(), ….
  // An error says why it cannot stand here.
  virtual base::Expected<void> allow_changing(std::string_view) { return {}; }
};

// What an expression sees when it is evaluated. Belongs to one core; nothing here allocates beyond the arena.
struct Evaluation {
  const model::Value* slots = nullptr;
  base::Arena* arena = nullptr;  // texts that an expression makes live here
  base::Random* random = nullptr;
  std::uint64_t* counter = nullptr;  // next value of counter(); advances by counter_step, so that cores never collide
  std::uint64_t counter_step = 1;
  std::uint64_t vu = 0;         // number of the VU, from 1
  std::uint64_t iteration = 0;  // of this VU, from 0
  base::Duration wall{};        // time of day since 1970
};

}  // namespace muster::authoring
