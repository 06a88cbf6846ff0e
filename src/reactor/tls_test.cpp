#include "reactor/tls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>

namespace muster::reactor {
namespace {

using testing::HasSubstr;

// Blocks that OpenSSL holds; counted from before its first use.
std::atomic<std::int64_t> held{0};

void* count_malloc(std::size_t size, const char*, int) {
  if (size == 0) return nullptr;
  held.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size);
}
void* count_realloc(void* old, std::size_t size, const char* file, int line) {
  if (old == nullptr) return count_malloc(size, file, line);
  if (size == 0) {
    held.fetch_sub(1, std::memory_order_relaxed);
    std::free(old);
    return nullptr;
  }
  return std::realloc(old, size);
}
void count_free(void* old, const char*, int) {
  if (old == nullptr) return;
  held.fetch_sub(1, std::memory_order_relaxed);
  std::free(old);
}
const bool kCounting = CRYPTO_set_mem_functions(&count_malloc, &count_realloc, &count_free) == 1;

// A client and a server session over a socket pair, driven in turn in one thread.
class Line {
 public:
  Line() { EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends_), 0); }
  ~Line() {
    client.close();
    server.close();
    for (const int end : ends_) close(end);
  }

  // How the client's side of the handshake ended.
  IoStatus shake(TlsContext& client_context, TlsContext& server_context, const std::string& host,
                 std::uint16_t port = 443) {
    EXPECT_TRUE(client.connect(client_context, ends_[0], host, port));
    EXPECT_TRUE(server.accept(server_context, ends_[1]));
    IoStatus ours = IoStatus::kWouldBlock;
    IoStatus theirs = IoStatus::kWouldBlock;
    for (int i = 0; i < 20; ++i) {
      if (ours == IoStatus::kWouldBlock) ours = client.handshake();
      if (theirs == IoStatus::kWouldBlock) theirs = server.handshake();
    }
    return ours;
  }

  // Sends `text` from the server to the client; session tickets come with it.
  std::string talk(const std::string& text) {
    EXPECT_EQ(server.write(text.data(), text.size()).bytes, text.size());
    char buffer[256];
    const IoResult got = client.read(buffer, sizeof(buffer));
    return {buffer, got.bytes};
  }

  void hang_up() { shutdown(ends_[1], SHUT_RDWR); }

  TlsSession client;
  TlsSession server;

 private:
  int ends_[2] = {-1, -1};
};

class Tls : public testing::Test {
 protected:
  void SetUp() override {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
    server_ = std::move(*TlsContext::throw_away_server());
    ca_file_ = testing::TempDir() + "muster_tls_test_ca." + std::to_string(getpid());
    std::ofstream(ca_file_) << server_->certificate();
  }
  std::unique_ptr<TlsContext> client(bool verify, bool resume = true) const {
    TlsOptions options;
    options.verify = verify;
    options.resume = resume;
    if (verify) options.ca_file = ca_file_;
    auto made = TlsContext::client(options);
    EXPECT_TRUE(made) << made.error().message;
    return std::move(*made);
  }
  // Whether another connection to that host and port resumed a session.
  bool resumed(TlsContext& context, const std::string& host, std::uint16_t port = 443) const {
    Line line;
    EXPECT_EQ(line.shake(context, *server_, host, port), IoStatus::kDone) << line.client.error();
    line.talk("x");
    return line.client.resumed();
  }
  std::unique_ptr<TlsContext> server_;
  std::string ca_file_;
};

TEST_F(Tls, CarriesTextBothWays) {
  const auto context = client(true);
  Line line;
  ASSERT_EQ(line.shake(*context, *server_, "localhost"), IoStatus::kDone) << line.client.error();
  EXPECT_EQ(line.talk("hello"), "hello");
  EXPECT_EQ(line.client.write("back", 4).bytes, 4U);
  char buffer[16];
  EXPECT_EQ(line.server.read(buffer, sizeof(buffer)).bytes, 4U);
  EXPECT_EQ(line.client.read(buffer, sizeof(buffer)).status, IoStatus::kWouldBlock);
}

