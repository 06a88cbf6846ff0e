#include "model/run_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "metrics/wire.h"
#include "model/options.h"
#include "model/result_codec.h"

namespace muster::model {
namespace {

using metrics::Reader;
using metrics::Writer;

constexpr std::size_t kVerdicts = static_cast<std::size_t>(Verdict::kError) + 1;

double finite(double value) {
  if (std::isnan(value)) return 0;
  return std::clamp(value, std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max());
}

// What is longer than a reader would take loses its end.
void write_text(Writer& writer, std::string_view text) {
  writer.text(text.substr(0, kMaxResultText));
}

void write_threshold(Writer& writer, const ThresholdVerdict& verdict) {
  write_text(writer, verdict.text);
  write_text(writer, verdict.where);
  writer.zigzag(verdict.window.count());
  writer.real(finite(verdict.value));
  writer.varint(verdict.samples);
  writer.boolean(verdict.judged);
  writer.boolean(verdict.passed);
  writer.boolean(verdict.aborted);
  writer.zigzag(verdict.failed_at.count());
}

ThresholdVerdict read_threshold(Reader& reader) {
  ThresholdVerdict verdict;
  verdict.text = reader.text(kMaxResultText);
  verdict.where = reader.text(kMaxResultText);
  verdict.window = base::Duration(reader.zigzag());
  verdict.value = reader.real();
  verdict.samples = reader.varint();
  verdict.judged = reader.boolean();
  verdict.passed = reader.boolean();
  verdict.aborted = reader.boolean();
  verdict.failed_at = base::Duration(reader.zigzag());
  return verdict;
}

void write_workflow(Writer& writer, const WorkflowResult& workflow) {
  if (workflow.provided.empty()) return write(writer, workflow);
  WorkflowResult bare = workflow;
  bare.provided.clear();
  write(writer, bare);
}

WorkflowResult read_workflow(Reader& reader) {
  WorkflowResult workflow = read_workflow_result(reader);
  if (!workflow.provided.empty()) reader.fail("it holds values that workflows provided to each other");
  return workflow;
}

int read_exit_code(Reader& reader) {
  return static_cast<int>(reader.varint_below(256));
}

template <class Row, class Read>
void read_list(Reader& reader, std::vector<Row>& list, std::size_t limit, Read&& read) {
  const std::size_t size = reader.length(limit);
  for (std::size_t i = 0; i < size && reader.ok(); ++i) list.push_back(read(reader));
}

RunResult read_run(Reader& reader) {
  RunResult run;
  if (const std::uint8_t version = reader.byte(); reader.ok() && version != kRunVersion) {
    reader.fail(fmt::format("its version is {}, known is {}; it may come from a newer muster", version, kRunVersion));
  }
  run.job = reader.text(kMaxResultText);
  run.version = reader.text(kMaxResultText);
  run.seed = reader.varint();
  run.started = base::Duration(reader.zigzag());
  run.elapsed = base::Duration(reader.zigzag());
  run.verdict = static_cast<Verdict>(reader.varint_below(kVerdicts));
  run.exit_code = read_exit_code(reader);
  run.reason = reader.text(kMaxResultText);
  read_list(reader, run.workflows, kMaxRunWorkflows, read_workflow);
  read_list(reader, run.thresholds, kMaxResultDetails, read_threshold);
  read_list(reader, run.marks, kMaxResultDetails, [](Reader& from) {
    Mark mark;
    mark.id = from.text(kMaxResultText);
    mark.text = from.text(kMaxResultText);
    return mark;
  });
  return run;
}

}  // namespace

void encode(const RunResult& run, std::string& out) {
  Writer writer(out);
  writer.byte(kRunVersion);
  write_text(writer, run.job);
  write_text(writer, run.version);
  writer.varint(run.seed);
  writer.zigzag(run.started.count());
  writer.zigzag(run.elapsed.count());
  writer.varint(static_cast<std::uint64_t>(run.verdict));
  writer.varint(static_cast<std::uint64_t>(std::clamp(run.exit_code, 0, 255)));
  write_text(writer, run.reason);
  writer.varint(run.workflows.size());
  for (const WorkflowResult& workflow : run.workflows) write_workflow(writer, workflow);
  writer.varint(run.thresholds.size());
  for (const ThresholdVerdict& verdict : run.thresholds) write_threshold(writer, verdict);
  writer.varint(run.marks.size());
  for (const Mark& mark : run.marks) {
    write_text(writer, mark.id);
    write_text(writer, mark.text);
  }
}

base::Expected<RunResult> decode_run_result(std::string_view bytes) {
  Reader reader(bytes);
  if (bytes.size() > kMaxRunBytes) {
    reader.fail(fmt::format("it has {} bytes, more than the limit of {}", bytes.size(), kMaxRunBytes));
  }
  RunResult run = read_run(reader);
  if (reader.ok() && !reader.at_end()) reader.fail("more bytes follow its end");
  if (!reader.ok()) return std::unexpected(reader.error("result of a run"));
  return run;
}

}  // namespace muster::model
