#include "reactor/timers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <memory>

namespace muster::reactor {
namespace {

using testing::ElementsAre;

base::Instant at(std::int64_t nanoseconds) {
  return base::Instant(base::Duration(nanoseconds));
}

struct Named : Timer {
  Named(int given, std::vector<int>& log)
      : Timer([](Timer& timer, base::Instant) {
          auto& self = static_cast<Named&>(timer);
          self.fired->push_back(self.name);
        }),
        name(given),
        fired(&log) {}
  int name;
  std::vector<int>* fired;
};

TEST(Timers, FireEarliestFirstAndOnlyWhatIsDue) {
  Timers timers;
  std::vector<int> fired;
  Named a(1, fired);
  Named b(2, fired);
  Named c(3, fired);
  timers.arm(a, at(30));
  timers.arm(b, at(10));
  timers.arm(c, at(20));
  EXPECT_EQ(timers.next(), at(10));
  timers.fire(at(9));
  EXPECT_THAT(fired, ElementsAre());
  timers.fire(at(20));
  EXPECT_THAT(fired, ElementsAre(2, 3));
  EXPECT_FALSE(b.armed());
  EXPECT_TRUE(a.armed());
  timers.cancel(a);
  EXPECT_EQ(timers.next(), base::kNever);
}

TEST(Timers, ATimerMayBeArmedAgainAndOthersCancelledWhileOneFires) {
  struct Chain : Timer {
    Chain(Timers& all, Timer& victim)
        : Timer([](Timer& timer, base::Instant now) {
            auto& self = static_cast<Chain&>(timer);
            ++self.fired;
            self.timers->cancel(*self.other);
            if (self.fired < 3) self.timers->arm(self, now + base::Duration(1));
          }),
          timers(&all),
          other(&victim) {}
    Timers* timers;
    Timer* other;
    int fired = 0;
  };
  Timers timers;
  std::vector<int> log;
  Named victim(1, log);
  Chain chain(timers, victim);
  timers.arm(chain, at(5));
  timers.arm(victim, at(5));
  timers.fire(at(5));
  timers.fire(at(5));
  EXPECT_EQ(chain.fired, 1);
  EXPECT_TRUE(log.empty());
  timers.fire(at(6));
  timers.fire(at(7));
  EXPECT_EQ(chain.fired, 3);
  EXPECT_EQ(timers.size(), 0U);
}

TEST(TimersDeathTest, ATimerThatIsDestroyedWhileArmedAborts) {
  EXPECT_DEATH(
      {
        Timers timers;
        std::vector<int> log;
        Named timer(1, log);
        timers.arm(timer, at(1));
      },
      "");
}

// Against a plain multimap: whatever is armed, moved and cancelled, what fires is what is due, in order of deadline.
RC_GTEST_PROP(Timers, BehaveLikeASortedListOfDeadlines, ()) {
  constexpr int kTimers = 40;
  Timers timers;
  std::vector<int> fired;
  std::vector<std::unique_ptr<Named>> all;
  for (int i = 0; i < kTimers; ++i) all.push_back(std::make_unique<Named>(i, fired));
  std::map<int, std::int64_t> armed;
  std::int64_t now = 0;
  const auto steps = *rc::gen::container<std::vector<std::tuple<int, int, int>>>(
      rc::gen::tuple(rc::gen::inRange(0, 10), rc::gen::inRange(0, kTimers), rc::gen::inRange(0, 50)));
  for (const auto& [action, which, amount] : steps) {
    if (action < 6) {
      timers.arm(*all[static_cast<std::size_t>(which)], at(now + amount));
      armed[which] = now + amount;
    } else if (action < 8) {
      timers.cancel(*all[static_cast<std::size_t>(which)]);
      armed.erase(which);
    } else {
      now += amount;
      fired.clear();
      timers.fire(at(now));
      std::multimap<std::int64_t, int> due;
      for (const auto& [name, deadline] : armed) {
        if (deadline <= now) due.emplace(deadline, name);
      }
      RC_ASSERT(fired.size() == due.size());
      std::int64_t before = 0;
      for (const int name : fired) {
        RC_ASSERT(armed.contains(name));
        RC_ASSERT(armed[name] >= before);
        before = armed[name];
        RC_ASSERT(armed[name] <= now);
        armed.erase(name);
      }
    }
    RC_ASSERT(timers.size() == armed.size());
    std::int64_t earliest = std::numeric_limits<std::int64_t>::max();
    for (const auto& [name, deadline] : armed) earliest = std::min(earliest, deadline);
    RC_ASSERT(timers.next() == (armed.empty() ? base::kNever : at(earliest)));
  }
  for (const auto& timer : all) timers.cancel(*timer);
}

}  // namespace
}  // namespace muster::reactor
