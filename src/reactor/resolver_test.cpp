#include "reactor/resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>

namespace muster::reactor {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(Resolver, GivesAddressesBackAsTheyAre) {
  const auto v4 = resolve("127.0.0.1", Family::kAny, 1s);
  ASSERT_TRUE(v4);
  EXPECT_EQ(v4->addresses.front().to_text(), "127.0.0.1:0");
  EXPECT_EQ(v4->ttl, base::Duration::max());
  const auto v6 = resolve("::1", Family::kAny, 1s);
  ASSERT_TRUE(v6);
  EXPECT_EQ(v6->addresses.front().to_text(), "[::1]:0");
}

TEST(Resolver, KnowsTheNamesOfTheHostsFile) {
  const auto found = resolve("localhost", Family::kV4, 5s);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->addresses.front().to_text(), "127.0.0.1:0");
  EXPECT_GT(found->ttl, 0s);
}

TEST(Resolver, FailsForANameThatCannotBeWithinItsBound) {
  const base::Instant began = base::now();
  const auto found = resolve("nowhere.invalid", Family::kAny, 2s);
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("'nowhere.invalid'"));
  EXPECT_LT(base::now() - began, 4s);
}

TEST(ResolverThread, AnswersInTheOrderAskedOnItsOwnThread) {
  ResolverThread resolver;
  resolver.start();
  std::promise<std::string> first;
  std::promise<std::thread::id> second;
  resolver.ask("127.0.0.1", Family::kAny, 1s, [&](const base::Expected<Resolution>& answer) {
    first.set_value(answer ? answer->addresses.front().to_text() : answer.error().message);
  });
  resolver.ask("localhost", Family::kV4, 1s,
               [&](const base::Expected<Resolution>&) { second.set_value(std::this_thread::get_id()); });
  EXPECT_EQ(first.get_future().get(), "127.0.0.1:0");
  EXPECT_NE(second.get_future().get(), std::this_thread::get_id());
  resolver.stop();
}

TEST(ResolverThread, StopsWithQuestionsLeft) {
  ResolverThread resolver;
  resolver.start();
  for (int i = 0; i < 100; ++i) resolver.ask("localhost", Family::kV4, 1s, [](const auto&) {});
  resolver.stop();
  resolver.stop();
}

}  // namespace
}  // namespace muster::reactor
