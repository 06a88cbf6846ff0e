// How a run shows itself while it goes on (`--ui`), and what its user wants of it meanwhile. The loop that drives the
// run calls show() and wait() in turn, on one thread; neither may hold the run up.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "engine/engine.h"
#include "model/job.h"
#include "model/result.h"

namespace muster::console {

struct Wish {
  enum class Kind : std::uint8_t { kPause, kResume, kScale, kStop, kInterrupt };
  Kind kind = Kind::kStop;
  double factor = 1.0;  // kScale: of the load that the file asks for
};

class ProgressView {
 public:
  ProgressView() = default;
  ProgressView(const ProgressView&) = delete;
  ProgressView& operator=(const ProgressView&) = delete;
  virtual ~ProgressView() = default;

  virtual void show(const model::RunResult& snapshot) = 0;
  // The run was told to end; `text` says how.
  virtual void stopping(std::string_view text) = 0;
  // The process is about to stop (Ctrl-Z): the terminal is somebody else's until the next show().
  virtual void step_aside() {}
  // So long the load was held still, without a wish of the user's to pause it, and got no nearer to its end.
  virtual void stood_still(base::Duration) {}
  // Lets time pass, less than `longest` if the user wants something.
  virtual std::vector<Wish> wait(base::Duration longest) = 0;
  // Nothing is shown any more: what follows is printed as usual.
  virtual void end() = 0;
};

// The view that `ui` (auto, full, ci, none) and the surroundings ask for. An error is the user's to mend.
base::Expected<std::unique_ptr<ProgressView>> make_view(const std::string& ui, bool colour, const model::Job& job,
                                                        const engine::Registry& registry, std::uint32_t cores);

}  // namespace muster::console
