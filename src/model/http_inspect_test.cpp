#include <gtest/gtest.h>

#include "model/http_kind.h"
#include "model/job.h"

namespace muster::model {
namespace {

std::vector<std::string> said(const auto& inspect) {
  std::vector<std::string> messages;
  inspect(Inspection{
      .report = [&](const Where&, const std::string& message) { messages.push_back(message); },
      .file_problem = [](const Where&, const std::string& path) { return path == "there" ? "" : "no such file"; }});
  return messages;
}

std::vector<std::string> of_target(const std::string& address) {
  Target target;
  target.address = address;
  return said([&](const Inspection& inspection) { inspect_http_target(target, inspection); });
}

std::vector<std::string> of_step(TreeMap fields) {
  Step step;
  step.fields = std::move(fields);
  return said([&](const Inspection& inspection) { inspect_http_step(step, inspection); });
}

Tree text(std::string value) {
  return {{}, std::move(value)};
}

TEST(HttpInspect, GoodTargetsAndRequestsPass) {
  for (const char* address : {"http://a.test", "https://a.test:8443/base/", "http://[::1]:80", "HTTP://A"}) {
    EXPECT_TRUE(of_target(address).empty()) << address;
  }
  EXPECT_TRUE(of_step({{"url", text("/x?y=ws://z")},
                       {"method", text("PURGE")},
                       {"auth", {{}, TreeMap{{"basic", text("${user}")}}}},
                       {"multipart", {{}, TreeMap{{"photo", {{}, TreeMap{{"file", text("there")}}}}}}},
                       {"headers", {{}, TreeMap{{"X-A", text("b")}}}}})
                  .empty());
  EXPECT_TRUE(of_step({{"url", text("https://${env.HOST}:99999/")}}).empty());
  EXPECT_TRUE(of_step({{"url", text("HTTP://a.test/")}}).empty());
  EXPECT_TRUE(of_step({{"url", text("/${a\n + b}/c")}}).empty()) << "an expression may have several lines";
}

TEST(HttpInspect, ATargetMustBeAnAddressThatPathsCanFollow) {
  for (const char* address : {"a.test", "a.test:80", "ws://a.test", "http://a.test:99999", "http://a.test/?b=1",
                              "http://a.test/#b", "“http://a.test”", "http://"}) {
    EXPECT_EQ(of_target(address).size(), 1u) << address;
  }
}

TEST(HttpInspect, HeadersWhoseNamesDifferOnlyInCaseAreNotSilentlyDropped) {
  const auto of_headers = [](TreeMap headers) { return of_step({{"headers", {{}, std::move(headers)}}}); };
  EXPECT_EQ(of_headers({{"X-A", text("1")}, {"X-B", text("2")}, {"x-a", text("3")}}),
            std::vector<std::string>{"'X-A' and 'x-a' are the same header, whose name may be written in any case; keep "
                                     "one of them, or send it several times by a list: `X-A: [ …, … ]`"});
  EXPECT_TRUE(of_headers({{"X-A", {{}, TreeList{text("1"), text("2")}}}, {"X-AB", text("3")}}).empty());
}

TEST(HttpInspect, HostsGoToAddressesOrNames) {
  const auto of_hosts = [](const std::string& address) {
    Target target;
    target.address = "http://a.test";
    target.options.emplace_back("hosts", Tree{{}, TreeMap{{"a.test", text(address)}}});
    return said([&](const Inspection& inspection) { inspect_http_target(target, inspection); }).size();
  };
  EXPECT_EQ(of_hosts("10.0.0.7:8443"), 0u);
  EXPECT_EQ(of_hosts("b.test"), 0u);
  EXPECT_EQ(of_hosts("b.test:x"), 1u);
}

TEST(HttpInspect, SourcesAreAddressesAndNotNames) {
  const auto of_source = [](const std::string& source) {
    Target target;
    target.address = "http://a.test";
    target.options.emplace_back("source", Tree{{}, TreeList{text(source)}});
    return said([&](const Inspection& inspection) { inspect_http_target(target, inspection); }).size();
  };
  for (const char* good : {"10.0.0.5", "::1", "fd00::5", "fe80::1%eth0"}) EXPECT_EQ(of_source(good), 0u) << good;
  for (const char* bad : {"localhost", "10.0.0", "10.0.0.256", "10.0.0.5:80", ""}) EXPECT_EQ(of_source(bad), 1u) << bad;
}

TEST(HttpInspect, EveryMistakeOfARequestIsTold) {
  EXPECT_EQ(of_step({{"url", text("ws://a.test/")}}).size(), 1u);
  EXPECT_EQ(of_step({{"url", text("/a b\nc")}}).size(), 1u);
  EXPECT_EQ(of_step({{"url", text("/${x}\t")}}).size(), 1u);
  EXPECT_EQ(of_step({{"url", text("http://a.test:0/${x}")}}).size(), 1u);
  EXPECT_EQ(of_step({{"method", text("GE T")},
                     {"headers", {{}, TreeMap{{"a b", text("x")}, {"C", text("d\r\nE: f")}}}},
                     {"auth", {{}, TreeMap{{"basic", text("ada")}}}},
                     {"body", text("x")},
                     {"json", text("y")}})
                .size(),
            5u);
  EXPECT_EQ(of_step({{"auth", {{}, TreeMap{{"digest", text("a:b")}}}}}).size(), 1u);
  EXPECT_EQ(
      of_step(
          {{"multipart",
            {{},
             TreeMap{{"a", {{}, TreeMap{{"flie", text("there")}}}}, {"b", {{}, TreeMap{{"file", text("gone")}}}}}}}})
          .size(),
      2u);
}

TEST(HttpInspect, ABodyIsSentWithOneLengthThatIsItsOwn) {
  const auto step = [](const char* name, Tree value, const char* body = "hello world") {
    TreeMap headers{{name, std::move(value)}};
    return of_step({{"url", text("/")}, {"body", text(body)}, {"headers", {{}, std::move(headers)}}});
  };
  ASSERT_EQ(step("transfer-Encoding", text("chunked")).size(), 1u);
  EXPECT_NE(step("transfer-Encoding", text("chunked"))[0].find("leave 'Transfer-Encoding' out"), std::string::npos);
  EXPECT_TRUE(
      of_step({{"url", text("/")}, {"headers", {{}, TreeMap{{"Transfer-Encoding", text("chunked")}}}}}).empty());
  ASSERT_EQ(step("Content-Length", text("5")).size(), 1u);
  EXPECT_NE(step("Content-Length", text("5"))[0].find("Content-Length is 5, and the body has 11 bytes"),
            std::string::npos);
  EXPECT_EQ(step("content-length", {{}, std::int64_t{5}}).size(), 1u);
  EXPECT_TRUE(step("content-length", text("11")).empty());
  EXPECT_TRUE(step("content-length", text("${n}")).empty());
  EXPECT_TRUE(step("content-length", text("5"), "${text}").empty());
  const auto bare = [](const char* length) {
    return of_step({{"url", text("/")}, {"headers", {{}, TreeMap{{"Content-Length", text(length)}}}}});
  };
  ASSERT_EQ(bare("5").size(), 1u);
  EXPECT_NE(bare("5")[0].find("Content-Length is 5, and the body has 0 bytes"), std::string::npos);
  EXPECT_TRUE(bare("0").empty());
  const TreeMap chunked{{"Transfer-Encoding", text("chunked")}, {"Content-Length", {}}};
  EXPECT_TRUE(of_step({{"url", text("/")}, {"body", text("0\r\n\r\n")}, {"headers", {{}, chunked}}}).empty())
      << "whoever sends no length may write the chunks";
}

}  // namespace
}  // namespace muster::model
