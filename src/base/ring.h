// A consistent hash ring of 2^32 positions: each node stands at kRingPlaces of them, and a key belongs to the node at
// or after its own position. The same set of nodes gives the same owners whatever the order in which they came; one
// node more or less moves about 1/n of the keys, and only to or from that node. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/node_id.h"

namespace muster::base {

class Ring {
 public:
  // False, and nothing changes, if the node is there already, is kNoNode, or would be one more than kMaxRingNodes.
  bool add(NodeId node);
  bool remove(NodeId node);  // false if it was not there

  bool contains(NodeId node) const;
  std::span<const NodeId> nodes() const { return nodes_; }  // ascending; valid until the ring changes

  // `key` is a hash_of() what is owned. kNoNode on an empty ring.
  NodeId owner(std::uint64_t key) const;

  // Up to `count` different nodes: the owner, its backup, and so on around the ring.
  std::vector<NodeId> owners(std::uint64_t key, std::size_t count) const;

  // The first of owners() for which live(node) holds; kNoNode if there is none.
  template <class Live>
  NodeId first_live(std::uint64_t key, Live&& live) const {
    for (const NodeId node : owners(key, nodes_.size())) {
      if (live(node)) return node;
    }
    return kNoNode;
  }

  bool operator==(const Ring& other) const { return nodes_ == other.nodes_; }

 private:
  struct Place {
    std::uint32_t position = 0;
    NodeId node = kNoNode;

    auto operator<=>(const Place&) const = default;
  };

  std::size_t place_of(std::uint64_t key) const;  // the ring must not be empty

  std::vector<Place> places_;  // ascending; two nodes at one position stand in the order of their ids
  std::vector<NodeId> nodes_;  // ascending
};

}  // namespace muster::base
