// The seam for VUs that are programmed in a scripting language. A script decides what its VU does next: call one of the
// workflow's steps, sleep, stop, end. The interpreter does it, records it, and asks again; so steps, checks, saves,
// data and results are the same as those of a workflow that is written down. A language is registered once and edits
// nothing here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "base/time.h"
#include "engine/program.h"
#include "engine/protocol.h"
#include "engine/split.h"
#include "model/job.h"
#include "model/result.h"
#include "model/value.h"

namespace muster::engine {

class Strand;
class Vu;

// What a script wants next.
struct ScriptAction {
  enum class Kind : std::uint8_t {
    kCall,    // a step: Program::callables[callable]
    kSleep,   // between `least` and `most`
    kFork,    // `branches` functions of its own at the same time; it is asked again when all have ended
    kStop,    // the iteration, the VU or the workflow: `scope`
    kEnd,     // its function returned
    kFail,    // its function failed; why was recorded where it happened. Its iteration ends `least` later
    kBroken,  // the script cannot go on at all; `ScriptHost::broken` was told why
  };
  Kind kind = Kind::kEnd;
  std::uint32_t callable = 0;
  std::uint32_t branches = 0;
  StopScope scope = StopScope::kIteration;
  bool failed = false;  // kStop: the iteration that ends with it has failed
  base::Duration least{};
  base::Duration most{};
  // kCall of an HTTP step: these bytes are sent in place of the step's own request, and so many responses belong to
  // them. Empty: the step's own. Valid until the script is asked again.
  std::string_view bytes = {};
  std::uint32_t answers = 1;
};

// How the step that a script called ended. The response, if there is one, can be read until the script is left.
struct StepReport {
  bool ok = true;
  bool partly_ok = false;                       // of several answers one before the last was good
  std::uint32_t status = 0;                     // of the step's last request; 0: it made none, or its protocol has none
  std::optional<model::ErrorClass> error = {};  // unless it is ok
  std::string_view detail;                      // and what happened
  base::Duration latency{};
  Response* response = nullptr;
};

// What a script may ask of its core. Calls are made only while the script runs.
class ScriptHost {
 public:
  // A line of the user's on standard error; limited in number, secrets redacted.
  virtual void log(std::string_view line) = 0;
  // Something worth telling at the end, counted by its text.
  virtual void note(std::string_view text) = 0;
  // The workflow cannot go on: its core ends, and it is failed for this reason.
  virtual void broken(std::string_view reason) = 0;
  virtual base::Random& random() = 0;
  virtual base::Instant now() const = 0;
  // Makes sure that the VU's iteration has its row of a feeder on demand. False: there is none left; stop the
  // iteration, and the VU ends.
  virtual bool row(Vu& vu, std::uint32_t feeder) = 0;
  // A stretch of the script that is measured as a whole has ended: `step` of the program's steps.
  virtual void transaction(std::uint32_t step, base::Instant began, bool ok) = 0;

 protected:
  ~ScriptHost() = default;
};

struct ScriptServices {
  const Program& program;
  ScriptHost& host;
  Slice slice;
};

// The script of one workflow on one core. All calls come from the core's thread.
class Script {
 public:
  virtual ~Script() = default;

  // Reads the script before the clock starts; may take its time.
  virtual base::Expected<void> open() = 0;
  // Runs the function of a list from its beginning to the first thing it wants.
  virtual ScriptAction begin(Strand& strand, VuList list) = 0;
  // Runs a branch of what `parent` forked, a function from 0 on, on a strand of its own.
  virtual ScriptAction begin_branch(Strand& /*branch*/, Strand& /*parent*/, std::uint32_t /*function*/) { return {}; }
  // Goes on after the step (`report`), the sleep or the fork (null) that it wanted.
  virtual ScriptAction resume(Strand& strand, const StepReport* report) = 0;
  // One of several responses to what the script sent has come, but not the last one.
  virtual void answered(Strand& /*strand*/, const StepReport& /*report*/) {}
  // The strand's function will not be gone on with.
  virtual void drop(Strand& strand) = 0;
  // The VU is over, or begins anew: what it kept is dropped.
  virtual void forget(Vu& vu) = 0;
  // After open(): "host:port" that this core's requests go to instead of their target's; empty: as planned.
  virtual std::string address() const { return {}; }
};

// Ends the workflow, and does not return: a function of its script did not come back. From any thread, while the one
// that called the function waits for it.
using GiveUp = std::function<void(const std::string& reason)>;

// The script of one workflow in one process: makes one Script for each core.
class ScriptProgram {
 public:
  virtual ~ScriptProgram() = default;

  // Before any core's script is made.
  virtual base::Expected<void> begin(std::uint32_t /*cores*/, const GiveUp& /*give_up*/) { return {}; }
  // On the core's thread. The program outlives the script.
  virtual std::unique_ptr<Script> make(const ScriptServices& services) = 0;
  // After all cores have ended, with their scripts still there.
  virtual base::Expected<void> end(const model::WorkflowResult& /*totals*/, const GiveUp& /*give_up*/) { return {}; }
};

class ScriptLanguage {
 public:
  virtual ~ScriptLanguage() = default;
  virtual std::unique_ptr<ScriptProgram> open(const Program& program) = 0;
};

class ScriptLanguages {
 public:
  void add(std::string name, std::shared_ptr<ScriptLanguage> language) {
    entries_.emplace_back(std::move(name), std::move(language));
  }
  ScriptLanguage* find(std::string_view name) const {
    for (const auto& [each, language] : entries_) {
      if (each == name) return language.get();
    }
    return nullptr;
  }

 private:
  std::vector<std::pair<std::string, std::shared_ptr<ScriptLanguage>>> entries_;
};

}  // namespace muster::engine
