// The only way into a core from another thread: small messages, taken by the core in its own time. The lock is held for
// a push or a swap only and is never touched on the request path; the eventfd wakes the loop.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

#include "base/error.h"
#include "reactor/loop.h"
#include "reactor/wake.h"

namespace muster::reactor {

template <class Message>
class Mailbox {
 public:
  // `deliver` is called on the loop's thread for each message. The mailbox must outlive every sender.
  base::Expected<void> open(Loop& loop, void (*deliver)(void* owner, Message&& message), void* owner) {
    deliver_ = deliver;
    owner_ = owner;
    return wake_.open(loop, [](void* self) { static_cast<Mailbox*>(self)->drain(); }, this);
  }

  void close() { wake_.close(); }

  // Any thread.
  void push(Message message) {
    {
      const std::lock_guard lock(mutex_);
      messages_.push_back(std::move(message));
    }
    wake_.ring();
  }

 private:
  void drain() {
    std::vector<Message> taken;
    {
      const std::lock_guard lock(mutex_);
      taken.swap(messages_);
    }
    for (Message& message : taken) deliver_(owner_, std::move(message));
  }

  void (*deliver_)(void*, Message&&) = nullptr;
  void* owner_ = nullptr;
  Wake wake_;
  std::mutex mutex_;
  std::vector<Message> messages_;
};

}  // namespace muster::reactor
