// Writes the heads and bodies of replies. Pure.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "target/plan.h"

namespace muster::target {

inline constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
inline constexpr std::string_view kJson = "application/json";

struct Field {
  std::string_view name;
  std::string_view value;
};

// "Not Found"; "Unknown" for codes without a name.
std::string_view reason_phrase(unsigned status);

// A value with control characters could end the header early; such values are refused by the routes.
bool safe_in_header(std::string_view value);

// A whole reply. Status 204 and 304 have no body (RFC 9110 section 6.4.1): `body` is left out.
void write_reply(Plan& plan, unsigned status, std::string_view type, std::string_view body,
                 std::initializer_list<Field> extra = {});

// A head whose body comes from plan.filler: with its length, or chunked if plan.chunk is set.
void write_filler_head(Plan& plan, unsigned status, std::string_view type, std::uint64_t declared_length);

FixedReply make_fixed(unsigned status, std::string_view type, std::string_view body,
                      std::initializer_list<Field> extra = {});

// Repeated to make up bodies of any size: lower-case letters and line feeds.
std::string_view filler_pattern();

}  // namespace muster::target
