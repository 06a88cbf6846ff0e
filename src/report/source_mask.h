// Takes out of a job's text what was written into it but should not be shown to whoever reads a report: passwords, keys
// and credentials in place of a secret's name. Declared secrets are never in the text. Pure.
#pragma once

#include <string>
#include <string_view>

namespace muster::report {

// `source` is YAML, JSON or a Lua script, which its first line tells. Values of keys that hold credentials
// (authorization, password, bearer, …) and the user part of URLs become ***, except where they come from elsewhere
// (`${…}`). So does every line of a value that goes on below its key, whatever it holds, and every text in an
// expression of Lua. Everything else stays to the byte.
std::string masked_source(std::string_view source);

}  // namespace muster::report
