// What a process takes over from whoever started it, and what muster needs of that. Once, before anything else.
#pragma once

namespace muster::console {

// Ended children can be waited for, and the signals that end, pause and resize a run arrive, also where a shell, a
// supervisor or a container's init left them blocked. The three standard streams are open: a file or a connection that
// took the number of a closed one would get what is printed.
void settle_inherited_state();

}  // namespace muster::console
