// For tests of Raft: what becomes of messages on their way. Links can be cut in one direction, and the weather makes
// messages late, lost or doubled.
#pragma once

#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "base/random.h"
#include "cores/raft_messages.h"

namespace muster::cores {

using Node = std::uint64_t;  // 1, 2 …
using Milliseconds = std::chrono::milliseconds;

struct RaftWeather {
  base::Duration least_delay = Milliseconds(1);
  base::Duration most_delay = Milliseconds(3);
  double loss = 0;
  double doubling = 0;
  base::Duration disk = Milliseconds(1);  // until a write is durable
};

class RaftNetwork {
 public:
  RaftWeather weather;
  std::function<bool(Node from, Node to, const RaftMessage&)> drop;  // true: the message is lost
  std::function<void(Node from, Node to, const RaftMessage&)> on_send;

  void cut(Node from, Node to) { cuts_.insert({from, to}); }  // one way
  void heal() { cuts_.clear(); }

 protected:
  bool is_cut(Node from, Node to) const { return cuts_.contains({from, to}); }

  // How long each copy of the message takes; none if it is lost.
  std::vector<base::Duration> delays(Node from, Node to, const RaftMessage& message, base::Random& random) const {
    std::vector<base::Duration> result;
    if (on_send) on_send(from, to, message);
    if (is_cut(from, to) || (drop && drop(from, to, message)) || random.unit() < weather.loss) return result;
    const int copies = random.unit() < weather.doubling ? 2 : 1;
    const auto spread = static_cast<std::uint64_t>((weather.most_delay - weather.least_delay).count()) + 1;
    for (int copy = 0; copy < copies; ++copy) {
      result.push_back(weather.least_delay + base::Duration(static_cast<base::Duration::rep>(random.below(spread))));
    }
    return result;
  }

 private:
  std::set<std::pair<Node, Node>> cuts_;
};

}  // namespace muster::cores
