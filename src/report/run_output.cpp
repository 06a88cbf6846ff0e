#include "report/run_output.h"

#include <memory>
#include <string>
#include <utility>

#include "report/atomic_file.h"
#include "store/packed_run.h"

namespace muster::report {
namespace {

class RunOutput : public Output {
 public:
  explicit RunOutput(std::string path) : path_(std::move(path)) {}

  base::Expected<void> open(const RunInfo&) override { return check_writable(path_); }
  base::Expected<void> write(const model::RunResult&) override { return {}; }
  base::Expected<void> finish(const model::RunResult& result) override {
    auto packed = store::pack(result);
    if (!packed) return std::unexpected(packed.error());
    return write_atomically(path_, *packed);
  }

 private:
  std::string path_;
};

}  // namespace

OutputKind run_output() {
  OutputKind kind = file_output("run", "the whole result in muster's own form, for a later --baseline FILE",
                                [](std::string path) { return std::make_unique<RunOutput>(std::move(path)); });
  kind.example = "run=result.run";
  return kind;
}

}  // namespace muster::report
