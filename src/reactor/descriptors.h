// The process's table of file descriptors: how large it may be, and how large it is. Of the whole process: called once,
// before the threads that open connections start.
#pragma once

#include <cstdint>

namespace muster::reactor {

// Raises the soft limit to the hard one. The usual soft limit of 1,024 is no wish of the user's.
void raise_descriptor_limit();

// Makes the kernel's table large enough for `count` descriptors, or for as many as the limit allows. A table that is
// too small doubles while connections open, and in a process with threads each doubling holds the thread that opens
// one, and all its VUs, for a grace period of RCU: 10 to 20 ms. Costs 8 bytes of kernel memory each. Failing is
// harmless: the table then grows as it would have.
void reserve_descriptors(std::uint64_t count);

}  // namespace muster::reactor
