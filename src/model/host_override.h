// What `hosts` of an HTTP target says: where to connect in place of a host. The loader refuses what is wrong with it in
// its place, the client reads it. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace muster::model {

// Where to connect in place of a host; Host and SNI stay as in the URL.
struct HostOverride {
  std::string name;
  std::string look_up;
  std::uint16_t port = 0;  // 0: that of the URL
};

// "10.0.0.1", "10.0.0.1:81", "::1", "[::1]:81", or a name in place of the number; without the name it stands for.
base::Expected<HostOverride> parse_host_override(const std::string& text);

// 10.0.0.5 or fd00::5: what a URL takes for a host that is no name.
bool numeric_address(std::string_view text);
// The same, with the zone that an address of this machine may have: fe80::1%eth0.
bool source_address(std::string_view text);

}  // namespace muster::model
