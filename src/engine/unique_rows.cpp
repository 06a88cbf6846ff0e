#include "engine/unique_rows.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

namespace muster::engine {

base::Expected<UniqueRows> UniqueRows::open(const std::vector<model::DataSource>& sources) {
  static_assert(Cursor::is_always_lock_free);
  UniqueRows made;
  if (sources.empty()) return made;
  for (const model::DataSource& source : sources) made.names_.push_back(source.name);
  const std::size_t bytes = sources.size() * sizeof(Cursor);
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return base::fail(fmt::format("cannot map memory for data: {}", std::strerror(errno)));
  auto* const cursors = static_cast<Cursor*>(memory);
  for (std::size_t i = 0; i < sources.size(); ++i) new (cursors + i) Cursor(0);
  made.cursors_ = std::shared_ptr<Cursor[]>(cursors, [bytes](Cursor* first) { munmap(first, bytes); });
  return made;
}

std::shared_ptr<UniqueRows::Cursor> UniqueRows::of(std::string_view source) const {
  const auto found = std::ranges::find(names_, source);
  if (found == names_.end()) return nullptr;
  return {cursors_, cursors_.get() + (found - names_.begin())};
}

}  // namespace muster::engine
