// How long the iterations of a script think. What a failed one passes over is not written down as it is in YAML: it is
// taken to be what whole ones have thought in the mean. One for each core of a workflow, on that core's thread.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/time.h"
#include "script/options.h"

namespace muster::script {

class Pace {
 public:
  // `thinks`: whether its script may think at all.
  explicit Pace(bool thinks) : first_(thinks ? kScriptLimits.first_think : base::Duration::zero()) {}

  // An iteration that did not fail thought so long.
  void add(base::Duration thought) {
    sum_ += static_cast<double>(thought.count());
    ++whole_;
  }

  // What one that failed and thought so long has still to wait before it ends.
  base::Duration owed(base::Duration thought) const {
    const base::Duration usual =
        whole_ == 0 ? first_ : base::Duration(static_cast<std::int64_t>(sum_ / static_cast<double>(whole_)));
    return std::max(usual - thought, base::Duration::zero());
  }

 private:
  base::Duration first_;
  double sum_ = 0;  // in ns: a hundred thousand VUs that think for a day are more than 64 bits hold
  std::uint64_t whole_ = 0;
};

}  // namespace muster::script
