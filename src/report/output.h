// The seam for outputs (`--out name=argument`): where a run's numbers go beside the screen. An output is one file, one
// class and one registration. All calls come from one thread, the one that drives the run, in the order open, any
// number of write, at most one compared, finish; after a failed open there are none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "model/result.h"
#include "report/comparison.h"

namespace muster::report {

// What is known of a run before it begins.
struct RunInfo {
  std::string job;
  std::string version;  // of muster
  std::uint64_t seed = 0;
  base::Duration started{};  // time of day since 1970
  std::string source;        // the text of the job, as the user wrote it; never holds the value of a secret
};

class Output {
 public:
  Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  virtual ~Output() = default;

  // May look whether what it needs is there, and says so before a long run rather than after it.
  virtual base::Expected<void> open(const RunInfo& run) = 0;
  // A merged snapshot while the run goes on; cumulative. Must return soon and keep a bounded amount of memory.
  virtual base::Expected<void> write(const model::RunResult& snapshot) = 0;
  // How the run compares with an earlier one; before finish, and only where the user named one.
  virtual void compared(const Comparison&) {}
  // The final result, with verdict, thresholds and marks.
  virtual base::Expected<void> finish(const model::RunResult& result) = 0;
};

struct OutputKind {
  std::string name;
  std::string doc;  // one sentence without a full stop, for `--help` and `muster outputs`
  // Reads what stands after `name=`; "" when there is no "=".
  std::function<base::Expected<std::unique_ptr<Output>>(std::string argument)> make;
  std::string argument = {};      // how that is written: "FILE"; empty: none is needed
  std::string argument_doc = {};  // what it means
  bool to_file = false;           // the argument is a file, "-" for standard output, that no other output may write to
  std::string example = {};       // what a user may write after --out
};

// A kind whose argument is the file that it writes, "-" being standard output.
OutputKind file_output(std::string name, std::string doc,
                       std::function<std::unique_ptr<Output>(std::string path)> make);

class OutputSet;

// What no output may write over.
struct InputFiles {
  std::string test;                       // the file that is run; empty: there is none
  std::vector<std::string> read = {};     // what it reads beside itself: data, bodies, included files
  std::string baseline = {};              // the file of an earlier run to compare with; empty: there is none
  std::vector<std::string> history = {};  // where the runs are kept
};

// The outputs that may be named. A plain object: filled at start, then only read.
class Outputs {
 public:
  void add(OutputKind kind) { kinds_.push_back(std::move(kind)); }
  const std::vector<OutputKind>& all() const { return kinds_; }

  // From what the user wrote after --out: "json=result.json".
  base::Expected<std::unique_ptr<Output>> make(std::string_view written) const;
  // All outputs of a run, none of which writes to the place of another or over one of `inputs`.
  base::Expected<OutputSet> make_all(const std::vector<std::string>& written, const InputFiles& inputs) const;

 private:
  base::Expected<const OutputKind*> find(std::string_view written) const;

  std::vector<OutputKind> kinds_;
};

// Those that muster itself brings.
Outputs built_in_outputs();

// The outputs of one run. What goes wrong in one of them, also an exception, stays in it and is told at the end;
// neither the run nor the other outputs notice.
class OutputSet {
 public:
  void add(std::string written, std::unique_ptr<Output> output);

  void open(const RunInfo& run);
  void write(const model::RunResult& snapshot);
  void compared(const Comparison& comparison);
  void finish(const model::RunResult& result);

  bool empty() const { return entries_.empty(); }
  // One of them writes to standard output: nothing else may.
  bool takes_standard_output() const { return takes_standard_output_; }
  // The output that was added last does.
  void take_standard_output();
  // One sentence for each output that had trouble; may be asked at any time.
  std::vector<std::string> problems() const;
  // The same without the one that writes to standard output, for who does not mind that its reader has gone.
  std::vector<std::string> problems_elsewhere() const;

 private:
  struct Entry {
    std::string written;
    std::unique_ptr<Output> output;
    bool standard_output = false;
    bool closed = false;         // its open or finish failed or is done: not called again
    std::string first_problem;   // empty: none
    std::uint64_t problems = 0;  // how often something went wrong
  };

  template <class Call>
  static bool guarded(Entry& entry, Call&& call);
  static std::string problem_of(const Entry& entry);

  std::vector<Entry> entries_;
  bool takes_standard_output_ = false;
};

}  // namespace muster::report
