// The machine as a simulated process sees it: what happens to it (Process) and what it may ask for (Host). A process is
// the shell around pure cores; it lives from start() until its node crashes, and the next life is a new object that
// finds only what its disk kept. All calls come from the simulator's one thread; a Host& is valid during the call only.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/node_id.h"
#include "base/random.h"
#include "base/time.h"

namespace muster::sim {

// Where a node can be reached. Addresses are never given out twice in one run; a restart may bring a new one.
enum class Address : std::uint32_t {};

enum class Channel : std::uint8_t {
  kDatagram,  // may be lost, doubled, late and out of order
  kStream,    // frames arrive whole and in order, or the connection breaks and what was under way is lost
};

// One datagram, or one frame of a stream. The bytes are valid during the call.
struct Packet {
  Address from;         // where it came from; answers go there
  base::NodeId sender;  // whom the envelope names
  Channel channel;
  std::string_view bytes;
  // False if the bytes are not what the sender sent, and only a fault let them past the envelope: a process decodes
  // them, to show that it bears it, and does not act on what it understood.
  bool authentic = true;
  // When it was sent, since the start of the run. An envelope says so, and shells refuse what is too old.
  base::Duration sent{};
};

// The file of a node's log.
inline constexpr std::string_view kJournal = "journal";

// More than any life can need for its refutations.
inline constexpr std::uint64_t kIncarnationsPerLife = 1u << 20;

// Names one write; rises with every write of one life.
enum class WriteTicket : std::uint64_t {};

class Host {
 public:
  virtual ~Host() = default;

  virtual base::NodeId self() const = 0;
  virtual Address address() const = 0;
  // How often this node was started before, from 0.
  virtual std::uint64_t life() const = 0;

  // The node's monotonic clock: never goes back within one life, but may run fast or slow and may leap ahead. It begins
  // anew at an arbitrary point in every life.
  virtual base::Instant now() const = 0;
  // The node's wall clock since the epoch; may leap both ways.
  virtual base::Duration wall_clock() const = 0;
  // A generator of the node's own, seeded anew in every life.
  virtual base::Random& random() = 0;

  // wake() is called once, when now() has reached `at`. A process has one alarm: setting it replaces it, also from
  // wake(). base::kNever takes it back.
  virtual void alarm(base::Instant at) = 0;

  // Sending never fails at once and tells nothing of arrival. The first frame to an address opens a stream, the same
  // one that carries the peer's frames; after closed() the next frame opens another. Datagrams longer than kMaxDatagram
  // (options.h) and what exceeds the bound of a stream's buffer are dropped.
  virtual void send(Address to, Channel channel, std::string bytes) = 0;
  // Ends the stream to this address, if there is one; the peer is told.
  virtual void close(Address peer) = 0;
  // Where a node is to be found, as name resolution says: nothing if that fails, an old address if it lags behind.
  virtual std::optional<Address> resolve(base::NodeId node) = 0;

  // Writes to files of the node's disk, carried out in the order in which they were asked for and answered by
  // written(). Until then a crash may keep all of a write, none of it or, for append(), its beginning; never a later
  // write without the earlier ones. replace() is atomic. Once a write fails, those asked for before its answer fail,
  // too.
  virtual WriteTicket append(std::string_view file, std::string bytes) = 0;
  virtual WriteTicket replace(std::string_view file, std::string bytes) = 0;
  // Cuts a file to its first `size` bytes; a file that is shorter stays as it is. Atomic.
  virtual WriteTicket truncate(std::string_view file, std::size_t size) = 0;
  // What the disk holds; empty for a file that does not exist. Within start() that is what survived; later it lacks the
  // writes that were not answered yet. Valid until the call ends.
  virtual std::string_view contents(std::string_view file) const = 0;
  // The names of the files that the disk holds and that are not empty, ascending.
  virtual std::vector<std::string> files() const = 0;

  // Ends this life, as a failed assertion or fail-stop would: the node is down until a fault plan restarts it.
  virtual void halt(std::string_view reason) = 0;

  // Whether notes are kept: only then is it worth making them.
  virtual bool traced() const = 0;
  virtual void note(std::string text) = 0;

  template <class... Args>
  void trace(fmt::format_string<Args...> format, Args&&... args) {
    if (traced()) note(fmt::format(format, std::forward<Args>(args)...));
  }
};

class Process {
 public:
  virtual ~Process() = default;

  virtual void start(Host& host) = 0;
  virtual void receive(Host& host, const Packet& packet) = 0;
  virtual void wake(Host& host) = 0;
  // The write is durable, or it failed: then any beginning of it may be on the disk, and so may all of it. Answers come
  // in the order of the writes.
  virtual void written(Host& host, WriteTicket ticket, bool ok) = 0;
  // The stream with this peer broke: what was sent and not yet received is lost. Not told for half-open connections.
  virtual void closed(Host& /*host*/, Address /*peer*/) {}
};

}  // namespace muster::sim
