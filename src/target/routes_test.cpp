#include "target/routes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "target/reply_text.h"

namespace muster::target {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::StartsWith;

class Routes : public testing::Test {
 protected:
  Plan ask(std::string_view method, std::string_view target) {
    request.begin(method, target);
    return answer();
  }

  Plan get(std::string_view target) { return ask("GET", target); }

  Plan answer() {
    Plan plan;
    plan_reply(find_route(request.path()), request, state, plan);
    return plan;
  }

  static unsigned status_of(const Plan& plan) {
    const std::string bytes(plan.bytes());
    return bytes.starts_with("HTTP/1.1 ") ? static_cast<unsigned>(std::stoul(bytes.substr(9, 3))) : 0;
  }

  static std::string body_of(const Plan& plan) { return std::string(plan.bytes().substr(plan.head())); }
  static std::string head_of(const Plan& plan) { return std::string(plan.bytes().substr(0, plan.head())); }

  Request request;
  base::Random random{7};
  std::atomic<std::uint64_t> counter{0};
  Limits limits;
  RouteState state{random, counter, limits};
};

TEST_F(Routes, the_page_is_the_same_reply_every_time) {
  const Plan first = get("/");
  EXPECT_EQ(status_of(first), 200u);
  EXPECT_EQ(get("/").fixed, first.fixed);
}

TEST_F(Routes, the_json_document_is_about_a_kibibyte_and_valid) {
  const Plan plan = get("/json");
  const std::string body = body_of(plan);
  EXPECT_GT(body.size(), 900u);
  EXPECT_LT(body.size(), 1200u);
  const auto document = nlohmann::json::parse(body);
  EXPECT_EQ(document["items"].size(), 12u);
  EXPECT_EQ(document["items"][2]["name"], "cherry");
  EXPECT_THAT(head_of(plan), HasSubstr("Content-Length: " + std::to_string(body.size()) + "\r\n"));
}

TEST_F(Routes, an_unknown_path_is_404_and_says_what_there_is) {
  for (const char* path : {"/nothing", "//", "/js", "/jsonx", "*", "/%6ason"}) {
    const Plan plan = get(path);
    EXPECT_EQ(status_of(plan), 404u) << path;
    EXPECT_THAT(body_of(plan), HasSubstr("try /"));
  }
}

TEST_F(Routes, an_absolute_target_names_the_same_route) {
  EXPECT_EQ(status_of(get("http://somewhere:80/status/418")), 418u);
  EXPECT_EQ(status_of(get("http://somewhere")), 200u);
}

TEST_F(Routes, status_gives_any_final_code_and_refuses_others) {
  for (const unsigned code : {200u, 201u, 302u, 404u, 418u, 500u, 599u}) {
    EXPECT_EQ(status_of(get("/status/" + std::to_string(code))), code);
  }
  for (const char* path : {"/status/", "/status", "/status/100", "/status/600", "/status/-1", "/status/2 0"}) {
    EXPECT_EQ(status_of(get(path)), 400u) << path;
  }
}

TEST_F(Routes, codes_without_a_body_have_neither_body_nor_length) {
  for (const char* path : {"/204", "/304", "/status/204", "/status/304"}) {
    const Plan plan = get(path);
    EXPECT_EQ(body_of(plan), "") << path;
    EXPECT_THAT(head_of(plan), Not(HasSubstr("Content-Length"))) << path;
  }
}

TEST_F(Routes, bytes_are_made_while_they_are_sent) {
  const Plan plan = get("/bytes/10KiB");
  EXPECT_EQ(plan.filler, 10240u);
  EXPECT_EQ(plan.chunk, 0u);
  EXPECT_THAT(head_of(plan), HasSubstr("Content-Length: 10240\r\n"));
  EXPECT_EQ(status_of(get("/bytes/many")), 400u);
  EXPECT_EQ(status_of(get("/bytes/17GiB")), 400u);
}

TEST_F(Routes, chunks_have_the_size_asked_for) {
  const Plan plan = get("/chunked/1000?size=100");
  EXPECT_EQ(plan.filler, 1000u);
  EXPECT_EQ(plan.chunk, 100u);
  EXPECT_THAT(head_of(plan), HasSubstr("Transfer-Encoding: chunked\r\n"));
  EXPECT_EQ(status_of(get("/chunked/1000?size=0")), 400u);
}

TEST_F(Routes, a_client_of_http_1_0_gets_no_chunks_but_a_body_until_the_end) {
  request.begin("GET", "/chunked/1000");
  request.http_1_0 = true;
  const Plan plan = answer();
  EXPECT_EQ(plan.chunk, 0u);
  EXPECT_EQ(plan.ending, Ending::kClose);
  EXPECT_THAT(head_of(plan), Not(HasSubstr("Transfer-Encoding")));
  EXPECT_THAT(head_of(plan), Not(HasSubstr("Content-Length")));
}

TEST_F(Routes, head_has_the_head_of_get_and_no_body) {
  for (const char* path : {"/", "/json", "/bytes/100", "/chunked/100", "/status/404", "/echo"}) {
    const std::string head = head_of(get(path));
    const Plan plan = ask("HEAD", path);
    EXPECT_EQ(body_of(plan), "") << path;
    EXPECT_EQ(plan.filler, 0u) << path;
    EXPECT_EQ(plan.chunk, 0u) << path;
    EXPECT_EQ(head_of(plan).substr(0, 20), head.substr(0, 20)) << path;
    EXPECT_THAT(head_of(plan), testing::EndsWith("\r\n\r\n")) << path;
  }
  EXPECT_THAT(head_of(ask("HEAD", "/bytes/100")), HasSubstr("Content-Length: 100\r\n"));
}

TEST_F(Routes, a_delay_is_read_in_milliseconds_or_with_its_unit) {
  EXPECT_EQ(get("/delay/20").delay, milliseconds(20));
  EXPECT_EQ(get("/delay/1.5s").delay, milliseconds(1500));
  EXPECT_EQ(get("/delay/300us").delay, std::chrono::microseconds(300));
  for (const char* path : {"/delay", "/delay/x", "/delay/-1", "/delay/2h", "/delay/5..1", "/delay?dist=exp",
                           "/delay?dist=odd&mean=1", "/delay/nan"}) {
    EXPECT_EQ(status_of(get(path)), 400u) << path;
  }
}

TEST_F(Routes, a_uniform_delay_fills_its_range) {
  base::Duration least = std::chrono::hours(1);
  base::Duration most{};
  for (int i = 0; i < 2000; ++i) {
    const base::Duration delay = get("/delay/10..30").delay;
    least = std::min(least, delay);
    most = std::max(most, delay);
  }
  EXPECT_GE(least, milliseconds(10));
  EXPECT_LT(least, std::chrono::microseconds(10200));
  EXPECT_LE(most, milliseconds(30));
  EXPECT_GT(most, std::chrono::microseconds(29800));
}

TEST_F(Routes, drawn_delays_have_the_mean_and_deviation_asked_for) {
  struct Case {
    const char* target;
    double mean;
    double sd;
  };
  for (const auto& [target, mean, sd] :
       {Case{"/delay?dist=normal&mean=100ms&sd=10ms", 0.1, 0.01}, Case{"/delay?dist=exp&mean=100ms", 0.1, 0.1},
        Case{"/delay?dist=lognormal&mean=100ms&sd=50ms", 0.1, 0.05}}) {
    constexpr int kDraws = 40'000;
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < kDraws; ++i) {
      const double value = base::seconds(get(target).delay);
      sum += value;
      squares += value * value;
    }
    const double found = sum / kDraws;
    EXPECT_NEAR(found, mean, mean * 0.03) << target;
    EXPECT_NEAR(std::sqrt(squares / kDraws - found * found), sd, sd * 0.06) << target;
  }
}

