// The network between the nodes: takes packets, decides what becomes of them and puts deliveries on the agenda. Nodes
// are known here by their index. Owned by the kernel; its own generator draws every loss and delay.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "sim/agenda.h"
#include "sim/options.h"
#include "sim/process.h"

namespace muster::sim {

// How bad the links of a node are, each as a share of its packets; where two nodes meet, the worse counts.
struct Noise {
  double loss = 0;
  double duplicate = 0;
  double reorder = 0;
  double replay = 0;
  double corrupt = 0;
  bool raw = false;        // corrupted packets pass the envelope and reach the process
  std::int64_t delay = 0;  // mean of an exponential added to every packet, nanoseconds
};

struct Traffic {
  std::uint64_t sent = 0;
  std::uint64_t lost = 0;  // by noise, cuts, full buffers and addresses where nobody is
  std::uint64_t duplicated = 0;
  std::uint64_t replayed = 0;
  std::uint64_t corrupted = 0;  // dropped for a broken envelope, or handed through raw
  std::uint64_t streams_broken = 0;
};

// A set of nodes by index.
class NodeSet {
 public:
  void add(std::uint32_t node) {
    if (node / 64 >= words_.size()) words_.resize(node / 64 + 1);
    words_[node / 64] |= std::uint64_t{1} << (node % 64);
  }
  bool has(std::uint32_t node) const {
    return node / 64 < words_.size() && ((words_[node / 64] >> (node % 64)) & 1) != 0;
  }

 private:
  std::vector<std::uint64_t> words_;
};

class Network {
 public:
  Network(Agenda& agenda, const NetworkOptions& options, std::uint64_t seed);

  // Nodes are added in the order of their indices, down, and get an address when they come up.
  void add(base::NodeId id, std::uint32_t site);
  void up(std::uint32_t node, bool moved);
  // Breaks the node's streams. With half_open nobody is told: peers find out by talking to the next life, or by
  // patience.
  void down(std::uint32_t node, bool half_open);
  Address address(std::uint32_t node) const { return nodes_[node].address; }
  Address previous_address(std::uint32_t node) const { return nodes_[node].previous; }

  void send(std::uint32_t from, Address to, Channel channel, std::string bytes);
  void close(std::uint32_t from, Address peer);
  // Bytes from nowhere, in another's name; authentic if that node did send them once, and then also when.
  void forge(base::NodeId sender, Address from, std::uint32_t to, Channel channel, std::string bytes, bool authentic,
             base::Duration sent = {});

  // Whether this packet, whose time has come, reaches its node; if not it was held back or dropped.
  bool arrives(Event& event);
  void retry(const Event& event);

  // Packets from one of `from` to one of `to` are stopped until the cut is mended. Datagrams are lost, streams wait.
  std::uint32_t cut(NodeSet from, NodeSet to);
  void mend(std::uint32_t cut);
  void mend_all() { cuts_.clear(); }
  bool connected(std::uint32_t from, std::uint32_t to) const;

  Noise& noise() { return everywhere_; }
  Noise& noise(std::uint32_t node);  // of this node's links, beside what is everywhere
  void hush();                       // no noise anywhere

  // The packets of all streams of the node vanish from now on, and nobody is told.
  void sever(std::uint32_t node);
  // Both ends of such streams are told that they broke.
  void end_severed();

  const Traffic& traffic() const { return traffic_; }

 private:
  struct Node {
    base::NodeId id;
    std::uint32_t site;
    Address address{};
    Address previous{};
    std::uint64_t life = 0;
    bool up = false;
    bool noisy = false;
  };
  struct Way {
    std::int64_t last_arrival = 0;
    std::size_t bytes = 0;
    std::vector<std::uint32_t> held;  // events that wait behind a cut
    std::int64_t held_till = 0;
    std::int64_t pause = 0;
  };
  // Between two nodes, lower index first. A place is reused under a new life.
  struct Stream {
    std::uint32_t ends[2] = {0, 0};
    std::uint64_t lives[2] = {0, 0};  // of the nodes when it opened
    Address addresses[2] = {};
    std::uint64_t life = 0;
    bool open = false;
    bool severed = false;
    Way ways[2];
  };
  struct Cut {
    std::uint32_t name;
    NodeSet from;
    NodeSet to;
  };
  struct Remembered {
    std::uint32_t to;
    Address from;
    base::NodeId sender;
    Channel channel;
    std::int64_t sent;
    std::string bytes;
  };

  Noise noise_between(std::uint32_t from, std::uint32_t to) const;
  bool chance(double share) { return share > 0 && random_.unit() < share; }
  std::int64_t travel(std::uint32_t from, std::uint32_t to, const Noise& noise);
  void send_datagram(Event&& event, const Noise& noise);
  void send_frame(Event&& event, const Noise& noise);
  bool spoil(Event& event, const Noise& noise);
  void replay(const Event& event, const Noise& noise);
  void hold(Event& event, Stream& stream, Way& way);
  std::uint32_t stream_between(std::uint32_t from, std::uint32_t to);
  void break_stream(std::uint32_t index, bool tell_first, bool tell_second);
  void refuse(std::uint32_t from, Address to, std::uint32_t target);
  void tell_closed(std::uint32_t node, std::uint64_t life, Address peer);
  void try_again(std::uint32_t stream, std::uint32_t direction, std::int64_t pause);
  void await_patience(std::uint32_t stream);
  std::int64_t patience();

  Agenda* agenda_;
  NetworkOptions options_;
  base::Random random_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> owners_;  // of addresses; 0 is nobody's
  Noise everywhere_;
  std::vector<Noise> noises_;
  std::vector<Cut> cuts_;
  std::uint32_t cuts_named_ = 0;
  std::vector<Stream> streams_;
  std::vector<std::uint32_t> free_streams_;
  std::unordered_map<std::uint64_t, std::uint32_t> stream_of_;  // by the pair of nodes; never iterated
  std::vector<Remembered> memory_;
  std::size_t memory_next_ = 0;
  Traffic traffic_;
};

}  // namespace muster::sim
