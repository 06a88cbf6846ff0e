// The seam for protocols. A protocol is registered once under its StepKind's name; it works out before the clock starts
// all that is constant about a step (prepare), and makes one client for each core. A client starts calls and reports
// each one's outcome exactly once. Adding a protocol edits nothing else.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "authoring/holes.h"
#include "authoring/scope.h"
#include "base/error.h"
#include "base/time.h"
#include "model/job.h"
#include "model/result.h"
#include "model/value.h"
#include "reactor/loop.h"
#include "reactor/resolver.h"

namespace muster::engine {

class Vu;
struct CallPlan;
struct Program;

// What a call will put on the wire, as far as it is known before the run. Told by `muster explain`.
struct CallOutline {
  std::vector<authoring::TextPiece> wire;  // constant bytes, and holes by their expressions; empty: not told
  std::string connections;                 // to where, and how long they live; empty: not told
  std::size_t connection_bytes = 0;        // memory that an open connection takes, as measured; 0: not known
};

// What a protocol worked out about one step. Read by all cores at once.
class PreparedCall {
 public:
  virtual ~PreparedCall() = default;
  // Not called while a run goes on. A protocol that has nothing to tell leaves it out.
  virtual CallOutline outline() const { return {}; }
};

// The response of a call while it is being judged: gives the results that its StepKind promises.
class Response {
 public:
  virtual ~Response() = default;
  // `result` is a position in StepKind::results; `rest` what follows it in the path. Texts live in `arena`.
  virtual model::Value result(std::size_t result, const authoring::Path& rest, base::Arena& arena) = 0;
  // Why no such result could be read at all, for people: a body that is no JSON. Empty: it could. Asked after result().
  virtual std::string trouble(std::size_t /*result*/) { return {}; }
  // Whether something of it could not be decoded, so that nobody knows what it says. Asked after result().
  virtual bool garbled() const { return false; }
};

// The bytes of one request and its answer, as `muster try` shows them.
struct Exchange {
  std::string request;
  std::string reply;
};

struct Outcome {
  bool ok = true;  // transport and framing; `expect` and checks are judged on top of it
  model::ErrorClass error = model::ErrorClass::kConnect;
  std::uint32_t status = 0;  // of the protocol; 0: it has none
  std::uint64_t bytes_in = 0;
  std::uint64_t bytes_out = 0;
  std::uint32_t connections = 0;  // opened for this call
  base::Instant finished{};
  std::array<base::Duration, model::kPhases> phases;  // negative: did not happen
  Response* response = nullptr;
  std::string_view detail;   // why it failed
  bool unsent = false;       // it failed before any of `request` was sent
  std::string_view request;  // first bytes of both sides, for a sample; may be empty
  std::string_view reply;
  const std::vector<Exchange>* earlier = nullptr;  // traced: those that led to this one, by redirects

  Outcome() { phases.fill(base::Duration(-1)); }
};

// One call under way. Lives in the VU's strand, from call() to finished().
struct Call {
  const CallPlan* plan = nullptr;
  Vu* vu = nullptr;
  base::Instant intended{};  // when it should have started
  base::Instant started{};
  void* transport = nullptr;  // the client's own, e.g. its connection
  std::string_view bytes;     // of a script's: sent in place of the plan's request; empty: the plan's
  std::uint32_t answers = 1;  // responses that belong to `bytes`
};

// Where a client reports to.
class CallHost {
 public:
  // May start the VU's next call before it returns, on the same client.
  virtual void finished(Call& call, Outcome& outcome) = 0;
  // What expressions of `vu` see.
  virtual const authoring::Evaluation& evaluation(Vu& vu) = 0;
  // One of several answers to a call, but not the last one.
  virtual void answered(Call& /*call*/, Outcome& /*outcome*/) {}
  // A kept connection was closed without an answer, and the call goes on with a new one.
  virtual void sent_again(const Call& /*call*/) {}

 protected:
  ~CallHost() = default;
};

// What a client of one core may use.
struct CoreServices {
  reactor::Loop& loop;
  CallHost& host;
  reactor::ResolverThread& resolver;
  const Program& program;  // whose calls the client will be given
  std::uint32_t core = 0;
  std::uint32_t cores = 1;
  bool trace = false;  // `muster try`: report the bytes on the wire
};

class Client {
 public:
  virtual ~Client() = default;

  // Done once on the core's thread before the first call; blocking is allowed.
  virtual base::Expected<void> open() = 0;
  // Starts a call. Returns false if it failed at once; then `outcome` says why and finished() is not called.
  virtual bool call(Call& call, Outcome& outcome) = 0;
  // What a call that is under way has moved so far, for one that is about to be cancelled.
  virtual void measure(const Call& /*call*/, Outcome& /*outcome*/) const {}
  // Ends a call that is under way without reporting it.
  virtual void cancel(Call& call) = 0;
  // The VU begins a new iteration, or is over: connections and the like that do not outlive it are dropped.
  virtual void iteration_ended(Vu& vu, bool drop_everything) = 0;
};

// What prepare() may use to compile texts of a step.
struct PrepareContext {
  const model::Job& job;
  const model::Target* target;  // of the step; null if the job has none for it
  authoring::Scope& scope;
  std::uint64_t seed = 0;  // of the workflow in this run: for bytes that nobody shall know before it
};

class Protocol {
 public:
  virtual ~Protocol() = default;
  // Errors are the user's to mend: they name the step.
  virtual base::Expected<std::unique_ptr<PreparedCall>> prepare(const model::Step& step, PrepareContext& context) = 0;
  virtual std::unique_ptr<Client> make_client(const CoreServices& services) = 0;
};

class Protocols {
 public:
  void add(std::string kind, std::shared_ptr<Protocol> protocol) {
    entries_.emplace_back(std::move(kind), std::move(protocol));
  }
  Protocol* find(std::string_view kind) const {
    for (const auto& [name, protocol] : entries_) {
      if (name == kind) return protocol.get();
    }
    return nullptr;
  }

 private:
  std::vector<std::pair<std::string, std::shared_ptr<Protocol>>> entries_;
};

// The protocols that muster itself brings.
Protocols built_in_protocols();

}  // namespace muster::engine
