// For tests: how many bytes the process has allocated and not given back, as its allocator counts them. Small blocks
// that the allocator keeps for the thread count as live, so two readings differ by some hundred KiB for no reason.
#pragma once

#include <malloc.h>

#include <cstddef>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#include <sanitizer/allocator_interface.h>
#define MUSTER_SANITIZER_COUNTS 1
#endif
#endif

namespace muster::base {

inline std::size_t live_bytes() {
#ifdef MUSTER_SANITIZER_COUNTS
  return __sanitizer_get_current_allocated_bytes();
#else
  const auto info = mallinfo2();
  return info.uordblks + info.hblkhd;
#endif
}

}  // namespace muster::base
