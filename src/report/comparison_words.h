// A comparison's figures as people read them; shared by the terminal, the summary and --fail-if. Pure.
#pragma once

#include <string>

#include "report/comparison.h"

namespace muster::report {

// "+12%", "-0.5%", "+1,250%", "0%": three significant digits at most.
std::string signed_percent(double fraction);

// A change in the unit that its delta has: "+12%", or for shares "+1.5 points".
std::string change_text(const Delta& delta, double change);

// "p95 rose by 12% (95%: +9.8% to +14%)".
std::string change_sentence(const Delta& delta);

// A value of the delta: "12.3ms", "1,234/s", "0.5%".
std::string value_text(const Delta& delta, double value, bool unicode);

// "step 'login': p95", or "p95" for the whole run.
std::string metric_text(const Delta& delta);

}  // namespace muster::report
