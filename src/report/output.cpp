#include "report/output.h"

#include <fmt/format.h>

#include <exception>
#include <map>
#include <utility>

#include "base/closest.h"
#include "report/atomic_file.h"
#include "report/command_output.h"
#include "report/csv_output.h"
#include "report/html_output.h"
#include "report/json_output.h"
#include "report/junit_output.h"
#include "report/ndjson_output.h"
#include "report/run_output.h"

namespace muster::report {
namespace {

constexpr std::string_view kStandardOutput = "-";

std::string argument_of(std::string_view written) {
  const std::size_t equals = written.find('=');
  return std::string(equals == std::string_view::npos ? std::string_view() : written.substr(equals + 1));
}

std::string place_of(const std::string& file) {
  if (file == kStandardOutput || file == "/dev/stdout" || file == "/dev/fd/1" || file == "/proc/self/fd/1") {
    return std::string(kStandardOutput);
  }
  return identity_of(file);
}

// Place → what an output that writes there would write over, as messages call it.
std::map<std::string, std::string> places_of(const InputFiles& inputs) {
  std::map<std::string, std::string> places;
  if (!inputs.test.empty()) places.emplace(identity_of(inputs.test), "the test itself");
  for (const std::string& file : inputs.read) {
    places.emplace(identity_of(file), fmt::format("'{}', which the test reads", file));
  }
  if (!inputs.baseline.empty()) {
    places.emplace(identity_of(inputs.baseline), fmt::format("'{}', which --baseline compares with", inputs.baseline));
  }
  for (const std::string& file : inputs.history) {
    places.emplace(identity_of(file), fmt::format("'{}', where muster keeps its runs", file));
  }
  return places;
}

}  // namespace

base::Expected<const OutputKind*> Outputs::find(std::string_view written) const {
  const std::string_view name = written.substr(0, written.find('='));
  std::vector<std::string> names;
  for (const OutputKind& kind : kinds_) {
    if (kind.name == name) return &kind;
    names.push_back(kind.name);
  }
  std::string hint = base::did_you_mean(name, names);
  if (hint.empty()) hint = fmt::format("; there are: {}", fmt::join(names, ", "));
  return base::fail(fmt::format("--out {}: there is no output named '{}'{}", written, name, hint));
}

base::Expected<std::unique_ptr<Output>> Outputs::make(std::string_view written) const {
  auto kind = find(written);
  if (!kind) return std::unexpected(kind.error());
  return (*kind)->make(argument_of(written));
}

base::Expected<OutputSet> Outputs::make_all(const std::vector<std::string>& written, const InputFiles& inputs) const {
  OutputSet set;
  if (written.empty()) return set;
  const std::map<std::string, std::string> sources = places_of(inputs);
  std::map<std::string, std::string> places;  // place → who writes to it
  for (const std::string& each : written) {
    auto kind = find(each);
    if (!kind) return std::unexpected(kind.error());
    auto output = (*kind)->make(argument_of(each));
    if (!output) return std::unexpected(output.error());
    set.add(each, std::move(*output));
    const std::string place = (*kind)->to_file ? place_of(argument_of(each)) : std::string();
    if (place.empty()) continue;
    if (const auto source = sources.find(place); source != sources.end()) {
      return base::fail(fmt::format("--out {} would write over {}; name another file", each, source->second));
    }
    const auto [other, is_first] = places.emplace(place, each);
    if (!is_first) {
      return base::fail(fmt::format("--out {} and --out {} write to {}; give each a file of its own", other->second,
                                    each, place == kStandardOutput ? "standard output" : "the same file"));
    }
    if (place == kStandardOutput) set.take_standard_output();
  }
  return set;
}

OutputKind file_output(std::string name, std::string doc,
                       std::function<std::unique_ptr<Output>(std::string path)> make) {
  return {.name = name,
          .doc = std::move(doc),
          .make = [name, make = std::move(make)](std::string argument) -> base::Expected<std::unique_ptr<Output>> {
            if (argument.empty()) return base::fail(fmt::format("--out {0} needs a file; write --out {0}=FILE", name));
            return make(std::move(argument));
          },
          .argument = "FILE",
          .argument_doc = "the file to write; '-' is standard output",
          .to_file = true,
          .example = {}};
}

Outputs built_in_outputs() {
  Outputs outputs;
  outputs.add(html_output());
  outputs.add(json_output());
  outputs.add(run_output());
  outputs.add(ndjson_output());
  outputs.add(csv_output());
  outputs.add(junit_output());
  outputs.add(command_output());
  return outputs;
}

void OutputSet::add(std::string written, std::unique_ptr<Output> output) {
  Entry& entry = entries_.emplace_back();
  entry.written = std::move(written);
  entry.output = std::move(output);
}

void OutputSet::take_standard_output() {
  takes_standard_output_ = true;
  if (!entries_.empty()) entries_.back().standard_output = true;
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

std::string OutputSet::problem_of(const Entry& entry) {
  const std::string more = entry.problems > 1 ? fmt::format(" ({} times in all)", entry.problems) : std::string();
  return fmt::format("--out {}: {}{}", entry.written, entry.first_problem, more);
}

std::vector<std::string> OutputSet::problems() const {
  std::vector<std::string> told;
  for (const Entry& entry : entries_) {
    if (entry.problems > 0) told.push_back(problem_of(entry));
  }
  return told;
}

std::vector<std::string> OutputSet::problems_elsewhere() const {
  std::vector<std::string> told;
  for (const Entry& entry : entries_) {
    if (entry.problems > 0 && !entry.standard_output) told.push_back(problem_of(entry));
  }
  return told;
}

}  // namespace muster::report