TEST_F(Tls, VerifiesAddressesToo) {
  const auto context = client(true);
  Line line;
  EXPECT_EQ(line.shake(*context, *server_, "127.0.0.1"), IoStatus::kDone) << line.client.error();
}

TEST_F(Tls, LeavesTheLastDotOfANameAside) {
  const auto context = client(true);
  Line line;
  EXPECT_EQ(line.shake(*context, *server_, "localhost."), IoStatus::kDone) << line.client.error();
  for (const char* const other : {".", "localhost..", "shop.test."}) {
    Line wrong;
    EXPECT_EQ(wrong.shake(*context, *server_, other), IoStatus::kFailed) << other;
  }
}

TEST_F(Tls, RefusesAnotherHostsCertificate) {
  const auto context = client(true);
  for (const char* host : {"shop.test", "127.0.0.2"}) {
    Line line;
    EXPECT_EQ(line.shake(*context, *server_, host), IoStatus::kFailed);
    EXPECT_THAT(line.client.error(), HasSubstr("certificate verify failed"));
    EXPECT_THAT(line.client.error(), HasSubstr("mismatch"));
  }
}

TEST_F(Tls, RefusesAnAuthorityThatItDoesNotKnow) {
  TlsOptions options;
  const auto context = TlsContext::client(options);
  ASSERT_TRUE(context);
  Line line;
  EXPECT_EQ(line.shake(**context, *server_, "localhost"), IoStatus::kFailed);
  EXPECT_THAT(line.client.error(), HasSubstr("self-signed"));
}

TEST_F(Tls, AcceptsAnyCertificateWhenToldNotToVerify) {
  const auto context = client(false);
  Line line;
  EXPECT_EQ(line.shake(*context, *server_, "shop.test"), IoStatus::kDone) << line.client.error();
}

TEST_F(Tls, ResumesASessionOfTheSameHostAndNoOther) {
  const auto context = client(true);
  EXPECT_FALSE(resumed(*context, "localhost"));
  EXPECT_TRUE(resumed(*context, "localhost"));
  EXPECT_TRUE(resumed(*context, "localhost"));
  EXPECT_FALSE(resumed(*context, "127.0.0.1"));
}

TEST_F(Tls, KeepsASessionForEachAddressAndEachPort) {
  const auto context = client(true);
  EXPECT_FALSE(resumed(*context, "127.0.0.1"));
  EXPECT_FALSE(resumed(*context, "::1"));
  EXPECT_FALSE(resumed(*context, "::1", 8443));
  EXPECT_FALSE(resumed(*context, "localhost"));
  EXPECT_FALSE(resumed(*context, "localhost", 8443));
  for (const char* host : {"127.0.0.1", "::1", "localhost"}) EXPECT_TRUE(resumed(*context, host)) << host;
  for (const char* host : {"::1", "localhost"}) EXPECT_TRUE(resumed(*context, host, 8443)) << host;
}

TEST_F(Tls, ASessionOfOneAddressDoesNotLetTheCertificateOfAnotherPass) {
  const auto context = client(true);
  EXPECT_FALSE(resumed(*context, "127.0.0.1"));
  Line line;
  EXPECT_EQ(line.shake(*context, *server_, "127.0.0.2"), IoStatus::kFailed);
  EXPECT_THAT(line.client.error(), HasSubstr("mismatch"));
}

TEST_F(Tls, KeepsNoMoreSessionsThanItMay) {
  TlsOptions options;
  options.ca_file = ca_file_;
  options.max_sessions = 2;
  const auto context = TlsContext::client(options);
  ASSERT_TRUE(context) << context.error().message;
  for (std::uint16_t port = 1; port <= 3; ++port) EXPECT_FALSE(resumed(**context, "localhost", port)) << port;
  EXPECT_TRUE(resumed(**context, "localhost", 1));
  EXPECT_TRUE(resumed(**context, "localhost", 2));
  EXPECT_FALSE(resumed(**context, "localhost", 3));
}