TEST_F(Routes, equal_seeds_give_equal_delays) {
  base::Random first(42);
  base::Random second(42);
  RouteState one{first, counter, limits};
  RouteState two{second, counter, limits};
  request.begin("GET", "/delay?dist=lognormal&mean=20ms&sd=30ms");
  for (int i = 0; i < 100; ++i) {
    Plan a;
    Plan b;
    plan_reply(find_route("/delay"), request, one, a);
    plan_reply(find_route("/delay"), request, two, b);
    EXPECT_EQ(a.delay, b.delay);
  }
}

TEST_F(Routes, a_drip_spreads_its_bytes) {
  const Plan plan = get("/drip/100?over=2s");
  EXPECT_EQ(plan.filler, 100u);
  EXPECT_EQ(plan.drip, std::chrono::seconds(2));
  EXPECT_EQ(status_of(get("/drip/100?over=soon")), 400u);
}

TEST_F(Routes, faults_end_the_connection_in_their_own_way) {
  EXPECT_EQ(get("/stall").ending, Ending::kHold);
  EXPECT_EQ(get("/stall").bytes(), "");
  EXPECT_EQ(get("/reset").ending, Ending::kReset);
  EXPECT_EQ(get("/reset").bytes(), "");
  EXPECT_EQ(get("/reset-mid").ending, Ending::kReset);
  EXPECT_EQ(get("/half-close").ending, Ending::kHalfClose);
  EXPECT_EQ(get("/truncated").ending, Ending::kClose);
  EXPECT_EQ(get("/close").ending, Ending::kClose);
  EXPECT_THAT(head_of(get("/truncated")), HasSubstr("Content-Length: 2048\r\n"));
  EXPECT_EQ(get("/truncated").filler, 1024u);
  EXPECT_EQ(status_of(get("/garbage")), 0u);
  EXPECT_EQ(get("/stall-all?for=250ms").stall, milliseconds(250));
}

