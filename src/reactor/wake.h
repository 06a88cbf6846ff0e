// Wakes a loop from another thread, by an eventfd.
#pragma once

#include "base/error.h"
#include "reactor/loop.h"

namespace muster::reactor {

class Wake final : Watcher {
 public:
  Wake() : Watcher(&Wake::on_ready) {}
  ~Wake() { close(); }

  // `woken` runs on the loop's thread after one or more rings.
  base::Expected<void> open(Loop& loop, void (*woken)(void* owner), void* owner);
  void close();

  // Any thread, also a signal handler.
  void ring();

 private:
  static void on_ready(Watcher& watcher, std::uint32_t events);

  Loop* loop_ = nullptr;
  int fd_ = -1;
  void (*woken_)(void*) = nullptr;
  void* owner_ = nullptr;
};

}  // namespace muster::reactor
