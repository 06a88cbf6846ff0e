// Whatever decodes encodes to the very bytes it came from; nothing less and nothing more than a whole message decodes.
// covers: cluster/message_codec.cpp cluster/fields.h cluster/fields_job.h cluster/fields_messages_job.h
// covers: cluster/fields_messages_worker.h
#include <string>
#include <string_view>

#include "base/fuzzing.h"
#include "cluster/message_codec.h"
#include "cluster/options.h"

namespace muster::cluster {

using base::require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input = base::text_of(data, size);
  const auto decoded = decode_message(input);
  if (!decoded) {
    require(!decoded.error().message.empty());
    return 0;
  }
  std::string again;
  encode(*decoded, again);
  require(again == input);
  require(!name_of(*decoded).empty());
  require(!decode_message(input.substr(0, size - 1)));
  if (const auto* wanted = std::get_if<BodyWanted>(&*decoded)) {
    require(wanted->offset == 0 || wanted->offset < wanted->body.size);
  }
  if (const auto* piece = std::get_if<BodyPiece>(&*decoded)) require(piece->bytes.size() <= kBodyPiece);
  if (const auto* beat = std::get_if<Heartbeat>(&*decoded)) require(beat->parts.size() <= kMaxWorkerParts);
  if (const auto* offer = std::get_if<BodyOffer>(&*decoded)) require(offer->body.size <= kMaxBodyBytes);
  return 0;
}

}  // namespace muster::cluster
