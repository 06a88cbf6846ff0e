#include "console/typed_secrets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/redaction.h"

namespace muster::console {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

model::Job hidden(const JobFlags& flags) {
  model::Job job;
  job.name = flags.url;
  job.source = url_job_text(flags);
  hide_secrets(flags, job);
  return job;
}

TEST(TypedSecrets, AreTakenOutOfNameAndText) {
  JobFlags flags;
  flags.url = "https://ada:hunter2@shop.test/cart";
  flags.basic = "ada:swordfish";
  flags.headers = {"Authorization: Bearer abc.def", "X-Api-Key: k-123", "Accept: text/plain", "Cookie: s=\"q\""};
  const model::Job job = hidden(flags);
  for (const char* secret : {"hunter2", "swordfish", "abc.def", "k-123", "s=\\\"q\\\""}) {
    EXPECT_THAT(job.source, Not(HasSubstr(secret)));
    EXPECT_THAT(job.name, Not(HasSubstr(secret)));
  }
  EXPECT_THAT(job.source, HasSubstr("Bearer ***"));
  EXPECT_THAT(job.source, HasSubstr("text/plain"));
  EXPECT_EQ(job.name, "https://ada:***@shop.test/cart");
}

TEST(TypedSecrets, AreKeysThatStandForAUserWithoutAPassword) {
  for (const char* url : {"https://sk_live_TOKEN:@shop.test/cart", "https://sk_live_TOKEN@shop.test/cart"}) {
    JobFlags flags;
    flags.url = url;
    const model::Job job = hidden(flags);
    EXPECT_THAT(job.source, Not(HasSubstr("TOKEN"))) << url;
    EXPECT_THAT(job.name, Not(HasSubstr("TOKEN"))) << url;
  }
  JobFlags named;
  named.url = "https://ada@shop.test/ada";
  EXPECT_EQ(hidden(named).name, named.url) << "a short one is more likely a name";
}

TEST(TypedSecrets, AreHiddenInWhatIsSentToo) {
  JobFlags flags;
  flags.url = "https://shop.test/";
  flags.basic = "ada:swordfish";
  std::string sample = "GET / HTTP/1.1\r\nAuthorization: Basic YWRhOnN3b3JkZmlzaA==\r\n";
  engine::redact(sample, engine::spellings(hidden(flags).secrets));
  EXPECT_THAT(sample, HasSubstr("Authorization: Basic ***"));
}

TEST(TypedSecrets, MayHoldWhatIsEscapedInTheText) {
  JobFlags flags;
  flags.url = "https://shop.test/";
  flags.basic = "ada:se${cret";
  EXPECT_THAT(hidden(flags).source, Not(HasSubstr("cret")));
}

TEST(TypedSecrets, OfTheFileAreTakenOutOfItsText) {
  model::Job job;
  job.name = "shop";
  job.source = "secrets: [PASSWORD]\nsteps: [ { post: /login, body: correct-horse } ]\n";
  job.secrets = {{"PASSWORD", "correct-horse"}};
  hide_secrets({}, job);
  EXPECT_THAT(job.source, HasSubstr("body: ***"));
}

TEST(TypedSecrets, LeaveTextWithoutAnyAsItIs) {
  JobFlags flags;
  flags.url = "http://127.0.0.1:8080/";
  flags.basic = "ada:";
  EXPECT_EQ(hidden(flags).source, url_job_text(flags));
}

}  // namespace
}  // namespace muster::console
