#include "target/reply_stream.h"

#include <gtest/gtest.h>

#include <string>

#include "target/reply_text.h"

namespace muster::target {
namespace {

using std::chrono::milliseconds;

std::string produce_all(const Plan& plan, std::size_t room) {
  ReplyStream stream;
  stream.start(plan, base::Instant{});
  std::string out;
  std::string piece(room, '\0');
  while (!stream.done()) out.append(piece, 0, stream.produce(piece.data(), room, base::Instant{}));
  return out;
}

TEST(ReplyStream, repeats_the_pattern_to_the_length_asked_for) {
  Plan plan;
  plan.pattern = "abc";
  plan.filler = 8;
  EXPECT_EQ(produce_all(plan, 64), "abcabcab");
}

TEST(ReplyStream, is_the_same_whatever_the_room) {
  Plan plan;
  plan.pattern = filler_pattern();
  plan.filler = 100'000;
  EXPECT_EQ(produce_all(plan, 64), produce_all(plan, 40'000));
}

TEST(ReplyStream, writes_chunks_and_the_last_chunk) {
  Plan plan;
  plan.pattern = "abcdefghij";
  plan.filler = 25;
  plan.chunk = 10;
  EXPECT_EQ(produce_all(plan, 1000), "a\r\nabcdefghij\r\na\r\nabcdefghij\r\n5\r\nabcde\r\n0\r\n\r\n");
}

TEST(ReplyStream, an_empty_chunked_body_is_the_last_chunk_alone) {
  Plan plan;
  plan.pattern = "x";
  plan.chunk = 10;
  EXPECT_EQ(produce_all(plan, 64), "0\r\n\r\n");
}

TEST(ReplyStream, cuts_chunks_that_do_not_fit) {
  Plan plan;
  plan.pattern = "x";
  plan.filler = 1000;
  plan.chunk = 1000;
  std::string rest = produce_all(plan, 64);
  std::size_t total = 0;
  while (true) {
    std::size_t digits = 0;
    const std::size_t size = std::stoul(rest, &digits, 16);
    if (size == 0) break;
    total += size;
    rest.erase(0, digits + 2 + size + 2);
  }
  EXPECT_EQ(total, 1000u);
  EXPECT_EQ(rest, "0\r\n\r\n");
}

TEST(ReplyStream, a_drip_gives_what_is_due_and_says_when_the_next_byte_is) {
  Plan plan;
  plan.pattern = "x";
  plan.filler = 10;
  plan.drip = milliseconds(1000);
  ReplyStream stream;
  const base::Instant begin = base::Instant{} + std::chrono::hours(5);
  stream.start(plan, begin);
  char out[64];
  EXPECT_EQ(stream.produce(out, sizeof(out), begin), 0u);
  EXPECT_EQ(stream.next_due(begin), begin + milliseconds(100));
  EXPECT_EQ(stream.produce(out, sizeof(out), begin + milliseconds(250)), 2u);
  EXPECT_EQ(stream.produce(out, sizeof(out), begin + milliseconds(250)), 0u);
  EXPECT_EQ(stream.next_due(begin + milliseconds(250)), begin + milliseconds(300));
  EXPECT_FALSE(stream.done());
  EXPECT_EQ(stream.produce(out, sizeof(out), begin + milliseconds(1000)), 8u);
  EXPECT_TRUE(stream.done());
}

}  // namespace
}  // namespace muster::target
