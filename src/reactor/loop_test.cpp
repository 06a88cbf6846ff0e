#include "reactor/loop.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <thread>
#include <vector>

#include "reactor/address.h"
#include "reactor/mailbox.h"
#include "reactor/wake.h"

namespace muster::reactor {
namespace {

using namespace std::chrono_literals;

struct Pair {
  Pair() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0); }
  ~Pair() {
    for (const int end : ends) close(end);
  }
  void say(char letter) const { EXPECT_EQ(write(ends[1], &letter, 1), 1); }
  int ends[2] = {-1, -1};
};

struct Reader : Watcher {
  Reader() : Watcher(&Reader::on_ready) {}
  static void on_ready(Watcher& watcher, std::uint32_t events) {
    auto& self = static_cast<Reader&>(watcher);
    ++self.calls;
    self.events |= events;
    char buffer[64];
    for (ssize_t got = read(self.fd, buffer, sizeof(buffer)); got > 0; got = read(self.fd, buffer, sizeof(buffer))) {
      self.text.append(buffer, static_cast<std::size_t>(got));
    }
    if (self.victim != nullptr) self.loop->remove(self.victim_fd, *self.victim);
  }
  int fd = -1;
  int calls = 0;
  std::uint32_t events = 0;
  std::string text;
  Loop* loop = nullptr;
  Reader* victim = nullptr;
  int victim_fd = -1;
};

TEST(Loop, CallsTheWatcherOfAReadySocketOnceForEachEdge) {
  Loop loop;
  ASSERT_TRUE(loop.open());
  const Pair pair;
  Reader reader;
  reader.fd = pair.ends[0];
  ASSERT_TRUE(loop.add(pair.ends[0], reader));
  loop.turn(loop.now());
  EXPECT_EQ(reader.calls, 1);  // writable from the start
  loop.turn(loop.now());
  EXPECT_EQ(reader.calls, 1);
  pair.say('x');
  loop.turn(base::kNever);
  EXPECT_EQ(reader.text, "x");
  EXPECT_EQ(reader.calls, 2);
  loop.remove(pair.ends[0], reader);
  pair.say('y');
  loop.turn(loop.now());
  EXPECT_EQ(reader.text, "x");
}

TEST(Loop, ReportsThatThePeerHasClosed) {
  Loop loop;
  ASSERT_TRUE(loop.open());
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  Reader reader;
  reader.fd = ends[0];
  ASSERT_TRUE(loop.add(ends[0], reader));
  close(ends[1]);
  loop.turn(base::kNever);
  EXPECT_NE(reader.events & EPOLLRDHUP, 0U);
  loop.remove(ends[0], reader);
  close(ends[0]);
}

TEST(Loop, AWatcherThatIsRemovedInTheSameTurnIsNotCalledAnyMore) {
  Loop loop;
  ASSERT_TRUE(loop.open());
  const Pair first;
  const Pair second;
  auto a = std::make_unique<Reader>();
  auto b = std::make_unique<Reader>();
  a->fd = first.ends[0];
  b->fd = second.ends[0];
  a->loop = b->loop = &loop;
  a->victim = b.get();
  a->victim_fd = b->fd;
  b->victim = a.get();
  b->victim_fd = a->fd;
  ASSERT_TRUE(loop.add(a->fd, *a));
  ASSERT_TRUE(loop.add(b->fd, *b));
  first.say('1');
  second.say('2');
  loop.turn(base::kNever);
  // Whichever came first removed the other.
  EXPECT_EQ(a->calls + b->calls, 1);
  loop.remove(a->fd, *a);
  loop.remove(b->fd, *b);
}

TEST(Loop, CallsTheFastWatcherDirectlyAndOthersToo) {
  Loop loop;
  ASSERT_TRUE(loop.open());
  const Pair pair;
  Reader reader;
  reader.fd = pair.ends[0];
  ASSERT_TRUE(loop.add(reader.fd, reader));
  pair.say('x');
  loop.turn<Reader>(base::kNever);
  EXPECT_EQ(reader.text, "x");
  loop.remove(reader.fd, reader);
}