TEST_F(Routes, oversized_replies_are_lazy) {
  EXPECT_GT(get("/oversized-header").filler, std::uint64_t{1} << 30);
  EXPECT_GT(get("/oversized-body").filler, std::uint64_t{1} << 30);
  EXPECT_LT(get("/oversized-header").bytes().size(), 100u);
  EXPECT_THAT(std::string(get("/oversized-header?lines").pattern), HasSubstr("\r\n"));
}

TEST_F(Routes, flaky_fails_about_as_often_as_asked) {
  int failed = 0;
  for (int i = 0; i < 2000; ++i) failed += status_of(get("/flaky/25")) == 500 ? 1 : 0;
  EXPECT_NEAR(failed, 500, 80);
  EXPECT_EQ(status_of(get("/flaky/0")), 200u);
  EXPECT_EQ(status_of(get("/flaky/100")), 500u);
  EXPECT_EQ(status_of(get("/flaky/101")), 400u);
}

TEST_F(Routes, echo_tells_all_that_was_received) {
  request.begin("PUT", "/echo/a%20b?x=1&y=%22");
  request.add_header("X-Odd", "quote \" and \xff byte");
  request.add_header("X-Odd", "again");
  request.body = "line\n\x01 \xc3\xa9";
  const auto document = nlohmann::json::parse(body_of(answer()));
  EXPECT_EQ(document["method"], "PUT");
  EXPECT_EQ(document["path"], "/echo/a%20b");
  EXPECT_EQ(document["query"], "x=1&y=%22");
  EXPECT_EQ(document["headers"][0][1], "quote \" and \xc3\xbf byte");
  EXPECT_EQ(document["headers"][1][0], "X-Odd");
  EXPECT_EQ(document["body"], "line\n\x01 \xc3\xa9");
}

TEST_F(Routes, redirects_count_down) {
  EXPECT_THAT(head_of(get("/redirect/3")), HasSubstr("Location: /redirect/2\r\n"));
  EXPECT_EQ(status_of(get("/redirect/0")), 200u);
  EXPECT_THAT(head_of(get("/redirect-to?url=http%3A%2F%2Fa%2Fb%3Fc&status=307")),
              testing::AllOf(StartsWith("HTTP/1.1 307 "), HasSubstr("Location: http://a/b?c\r\n")));
}

TEST_F(Routes, no_header_can_be_smuggled_through_a_parameter) {
  EXPECT_EQ(status_of(get("/redirect-to?url=/%0d%0aX-Evil:1")), 400u);
  EXPECT_EQ(status_of(get("/cookies/set?a=%0d%0aX-Evil:1")), 400u);
  EXPECT_EQ(status_of(get("/cookies/set?a=1;Domain=x")), 400u);
}

TEST_F(Routes, cookies_are_set_and_shown) {
  EXPECT_THAT(
      head_of(get("/cookies/set?a=1&b=two%20words")),
      testing::AllOf(HasSubstr("Set-Cookie: a=1; Path=/\r\n"), HasSubstr("Set-Cookie: b=two words; Path=/\r\n")));
  request.begin("GET", "/cookies");
  request.add_header("Cookie", "a=1; b=x=y;c");
  EXPECT_EQ(nlohmann::json::parse(body_of(answer()))["cookies"], nlohmann::json::parse(R"({"a":"1","b":"x=y"})"));
}

