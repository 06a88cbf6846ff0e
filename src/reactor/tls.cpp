#include "reactor/tls.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <unordered_map>

namespace muster::reactor {
namespace {

std::string openssl_reason() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  if (code == 0) return "no reason given";
  const char* reason = ERR_reason_error_string(code);
  return reason != nullptr ? reason : fmt::format("error {:#x}", code);
}

// To a client: what has happened and what to do, where the words of OpenSSL alone do not say it.
std::string explained(int reason, const std::string& words) {
  switch (reason) {
    case SSL_R_WRONG_VERSION_NUMBER:
      return fmt::format("the server does not speak TLS on this port ({}); is it http://?", words);
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
    case SSL_R_UNSUPPORTED_PROTOCOL:
      return fmt::format("the server speaks no version of TLS that is allowed here ({}); look at 'tls_min'", words);
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return fmt::format("the server asks for a client certificate ({}); give 'cert' and 'key'", words);
    default:
      return words;
  }
}

bool is_address(const std::string& host) {
  std::array<unsigned char, 16> unused{};
  return inet_pton(AF_INET, host.c_str(), unused.data()) == 1 || inet_pton(AF_INET6, host.c_str(), unused.data()) == 1;
}

// In place of OpenSSL's own, which asks the terminal or reads standard input, and waits for ever.
int give_no_passphrase(char* /*into*/, int /*size*/, int /*for_writing*/, void* asked) {
  *static_cast<bool*>(asked) = true;
  return 0;
}

base::Expected<void> use_certificate(SSL_CTX* context, const TlsOptions& options) {
  const std::string& key = options.key_file.empty() ? options.cert_file : options.key_file;
  bool asked = false;
  SSL_CTX_set_default_passwd_cb(context, &give_no_passphrase);
  SSL_CTX_set_default_passwd_cb_userdata(context, &asked);
  if (SSL_CTX_use_certificate_chain_file(context, options.cert_file.c_str()) != 1) {
    return base::fail(fmt::format("cannot read the client certificate '{}' ({}); it must be a PEM file",
                                  options.cert_file, openssl_reason()));
  }
  if (SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1) {
    if (asked) {
      return base::fail(
          fmt::format("the key '{0}' is encrypted, and nobody is asked for its passphrase; make a copy without "
                      "one: openssl pkey -in '{0}' -out plain.key",
                      key));
    }
    return base::fail(fmt::format("cannot use the key '{}' for the client certificate '{}' ({})", key,
                                  options.cert_file, openssl_reason()));
  }
  SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
  return {};
}

}  // namespace

// The latest session of each host and port, offered again when the next connection opens. A session that is resumed
// shows no certificate: one of another host would pass unverified.
struct TlsContext::Sessions {
  explicit Sessions(std::size_t most) : limit(most) {}
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;
  ~Sessions() {
    for (auto& [peer, session] : by_peer) SSL_SESSION_free(session);
  }

  // Where the session of this peer is, or will be, kept; null if there is no room for one more. It stays valid: the
  // app data of connections points to it.
  SSL_SESSION** place(const std::string& host, std::uint16_t port) {
    std::string peer = fmt::format("{}:{}", host, port);
    if (const auto found = by_peer.find(peer); found != by_peer.end()) return &found->second;
    if (by_peer.size() >= limit) return nullptr;
    return &by_peer.emplace(std::move(peer), nullptr).first->second;
  }

  static int remember(SSL* ssl, SSL_SESSION* session) {
    auto* const place = static_cast<SSL_SESSION**>(SSL_get_app_data(ssl));
    if (place == nullptr) return 0;
    SSL_SESSION_free(*place);
    *place = session;
    return 1;  // the reference is ours now
  }

  std::size_t limit;
  std::unordered_map<std::string, SSL_SESSION*> by_peer;
};

TlsContext::TlsContext() = default;

