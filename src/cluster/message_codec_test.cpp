#include "cluster/message_codec.h"

#include <gtest/gtest.h>

#include "cluster/bytes_fixture.h"
#include "cluster/fields_fixture.h"
#include "cluster/fields_messages_job.h"
#include "cluster/fields_messages_worker.h"
#include "cluster/options.h"
#include "cluster/variant_codec.h"

namespace muster::cluster {
namespace {

TEST(MessageCodec, EveryMessageComesBackAsItWas) {
  for (std::size_t kind = 0; kind < kMessages; ++kind) {
    std::size_t tried = 0;
    for (std::uint64_t seed = 0; tried < 50; ++seed) {
      Message message;
      choose_alternative(message, kind);
      Fill fill(seed);
      std::visit([&](auto& each) { fields(fill, each); }, message);
      if (!fill.fits()) continue;
      ++tried;
      const std::string bytes = bytes_of(message);
      const auto decoded = decode_message(bytes);
      ASSERT_TRUE(decoded) << name_of(message) << ": " << decoded.error().message;
      EXPECT_EQ(*decoded, message) << name_of(message) << ", seed " << seed;
      EXPECT_FALSE(decode_message(bytes + '\0')) << name_of(message);
      if (bytes.size() > 2) {
        EXPECT_FALSE(decode_message(bytes.substr(0, bytes.size() - 1))) << name_of(message);
      }
    }
  }
}

TEST(MessageCodec, RefusesOtherVersionsUnknownMessagesAndNothing) {
  EXPECT_FALSE(decode_message(""));
  EXPECT_FALSE(decode_message(std::string("\x02\x00", 2)));
  EXPECT_FALSE(decode_message("\x01\x7f"));
}

TEST(MessageCodec, RefusesABodyLargerThanAnyCanBe) {
  EXPECT_TRUE(decode_message(bytes_of(BodyOffer{{kNoBody, kMaxBodyBytes}})));
  EXPECT_FALSE(decode_message(bytes_of(BodyOffer{{kNoBody, kMaxBodyBytes + 1}})));
  EXPECT_FALSE(decode_message(bytes_of(BodyWanted{{kNoBody, 10}, 10})));
}

TEST(MessageCodec, CutsAReasonThatIsTooLong) {
  SubmitAnswer answer;
  answer.reason = std::string(kMaxReason + 1, 'x');
  const auto decoded = decode_message(bytes_of(answer));
  ASSERT_TRUE(decoded);
  EXPECT_EQ(std::get<SubmitAnswer>(*decoded).reason.size(), kMaxReason);
}

TEST(MessageCodec, TellsNoTimeThatCouldNotBeAddedUp) {
  SubmitAnswer answer;
  answer.retry_after = base::Duration::max();
  const std::string bytes = bytes_of(answer);
  const auto decoded = decode_message(bytes);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(std::get<SubmitAnswer>(*decoded).retry_after.count(), kMaxSpan);
  // The span is the last number before an empty reason, and its highest byte the last of it.
  std::string longer = bytes;
  longer[longer.size() - 2] = static_cast<char>(longer[longer.size() - 2] + 1);
  EXPECT_FALSE(decode_message(longer));
}

TEST(Messages, ResultsCancellationsAndMembershipAreNeverShed) {
  EXPECT_EQ(class_of(PartResult{}), MessageClass::kCritical);
  EXPECT_EQ(class_of(Cancel{}), MessageClass::kCritical);
  EXPECT_EQ(class_of(Heartbeat{}), MessageClass::kCritical);
  EXPECT_EQ(class_of(Submit{}), MessageClass::kHigh);
  EXPECT_EQ(class_of(Progress{}), MessageClass::kNormal);
  EXPECT_EQ(class_of(DatacentersAsk{}), MessageClass::kLow);
  EXPECT_EQ(name_of(Ring{}), "ring");
}

}  // namespace
}  // namespace muster::cluster
