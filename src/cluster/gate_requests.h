// What clients ask of a gate, and how it answers: submissions, status, cancellation, reconnection, datacenters. Limits
// count per client, and across gates as far as the log tells of the others' requests. Every refusal says what it is and
// when to come again; whoever asks the wrong gate is told the right one. Owned by the gate.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/time.h"
#include "cluster/gate_desk.h"
#include "cluster/gate_followers.h"
#include "cluster/gate_submissions.h"
#include "cluster/messages.h"
#include "resilience/rate_limiter.h"

namespace muster::cluster {

class GateRequests {
 public:
  // `client` is whom the connection's credential names, whatever the message says.
  void on(GateDesk& desk, NodeId from, ClientId client, const Submit& message);
  void on(GateDesk& desk, NodeId from, ClientId client, const StatusAsk& message);
  void on(GateDesk& desk, NodeId from, ClientId client, const Cancel& message);
  // True if it follows the job from now on.
  bool on(GateDesk& desk, NodeId from, ClientId client, const Reconnect& message);
  void on(GateDesk& desk, NodeId from, ClientId client, const DatacentersAsk& message);
  void on(GateDesk& desk, NodeId from, ClientId client, const EndAck& message);

  // What the log decided; `own` if this gate proposed it and still waited.
  void applied(GateDesk& desk, const JobSubmitted& command, Verdict verdict, bool own);
  void applied(GateDesk& desk, const JobCancelled& command, Verdict verdict, bool own);
  // Proposals given up, whose outcome is open.
  void timed_out(GateDesk& desk, const JobSubmitted& command) { submissions_.timed_out(desk, command.job); }
  void timed_out(GateDesk& desk, const JobCancelled& command);

  base::Instant step(GateDesk& desk) { return submissions_.step(desk); }
  std::size_t submissions() const { return submissions_.size(); }

 private:
  // Nothing if the request may pass; else what to answer. `retry_after` is set if it is to be waited for.
  bool limited(GateDesk& desk, JobId job, ClientId client, resilience::Operation operation,
               base::Duration& retry_after);
  Answer unavailable(const GateDesk& desk) const;  // kAccepted if the log can be asked
  void tell_cancellers(GateDesk& desk, JobId job, Answer answer, bool keep);

  GateSubmissions submissions_;
  resilience::RateLimiter limiter_;
  std::map<JobId, std::vector<NodeId>> cancellers_;  // wait for the request to be committed
};

}  // namespace muster::cluster
