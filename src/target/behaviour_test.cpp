// The behaviours that end connections in other ways than HTTP intends, over real sockets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "base/time.h"
#include "target/server.h"
#include "target/test_client.h"

namespace muster::target {
namespace {

using protocol::Http1Error;
using std::chrono::milliseconds;

class Behaviour : public testing::Test {
 protected:
  void SetUp() override { start({}); }

  void start(ServerOptions options) {
    server = std::make_unique<Server>(std::move(options));
    ASSERT_TRUE(server->start());
    client = std::make_unique<TestClient>(server->port());
  }

  std::unique_ptr<Server> server;
  std::unique_ptr<TestClient> client;
};

TEST_F(Behaviour, chunked_bodies_are_whole) {
  const Reply reply = client->get("/chunked/100000?size=777");
  EXPECT_EQ(reply.body, client->get("/bytes/100000").body);
  EXPECT_EQ(reply.header("Transfer-Encoding"), "chunked");
  EXPECT_EQ(client->get("/chunked/0").body, "");
}

TEST_F(Behaviour, interim_replies_come_before_the_final_one) {
  const Reply reply = client->get("/100");
  EXPECT_THAT(reply.interim, testing::ElementsAre(100, 103));
  EXPECT_EQ(reply.status, 200);
}

TEST_F(Behaviour, a_delay_is_never_shorter_than_asked) {
  for (const char* target : {"/delay/30", "/delay/30..40", "/delay/30ms"}) {
    const base::Instant begin = base::now();
    EXPECT_EQ(client->get(target).status, 200);
    EXPECT_GE(base::now() - begin, milliseconds(30)) << target;
  }
}

TEST_F(Behaviour, a_drip_takes_its_time_and_is_whole) {
  const base::Instant begin = base::now();
  EXPECT_EQ(client->get("/drip/50?over=100ms").body.size(), 50u);
  EXPECT_GE(base::now() - begin, milliseconds(100));
  EXPECT_EQ(client->get("/").status, 200);
}

TEST_F(Behaviour, stall_never_answers_while_others_are_served) {
  ASSERT_TRUE(client->send("GET /stall HTTP/1.1\r\nHost: t\r\n\r\n"));
  TestClient other(server->port());
  EXPECT_EQ(other.get("/delay/50").status, 200);
  int waiting = 0;
  ioctl(client->fd(), FIONREAD, &waiting);
  EXPECT_EQ(waiting, 0);
}

TEST_F(Behaviour, a_stalled_client_that_leaves_is_forgotten) {
  ASSERT_TRUE(client->send("GET /stall HTTP/1.1\r\nHost: t\r\n\r\n"));
  client.reset();
  TestClient other(server->port());
  for (int i = 0; i < 10'000 && server->open_connections() != 1; ++i) other.get("/");
  EXPECT_EQ(server->open_connections(), 1u);
}

TEST_F(Behaviour, stall_all_stops_every_connection) {
  TestClient other(server->port());
  ASSERT_EQ(other.get("/").status, 200);
  const base::Instant begin = base::now();
  EXPECT_EQ(client->get("/stall-all?for=150ms").status, 200);
  EXPECT_EQ(other.get("/").status, 200);
  EXPECT_GE(base::now() - begin, milliseconds(150));
  EXPECT_EQ(other.get("/").status, 200);
}

TEST_F(Behaviour, a_stall_holds_for_connections_already_being_served_when_it_began) {
  for (int round = 0; round < 20; ++round) {
    TestClient other(server->port());
    ASSERT_EQ(other.get("/").status, 200);
    const base::Instant begin = base::now();
    ASSERT_EQ(client->get("/stall-all?for=5ms").status, 200);
    ASSERT_EQ(other.get("/").status, 200);
    ASSERT_GE(base::now() - begin, milliseconds(5)) << round;
  }
}

TEST_F(Behaviour, stall_all_is_answered_before_the_stall) {
  EXPECT_EQ(client->get("/stall-all?for=1h").status, 200);
}

TEST_F(Behaviour, a_planned_stall_counts_from_the_first_request) {
  constexpr milliseconds kAt(50);
  constexpr milliseconds kLength(150);
  ServerOptions options;
  options.stall = StallWindow{kAt, kLength};
  start(std::move(options));
  const base::Instant begin = base::now();
  ASSERT_EQ(client->get("/").status, 200);
  const base::Instant first_reply = base::now();
  while (base::now() - begin < kAt + kLength + kAt) {
    const base::Instant sent = base::now();
    ASSERT_EQ(client->get("/").status, 200);
    if (sent > first_reply + kAt) {
      ASSERT_GE(base::now(), begin + kAt + kLength);
    }
  }
}

TEST_F(Behaviour, reset_answers_with_a_reset) {
  EXPECT_EQ(client->get("/reset").status, 0);
  EXPECT_EQ(client->last_errno, ECONNRESET);
}

TEST_F(Behaviour, reset_mid_resets_after_half_the_body) {
  const Reply reply = client->get("/reset-mid");
  EXPECT_EQ(reply.status, 200);
  EXPECT_FALSE(reply.complete);
  EXPECT_EQ(client->last_errno, ECONNRESET);
}

TEST_F(Behaviour, half_close_ends_its_side_only) {
  const Reply reply = client->get("/half-close");
  EXPECT_EQ(reply.body.size(), 1024u);
  EXPECT_EQ(reply.error, Http1Error::kTruncated);
  EXPECT_EQ(client->last_errno, 0);
  // The server still takes what is sent: no reset comes back.
  EXPECT_TRUE(client->send("more"));
  EXPECT_TRUE(client->send("and more"));
  EXPECT_EQ(server->open_connections(), 1u);
}

TEST_F(Behaviour, truncated_closes_before_the_announced_length) {
  const Reply reply = client->get("/truncated");
  EXPECT_EQ(reply.header("Content-Length"), "2048");
  EXPECT_EQ(reply.body.size(), 1024u);
  EXPECT_EQ(reply.error, Http1Error::kTruncated);
}

TEST_F(Behaviour, garbage_is_not_http) {
  EXPECT_EQ(client->get("/garbage").error, Http1Error::kBadStatusLine);
}

TEST_F(Behaviour, oversized_replies_go_past_any_limit) {
  EXPECT_EQ(client->get("/oversized-header").error, Http1Error::kLineTooLong);
  client = std::make_unique<TestClient>(server->port());
  EXPECT_EQ(client->get("/oversized-header?lines").error, Http1Error::kTooManyHeaders);
  client = std::make_unique<TestClient>(server->port());
  EXPECT_EQ(client->get("/oversized-body").error, Http1Error::kBodyTooLarge);
}

TEST_F(Behaviour, an_endless_reply_does_not_keep_others_waiting) {
  ASSERT_TRUE(client->send("GET /oversized-body HTTP/1.1\r\nHost: t\r\n\r\n"));
  TestClient other(server->port());
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(client->receive().empty());
    EXPECT_EQ(other.get("/").status, 200);
  }
}

TEST_F(Behaviour, a_slow_reader_is_not_buffered_for) {
  TestClient slow(server->port(), 4096);
  // Far more requests than replies fit into any buffer between the two: the server must stop reading them.
  std::string requests;
  for (int i = 0; i < 500; ++i) requests += "GET /bytes/1MB HTTP/1.1\r\nHost: t\r\n\r\n";
  ASSERT_TRUE(slow.send(requests));
  EXPECT_EQ(client->get("/").status, 200);
  EXPECT_LT(server->requests(), 50u);
  EXPECT_EQ(slow.read_reply().body.size(), 1'000'000u);
  EXPECT_EQ(slow.read_reply().body.size(), 1'000'000u);
}

TEST_F(Behaviour, a_large_echo_comes_back_whole) {
  const std::string body(900'000, 'e');
  const Reply reply = client->ask("POST", "/echo", "", body);
  EXPECT_EQ(nlohmann::json::parse(reply.body)["body"], body);
  EXPECT_EQ(client->get("/").status, 200);
}

TEST_F(Behaviour, close_ends_each_connection) {
  const Reply reply = client->get("/close");
  EXPECT_EQ(reply.status, 200);
  EXPECT_EQ(reply.header("Connection"), "close");
  EXPECT_TRUE(client->at_end());
}

}  // namespace
}  // namespace muster::target
