// How bodies travel: pulled by whoever needs them, piece by piece, each piece asked for. So the receiver sets the pace,
// loss is mended by asking again, and nothing arrives that was not wanted. Any two nodes speak these.
#pragma once

#include <cstdint>
#include <string>

#include "cluster/ids.h"

namespace muster::cluster {

// Manager → manager: I have this body, and it should be on your disk too. Answered by BodyHeld, now or once it is.
struct BodyOffer {
  BodyRef body;
  std::uint64_t round = 0;  // of offers, for the answer

  bool operator==(const BodyOffer&) const = default;
};

// It is on the sender's disk, synced, in this life of the sender. Forgotten by the receiver with that life.
struct BodyHeld {
  BodyHash hash;
  Life life{};
  std::uint64_t round = 0;  // of the last offer that it answers

  bool operator==(const BodyHeld&) const = default;
};

struct BodyWanted {
  BodyRef body;
  std::uint64_t offset = 0;  // of the piece; a multiple of kBodyPiece

  bool operator==(const BodyWanted&) const = default;
};

// The bytes from `offset` on: kBodyPiece of them, fewer at the end.
struct BodyPiece {
  BodyHash hash;
  std::uint64_t offset = 0;
  std::string bytes;

  bool operator==(const BodyPiece&) const = default;
};

// Not here (any more), or too much asked at once: ask another, or later.
struct BodyMissing {
  BodyHash hash;
  bool busy = false;  // it is here: later

  bool operator==(const BodyMissing&) const = default;
};

}  // namespace muster::cluster
