#include "report/html_output.h"

#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "report/atomic_file.h"
#include "report/figures.h"
#include "report/html_report.h"

namespace muster::report {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

// The text behind "name :" in one of the files of /proc.
std::string fact_of(const char* path, std::string_view name) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(name)) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) return {};
    const std::size_t text = line.find_first_not_of(" \t", colon + 1);
    return text == std::string::npos ? std::string() : line.substr(text);
  }
  return {};
}

// What bears on the figures and tells nothing private: neither the name of the machine nor of its user.
Facts host_facts() {
  Facts facts;
  utsname system{};
  if (uname(&system) == 0) {
    facts.emplace_back("System", fmt::format("{} {} {}", system.sysname, system.release, system.machine));
  }
  if (const long cores = sysconf(_SC_NPROCESSORS_ONLN); cores > 0) {
    facts.emplace_back("Processors", std::to_string(cores));
  }
  if (std::string processor = fact_of("/proc/cpuinfo", "model name"); !processor.empty()) {
    facts.emplace_back("Processor", std::move(processor));
  }
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) {
    facts.emplace_back("Memory", size_text(static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page)));
  }
  return facts;
}

class HtmlOutput : public Output {
 public:
  explicit HtmlOutput(std::string path) : path_(std::move(path)) {}

  base::Expected<void> open(const RunInfo& run) override {
    info_ = run;
    return check_writable(path_);
  }
  base::Expected<void> write(const model::RunResult&) override { return {}; }
  void compared(const Comparison& comparison) override { comparison_ = comparison; }
  base::Expected<void> finish(const model::RunResult& result) override {
    return write_atomically(path_, html_report(info_, result, comparison_ ? &*comparison_ : nullptr, host_facts()));
  }

 private:
  std::string path_;
  RunInfo info_;
  std::optional<Comparison> comparison_;
};

}  // namespace

OutputKind html_output() {
  OutputKind kind = file_output("html", "a report for people at the end of the run, one file that opens in any browser",
                                [](std::string path) { return std::make_unique<HtmlOutput>(std::move(path)); });
  kind.example = "html=report.html";
  return kind;
}

}  // namespace muster::report
