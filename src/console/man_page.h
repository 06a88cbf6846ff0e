// The manual pages, made from the CLI11 app: muster(1) and one for each command, muster-run(1). Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "console/app_outline.h"

namespace muster::console {

struct ManPage {
  std::string name;  // "muster-run"
  std::string text;  // roff, for the man macros
};

// The page of `app` itself and of every visible command below it.
std::vector<ManPage> man_pages(const CLI::App& app);

}  // namespace muster::console
