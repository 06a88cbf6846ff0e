// What keeps a script from running out of the C stack, which LuaJIT does not watch: the library's functions that call
// back into Lua from C look first whether there is room, and coroutines within coroutines have a limit. Both raise an
// ordinary "stack overflow". Belongs to one LuaState; all of it runs on the thread that is inside that state.
#pragma once

#include <cstddef>

struct lua_State;

namespace muster::script {

struct CoroutineDepth {
  std::size_t now = 0;  // coroutines of the script's own that wait for one another
};

// For a state with its libraries open: puts the watched functions in the place of LuaJIT's. `depth` outlives the state.
void watch_stack(lua_State* state, CoroutineDepth& depth);

}  // namespace muster::script