TlsContext::~TlsContext() {
  if (context_ != nullptr) SSL_CTX_free(context_);
}

base::Expected<std::unique_ptr<TlsContext>> TlsContext::client(const TlsOptions& options) {
  std::unique_ptr<TlsContext> made(new TlsContext);
  made->context_ = SSL_CTX_new(TLS_client_method());
  SSL_CTX* context = made->context_;
  if (context == nullptr) return base::fail("cannot create a TLS context: " + openssl_reason());
  SSL_CTX_set_min_proto_version(context, options.at_least_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION);
  // Idle connections give their 16 KiB buffers back; read-ahead fetches a record in one system call instead of two.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_AUTO_RETRY);
  SSL_CTX_set_read_ahead(context, 1);
  made->verify_ = options.verify;
  SSL_CTX_set_verify(context, options.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  if (!options.ca_file.empty()) {
    if (SSL_CTX_load_verify_file(context, options.ca_file.c_str()) != 1) {
      return base::fail(fmt::format("cannot read certificate authorities from '{}' ({}); it must be a PEM file",
                                    options.ca_file, openssl_reason()));
    }
  } else if (options.verify) {
    SSL_CTX_set_default_verify_paths(context);
  }
  if (!options.cert_file.empty()) {
    if (auto used = use_certificate(context, options); !used) return std::unexpected(std::move(used.error()));
  }
  if (options.resume) {
    made->sessions_ = std::make_unique<Sessions>(options.max_sessions);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(context, &Sessions::remember);
  } else {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  }
  return made;
}

namespace {

struct KeyDeleter {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
struct CertificateDeleter {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
using Key = std::unique_ptr<EVP_PKEY, KeyDeleter>;
using Certificate = std::unique_ptr<X509, CertificateDeleter>;

void add_extension(X509* certificate, int id, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, id, value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

Certificate self_signed(EVP_PKEY* key) {
  constexpr long kWeek = 7L * 24 * 3600;
  Certificate certificate(X509_new());
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kWeek);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME* name = X509_get_subject_name(certificate.get());
  const auto* subject = reinterpret_cast<const unsigned char*>("muster target");
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, subject, -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  add_extension(certificate.get(), NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1");
  add_extension(certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  X509_sign(certificate.get(), key, EVP_sha256());
  return certificate;
}

std::string to_pem(X509* certificate) {
  BIO* memory = BIO_new(BIO_s_mem());
  PEM_write_bio_X509(memory, certificate);
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  std::string pem(data, static_cast<std::size_t>(size));
  BIO_free(memory);
  return pem;
}

}  // namespace

base::Expected<std::unique_ptr<TlsContext>> TlsContext::throw_away_server() {
  std::unique_ptr<TlsContext> made(new TlsContext);
  made->context_ = SSL_CTX_new(TLS_server_method());
  const Key key(EVP_EC_gen("P-256"));
  if (made->context_ == nullptr || key == nullptr) {
    return base::fail("cannot make a throw-away certificate: " + openssl_reason());
  }
  const Certificate certificate = self_signed(key.get());
  SSL_CTX_set_mode(made->context_,
                   SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_min_proto_version(made->context_, TLS1_2_VERSION);
  if (SSL_CTX_use_certificate(made->context_, certificate.get()) != 1 ||
      SSL_CTX_use_PrivateKey(made->context_, key.get()) != 1) {
    return base::fail("cannot use the throw-away certificate: " + openssl_reason());
  }
  made->certificate_ = to_pem(certificate.get());
  return made;
}

bool TlsSession::start(TlsContext& context, int fd) {
  close();
  ssl_ = SSL_new(context.context_);
  return ssl_ != nullptr && SSL_set_fd(ssl_, fd) == 1;
}

bool TlsSession::connect(TlsContext& context, int fd, const std::string& host, std::uint16_t port) {
  // To OpenSSL an empty name says that any will do.
  if (host.empty() || !start(context, fd)) return false;
  if (is_address(host)) {
    if (context.verify_) X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl_), host.c_str());
  } else {
    // The dot of a name that is given in full is not part of what is sent or certified (RFC 6066, section 3).
    const std::string name = host.size() > 1 && host.ends_with('.') ? host.substr(0, host.size() - 1) : host;
    SSL_set_tlsext_host_name(ssl_, name.c_str());
    if (context.verify_) SSL_set1_host(ssl_, name.c_str());
  }
  if (context.sessions_ != nullptr) {
    SSL_SESSION** const place = context.sessions_->place(host, port);
    SSL_set_app_data(ssl_, place);
    if (place != nullptr && *place != nullptr) SSL_set_session(ssl_, *place);
  }
  SSL_set_connect_state(ssl_);
  return true;
}

bool TlsSession::accept(TlsContext& context, int fd) {
  if (!start(context, fd)) return false;
  SSL_set_accept_state(ssl_);
  return true;
}

void TlsSession::close() {
  if (ssl_ == nullptr) return;
  // Without this a session that was not shut down counts as bad and is not resumed (RFC 8446 does not ask for that).
  SSL_set_quiet_shutdown(ssl_, 1);
  SSL_shutdown(ssl_);
  SSL_free(ssl_);
  ssl_ = nullptr;
  error_.reset();
}

IoStatus TlsSession::handshake() {
  ERR_clear_error();
  return classify(SSL_do_handshake(ssl_));
}

IoResult TlsSession::read(char* into, std::size_t size) {
  ERR_clear_error();
  std::size_t count = 0;
  const int result = SSL_read_ex(ssl_, into, size, &count);
  if (result == 1) return {IoStatus::kDone, count};
  return {classify(result), 0};
}

IoResult TlsSession::write(const char* from, std::size_t size) {
  ERR_clear_error();
  std::size_t count = 0;
  const int result = SSL_write_ex(ssl_, from, size, &count);
  if (result == 1) return {IoStatus::kDone, count};
  return {classify(result), 0};
}

bool TlsSession::pending() const {
  return SSL_has_pending(ssl_) == 1;
}

void TlsSession::send_close() {
  SSL_shutdown(ssl_);
}

IoStatus TlsSession::classify(int result) {
  if (result == 1) return IoStatus::kDone;
  const int saved_errno = errno;
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      return IoStatus::kWouldBlock;
    case SSL_ERROR_ZERO_RETURN:
      return IoStatus::kClosed;
    case SSL_ERROR_SYSCALL:
      if (ERR_peek_last_error() == 0) {
        if (saved_errno == 0) return IoStatus::kCut;
        error_ = std::make_unique<std::string>(std::strerror(saved_errno));
        errno = saved_errno;
        return IoStatus::kFailed;
      }
      break;
    default:
      break;
  }
  // A peer that closes without close_notify: OpenSSL 3 calls it an error; whoever knows the framing can tell.
  if (ERR_GET_REASON(ERR_peek_last_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
    ERR_clear_error();
    return IoStatus::kCut;
  }
  const int reason = ERR_GET_REASON(ERR_peek_last_error());
  std::string text = openssl_reason();
  if (SSL_is_server(ssl_) == 0) text = explained(reason, text);
  const long verified = SSL_get_verify_result(ssl_);
  if (verified != X509_V_OK && SSL_get_verify_mode(ssl_) != SSL_VERIFY_NONE) {
    text += fmt::format(": {}", X509_verify_cert_error_string(verified));
  }
  error_ = std::make_unique<std::string>(std::move(text));
  errno = 0;
  return IoStatus::kFailed;
}

const std::string& TlsSession::error() const {
  static const std::string kNone = "no reason given";
  return error_ != nullptr ? *error_ : kNone;
}

bool TlsSession::resumed() const {
  return ssl_ != nullptr && SSL_session_reused(ssl_) == 1;
}

}  // namespace muster::reactor
