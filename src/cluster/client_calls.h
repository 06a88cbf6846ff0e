// What a client has asked and not yet been told: which gate it asked last, when it asks the next one, and when it gives
// up, with the error that it met last. A redirect is followed, what is limited or shed is asked again after a while,
// and so is what found no quorum, elsewhere; a refusal is an answer. Bounded. Owned by the client.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "base/random.h"
#include "base/ring.h"
#include "base/time.h"
#include "cluster/effects.h"
#include "cluster/gate_options.h"
#include "cluster/ids.h"
#include "cluster/messages.h"
#include "resilience/retry.h"

namespace muster::cluster {

enum class CallKind : std::uint8_t { kSubmit, kFollow, kStatus, kCancel, kDatacenters };

struct CallName {
  CallKind kind = CallKind::kStatus;
  JobId job{};

  auto operator<=>(const CallName&) const = default;
};

class ClientCalls {
 public:
  // `seeds`: gates to begin with, and to fall back to.
  ClientCalls(std::vector<NodeId> seeds, std::uint64_t seed, const ClientOptions& options);

  // The gates on the ring, as one of them said.
  void ring(const Ring& ring);
  // Who owns the job, as far as is known.
  void owner(JobId job, NodeId gate) { owners_[job] = gate; }
  NodeId owner(JobId job) const;
  // The job was taken on: who does not know it lags, or says what was true once.
  void taken_on(JobId job) { taken_on_.insert(job); }
  void forget(JobId job);

  // Begins, or begins anew. False if there are too many.
  bool begin(const CallName& name, Message message, base::Instant now, Effects& effects);
  bool under_way(const CallName& name) const { return calls_.contains(name); }
  void cancel(const CallName& name) { calls_.erase(name); }

  // An answer came. True if it is final, good or bad: the call is over. Otherwise it goes on by itself. A submission
  // may also be accepted by a gate that was passed over meanwhile.
  bool answered(const CallName& name, NodeId from, Answer answer, NodeId leader, base::Duration retry_after,
                base::Instant now, Effects& effects);
  // Something came from this gate, whatever it was: it lives, and may take its time over a submission.
  void heard(NodeId gate);
  // The connection to this gate is gone: what was asked there is asked elsewhere at once.
  void lost(NodeId gate, base::Instant now, Effects& effects);

  struct GaveUp {
    CallName name;
    // The last error; nothing if no gate answered. A quorum time-out if the outcome is open.
    std::optional<Answer> last;
  };
  // Asks again what is due; gives back what is given up.
  std::vector<GaveUp> wake(base::Instant now, Effects& effects);
  base::Instant deadline() const;

 private:
  struct Call {
    Message message;
    resilience::Retry retry;
    base::Instant give_up{};
    base::Instant due{};
    NodeId gate = kNoNode;  // that was asked; kNoNode while waiting
    base::Instant asked{};
    base::Instant patience{};   // until when it may take to answer
    NodeId next = kNoNode;      // to be asked, if it was named
    std::vector<NodeId> round;  // whom to ask in turn
    std::size_t position = 0;   // in that
    std::uint32_t hops = 0;     // redirects in a row
    std::optional<Answer> last;
    bool open = false;  // a gate that did not say no may have taken it on
    bool over = false;  // the budget is spent
  };

  std::vector<NodeId> candidates(JobId job) const;
  void silent(NodeId gate, base::Instant now);
  void ask(const CallName& name, Call& call, base::Instant now, Effects& effects);
  void pause(Call& call, base::Instant now);
  void again(Call& call, bool elsewhere, base::Duration at_least, base::Instant now);

  std::vector<NodeId> seeds_;
  base::Random random_;
  ClientOptions options_;
  base::Ring ring_;
  std::map<JobId, NodeId> owners_;
  std::set<JobId> taken_on_;
  std::map<NodeId, base::Instant> silent_;  // since when; those that were heard since are not in it; ≤ 2 · kMaxGates
  std::map<CallName, Call> calls_;
};

}  // namespace muster::cluster