TEST_F(Routes, a_log_in_gives_a_token_and_a_cookie_that_open_me) {
  request.begin("POST", "/login");
  request.add_header("Content-Type", "application/json");
  request.body = R"({"user":"ann & co","password":"pw"})";
  const Plan plan = answer();
  ASSERT_EQ(status_of(plan), 200u);
  const std::string token = nlohmann::json::parse(body_of(plan))["token"];
  EXPECT_THAT(head_of(plan), HasSubstr("Set-Cookie: session=" + token + "; Path=/"));

  request.begin("GET", "/me");
  request.add_header("Authorization", "bearer " + token);
  EXPECT_EQ(nlohmann::json::parse(body_of(answer()))["user"], "ann & co");
  request.begin("GET", "/me");
  request.add_header("Cookie", "other=1; session=" + token);
  EXPECT_EQ(status_of(answer()), 200u);
  request.begin("GET", "/me");
  request.add_header("Authorization", "Bearer 0" + token);
  EXPECT_EQ(status_of(answer()), 401u);
  EXPECT_EQ(status_of(get("/me")), 401u);
}

TEST_F(Routes, a_log_in_takes_a_form_and_refuses_what_is_wrong) {
  const auto log_in = [this](std::string_view type, std::string_view body) {
    request.begin("POST", "/login");
    request.add_header("Content-Type", type);
    request.body = body;
    return status_of(answer());
  };
  constexpr std::string_view kForm = "application/x-www-form-urlencoded";
  EXPECT_EQ(log_in(kForm, "user=ann&password=p%26w"), 200u);
  EXPECT_EQ(log_in(kForm, "user=ann&password=wrong"), 401u);
  EXPECT_EQ(log_in(kForm, "user=ann"), 401u);
  EXPECT_EQ(log_in(kJson, R"({"user":"ann","password":7})"), 401u);
  EXPECT_EQ(log_in(kJson, R"({"user":"ann",)"), 401u);
  EXPECT_EQ(log_in(kJson, std::string(50'000, '[')), 401u);
  EXPECT_EQ(log_in(kJson, ""), 401u);
}

TEST_F(Routes, basic_auth_wants_the_user_and_password_of_the_path) {
  EXPECT_EQ(status_of(get("/basic-auth/ann/secret")), 401u);
  request.begin("GET", "/basic-auth/ann/secret");
  request.add_header("Authorization", "Basic YW5uOnNlY3JldA==");
  EXPECT_EQ(status_of(answer()), 200u);
  request.begin("GET", "/basic-auth/ann/other");
  request.add_header("Authorization", "Basic YW5uOnNlY3JldA==");
  EXPECT_EQ(status_of(answer()), 401u);
  EXPECT_EQ(status_of(get("/basic-auth/ann")), 400u);
}

TEST_F(Routes, compressed_bodies_hold_the_json_document) {
  const std::string plain = body_of(get("/json"));
  for (const auto& [path, bits] : {std::pair{"/gzip", 15 + 16}, std::pair{"/deflate", 15}}) {
    std::string packed = body_of(get(path));
    std::string out(4096, '\0');
    z_stream stream{};
    ASSERT_EQ(inflateInit2(&stream, bits), Z_OK);
    stream.next_in = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    inflateEnd(&stream);
    EXPECT_EQ(out, plain) << path;
  }
}

TEST_F(Routes, the_counter_counts) {
  EXPECT_EQ(body_of(get("/counter")), R"({"counter":1})");
  EXPECT_EQ(body_of(get("/counter")), R"({"counter":2})");
}

TEST_F(Routes, a_client_that_wants_to_close_is_closed) {
  request.begin("GET", "/");
  request.keep_alive = false;
  EXPECT_EQ(answer().ending, Ending::kClose);
}

TEST_F(Routes, refusals_carry_the_status_that_fits) {
  const auto refused = [](protocol::Http1Error error, bool in_start_line) {
    Plan plan;
    plan_refusal(error, in_start_line, plan);
    EXPECT_EQ(plan.ending, Ending::kClose);
    return status_of(plan);
  };
  using protocol::Http1Error;
  EXPECT_EQ(refused(Http1Error::kBadHeaderName, false), 400u);
  EXPECT_EQ(refused(Http1Error::kBodyTooLarge, false), 413u);
  EXPECT_EQ(refused(Http1Error::kLineTooLong, true), 414u);
  EXPECT_EQ(refused(Http1Error::kLineTooLong, false), 431u);
  EXPECT_EQ(refused(Http1Error::kTooManyHeaders, false), 431u);
  EXPECT_EQ(refused(Http1Error::kUnsupportedTransferCoding, false), 501u);
  EXPECT_EQ(refused(Http1Error::kBadVersion, true), 505u);
}

}  // namespace
}  // namespace muster::target
