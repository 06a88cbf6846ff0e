#include "report/threshold_text.h"

#include <gtest/gtest.h>

namespace muster::report {
namespace {

using namespace std::chrono_literals;

model::ThresholdVerdict verdict(std::string text, double value) {
  model::ThresholdVerdict made;
  made.text = std::move(text);
  made.value = value;
  return made;
}

TEST(ThresholdText, TellsWindowAndPlace) {
  model::ThresholdVerdict login = verdict("latency p99 < 1s", 0.2);
  EXPECT_EQ(threshold_text(login), "latency p99 < 1s");
  login.window = 10s;
  EXPECT_EQ(threshold_text(login), "latency p99 < 1s in every 10s");
  login.window = 90s;
  EXPECT_EQ(threshold_text(login), "latency p99 < 1s in every 1m30s");
  login.window = 2h;
  EXPECT_EQ(threshold_text(login), "latency p99 < 1s in every 2h");
  login.window = 1500ms;
  EXPECT_EQ(threshold_text(login), "latency p99 < 1s in every 1500ms");
  login.window = 10s;
  login.where = "step=login";
  EXPECT_EQ(threshold_text(login), "latency p99 < 1s in every 10s (step=login)");
}

TEST(ThresholdText, TellsWhatWasMeasuredInTheUnitOfTheBound) {
  EXPECT_EQ(measured_text(verdict("latency p95 < 300ms", 0.281), true), "281ms");
  EXPECT_EQ(measured_text(verdict("latency p95 < 300us", 0.0000281), false), "28.1us");
  EXPECT_EQ(measured_text(verdict("failed rate < 1%", 0.0339), true), "3.39%");
  EXPECT_EQ(measured_text(verdict("failed rate < 0.01", 0.004), true), "0.4%");
  EXPECT_EQ(measured_text(verdict("failed_iterations rate < 0.01", 0.98), true), "98%");
  EXPECT_EQ(measured_text(verdict("coupons rate > 5%", 0.125), true), "12.5%");
  EXPECT_EQ(measured_text(verdict("requests rate > 100", 1963.3), true), "1,963/s");
  EXPECT_EQ(measured_text(verdict("latency count > 100", 250), true), "250");
}

TEST(ThresholdText, AFailedThresholdWasShownWithTheValueThatItAsksFor) {
  EXPECT_EQ(measured_text(verdict("iterations rate >= 50/s", 49.9951), true), "49.995/s");
  EXPECT_EQ(measured_text(verdict("iterations rate >= 50/s", 49.99), true), "49.99/s");
  EXPECT_EQ(measured_text(verdict("iterations rate >= 50/s", 50), true), "50/s");
  EXPECT_EQ(measured_text(verdict("iterations rate >= 3000/m", 49.9951), true), "49.995/s");
  EXPECT_EQ(measured_text(verdict("requests rate >= 12345", 12344.7), true), "12344.7/s");
  EXPECT_EQ(measured_text(verdict("latency p95 < 300ms", 0.3002), true), "300.2ms");
  EXPECT_EQ(measured_text(verdict("latency p95 < 300ms", 0.3), true), "300ms");
  EXPECT_EQ(measured_text(verdict("latency p95 <= 1m", 60.004), true), "60.004s");
  EXPECT_EQ(measured_text(verdict("failed rate < 1%", 0.0100001), true), "1.00001%");
  EXPECT_EQ(measured_text(verdict("failed rate <= 7%", 0.07), true), "7%");
  EXPECT_EQ(measured_text(verdict("checks rate == 100%", 0.9999999999), true), "<100%");
  EXPECT_EQ(measured_text(verdict("basket mean > -5 ", -5.00001), true), "-5.00001");
  EXPECT_EQ(measured_text(verdict("latency p95 <", 0.3), true), "300ms") << "cut off";
}

}  // namespace
}  // namespace muster::report
