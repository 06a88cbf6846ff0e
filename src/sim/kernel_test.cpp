#include "sim/kernel.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/nodes_fixture.h"

namespace muster::sim {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct Script;

// Writes down what happens to it; what it does at its start and at a packet is the test's.
class Listener final : public Process {
 public:
  explicit Listener(Script& script) : script_(&script) {}
  void start(Host& host) override;
  void receive(Host& host, const Packet& packet) override;
  void wake(Host& host) override;
  void written(Host& host, WriteTicket ticket, bool ok) override;
  void closed(Host& host, Address peer) override;

 private:
  Script* script_;
};

struct Script final : World {
  std::function<void(Host&)> at_start;
  std::function<void(Host&)> at_wake;
  std::map<base::NodeId, std::vector<std::string>> heard;
  std::map<base::NodeId, std::vector<base::Duration>> times;
  std::map<base::NodeId, std::vector<base::Duration>> sent;
  std::map<base::NodeId, int> closed;
  std::map<base::NodeId, int> woken;
  std::map<base::NodeId, std::vector<bool>> writes;

  void begin(Kernel& kernel) override {
    for (const base::NodeId node : {kFirst, kSecond, kThird}) kernel.add(node);
    for (const base::NodeId node : {kFirst, kSecond, kThird}) kernel.start(node);
  }
  std::unique_ptr<Process> boot(base::NodeId) override { return std::make_unique<Listener>(*this); }
  base::Duration elapsed() const { return kernel_->elapsed(); }
};

void Listener::start(Host& host) {
  if (script_->at_start) script_->at_start(host);
}
void Listener::receive(Host& host, const Packet& packet) {
  script_->heard[host.self()].emplace_back(packet.bytes);
  script_->times[host.self()].push_back(script_->elapsed());
  script_->sent[host.self()].push_back(packet.sent);
}
void Listener::wake(Host& host) {
  ++script_->woken[host.self()];
  if (script_->at_wake) script_->at_wake(host);
}
void Listener::written(Host& host, WriteTicket, bool ok) {
  script_->writes[host.self()].push_back(ok);
}
void Listener::closed(Host& host, Address) {
  ++script_->closed[host.self()];
}

struct KernelTest : testing::Test {
  Script world;
  Kernel kernel{7, world, {}};

