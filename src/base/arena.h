// A bump allocator for values that live as long as one iteration of a VU. Blocks come from a pool shared by all arenas
// of one core, so that a VU between iterations holds no memory and steady state allocates nothing.
// Not thread-safe: pool and arenas belong to one core. The pool outlives its arenas.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace muster::base {

class BlockPool {
 public:
  static constexpr std::size_t kBlockBytes = 1024;

  struct Block {
    Block* next;
    char bytes[kBlockBytes - sizeof(Block*)];
  };

  BlockPool() = default;
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;
  ~BlockPool();

  Block* take();
  void give(Block* block) {
    block->next = free_;
    free_ = block;
  }

 private:
  Block* free_ = nullptr;
};

class Arena {
 public:
  explicit Arena(BlockPool& pool) : pool_(&pool) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() { reset(); }

  // Memory for `size` bytes, 8-byte aligned, valid until reset(). Larger than a block: from the heap.
  char* allocate(std::size_t size);

  std::string_view copy(std::string_view text) {
    char* memory = allocate(text.size());
    if (!text.empty()) std::memcpy(memory, text.data(), text.size());
    return {memory, text.size()};
  }

  // Gives the unused end of the latest allocation back.
  void shrink(char* memory, std::size_t allocated, std::size_t used);

  void reset();

  // Bytes taken since the last reset, in whole blocks.
  std::size_t held() const { return held_; }

 private:
  BlockPool* pool_;
  BlockPool::Block* blocks_ = nullptr;
  std::size_t used_ = 0;
  std::size_t held_ = 0;
  std::vector<std::unique_ptr<char[]>>* large_ = nullptr;
};

}  // namespace muster::base
