// Every limit of the script room: what a user's script may cost.
#pragma once

#include <chrono>
#include <cstddef>

#include "base/time.h"

namespace muster::script {

// What the process that reads a script exits with if there is something wrong with it.
constexpr int kBadScript = 2;

struct ScriptLimits {
  std::size_t file_bytes = 4u << 20;  // of a script's text
  // Of one core's state: its globals, the coroutines of its VUs, and what they hold at a time. Ten thousand VUs need
  // about 20 MiB; a higher limit lets a script hoard more before it is ended.
  std::size_t memory_bytes = 512u << 20;
  std::size_t steps = 10'000;         // that one script may declare
  std::size_t branches = 64;          // that one call of `parallel` may run
  std::size_t depth = 64;             // of tables within tables, wherever one is turned into something else
  std::size_t json_depth = 256;       // of a response's JSON that a script reads as tables
  std::size_t text_bytes = 16 << 20;  // of one text that a script gives to a step
  // Of a thread's C stack, left free where a library's function calls back into Lua: more than string.format needs when
  // its __tostring calls it again until Lua's own stack is full. Of a small stack, half.
  std::size_t stack_reserve = 5u << 20;
  std::size_t coroutine_depth = 150;  // of the script's own coroutines that wait for one another
  // For reading the script, that is what stands outside its functions, and for each hook of wrk's that runs before or
  // after the load. A script that takes longer is given up.
  base::Duration read_time = std::chrono::seconds(10);
  // What a failed iteration of a script that thinks is taken to have passed over while none has been whole on its core.
  // Longer spares a server that is down from the beginning, shorter keeps closer to a script that thinks little.
  base::Duration first_think = std::chrono::seconds(1);
};
constexpr ScriptLimits kScriptLimits{};

}  // namespace muster::script