TEST_F(Tls, DoesNotResumeWhenToldNotTo) {
  const auto context = client(true, false);
  for (int i = 0; i < 2; ++i) {
    Line line;
    ASSERT_EQ(line.shake(*context, *server_, "localhost"), IoStatus::kDone);
    line.talk("x");
    EXPECT_FALSE(line.client.resumed());
  }
}

TEST_F(Tls, TellsAPeerThatClosedFromOneThatWasCutOff) {
  const auto context = client(true);
  Line line;
  ASSERT_EQ(line.shake(*context, *server_, "localhost"), IoStatus::kDone);
  line.talk("x");
  line.server.send_close();
  char buffer[16];
  EXPECT_EQ(line.client.read(buffer, sizeof(buffer)).status, IoStatus::kClosed);

  Line cut;
  ASSERT_EQ(cut.shake(*context, *server_, "localhost"), IoStatus::kDone);
  cut.talk("x");
  cut.hang_up();
  EXPECT_EQ(cut.client.read(buffer, sizeof(buffer)).status, IoStatus::kCut);
}

TEST_F(Tls, GarbageInsteadOfAHandshakeFailsWithAReason) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  const auto context = client(true);
  {
    TlsSession session;
    ASSERT_TRUE(session.connect(*context, ends[0], "localhost", 443));
    EXPECT_EQ(session.handshake(), IoStatus::kWouldBlock);
    EXPECT_EQ(write(ends[1], "HTTP/1.1 400 Bad Request\r\n\r\n", 28), 28);
    EXPECT_EQ(session.handshake(), IoStatus::kFailed);
    EXPECT_EQ(session.error(), "the server does not speak TLS on this port (wrong version number); is it http://?");
  }
  close(ends[0]);
  close(ends[1]);
}

TEST_F(Tls, NamesTheFileThatCannotBeRead) {
  TlsOptions options;
  options.ca_file = "/nowhere/ca.pem";
  auto made = TlsContext::client(options);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("/nowhere/ca.pem"));
  options.ca_file.clear();
  options.cert_file = "/nowhere/cert.pem";
  made = TlsContext::client(options);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, HasSubstr("/nowhere/cert.pem"));
}

TEST_F(Tls, AsksNobodyForThePassphraseOfAKey) {
  const std::string file = testing::TempDir() + "muster_tls_test_key." + std::to_string(getpid());
  {
    EVP_PKEY* const key = EVP_EC_gen("P-256");
    X509* const certificate = X509_new();
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_set_pubkey(certificate, key);
    X509_sign(certificate, key, EVP_sha256());
    std::FILE* const out = std::fopen(file.c_str(), "w");
    unsigned char phrase[] = "secret";
    PEM_write_X509(out, certificate);
    PEM_write_PrivateKey(out, key, EVP_aes_128_cbc(), phrase, 6, nullptr, nullptr);
    std::fclose(out);
    X509_free(certificate);
    EVP_PKEY_free(key);
  }
  TlsOptions options;
  options.verify = false;
  options.cert_file = file;
  const auto made = TlsContext::client(options);
  std::remove(file.c_str());
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().message,
            "the key '" + file +
                "' is encrypted, and nobody is asked for its passphrase; make a copy without one: "
                "openssl pkey -in '" +
                file + "' -out plain.key");
}

TEST_F(Tls, HoldsNoMemoryOfConnectionsThatAreOver) {
  ASSERT_TRUE(kCounting);
  const auto context = client(true);
  const auto exchange = [&] {
    Line line;
    ASSERT_EQ(line.shake(*context, *server_, "localhost"), IoStatus::kDone);
    line.talk("x");
  };
  for (int i = 0; i < 10; ++i) exchange();
  const std::int64_t before = held.load();
  for (int i = 0; i < 100; ++i) exchange();
  // The server's own cache of sessions may grow by one entry each; anything beyond a handful a connection is a leak.
  EXPECT_LT(held.load() - before, 100 * 20);
}

}  // namespace
}  // namespace muster::reactor
