#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

#include "authoring/arena_text.h"
#include "authoring/functions.h"
#include "authoring/value_text.h"
#include "base/characters.h"

namespace muster::authoring::call {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrlAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

unsigned byte_at(std::string_view text, std::size_t at) {
  return at < text.size() ? static_cast<unsigned char>(text[at]) : 0;
}

// RFC 4648 section 4, or section 5 without padding.
Value encode(const Evaluation& evaluation, std::string_view text, std::string_view alphabet, bool padded) {
  const std::size_t size = (text.size() + 2) / 3 * 4;
  if (size > kExpressionLimits.result_bytes) return {};
  char* const memory = evaluation.arena->allocate(size);
  char* out = memory;
  for (std::size_t at = 0; at < text.size(); at += 3) {
    const unsigned group = byte_at(text, at) << 16 | byte_at(text, at + 1) << 8 | byte_at(text, at + 2);
    for (unsigned part = 0; part < 4; ++part) {
      const bool real = at + part <= text.size();
      if (real) *out++ = alphabet[(group >> (18 - 6 * part)) & 63];
      if (!real && padded) *out++ = '=';
    }
  }
  return Value::of(std::string_view(memory, static_cast<std::size_t>(out - memory)));
}

// Both alphabets, as either may come from outside; -1 for any other character.
int decode_digit(char c) {
  if (base::is_upper(c)) return c - 'A';
  if (base::is_lower(c)) return c - 'a' + 26;
  if (base::is_digit(c)) return c - '0' + 52;
  if (c == '+' || c == '-') return 62;
  if (c == '/' || c == '_') return 63;
  return -1;
}

Value hex_text(const Evaluation& evaluation, std::string_view bytes) {
  if (bytes.size() > kExpressionLimits.result_bytes / 2) return {};
  char* const memory = evaluation.arena->allocate(bytes.size() * 2);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    const auto byte = static_cast<unsigned char>(bytes[at]);
    memory[2 * at] = kHexDigits[byte >> 4];
    memory[2 * at + 1] = kHexDigits[byte & 15];
  }
  return Value::of(std::string_view(memory, bytes.size() * 2));
}

using Digest = std::array<unsigned char, EVP_MAX_MD_SIZE>;

// `encoding` holds none or one argument: how the digest is written.
Value written(const Evaluation& evaluation, const Digest& digest, unsigned size, Arguments encoding) {
  const std::string_view bytes(reinterpret_cast<const char*>(digest.data()), size);
  const std::string_view name = encoding.empty() ? "hex" : as_text(evaluation, encoding[0]);
  if (name == "hex") return hex_text(evaluation, bytes);
  if (name == "base64") return encode(evaluation, bytes, kAlphabet, true);
  return {};
}

Value digest(const Evaluation& evaluation, const EVP_MD* algorithm, Arguments arguments) {
  const std::string_view text = as_text(evaluation, arguments[0]);
  Digest out;
  unsigned size = 0;
  if (EVP_Digest(text.data(), text.size(), out.data(), &size, algorithm, nullptr) != 1) return {};
  return written(evaluation, out, size, arguments.subspan(1));
}

const EVP_MD* algorithm_named(std::string_view name) {
  if (name == "sha256") return EVP_sha256();
  if (name == "sha512") return EVP_sha512();
  if (name == "sha1") return EVP_sha1();
  if (name == "md5") return EVP_md5();
  return nullptr;
}

}  // namespace

Value base64(const Evaluation& evaluation, Arguments arguments) {
  return encode(evaluation, as_text(evaluation, arguments[0]), kAlphabet, true);
}

Value base64url(const Evaluation& evaluation, Arguments arguments) {
  return encode(evaluation, as_text(evaluation, arguments[0]), kUrlAlphabet, false);
}

Value base64decode(const Evaluation& evaluation, Arguments arguments) {
  std::string_view text = as_text(evaluation, arguments[0]);
  for (int padding = 0; padding < 2 && text.ends_with('='); ++padding) text.remove_suffix(1);
  if (text.size() % 4 == 1) return {};
  char* const memory = evaluation.arena->allocate(text.size() * 3 / 4);
  char* out = memory;
  unsigned group = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const int value = decode_digit(text[at]);
    if (value < 0) return {};
    group = group << 6 | static_cast<unsigned>(value);
    const std::size_t place = at % 4;
    if (place > 0) *out++ = static_cast<char>(group >> (6 - 2 * place));
  }
  return Value::of(std::string_view(memory, static_cast<std::size_t>(out - memory)));
}

Value hex(const Evaluation& evaluation, Arguments arguments) {
  return hex_text(evaluation, as_text(evaluation, arguments[0]));
}

Value md5(const Evaluation& evaluation, Arguments arguments) {
  return digest(evaluation, EVP_md5(), arguments);
}

Value sha1(const Evaluation& evaluation, Arguments arguments) {
  return digest(evaluation, EVP_sha1(), arguments);
}

Value sha256(const Evaluation& evaluation, Arguments arguments) {
  return digest(evaluation, EVP_sha256(), arguments);
}

Value sha512(const Evaluation& evaluation, Arguments arguments) {
  return digest(evaluation, EVP_sha512(), arguments);
}

Value hmac(const Evaluation& evaluation, Arguments arguments) {
  const EVP_MD* const algorithm = algorithm_named(as_text(evaluation, arguments[0]));
  const std::string_view key = as_text(evaluation, arguments[1]);
  const std::string_view text = as_text(evaluation, arguments[2]);
  if (algorithm == nullptr || key.size() > kExpressionLimits.result_bytes) return {};
  Digest out;
  unsigned size = 0;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  // A null key would mean "as before" to OpenSSL, so that an empty one still needs an address.
  const char* const secret = key.empty() ? "" : key.data();
  if (HMAC(algorithm, secret, static_cast<int>(key.size()), bytes, text.size(), out.data(), &size) == nullptr)
    return {};
  return written(evaluation, out, size, arguments.subspan(3));
}

}  // namespace muster::authoring::call
