#include "cores/swim_codec.h"

#include <fmt/format.h>

#include <utility>

#include "cores/swim_options.h"
#include "metrics/wire.h"

namespace muster::cores {
namespace {

using metrics::Reader;
using metrics::Writer;

enum class Kind : std::uint8_t { kPing = 1, kAck, kPingRequest, kNack, kRumours, kExchange };

constexpr std::uint8_t kReplyFlag = 1;
constexpr std::uint8_t kLastFlag = 2;

bool accuses(MemberStatus status) {
  return status == MemberStatus::kSuspect || status == MemberStatus::kDead;
}

void write(Writer& writer, base::NodeId node) {
  writer.varint(number(node));
}

base::NodeId read_node(Reader& reader) {
  const base::NodeId node{reader.varint()};
  if (reader.ok() && node == base::kNoNode) reader.fail("a node has no name");
  return node;
}

void write(Writer& writer, const Endpoint& endpoint) {
  const std::size_t first = ipv4(endpoint) ? 12 : 0;
  writer.byte(static_cast<std::uint8_t>(16 - first));
  for (std::size_t place = first; place < 16; ++place) writer.byte(endpoint.host[place]);
  writer.byte(static_cast<std::uint8_t>(endpoint.port >> 8));
  writer.byte(static_cast<std::uint8_t>(endpoint.port));
}

Endpoint read_endpoint(Reader& reader) {
  Endpoint endpoint;
  const std::uint8_t size = reader.byte();
  if (reader.ok() && size != 4 && size != 16) reader.fail("an address has neither 4 nor 16 bytes");
  if (size == 4) std::copy(kIpv4Prefix.begin(), kIpv4Prefix.end(), endpoint.host.begin());
  for (std::size_t place = size == 4 ? 12 : 0; place < 16 && reader.ok(); ++place) endpoint.host[place] = reader.byte();
  if (reader.ok() && size == 16 && ipv4(endpoint)) reader.fail("a short address is written in its long form");
  const unsigned high = reader.byte();
  endpoint.port = static_cast<std::uint16_t>(high << 8 | reader.byte());
  return endpoint;
}

void write(Writer& writer, const StateClaim& state) {
  writer.varint(state.incarnation);
  writer.varint(state.version);
  writer.text(state.bytes);
}

// A state is never newer than the claim that carries it: a forged one could not be replaced by a true one.
StateClaim read_state(Reader& reader, std::uint64_t newest) {
  StateClaim state;
  state.incarnation = reader.varint_below(newest + 1);
  state.version = reader.varint();
  state.bytes = reader.text(kMaxMemberState);
  return state;
}

// Status, node and incarnation: what every claim begins with.
void write_subject(Writer& writer, const Claim& claim) {
  writer.byte(static_cast<std::uint8_t>(claim.status));
  write(writer, claim.node);
  writer.varint(claim.incarnation);
}

Claim read_subject(Reader& reader) {
  Claim claim;
  claim.status = static_cast<MemberStatus>(reader.varint_below(4));
  claim.node = read_node(reader);
  claim.incarnation = reader.varint_below(accuses(claim.status) ? kMaxIncarnation : kMaxIncarnation + 1);
  return claim;
}

Claim read_rumour(Reader& reader) {
  Claim claim = read_subject(reader);
  if (accuses(claim.status)) claim.by = read_node(reader);
  if (claim.status == MemberStatus::kAlive) {
    claim.address = read_endpoint(reader);
    claim.state = read_state(reader, claim.incarnation);
  }
  return claim;
}

Claim read_view_entry(Reader& reader) {
  Claim claim = read_subject(reader);
  claim.address = read_endpoint(reader);
  claim.state = read_state(reader, claim.incarnation);
  return claim;
}

SwimBody read_body(Reader& reader, Kind kind) {
  switch (kind) {
    case Kind::kPing: {
      const std::uint64_t sequence = reader.varint();
      return Ping{sequence, read_node(reader)};
    }
    case Kind::kAck: {
      Ack ack;
      ack.sequence = reader.varint();
      ack.node = read_node(reader);
      ack.state = read_state(reader, kMaxIncarnation);
      return ack;
    }
    case Kind::kPingRequest: {
      PingRequest request;
      request.sequence = reader.varint();
      request.target = read_node(reader);
      request.address = read_endpoint(reader);
      return request;
    }
    case Kind::kNack:
      return Nack{reader.varint()};
    case Kind::kRumours:
      return Rumours{};
    case Kind::kExchange: {
      const std::uint64_t flags = reader.varint_below(4);
      Exchange exchange{.reply = (flags & kReplyFlag) != 0, .last = (flags & kLastFlag) != 0, .view = {}};
      while (reader.ok() && !reader.at_end()) exchange.view.push_back(read_view_entry(reader));
      return exchange;
    }
  }
  reader.fail(fmt::format("a message of kind {} is unknown", static_cast<unsigned>(kind)));
  return Rumours{};
}

struct BodyWriter {
  Writer& writer;
  std::string& out;

