#include "cluster/message_codec.h"

#include <fmt/format.h>

#include "cluster/fields.h"
#include "cluster/fields_messages_job.h"
#include "cluster/fields_messages_worker.h"
#include "cluster/options.h"
#include "cluster/variant_codec.h"

namespace muster::cluster {

void encode(const Message& message, std::string& out) {
  out.push_back(static_cast<char>(kMessageVersion));
  Pack io(out);
  io.number(message.index());
  std::visit([&](const auto& each) { fields(io, each); }, message);
}

base::Expected<Message> decode_message(std::string_view bytes) {
  metrics::Reader reader(bytes);
  if (bytes.size() > kMaxMessageBytes) reader.fail("it is larger than a message can be");
  if (const std::uint8_t version = reader.byte(); reader.ok() && version != kMessageVersion) {
    reader.fail(fmt::format("its version is {}, known is {}", version, kMessageVersion));
  }
  Unpack io(reader);
  Message message;
  choose_alternative(message, static_cast<std::size_t>(reader.varint_below(kMessages)));
  std::visit([&](auto& each) { fields(io, each); }, message);
  if (reader.ok() && !reader.at_end()) reader.fail("more bytes follow its end");
  if (!reader.ok()) return std::unexpected(reader.error("message"));
  return message;
}

}  // namespace muster::cluster
