#include "cluster/gate_command_codec.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "cluster/fields_fixture.h"
#include "cluster/fields_gate.h"
#include "cluster/variant_codec.h"

namespace muster::cluster {
namespace {

GateEntry random_entry(std::uint64_t seed) {
  Fill fill(seed);
  GateEntry entry;
  fields(fill, entry.proposer);
  fill.number(entry.sequence);
  choose_alternative(entry.command, seed % std::variant_size_v<GateCommand>);
  std::visit([&](auto& command) { fields(fill, command); }, entry.command);
  if (auto* submitted = std::get_if<JobSubmitted>(&entry.command)) submitted->bundle.size %= kMaxBodyBytes;
  if (auto* received = std::get_if<WorkflowReceived>(&entry.command)) {
    for (BodyRef& body : received->status.results) body.size %= kMaxBodyBytes;
  }
  return entry;
}

RC_GTEST_PROP(GateCommandCodec, EveryEntryComesBackAsItWas, (std::uint64_t seed)) {
  const GateEntry entry = random_entry(seed);
  std::string bytes;
  encode(entry, bytes);
  const auto decoded = decode_gate_entry(bytes);
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(*decoded == entry);
}

RC_GTEST_PROP(GateCommandCodec, NoShorterFormOfAnEntryDecodes, (std::uint64_t seed)) {
  std::string bytes;
  encode(random_entry(seed), bytes);
  const auto length = static_cast<std::size_t>(*rc::gen::inRange<std::uint64_t>(0, bytes.size()));
  RC_ASSERT(!decode_gate_entry(std::string_view(bytes).substr(0, length)).has_value());
  RC_ASSERT(!decode_gate_entry(bytes + "x").has_value());
}

TEST(GateCommandCodec, NamesTheVersionThatItDoesNotKnow) {
  std::string bytes;
  encode(GateEntry{}, bytes);
  bytes[0] = 9;
  const auto decoded = decode_gate_entry(bytes);
  ASSERT_FALSE(decoded.has_value());
  EXPECT_NE(decoded.error().message.find("its version is 9"), std::string::npos);
}

TEST(GateCommandCodec, RefusesAnEntryLargerThanAny) {
  EXPECT_FALSE(decode_gate_entry(std::string(kMaxCommandBytes + 1, '\0')).has_value());
}

}  // namespace
}  // namespace muster::cluster