  void kind(Kind value) { writer.byte(static_cast<std::uint8_t>(value)); }

  void operator()(const Ping& ping) {
    kind(Kind::kPing);
    writer.varint(ping.sequence);
    write(writer, ping.target);
  }
  void operator()(const Ack& ack) {
    kind(Kind::kAck);
    writer.varint(ack.sequence);
    write(writer, ack.node);
    write(writer, ack.state);
  }
  void operator()(const PingRequest& request) {
    kind(Kind::kPingRequest);
    writer.varint(request.sequence);
    write(writer, request.target);
    write(writer, request.address);
  }
  void operator()(const Nack& nack) {
    kind(Kind::kNack);
    writer.varint(nack.sequence);
  }
  void operator()(const Rumours&) { kind(Kind::kRumours); }
  void operator()(const Exchange& exchange) {
    kind(Kind::kExchange);
    writer.varint((exchange.reply ? kReplyFlag : 0u) | (exchange.last ? kLastFlag : 0u));
    for (const Claim& claim : exchange.view) append_view_entry(out, claim);
  }
};

}  // namespace

base::Expected<SwimPacket> decode_swim(std::string_view bytes) {
  Reader reader(bytes);
  SwimPacket packet;
  if (bytes.size() > kMaxExchangeBytes) reader.fail("it is longer than any message");
  if (const std::uint8_t version = reader.byte(); reader.ok() && version != kSwimVersion) {
    reader.fail(fmt::format("its version is {}, known is {}", version, kSwimVersion));
  }
  packet.group = reader.varint();
  const auto kind = static_cast<Kind>(reader.byte());
  if (reader.ok() && kind != Kind::kExchange && bytes.size() > kMaxSwimPayload) {
    reader.fail("it is longer than a datagram may be");
  }
  if (reader.ok()) packet.message.body = read_body(reader, kind);
  while (reader.ok() && !reader.at_end()) packet.message.claims.push_back(read_rumour(reader));
  if (!reader.ok()) return std::unexpected(reader.error("membership message"));
  return packet;
}

std::string encode_swim_body(std::uint64_t group, const SwimBody& body) {
  constexpr std::size_t kUsualBytes = 192;  // with some gossip behind it
  std::string out;
  out.reserve(kUsualBytes);
  Writer writer(out);
  writer.byte(kSwimVersion);
  writer.varint(group);
  std::visit(BodyWriter{writer, out}, body);
  return out;
}

void append_rumour(std::string& out, const Claim& claim) {
  Writer writer(out);
  write_subject(writer, claim);
  if (accuses(claim.status)) write(writer, claim.by);
  if (claim.status != MemberStatus::kAlive) return;
  write(writer, claim.address);
  write(writer, claim.state);
}

void append_view_entry(std::string& out, const Claim& claim) {
  Writer writer(out);
  write_subject(writer, claim);
  write(writer, claim.address);
  write(writer, claim.state);
}

std::string encode_swim(const SwimPacket& packet) {
  std::string out = encode_swim_body(packet.group, packet.message.body);
  for (const Claim& claim : packet.message.claims) append_rumour(out, claim);
  return out;
}

}  // namespace muster::cores
