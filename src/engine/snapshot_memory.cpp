#include "engine/snapshot_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "engine/options.h"

namespace muster::engine {
namespace {

constexpr std::size_t kHeaderBytes = 4096;
constexpr std::size_t kErrorBytes = 2048;
constexpr std::size_t kAllBytes = kHeaderBytes + 2 * kSnapshotBytes + kSeriesBytes;

// Both sides copy word by word and atomically: a slot that is overwritten while it is read gives a mixed copy, which is
// thrown away, never undefined behaviour. Slots are a whole number of words long.
using Word = std::uint64_t;
static_assert(kSnapshotBytes % sizeof(Word) == 0);

void write_words(char* slot, std::string_view bytes) {
  auto* words = reinterpret_cast<Word*>(slot);
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Word)) {
    Word word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof(Word), bytes.size() - at));
    std::atomic_ref(words[at / sizeof(Word)]).store(word, std::memory_order_relaxed);
  }
}

void read_words(char* slot, std::string& bytes) {
  auto* words = reinterpret_cast<Word*>(slot);
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(Word)) {
    const Word word = std::atomic_ref(words[at / sizeof(Word)]).load(std::memory_order_relaxed);
    std::memcpy(bytes.data() + at, &word, std::min(sizeof(Word), bytes.size() - at));
  }
}

}  // namespace

struct SnapshotMemory::Header {
  std::atomic<std::uint64_t> sequence{0};
  std::atomic<std::uint64_t> sizes[2] = {0, 0};
  std::atomic<std::uint64_t> series_size{0};
  std::atomic<bool> finished{false};
  std::uint32_t error_size = 0;
  char error[kErrorBytes] = {};
};

SnapshotMemory::~SnapshotMemory() {
  if (header_ != nullptr) munmap(header_, kAllBytes);
}

base::Expected<void> SnapshotMemory::open() {
  static_assert(sizeof(Header) <= kHeaderBytes);
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  void* memory = mmap(nullptr, kAllBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return base::fail(
        fmt::format("cannot map memory for snapshots: {}; free some, or raise `ulimit -v`", std::strerror(errno)));
  }
  header_ = new (memory) Header;
  return {};
}

char* SnapshotMemory::slot(std::uint64_t number) const {
  return reinterpret_cast<char*>(header_) + kHeaderBytes + (number % 2) * kSnapshotBytes;
}

char* SnapshotMemory::series() const {
  return reinterpret_cast<char*>(header_) + kHeaderBytes + 2 * kSnapshotBytes;
}

bool SnapshotMemory::publish_totals(std::string_view bytes) {
  if (bytes.size() > kSnapshotBytes) return false;
  const std::uint64_t next = header_->sequence.load(std::memory_order_relaxed) + 1;
  // Whoever sees a word of this snapshot must also see that the one before it is the latest.
  std::atomic_thread_fence(std::memory_order_release);
  write_words(slot(next), bytes);
  header_->sizes[next % 2].store(bytes.size(), std::memory_order_relaxed);
  header_->sequence.store(next, std::memory_order_release);
  return true;
}

bool SnapshotMemory::append_series(std::string_view bytes) {
  const std::uint64_t used = header_->series_size.load(std::memory_order_relaxed);
  const std::uint64_t size = bytes.size();
  if (used + sizeof(size) + size > kSeriesBytes) return false;
  std::memcpy(series() + used, &size, sizeof(size));
  std::memcpy(series() + used + sizeof(size), bytes.data(), size);
  header_->series_size.store(used + sizeof(size) + size, std::memory_order_release);
  return true;
}

void SnapshotMemory::finish(std::string_view error) {
  header_->error_size = static_cast<std::uint32_t>(std::min(error.size(), kErrorBytes));
  std::memcpy(header_->error, error.data(), header_->error_size);
  header_->finished.store(true, std::memory_order_release);
}

std::uint64_t SnapshotMemory::sequence() const {
  return header_->sequence.load(std::memory_order_acquire);
}

std::string SnapshotMemory::totals() const {
  for (;;) {
    const std::uint64_t before = sequence();
    if (before == 0) return {};
    const std::uint64_t size =
        std::min<std::uint64_t>(header_->sizes[before % 2].load(std::memory_order_relaxed), kSnapshotBytes);
    std::string copy(size, '\0');
    read_words(slot(before), copy);
    std::atomic_thread_fence(std::memory_order_acquire);
    // While the sequence stands still the writer may only be filling the other slot.
    if (sequence() == before) return copy;
  }
}

bool SnapshotMemory::next_series(std::string& bytes) {
  const std::uint64_t written = header_->series_size.load(std::memory_order_acquire);
  if (series_read_ >= written) return false;
  std::uint64_t size = 0;
  std::memcpy(&size, series() + series_read_, sizeof(size));
  if (size > written - series_read_ - sizeof(size)) return false;
  bytes.assign(series() + series_read_ + sizeof(size), size);
  series_read_ += sizeof(size) + size;
  return true;
}

bool SnapshotMemory::finished() const {
  return header_->finished.load(std::memory_order_acquire);
}

std::string SnapshotMemory::error() const {
  return {header_->error, std::min<std::size_t>(header_->error_size, kErrorBytes)};
}

}  // namespace muster::engine
