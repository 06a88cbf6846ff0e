#include "metrics/lww_register.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <string>

#include "metrics/merged_fixture.h"

namespace muster::metrics {
namespace {

using Register = LwwRegister<std::string>;
constexpr base::NodeId kOne{1};
constexpr base::NodeId kTwo{2};

Register any_register() {
  return {*rc::gen::element<std::string>("", "a", "b"),
          {*rc::gen::inRange<std::uint64_t>(0, 3), base::NodeId{*rc::gen::inRange<std::uint64_t>(0, 3)}}};
}

TEST(LwwRegister, TheLaterWriteWins) {
  Register status;
  EXPECT_TRUE(status.write("running", {1, kOne}));
  EXPECT_TRUE(status.write("ended", {2, kOne}));
  EXPECT_FALSE(status.write("running", {1, kOne}));
  EXPECT_EQ(status.value(), "ended");
}

TEST(LwwRegister, AtTheSameTimeTheHigherWriterWins) {
  Register status("b", {1, kTwo});
  EXPECT_FALSE(status.write("a", {1, kOne}));
  EXPECT_EQ(status.written(), (Written{1, kTwo}));
}

RC_GTEST_PROP(LwwRegister, MergingIsCommutativeAssociativeAndIdempotent, ()) {
  const Register a = any_register();
  const Register b = any_register();
  const Register c = any_register();
  RC_ASSERT(merged(a, b) == merged(b, a));
  RC_ASSERT(merged(merged(a, b), c) == merged(a, merged(b, c)));
  RC_ASSERT(merged(a, a) == a);
}

}  // namespace
}  // namespace muster::metrics
