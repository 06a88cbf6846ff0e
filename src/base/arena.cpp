#include "base/arena.h"

namespace muster::base {
namespace {

constexpr std::size_t round_up(std::size_t size) {
  return (size + 7) & ~std::size_t{7};
}

}  // namespace

BlockPool::~BlockPool() {
  while (free_ != nullptr) {
    Block* next = free_->next;
    delete free_;
    free_ = next;
  }
}

BlockPool::Block* BlockPool::take() {
  if (free_ == nullptr) return new Block;
  Block* block = free_;
  free_ = block->next;
  return block;
}

char* Arena::allocate(std::size_t size) {
  size = round_up(size);
  if (size > sizeof(BlockPool::Block::bytes)) {
    held_ += size;
    if (large_ == nullptr) large_ = new std::vector<std::unique_ptr<char[]>>;
    return large_->emplace_back(std::make_unique_for_overwrite<char[]>(size)).get();
  }
  if (blocks_ == nullptr || used_ + size > sizeof(BlockPool::Block::bytes)) {
    BlockPool::Block* block = pool_->take();
    held_ += BlockPool::kBlockBytes;
    block->next = blocks_;
    blocks_ = block;
    used_ = 0;
  }
  char* memory = blocks_->bytes + used_;
  used_ += size;
  return memory;
}

void Arena::shrink(char* memory, std::size_t allocated, std::size_t used) {
  if (blocks_ == nullptr || memory + round_up(allocated) != blocks_->bytes + used_) return;
  used_ -= round_up(allocated) - round_up(used);
}

void Arena::reset() {
  while (blocks_ != nullptr) {
    BlockPool::Block* next = blocks_->next;
    pool_->give(blocks_);
    blocks_ = next;
  }
  used_ = 0;
  held_ = 0;
  delete large_;
  large_ = nullptr;
}

}  // namespace muster::base