TEST(Loop, SleepsUntilATimerIsDueAndNotLess) {
  struct Once : Timer {
    Once() : Timer([](Timer& timer, base::Instant) { static_cast<Once&>(timer).fired = true; }) {}
    bool fired = false;
  };
  Loop loop;
  ASSERT_TRUE(loop.open());
  Once once;
  const base::Instant due = base::now() + 20ms;
  loop.timers().arm(once, due);
  while (!once.fired) loop.turn(base::kNever);
  EXPECT_GE(base::now(), due);
  EXPECT_GE(loop.now(), due);
}

TEST(Wake, ReachesASleepingLoopFromAnotherThread) {
  Loop loop;
  ASSERT_TRUE(loop.open());
  Wake wake;
  int woken = 0;
  ASSERT_TRUE(wake.open(loop, [](void* count) { ++*static_cast<int*>(count); }, &woken));
  std::thread other([&] { wake.ring(); });
  while (woken == 0) loop.turn(base::kNever);
  other.join();
  EXPECT_EQ(woken, 1);
  wake.ring();
  wake.ring();
  loop.turn(base::kNever);
  EXPECT_EQ(woken, 2) << "two rings before a turn are one waking";
}

TEST(Mailbox, DeliversEverythingThatManyThreadsSendAndKeepsEachOnesOrder) {
  constexpr int kSenders = 4;
  constexpr int kEach = 2000;
  struct Inbox {
    std::vector<int> next = std::vector<int>(kSenders, 0);
    int received = 0;
    bool in_order = true;
  };
  Loop loop;
  ASSERT_TRUE(loop.open());
  Mailbox<std::pair<int, int>> mailbox;
  Inbox inbox;
  ASSERT_TRUE(mailbox.open(
      loop,
      [](void* owner, std::pair<int, int>&& message) {
        auto& into = *static_cast<Inbox*>(owner);
        int& expected = into.next[static_cast<std::size_t>(message.first)];
        into.in_order = into.in_order && message.second == expected;
        ++expected;
        ++into.received;
      },
      &inbox));
  std::vector<std::thread> senders;
  for (int s = 0; s < kSenders; ++s) {
    senders.emplace_back([&mailbox, s] {
      for (int i = 0; i < kEach; ++i) mailbox.push({s, i});
    });
  }
  while (inbox.received < kSenders * kEach) loop.turn(base::kNever);
  for (std::thread& sender : senders) sender.join();
  EXPECT_TRUE(inbox.in_order);
  mailbox.close();
}

TEST(Mailbox, AMessageSentWhileOneIsDeliveredIsDeliveredToo) {
  struct Echo {
    Mailbox<int>* mailbox;
    int received = 0;
  };
  Loop loop;
  ASSERT_TRUE(loop.open());
  Mailbox<int> mailbox;
  Echo echo{&mailbox};
  ASSERT_TRUE(mailbox.open(
      loop,
      [](void* owner, int&& left) {
        auto& self = *static_cast<Echo*>(owner);
        ++self.received;
        if (left > 0) self.mailbox->push(left - 1);
      },
      &echo));
  mailbox.push(3);
  while (echo.received < 4) loop.turn(base::kNever);
  EXPECT_EQ(echo.received, 4);
}

TEST(Loop, CarriesARealConnection) {
  Loop loop;
  ASSERT_TRUE(loop.open());
  Address bound;
  const auto listener = listen_on(*Address::parse("127.0.0.1", 0), false, bound);
  ASSERT_TRUE(listener) << listener.error().message;
  const int client = open_stream(AF_INET);
  Reader reader;
  reader.fd = client;
  ASSERT_TRUE(loop.add(client, reader));
  ASSERT_TRUE(connect(client, bound.get(), bound.size()) == 0 || errno == EINPROGRESS);
  while ((reader.events & EPOLLOUT) == 0) loop.turn(base::kNever);
  const int served = accept4(*listener, nullptr, nullptr, SOCK_CLOEXEC);
  ASSERT_GE(served, 0);
  EXPECT_EQ(write(served, "hello", 5), 5);
  while (reader.text.empty()) loop.turn(base::kNever);
  EXPECT_EQ(reader.text, "hello");
  loop.remove(client, reader);
  for (const int fd : {client, served, *listener}) close(fd);
}

}  // namespace
}  // namespace muster::reactor
