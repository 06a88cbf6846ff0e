// Text of unknown length that grows in an arena, with the few functions of std::string that writers of text need, so
// that the same templates write to both. The latest allocation of the arena while it grows; one at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>

#include "authoring/options.h"
#include "base/arena.h"

namespace muster::authoring {

class ArenaText {
 public:
  explicit ArenaText(base::Arena& arena, std::size_t expected = 56)
      : arena_(&arena), capacity_(expected), data_(arena.allocate(expected)) {}

  void append(std::string_view text) {
    if (text.size() > capacity_ - size_ && !grow(text.size())) return;
    if (!text.empty()) std::memcpy(data_ + size_, text.data(), text.size());
    size_ += text.size();
  }

  void push_back(char c) {
    if (size_ == capacity_ && !grow(1)) return;
    data_[size_++] = c;
  }

  // True once the text would have passed ExpressionLimits::result_bytes; what was appended since is lost.
  bool overflowed() const { return overflowed_; }

  // The text, valid until the arena is reset. Call once, at the end.
  std::string_view finish() {
    arena_->shrink(data_, capacity_, size_);
    return {data_, size_};
  }

 private:
  bool grow(std::size_t more) {
    if (overflowed_ || size_ + more > kExpressionLimits.result_bytes) {
      overflowed_ = true;
      return false;
    }
    std::size_t capacity = capacity_ < 32 ? 64 : capacity_ * 2;
    while (capacity - size_ < more) capacity *= 2;
    capacity = std::min(capacity, kExpressionLimits.result_bytes);
    char* larger = arena_->allocate(capacity);
    if (size_ > 0) std::memcpy(larger, data_, size_);
    data_ = larger;
    capacity_ = capacity;
    return true;
  }

  base::Arena* arena_;
  std::size_t capacity_;
  std::size_t size_ = 0;
  char* data_;
  bool overflowed_ = false;
};

}  // namespace muster::authoring
