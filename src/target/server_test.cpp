#include "target/server.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "target/request.h"
#include "target/test_client.h"

namespace muster::target {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr std::string_view kPlainGet = "GET / HTTP/1.1\r\nHost: test\r\n\r\n";

class ServerTest : public testing::Test {
 protected:
  void start(ServerOptions options = {}) {
    server = std::make_unique<Server>(std::move(options));
    const auto started = server->start();
    ASSERT_TRUE(started) << started.error().message;
  }

  static std::string temporary(std::string_view name) {
    return testing::TempDir() + fmt::format("{}.{}", name, getpid());
  }

  static std::string slurp(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    std::filesystem::remove(path);
    return text.str();
  }

  std::unique_ptr<Server> server;
};

TEST_F(ServerTest, serves_one_request_after_the_other_on_a_connection) {
  start();
  TestClient client(server->port());
  for (int i = 0; i < 100; ++i) {
    const Reply reply = client.get("/");
    ASSERT_EQ(reply.status, 200);
    ASSERT_TRUE(reply.keep_alive);
    ASSERT_THAT(reply.body, HasSubstr("muster target"));
  }
  EXPECT_EQ(server->requests(), 100u);
  EXPECT_EQ(server->connections(), 1u);
}

TEST_F(ServerTest, replies_carry_the_date) {
  start();
  TestClient client(server->port());
  EXPECT_THAT(client.get("/json").header("Date"),
              testing::MatchesRegex("[A-Z][a-z]+, [0-9]+ [A-Z][a-z]+ 20[0-9]+ [0-9]+:[0-9]+:[0-9]+ GMT"));
}

TEST_F(ServerTest, answers_pipelined_requests_in_order) {
  start();
  TestClient client(server->port());
  std::string requests;
  constexpr int kCount = 2000;
  for (int i = 0; i < kCount; ++i) {
    requests += fmt::format("GET /status/{} HTTP/1.1\r\nHost: test\r\n\r\n", 200 + i % 300 + (i % 300 == 4 ? 1 : 0));
  }
  ASSERT_TRUE(client.send(requests));
  for (int i = 0; i < kCount; ++i) {
    const Reply reply = client.read_reply();
    ASSERT_TRUE(reply.complete) << i;
    ASSERT_EQ(reply.status, 200 + i % 300 + (i % 300 == 4 ? 1 : 0));
  }
}

TEST_F(ServerTest, pipelined_requests_wait_for_a_delayed_one_before_them) {
  start();
  TestClient client(server->port());
  ASSERT_TRUE(
      client.send("GET /delay/30 HTTP/1.1\r\nHost: t\r\n\r\nGET /204 HTTP/1.1\r\nHost: t\r\n\r\n"
                  "GET /bytes/100000 HTTP/1.1\r\nHost: t\r\n\r\nGET /status/404 HTTP/1.1\r\nHost: t\r\n\r\n"));
  EXPECT_EQ(client.read_reply().status, 200);
  EXPECT_EQ(client.read_reply().status, 204);
  EXPECT_EQ(client.read_reply().body.size(), 100000u);
  EXPECT_EQ(client.read_reply().status, 404);
}

TEST_F(ServerTest, reads_requests_that_arrive_byte_by_byte) {
  start();
  TestClient client(server->port());
  constexpr std::string_view kRequest =
      "POST /echo?a=1 HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n "
      "world\r\n0\r\n"
      "Trailer: t\r\n\r\n";
  for (const char c : kRequest) ASSERT_TRUE(client.send({&c, 1}));
  const auto document = nlohmann::json::parse(client.read_reply().body);
  EXPECT_EQ(document["body"], "hello world");
  EXPECT_EQ(document["query"], "a=1");
}

TEST_F(ServerTest, asks_for_the_body_of_a_client_that_expects_100_continue) {
  start();
  TestClient client(server->port());
  ASSERT_TRUE(client.send("POST /upload HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n"));
  EXPECT_EQ(client.receive(), "HTTP/1.1 100 Continue\r\n\r\n");
  ASSERT_TRUE(client.send("123456789"));
  const auto document = nlohmann::json::parse(client.read_reply().body);
  EXPECT_EQ(document["size"], 9);
  EXPECT_EQ(document["crc32"], "cbf43926");
}

TEST_F(ServerTest, a_body_over_the_limit_is_refused_without_100_continue) {
  start();
  TestClient client(server->port());
  ASSERT_TRUE(
      client.send("POST /upload HTTP/1.1\r\nHost: t\r\nContent-Length: 99999999999\r\nExpect: 100-continue\r\n\r\n"));
  const Reply reply = client.read_reply();
  EXPECT_EQ(reply.status, 413);
  EXPECT_TRUE(reply.interim.empty());
  EXPECT_FALSE(reply.keep_alive);
  EXPECT_TRUE(client.at_end());
}

TEST_F(ServerTest, a_body_that_a_route_would_have_to_keep_is_limited_further) {
  ServerOptions options;
  options.limits.max_kept_body_bytes = 1000;
  start(std::move(options));
  TestClient client(server->port());
  EXPECT_EQ(client.ask("POST", "/echo", "", std::string(1000, 'x')).status, 200);
  EXPECT_EQ(client.ask("POST", "/echo", "", std::string(1001, 'x')).status, 413);
  TestClient other(server->port());
  EXPECT_EQ(other.ask("POST", "/upload", "", std::string(1001, 'x')).status, 200);
}

TEST_F(ServerTest, head_is_answered_without_a_body) {
  start();
  TestClient client(server->port());
  for (const char* path : {"/", "/bytes/5000", "/chunked/5000", "/gzip"}) {
    const Reply reply = client.ask("HEAD", path);
    EXPECT_EQ(reply.status, 200) << path;
    EXPECT_TRUE(reply.complete) << path;
    EXPECT_EQ(reply.body, "") << path;
  }
  EXPECT_EQ(client.get("/").status, 200);
}

TEST_F(ServerTest, closes_when_the_client_says_so) {
  start();
  TestClient client(server->port());
  const Reply reply = client.get("/json", "Connection: close\r\n");
  EXPECT_EQ(reply.header("Connection"), "close");
  EXPECT_TRUE(reply.complete);
  EXPECT_TRUE(client.at_end());
}

TEST_F(ServerTest, closes_after_http_1_0_unless_asked_to_stay) {
  start();
  TestClient client(server->port());
  ASSERT_TRUE(client.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
  EXPECT_EQ(client.read_reply().header("Connection"), "keep-alive");
  ASSERT_TRUE(client.send("GET /chunked/3000 HTTP/1.0\r\n\r\n"));
  EXPECT_EQ(client.read_reply().body.size(), 3000u);
  EXPECT_TRUE(client.at_end());
}

TEST_F(ServerTest, answers_a_client_that_closed_its_side_after_the_request) {
  start();
  TestClient client(server->port());
  ASSERT_TRUE(client.send("GET /delay/20 HTTP/1.1\r\nHost: t\r\n\r\nGET /bytes/300000 HTTP/1.1\r\nHost: t\r\n\r\n"));
  shutdown(client.fd(), SHUT_WR);
  EXPECT_EQ(client.read_reply().status, 200);
  EXPECT_EQ(client.read_reply().body.size(), 300000u);
  EXPECT_TRUE(client.at_end());
}

TEST_F(ServerTest, bad_requests_are_told_so_and_the_connection_ends) {
  start();
  struct Case {
    std::string request;
    int status;
  };
  std::string many;
  for (int i = 0; i < 200; ++i) many += fmt::format("X-{}: y\r\n", i);
  const std::vector<Case> cases{
      {"\x16\x03\x01 what is this\r\n\r\n", 400},
      {"GET /\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
      {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: br, chunked\r\n\r\n0\r\n\r\n", 501},
      {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
      {"GET /" + std::string(20'000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n", 414},
      {"GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(20'000, 'a') + "\r\n\r\n", 431},
      {"GET / HTTP/1.1\r\nHost: a\r\n" + many + "\r\n", 431},
  };
  for (const auto& [request, status] : cases) {
    TestClient client(server->port());
    client.send(request);
    const Reply reply = client.read_reply();
    EXPECT_EQ(reply.status, status) << request.substr(0, 60);
    EXPECT_FALSE(reply.body.empty());
    EXPECT_TRUE(client.at_end()) << request.substr(0, 60);
  }
  EXPECT_EQ(server->requests(), 0u);
}

TEST_F(ServerTest, a_refusal_reaches_a_client_that_is_still_sending) {
  start();
  TestClient client(server->port());
  client.send("POST /upload HTTP/1.1\r\nHost: t\r\nContent-Length: 99999999999\r\n\r\n" + std::string(1'000'000, 'x'));
  EXPECT_EQ(client.read_reply().status, 413);
}

TEST_F(ServerTest, serves_a_thousand_connections_at_once) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
  setrlimit(RLIMIT_NOFILE, &files);
  start();
  std::vector<std::unique_ptr<TestClient>> clients;
  for (int i = 0; i < 1000; ++i) clients.push_back(std::make_unique<TestClient>(server->port()));
  for (int round = 0; round < 3; ++round) {
    for (auto& client : clients) ASSERT_TRUE(client->send(kPlainGet));
    for (auto& client : clients) ASSERT_EQ(client->read_reply().status, 200);
  }
  EXPECT_EQ(server->open_connections(), 1000u);
  EXPECT_EQ(server->requests(), 3000u);
}

TEST_F(ServerTest, shares_connections_between_cores) {
  ServerOptions options;
  options.cores = 2;
  start(std::move(options));
  std::set<std::string> counts;
  for (int i = 0; i < 50; ++i) counts.insert(TestClient(server->port()).get("/counter").body);
  EXPECT_EQ(counts.size(), 50u);
  EXPECT_TRUE(counts.contains(R"({"counter":50})"));
}

TEST_F(ServerTest, waits_for_descriptors_instead_of_spinning_when_there_are_none) {
  start();
  TestClient first(server->port());
  ASSERT_EQ(first.get("/").status, 200);
  // From here on the process may open as many descriptors as the next client needs, and no more for accepting it.
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  const int next = dup(first.fd());
  ::close(next);
  rlimit tight = before;
  tight.rlim_cur = static_cast<rlim_t>(next) + 1;
  setrlimit(RLIMIT_NOFILE, &tight);
  TestClient second(server->port());
  ASSERT_TRUE(second.connected());
  ASSERT_TRUE(second.send(kPlainGet));
  EXPECT_EQ(first.get("/").status, 200);
  EXPECT_EQ(server->connections(), 1u);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_EQ(second.read_reply().status, 200);
}

TEST_F(ServerTest, closes_idle_connections) {
  ServerOptions options;
  options.limits.idle_timeout = milliseconds(30);
  start(std::move(options));
  TestClient client(server->port());
  EXPECT_EQ(client.get("/").status, 200);
  EXPECT_TRUE(client.at_end());
  TestClient delayed(server->port());
  EXPECT_EQ(delayed.get("/delay/100").status, 200);
}

TEST_F(ServerTest, gives_up_on_requests_that_never_end) {
  ServerOptions options;
  options.limits.request_timeout = milliseconds(30);
  options.limits.idle_timeout = milliseconds(40);
  start(std::move(options));
  TestClient client(server->port());
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost:"));
  EXPECT_EQ(client.read_reply().status, 408);
  EXPECT_TRUE(client.at_end());
}

TEST_F(ServerTest, speaks_tls_with_a_certificate_that_can_be_trusted) {
  ServerOptions options;
  options.tls = true;
  start(std::move(options));
  const std::string path = temporary("certificate.pem");
  std::ofstream(path) << server->certificate();
  reactor::TlsOptions trust;
  trust.ca_file = path;
  auto context = reactor::TlsContext::client(trust);
  std::filesystem::remove(path);
  ASSERT_TRUE(context);
  TestClient client(server->port());
  ASSERT_TRUE(client.start_tls(**context));
  EXPECT_EQ(client.get("/json").status, 200);
  EXPECT_EQ(client.get("/bytes/3MiB").body.size(), 3u * 1024 * 1024);
  EXPECT_EQ(client.get("/delay/5").status, 200);
  ASSERT_TRUE(client.send(std::string(kPlainGet) + std::string(kPlainGet)));
  EXPECT_EQ(client.read_reply().status, 200);
  EXPECT_EQ(client.read_reply().status, 200);
  EXPECT_EQ(client.get("/close").status, 200);
  EXPECT_TRUE(client.at_end());
  EXPECT_EQ(server->url().substr(0, 8), "https://");
}

TEST_F(ServerTest, survives_plain_text_on_a_tls_port) {
  ServerOptions options;
  options.tls = true;
  start(std::move(options));
  TestClient client(server->port());
  ASSERT_TRUE(client.send(kPlainGet));
  client.receive_all();
  auto context = reactor::TlsContext::client({.verify = false, .ca_file = {}, .cert_file = {}, .key_file = {}});
  TestClient good(server->port());
  ASSERT_TRUE(good.start_tls(**context));
  EXPECT_EQ(good.get("/").status, 200);
}

TEST_F(ServerTest, tells_why_it_cannot_start) {
  start();
  ServerOptions options;
  options.port = server->port();
  const auto taken = Server(options).start();
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error().message, HasSubstr(fmt::format("cannot listen on 127.0.0.1:{}", server->port())));
  options.host = "nowhere";
  EXPECT_FALSE(Server(options).start());
}

TEST_F(ServerTest, leaves_older_logs_as_they_are_when_it_cannot_listen) {
  start();
  ServerOptions options;
  options.port = server->port();
  options.service_log = temporary("older.csv");
  options.request_log = temporary("older.jsonl");
  for (const std::string& log : {options.service_log, options.request_log}) std::ofstream(log) << "of an older run\n";
  EXPECT_FALSE(Server(options).start());
  EXPECT_EQ(slurp(options.service_log), "of an older run\n");
  EXPECT_EQ(slurp(options.request_log), "of an older run\n");
}

TEST_F(ServerTest, tells_which_log_it_cannot_write) {
  ServerOptions options;
  options.service_log = "/nowhere/service.csv";
  const auto started = Server(options).start();
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("/nowhere/service.csv"));
}

TEST_F(ServerTest, logs_what_each_request_took) {
  ServerOptions options;
  options.service_log = temporary("service.csv");
  start(options);
  TestClient client(server->port());
  EXPECT_EQ(client.get("/").status, 200);
  EXPECT_EQ(client.get("/delay/20?x=1").status, 200);
  EXPECT_EQ(client.get("/bytes/2MiB").status, 200);
  ASSERT_TRUE(client.send("bad\r\n\r\n"));
  EXPECT_EQ(client.read_reply().status, 400);
  ASSERT_TRUE(server->stop());
  std::istringstream lines(slurp(options.service_log));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "path,start_ns,service_ns,delay_ns");
  std::vector<std::vector<std::string>> rows;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    rows.emplace_back();
    while (std::getline(fields, line, ',')) rows.back().push_back(line);
  }
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0][0], "/");
  EXPECT_EQ(rows[1][0], "/delay/20");
  EXPECT_EQ(rows[1][3], "20000000");
  EXPECT_GE(std::stoll(rows[1][2]), 20'000'000);
  EXPECT_EQ(rows[2][0], "/bytes/2MiB");
  EXPECT_GT(std::stoll(rows[2][2]), 0);
}

TEST_F(ServerTest, a_request_that_never_ended_is_not_in_the_log) {
  ServerOptions options;
  options.limits.request_timeout = milliseconds(30);
  options.limits.idle_timeout = milliseconds(40);
  options.service_log = temporary("service.csv");
  start(options);
  TestClient client(server->port());
  ASSERT_TRUE(client.send("POST /upload HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\nhalf"));
  EXPECT_EQ(client.read_reply().status, 408);
  ASSERT_TRUE(server->stop());
  EXPECT_EQ(slurp(options.service_log), "path,start_ns,service_ns,delay_ns\n");
}

TEST_F(ServerTest, logs_requests_as_received) {
  ServerOptions options;
  options.request_log = temporary("requests.jsonl");
  std::atomic<int> seen{0};
  options.on_request = [&seen](const Request& request) { seen += request.path() == "/status/201" ? 1 : 0; };
  start(options);
  TestClient client(server->port());
  EXPECT_EQ(client.ask("PATCH", "/status/201?q=\"", "X-Odd:   a\tb  \r\n", "12345").status, 201);
  ASSERT_TRUE(server->stop());
  EXPECT_EQ(seen, 1);
  EXPECT_EQ(slurp(options.request_log),
            "{\"method\":\"PATCH\",\"path\":\"/status/201\",\"query\":\"q=\\\"\",\"headers\":[[\"Host\",\"test\"],"
            "[\"X-Odd\",\"a\\tb\"],[\"Content-Length\",\"5\"]],\"body_bytes\":5,\"body_crc32\":\"cbf53a1c\","
            "\"body\":\"12345\"}\n");
}

TEST_F(ServerTest, stops_while_clients_are_waiting) {
  start();
  TestClient stalled(server->port());
  ASSERT_TRUE(stalled.send("GET /stall HTTP/1.1\r\nHost: t\r\n\r\n"));
  TestClient delayed(server->port());
  ASSERT_TRUE(delayed.send("GET /delay/1h HTTP/1.1\r\nHost: t\r\n\r\n"));
  TestClient served(server->port());
  EXPECT_EQ(served.get("/").status, 200);
  server->stall(std::chrono::hours(1));
  EXPECT_TRUE(server->stop());
  EXPECT_TRUE(server->stop());
}

}  // namespace
}  // namespace muster::target
