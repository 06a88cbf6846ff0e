#include "report/feed.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

namespace muster::report {
namespace {

class FeedTest : public testing::Test {
 protected:
  FeedTest() {
    std::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(::pipe2(ends_.data(), O_CLOEXEC), 0);
    ::fcntl(ends_[0], F_SETFL, O_NONBLOCK);
  }
  ~FeedTest() override { close_reader(); }

  void close_reader() {
    if (ends_[0] >= 0) ::close(ends_[0]);
    ends_[0] = -1;
  }

  std::string read_all() {
    std::string text;
    std::array<char, 65536> bytes{};
    for (ssize_t size = 0; (size = ::read(ends_[0], bytes.data(), bytes.size())) > 0;) {
      text.append(bytes.data(), static_cast<std::size_t>(size));
    }
    return text;
  }

  std::array<int, 2> ends_{};
};

constexpr base::Instant kPast = base::Instant{};

TEST_F(FeedTest, LinesArriveInOrder) {
  Feed feed;
  feed.open(ends_[1]);
  feed.put("one\n");
  feed.put("two\n");
  EXPECT_TRUE(feed.flush(kPast));
  EXPECT_EQ(read_all(), "one\ntwo\n");
  EXPECT_EQ(feed.lines(), 2u);
  EXPECT_EQ(feed.dropped(), 0u);
}

TEST_F(FeedTest, AReaderThatDoesNotReadCostsABoundedBufferAndWholeLines) {
  constexpr std::size_t kLimit = 100'000;
  Feed feed(kLimit);
  feed.open(ends_[1]);
  const std::string line = std::string(999, 'x') + "\n";
  for (int i = 0; i != 5'000; ++i) feed.put(line);
  EXPECT_GT(feed.dropped(), 3'000u) << "a pipe holds a mebibyte, the buffer a hundred lines";
  EXPECT_FALSE(feed.flush(kPast));
  std::string text;
  do {
    text += read_all();
  } while (!feed.flush(kPast));
  text += read_all();
  EXPECT_EQ(text.size(), (feed.lines() - feed.dropped()) * line.size());
  EXPECT_EQ(text.size() % line.size(), 0u);
  EXPECT_EQ(text.substr(text.size() - line.size()), line);
}

TEST_F(FeedTest, WhatWaitsWhenItIsClosedIsCountedAsDropped) {
  Feed feed;
  feed.open(ends_[1]);
  feed.put("one\n");
  feed.pump();
  feed.put("two\n");
  feed.close();
  EXPECT_EQ(read_all(), "one\n");
  EXPECT_EQ(feed.dropped(), 1u);
}

TEST_F(FeedTest, AReaderThatHasGoneIsNoticedAndNothingIsKeptForIt) {
  Feed feed;
  feed.open(ends_[1]);
  close_reader();
  feed.put("one\n");
  feed.pump();
  EXPECT_TRUE(feed.gone());
  EXPECT_FALSE(feed.put("two\n"));
  EXPECT_FALSE(feed.flush(base::kNever)) << "does not wait for what cannot come";
  EXPECT_EQ(feed.dropped(), 0u);
}

}  // namespace
}  // namespace muster::report
