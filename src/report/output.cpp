#include "report/output.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "report/html_output.h"
#include "report/json_output.h"
#include "report/run_output.h"

namespace muster::report {

base::Expected<std::unique_ptr<Output>> Outputs::make(std::string_view written) const {
  const std::size_t equals = written.find('=');
  const std::string_view name = written.substr(0, equals);
  std::string argument(equals == std::string_view::npos ? std::string_view() : written.substr(equals + 1));
  std::string names;
  for (const OutputKind& kind : kinds_) {
    if (kind.name == name) return kind.make(std::move(argument));
    names += (names.empty() ? "" : ", ") + kind.name;
  }
  return base::fail(fmt::format("--out {}: there is no output named '{}'; there are: {}", written, name, names));
}

Outputs built_in_outputs() {
  Outputs outputs;
  outputs.add(html_output());
  outputs.add(json_output());
  outputs.add(run_output());
  return outputs;
}

void OutputSet::add(std::string written, std::unique_ptr<Output> output) {
  Entry& entry = entries_.emplace_back();
  entry.written = std::move(written);
  entry.output = std::move(output);
}

template <class Call>
bool OutputSet::guarded(Entry& entry, Call&& call) {
  std::string problem;
  try {
    base::Expected<void> done = call(*entry.output);
    if (done) return true;
    problem = std::move(done.error().message);
  } catch (const std::exception& thrown) {
    problem = thrown.what();
  } catch (...) {
    problem = "it threw something that is no std::exception";
  }
  if (entry.problems++ == 0) entry.first_problem = std::move(problem);
  return false;
}

void OutputSet::open(const RunInfo& run) {
  for (Entry& entry : entries_) {
    entry.closed = !guarded(entry, [&](Output& output) { return output.open(run); });
  }
}

void OutputSet::write(const model::RunResult& snapshot) {
  for (Entry& entry : entries_) {
    if (!entry.closed) guarded(entry, [&](Output& output) { return output.write(snapshot); });
  }
}

void OutputSet::compared(const Comparison& comparison) {
  for (Entry& entry : entries_) {
    if (entry.closed) continue;
    guarded(entry, [&](Output& output) -> base::Expected<void> {
      output.compared(comparison);
      return {};
    });
  }
}

void OutputSet::finish(const model::RunResult& result) {
  for (Entry& entry : entries_) {
    if (entry.closed) continue;
    guarded(entry, [&](Output& output) { return output.finish(result); });
    entry.closed = true;
  }
}

std::vector<std::string> OutputSet::problems() const {
  std::vector<std::string> told;
  for (const Entry& entry : entries_) {
    if (entry.problems == 0) continue;
    const std::string more = entry.problems > 1 ? fmt::format(" ({} times in all)", entry.problems) : std::string();
    told.push_back(fmt::format("--out {}: {}{}", entry.written, entry.first_problem, more));
  }
  return told;
}

}  // namespace muster::report