  void SetUp() override { world.begin(kernel); }
  void send(base::NodeId from, base::NodeId to, Channel channel, std::string bytes) {
    kernel.post(from, [to, channel, bytes](Process&, Host& host) {
      if (const auto address = host.resolve(to)) host.send(*address, channel, bytes);
    });
  }
  void run(base::Duration length) { kernel.run(kernel.elapsed() + length); }
  void cut(base::NodeId from, base::NodeId to) {
    NodeSet senders, receivers;
    senders.add(kernel.index(from));
    receivers.add(kernel.index(to));
    kernel.network().cut(senders, receivers);
  }
};

TEST_F(KernelTest, DeliversADatagramAfterItsWay) {
  send(kFirst, kSecond, Channel::kDatagram, "hello");
  run(seconds(1));
  EXPECT_EQ(world.heard[kSecond], std::vector<std::string>{"hello"});
  EXPECT_GE(world.times[kSecond].at(0), std::chrono::microseconds(100));
}

TEST_F(KernelTest, KeepsTheOrderOfAStreamAlsoUnderLoss) {
  kernel.network().noise().loss = 0.5;
  std::vector<std::string> sent;
  for (int i = 0; i < 100; ++i) sent.push_back(std::to_string(i));
  for (const std::string& text : sent) send(kFirst, kSecond, Channel::kStream, text);
  run(seconds(60));
  EXPECT_EQ(world.heard[kSecond], sent);
}

TEST(Network, TellsOfEveryPacketWhenItWasSentHoweverItCame) {
  Script world;
  KernelOptions options;
  options.network.unruly_streams = true;
  Kernel kernel(7, world, options);
  world.begin(kernel);
  kernel.run(seconds(100));
  kernel.network().noise() = {.duplicate = 0.5, .reorder = 0.5, .replay = 0.5};
  for (int i = 0; i < 200; ++i) {
    kernel.post(kFirst, [i](Process&, Host& host) {
      host.send(*host.resolve(kSecond), i % 2 == 0 ? Channel::kStream : Channel::kDatagram, std::to_string(i));
    });
  }
  kernel.run(seconds(160));
  EXPECT_GT(world.heard[kSecond].size(), 250u);
  for (const base::Duration sent : world.sent[kSecond]) EXPECT_EQ(sent, seconds(100));
}

TEST_F(KernelTest, LosesDatagramsAtACutAndHoldsStreamsUntilItIsMended) {
  cut(kFirst, kSecond);
  send(kFirst, kSecond, Channel::kDatagram, "datagram");
  send(kFirst, kSecond, Channel::kStream, "frame");
  run(seconds(1));
  EXPECT_TRUE(world.heard[kSecond].empty());
  kernel.network().mend_all();
  run(seconds(3));
  EXPECT_EQ(world.heard[kSecond], std::vector<std::string>{"frame"});
}

TEST_F(KernelTest, ACutInOneDirectionLetsTheOtherPass) {
  cut(kFirst, kSecond);
  send(kSecond, kFirst, Channel::kDatagram, "back");
  run(seconds(1));
  EXPECT_EQ(world.heard[kFirst], std::vector<std::string>{"back"});
}

TEST_F(KernelTest, TellsBothEndsOfAStreamThatItBrokeWhenPatienceIsOver) {
  cut(kFirst, kSecond);
  send(kFirst, kSecond, Channel::kStream, "frame");
  run(seconds(30));
  EXPECT_EQ(world.closed[kFirst], 1);
  EXPECT_EQ(world.closed[kSecond], 1);
  EXPECT_TRUE(world.heard[kSecond].empty());
}

TEST_F(KernelTest, ACrashBreaksStreamsAndLosesWhatIsUnderWay) {
  send(kFirst, kSecond, Channel::kStream, "one");
  run(seconds(1));
  send(kFirst, kSecond, Channel::kStream, "two");
  run(std::chrono::microseconds(50));
  kernel.crash(kSecond);
  kernel.restart(kSecond, false);
  run(seconds(1));
  EXPECT_EQ(world.heard[kSecond], std::vector<std::string>{"one"});
  EXPECT_EQ(world.closed[kFirst], 1);
}

TEST_F(KernelTest, AHalfOpenStreamSwallowsFramesUntilTheNextLifeAnswers) {
  send(kFirst, kSecond, Channel::kStream, "one");
  run(seconds(1));
  kernel.crash(kSecond, false, true);
  send(kFirst, kSecond, Channel::kStream, "two");
  run(seconds(1));
  EXPECT_EQ(world.closed[kFirst], 0);
  kernel.restart(kSecond, false);
  send(kFirst, kSecond, Channel::kStream, "three");
  run(seconds(1));
  EXPECT_EQ(world.closed[kFirst], 1);
  send(kFirst, kSecond, Channel::kStream, "four");
  run(seconds(1));
  EXPECT_EQ(world.heard[kSecond], (std::vector<std::string>{"one", "four"}));
}

TEST_F(KernelTest, ANodeThatMovedIsNotReachedAtItsOldAddress) {
  Address old{};
  kernel.post(kFirst, [&old](Process&, Host& host) { old = *host.resolve(kSecond); });
  run(milliseconds(1));
  kernel.crash(kSecond);
  kernel.restart(kSecond, true);
  kernel.post(kFirst, [old](Process&, Host& host) {
    host.send(old, Channel::kDatagram, "old");
    host.send(*host.resolve(kSecond), Channel::kDatagram, "new");
  });
  run(seconds(1));
  EXPECT_EQ(world.heard[kSecond], std::vector<std::string>{"new"});
}

TEST_F(KernelTest, AnAlarmIsSetOffOnceAndOnlyTheLastOneCounts) {
  kernel.post(kFirst, [](Process&, Host& host) {
    host.alarm(host.now() + milliseconds(10));
    host.alarm(host.now() + milliseconds(30));
  });
  run(milliseconds(29));
  EXPECT_EQ(world.woken[kFirst], 0);
  run(milliseconds(100));
  EXPECT_EQ(world.woken[kFirst], 1);
}

TEST_F(KernelTest, AFastClockSetsAlarmsOffSooner) {
  kernel.run_clock_at(kFirst, 2 * Clock::kTrueRate);
  kernel.post(kFirst, [](Process&, Host& host) { host.alarm(host.now() + milliseconds(100)); });
  run(milliseconds(51));
  EXPECT_EQ(world.woken[kFirst], 1);
}

TEST_F(KernelTest, ALeapOfTheClockSetsAlarmsOff) {
  kernel.post(kFirst, [](Process&, Host& host) { host.alarm(host.now() + seconds(100)); });
  run(seconds(1));
  kernel.leap(kFirst, seconds(200), seconds(0));
  run(milliseconds(1));
  EXPECT_EQ(world.woken[kFirst], 1);
}

TEST_F(KernelTest, APausedNodeGetsEverythingWhenItGoesOn) {
  kernel.pause(kSecond);
  for (const char* const text : {"a", "b"}) send(kFirst, kSecond, Channel::kStream, text);
  run(seconds(5));
  EXPECT_TRUE(world.heard[kSecond].empty());
  kernel.resume(kSecond);
  run(milliseconds(1));
  EXPECT_EQ(world.heard[kSecond], (std::vector<std::string>{"a", "b"}));
}

TEST_F(KernelTest, ASlowNodeTakesItsTimeForEachPacketAndDropsWhatDoesNotFit) {
  kernel.slow_down(kSecond, milliseconds(100));
  for (std::size_t i = 0; i < kMaxBacklog + 50; ++i) send(kFirst, kSecond, Channel::kDatagram, "x");
  run(seconds(1));
  EXPECT_LT(world.heard[kSecond].size(), 22u);
  run(seconds(300));
  EXPECT_LE(world.heard[kSecond].size(), kMaxBacklog + 2);
  EXPECT_GE(world.heard[kSecond].size(), kMaxBacklog);
}

TEST_F(KernelTest, WhatWasAnsweredIsThereInTheNextLife) {
  kernel.post(kFirst, [](Process&, Host& host) { host.append("file", "kept"); });
  run(seconds(1));
  EXPECT_EQ(world.writes[kFirst], std::vector<bool>{true});
  kernel.crash(kFirst);
  std::string found;
  world.at_start = [&found](Host& host) { found = host.contents("file"); };
  kernel.restart(kFirst, false);
  EXPECT_EQ(found, "kept");
}

TEST_F(KernelTest, ANodeThatHaltsItselfIsDown) {
  kernel.post(kFirst, [](Process&, Host& host) { host.halt("enough"); });
  run(milliseconds(1));
  EXPECT_FALSE(kernel.up(kFirst));
  EXPECT_TRUE(kernel.halted(kFirst));
}

TEST_F(KernelTest, CorruptPacketsEndAtTheEnvelopeUnlessTheyAreHandedThrough) {
  kernel.network().noise().corrupt = 1;
  send(kFirst, kSecond, Channel::kDatagram, "payload");
  run(seconds(1));
  EXPECT_TRUE(world.heard[kSecond].empty());
  EXPECT_EQ(kernel.record().traffic.corrupted, 1u);
  kernel.network().noise().raw = true;
  send(kFirst, kSecond, Channel::kDatagram, "payload");
  run(seconds(1));
  ASSERT_EQ(world.heard[kSecond].size(), 1u);
  EXPECT_NE(world.heard[kSecond][0], "payload");
}

TEST_F(KernelTest, AnOversizedDatagramIsAViolation) {
  kernel.post(kFirst, [](Process&, Host& host) {
    host.send(*host.resolve(kSecond), Channel::kDatagram, std::string(kMaxDatagram + 1, 'x'));
  });
  run(seconds(1));
  ASSERT_TRUE(kernel.violated());
  EXPECT_EQ(kernel.record().violation->invariant, "25");
}

TEST_F(KernelTest, AProcessThatWorksWithoutTimePassingIsAViolation) {
  world.at_wake = [](Host& host) { host.alarm(host.now()); };
  kernel.post(kFirst, [](Process&, Host& host) { host.alarm(host.now()); });
  run(seconds(1));
  ASSERT_TRUE(kernel.violated());
  EXPECT_EQ(kernel.record().violation->invariant, "time");
}

TEST_F(KernelTest, AResolverThatFailsGivesNoAddress) {
  kernel.break_resolver(kFirst, true, false);
  send(kFirst, kSecond, Channel::kDatagram, "x");
  run(seconds(1));
  EXPECT_TRUE(world.heard[kSecond].empty());
}

}  // namespace
}  // namespace muster::sim
