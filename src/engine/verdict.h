// The last word on a run: its verdict, the exit code that scripts see, and one sentence that says why. Pure.
#pragma once

#include <string>

#include "model/result.h"

namespace muster::engine {

// What `muster run` may exit with; bad input (2) ends before there is a run to judge.
constexpr int kExitGood = 0;
constexpr int kExitError = 1;          // the run could not be done
constexpr int kExitFailed = 99;        // a threshold failed, or every request, iteration or `start`; nothing counted
constexpr int kExitInterrupted = 130;  // the user ended it

struct VerdictOptions {
  bool interrupted = false;  // the user asked for the end (Ctrl-C, a command)
  bool strict = false;       // a marked result is an error
  bool warm_up = false;      // some workflow has one: requests may have been made that were not counted
};

struct Conclusion {
  model::Verdict verdict = model::Verdict::kPassed;
  int exit_code = kExitGood;
  std::string reason;
};

// From the workflows, final thresholds and marks of `result`. Where several apply, what could not be done weighs most,
// then an interruption, then what failed, then marks.
Conclusion conclude(const model::RunResult& result, const VerdictOptions& options);

}  // namespace muster::engine
