// The bytes of Raft's messages. What decodes is within the limits of options.h and encodes to the same bytes again;
// whether it is true is for the core to judge.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "cores/raft_messages.h"

namespace muster::cores {

void encode(const RaftMessage& message, std::string& out);  // appends

base::Expected<RaftMessage> decode_raft_message(std::string_view bytes);

}  // namespace muster::cores
