#include "console/typed_secrets.h"

#include <string>
#include <string_view>

#include "base/letter_case.h"
#include "engine/redaction.h"
#include "protocol/credentials.h"
#include "protocol/url.h"

namespace muster::console {
namespace {

// What is shorter hides nothing, and taking it out would spoil unrelated text.
constexpr std::size_t kLeastLength = 3;
constexpr std::size_t kLeastKey = 8;

// In the job's text "${" stands as "$${".
std::string as_written(std::string text) {
  for (std::size_t at = text.find("${"); at != std::string::npos; at = text.find("${", at + 3)) text.insert(at, "$");
  return text;
}

void add(model::Job& job, std::string_view value) {
  while (value.starts_with(' ')) value.remove_prefix(1);
  if (value.size() < kLeastLength) return;
  job.secrets.emplace_back("command line", value);
  if (const std::string escaped = as_written(std::string(value)); escaped != value) {
    job.secrets.emplace_back("command line", escaped);
  }
}

// As it was typed, and as the header that is made of it holds it.
void add_password(model::Job& job, std::string_view password) {
  add(job, password);
  if (const std::string decoded = protocol::percent_decode(password); decoded != password) add(job, decoded);
}

void add_header(model::Job& job, std::string_view header) {
  const std::size_t colon = header.find(':');
  if (colon == std::string_view::npos || !protocol::carries_credentials(header.substr(0, colon))) return;
  std::string_view value = header.substr(colon + 1);
  while (value.starts_with(' ')) value.remove_prefix(1);
  // The scheme ("Bearer") is no secret, and useful to see.
  const std::size_t space = value.find(' ');
  const bool scheme = space != std::string_view::npos && base::lower(header.substr(0, colon)).contains("authorization");
  add(job, scheme ? value.substr(space + 1) : value);
}

// https://user:password@host/, or https://key@host/ and https://key:@host/. A short user is more likely a name, which
// would be taken out of much that is shown.
std::string_view password_of(std::string_view url) {
  const std::size_t begin = url.find("//");
  if (begin == std::string_view::npos) return {};
  std::string_view authority = url.substr(begin + 2);
  authority = authority.substr(0, authority.find_first_of("/?#"));
  const std::size_t at = authority.rfind('@');
  if (at == std::string_view::npos) return {};
  authority = authority.substr(0, at);
  const std::size_t colon = authority.find(':');
  const std::string_view user = authority.substr(0, colon);
  const std::string_view password = authority.substr(std::min(user.size() + 1, authority.size()));
  if (!password.empty()) return password;
  return user.size() < kLeastKey ? std::string_view() : user;
}

}  // namespace

void hide_secrets(const JobFlags& flags, model::Job& job) {
  if (const std::size_t colon = flags.basic.find(':'); colon != std::string::npos) {
    add(job, std::string_view(flags.basic).substr(colon + 1));
  }
  for (const std::string& header : flags.headers) add_header(job, header);
  add_password(job, password_of(flags.url));
  add_password(job, password_of(flags.file));  // an address may stand there too
  add_password(job, password_of(flags.target));
  const std::vector<std::string> spelled = engine::spellings(job.secrets);
  engine::redact(job.name, spelled);
  engine::redact(job.source, spelled);
}

}  // namespace muster::console
