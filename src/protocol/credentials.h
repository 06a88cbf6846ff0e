// Which headers, fields and parts of an address hold what should not be shown: told by their names. Pure.
#pragma once

#include <string>
#include <string_view>

namespace muster::protocol {

// Whether a header of that name holds credentials: Authorization, Cookie, X-Api-Key, X-Session, ….
bool carries_credentials(std::string_view name);

// The same for a name in a query, a form or a body. Stricter, for most of what stands there is harmless: `api_key`,
// `refresh_token` and `sig` do, `keyword`, `token_type` and `monkey` do not.
bool names_credentials(std::string_view name);

// Replaces the values of such names in the query and the fragment of the address on the first line of `text` by ***.
// What comes from elsewhere (`${…}`) stays.
void mask_query(std::string& text);

// An address or a part of one as it may be shown: without its user and password and without such values.
std::string without_credentials(std::string_view address);

// The same for every address in a text, such as a header's value or a message. Addresses end at white space, quotes and
// angle brackets.
std::string without_credentials_of_addresses(std::string_view text);

}  // namespace muster::protocol
