#include "report/json_output.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "report/atomic_file.h"
#include "report/summary_json.h"

namespace muster::report {
namespace {

class JsonOutput : public Output {
 public:
  explicit JsonOutput(std::string path) : path_(std::move(path)) {}

  base::Expected<void> open(const RunInfo&) override { return check_writable(path_); }
  base::Expected<void> write(const model::RunResult&) override { return {}; }
  void compared(const Comparison& comparison) override { comparison_ = comparison; }
  base::Expected<void> finish(const model::RunResult& result) override {
    return write_atomically(path_, summary_json(result, comparison_ ? &*comparison_ : nullptr));
  }

 private:
  std::string path_;
  std::optional<Comparison> comparison_;
};

}  // namespace

OutputKind json_output() {
  OutputKind kind = file_output("json", "a summary for scripts at the end of the run",
                                [](std::string path) { return std::make_unique<JsonOutput>(std::move(path)); });
  kind.example = "json=result.json";
  return kind;
}

}  // namespace muster::report
