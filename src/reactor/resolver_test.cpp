#include "reactor/resolver.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <future>
#include <string>
#include <thread>

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

TEST(Resolver, TakesNoAddressOfAnotherFamily) {
  EXPECT_TRUE(resolve("127.0.0.1", Family::kV4, 1s));
  EXPECT_TRUE(resolve("::1", Family::kV6, 1s));
  const auto v4 = resolve("127.0.0.1", Family::kV6, 1s);
  ASSERT_FALSE(v4);
  EXPECT_EQ(v4.error().message,
            "'127.0.0.1' is an IPv4 address, and `ip: 6` allows none; leave `ip` out, or give another one");
  EXPECT_FALSE(resolve("::1", Family::kV4, 1s));
  EXPECT_TRUE(check_family("a.test", Family::kV6)) << "its answer will tell";
}

// A container made by hand may have no such file.
bool hosts_file_names_localhost() {
  std::ifstream hosts("/etc/hosts");
  for (std::string word; hosts >> word;) {
    if (word == "localhost") return true;
  }
  return false;
}

TEST(Resolver, KnowsTheNamesOfTheHostsFile) {
  if (!hosts_file_names_localhost()) GTEST_SKIP() << "/etc/hosts does not name localhost";
  const auto found = resolve("localhost", Family::kV4, 5s);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->addresses.front().to_text(), "127.0.0.1:0");
  EXPECT_EQ(found->ttl, kHostsFileTtl);
}

// A name server on a free port. Says of any name that it is another name for one with the address 192.0.2.1.
class NameServer {
 public:
  struct Ttls {
    std::uint8_t alias;
    std::uint8_t address;
  };

  explicit NameServer(Ttls ttls) : ttls_(ttls), socket_(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(here);
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&here), size), 0);
    EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&here), &size), 0);
    port_ = ntohs(here.sin_port);
    thread_ = std::thread([this] { serve(); });
  }
  ~NameServer() {
    shutdown(socket_, SHUT_RDWR);
    thread_.join();
    close(socket_);
  }

  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

 private:
  void serve() const {
    std::array<char, 512> question;
    sockaddr_storage asker{};
    while (true) {
      socklen_t size = sizeof(asker);
      const ssize_t count =
          recvfrom(socket_, question.data(), question.size(), 0, reinterpret_cast<sockaddr*>(&asker), &size);
      if (count <= kHeader) return;
      const std::string reply = answer({question.data(), static_cast<std::size_t>(count)});
      sendto(socket_, reply.data(), reply.size(), 0, reinterpret_cast<const sockaddr*>(&asker), size);
    }
  }

  // RFC 1035 section 4: the question, then "name CNAME a.name" and "a.name A 192.0.2.1".
  std::string answer(std::string_view question) const {
    using std::string_literals::operator""s;
    const std::size_t end = question.find('\0', kHeader) + 5;
    std::string reply(question.substr(0, 2));
    reply += "\x81\x80\0\1\0\2\0\0\0\0"s;
    reply += question.substr(kHeader, end - kHeader);
    reply += "\xc0\x0c\0\5\0\1\0\0\0"s + static_cast<char>(ttls_.alias) + "\0\4\1a\xc0\x0c"s;
    reply += "\xc0"s + static_cast<char>(end + 12);
    reply += "\0\1\0\1\0\0\0"s + static_cast<char>(ttls_.address) + "\0\4\xc0\0\2\1"s;
    return reply;
  }

  static constexpr int kHeader = 12;
  Ttls ttls_;
  int socket_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

base::Duration ttl_given(NameServer::Ttls ttls) {
  const NameServer server(ttls);
  const auto found = resolve("shop.test", Family::kV4, 5s, server.address());
  if (!found) {
    ADD_FAILURE() << found.error().message;
    return {};
  }
  EXPECT_EQ(found->addresses.front().to_text(), "192.0.2.1:0");
  return found->ttl;
}

TEST(Resolver, AnAnswerLastsAsLongAsTheFirstOfItsRecordsToEnd) {
  EXPECT_EQ(ttl_given({.alias = 90, .address = 30}), 30s);
  EXPECT_EQ(ttl_given({.alias = 20, .address = 30}), 20s);
}

TEST(Resolver, AnAnswerThatMayNotBeKeptLastsASecond) {
  EXPECT_EQ(ttl_given({.alias = 90, .address = 0}), 1s);
  EXPECT_EQ(ttl_given({.alias = 0, .address = 90}), 1s);
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
