#include "model/result_codec.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/utf8.h"
#include "metrics/histogram_codec.h"
#include "model/options.h"

namespace muster::model {
namespace {

using metrics::Reader;
using metrics::Writer;

// Out and In offer the same operations, so that each struct's fields are listed once, in one order, for both
// directions.
class Out {
 public:
  explicit Out(Writer& writer) : writer_(&writer) {}

  void number(std::uint64_t value) { writer_->varint(value); }
  void flag(bool value) { writer_->boolean(value); }
  void time(base::Duration value) { writer_->zigzag(value.count()); }
  // What is longer than a reader would take loses its end.
  void text(const std::string& value, std::size_t limit = kMaxResultText) {
    writer_->text(base::utf8_beginning(value, limit));
  }
  void real(double value) {
    if (std::isnan(value)) value = 0;
    writer_->real(std::clamp(value, std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()));
  }
  template <class Enum>
  void choice(Enum value, std::size_t) {
    writer_->varint(static_cast<std::uint64_t>(value));
  }
  template <unsigned SubBits>
  void histogram(const metrics::BasicHistogram<SubBits>& value) {
    metrics::write(*writer_, value);
  }
  // A number that is at least `least`, as the distance from it.
  void above(std::uint64_t least, std::uint32_t value) { writer_->varint(value - least); }
  void values(const metrics::ValueHistogram& value) { value.write(*writer_); }
  static constexpr bool since(std::uint8_t) { return true; }
  template <class List, class Fields>
  void list(const List& list, std::size_t, Fields&& fields) {
    writer_->varint(list.size());
    for (const auto& element : list) fields(*this, element);
  }

 private:
  Writer* writer_;
};

class In {
 public:
  In(Reader& reader, std::uint8_t version) : reader_(&reader), version_(version) {}

  // Whether what is read holds what that version brought.
  bool since(std::uint8_t version) const { return version_ >= version; }
  // Version 1 held thousandths as nanoseconds.
  void values(metrics::ValueHistogram& value) {
    if (since(2)) {
      value = metrics::ValueHistogram::read(*reader_);
      return;
    }
    const auto old = metrics::read_histogram<6>(*reader_);
    old.for_each([&](base::Duration lower, base::Duration upper, std::uint64_t count) {
      value.record(static_cast<double>((lower + upper).count()) / 2e3, count);
    });
  }

  void number(std::uint64_t& value) { value = reader_->varint(); }
  void number(std::uint32_t& value) { above(0, value); }
  void flag(bool& value) { value = reader_->boolean(); }
  void time(base::Duration& value) { value = base::Duration(reader_->zigzag()); }
  void text(std::string& value, std::size_t limit = kMaxResultText) { value = reader_->text(limit); }
  void real(double& value) { value = reader_->real(); }
  template <class Enum>
  void choice(Enum& value, std::size_t choices) {
    value = static_cast<Enum>(reader_->varint_below(choices));
  }
  template <unsigned SubBits>
  void histogram(metrics::BasicHistogram<SubBits>& value) {
    value = metrics::read_histogram<SubBits>(*reader_);
  }
  void above(std::uint64_t least, std::uint32_t& value) {
    constexpr std::uint64_t kEnd = std::uint64_t{1} << 32;
    value = static_cast<std::uint32_t>(least + (least < kEnd ? reader_->varint_below(kEnd - least) : fail()));
  }
  // Grows with what is really there: a length alone allocates nothing.
  template <class List, class Fields>
  void list(List& list, std::size_t limit, Fields&& fields) {
    const std::size_t size = reader_->length(limit);
    for (std::size_t i = 0; i < size && reader_->ok(); ++i) fields(*this, list.emplace_back());
  }

 private:
  std::uint64_t fail() {
    reader_->fail("a list that must ascend does not");
    return 0;
  }

  Reader* reader_;
  std::uint8_t version_;
};

constexpr auto kTextPair = [](auto& wire, auto& pair) {
  wire.text(pair.first);
  wire.text(pair.second);
};

constexpr auto kSample = [](auto& wire, auto& sample) {
  wire.choice(sample.error, kErrorClasses);
  wire.time(sample.at);
  wire.text(sample.detail);
  wire.text(sample.request);
  wire.text(sample.response);
};

constexpr auto kCheck = [](auto& wire, auto& check) {
  wire.text(check.label);
  wire.number(check.ok);
  wire.number(check.failed);
};

constexpr auto kStep = [](auto& wire, auto& step) {
  wire.text(step.name);
  wire.text(step.kind);
  wire.choice(step.role, static_cast<std::size_t>(StepRole::kControl) + 1);
  wire.list(step.tags, kMaxResultDetails, kTextPair);
  wire.number(step.ok);
  wire.number(step.failed);
  wire.number(step.skipped);
  wire.number(step.retried);
  wire.number(step.connections);
  wire.number(step.bytes_in);
  wire.number(step.bytes_out);
  for (auto& count : step.errors) wire.number(count);
  std::uint64_t status = 0;
  wire.list(step.statuses, kMaxResultDetails, [&](auto& each, auto& pair) {
    each.above(status, pair.first);
    each.number(pair.second);
    status = std::uint64_t{pair.first} + 1;
  });
  wire.list(step.samples, kMaxResultDetails, kSample);
  wire.histogram(step.latency);
  wire.histogram(step.service);
  for (auto& phase : step.phases) wire.histogram(phase);
  wire.list(step.checks, kMaxResultDetails, kCheck);
  std::uint64_t second = 0;
  wire.list(step.series, kMaxResultSeconds, [&](auto& each, auto& row) {
    each.above(second, row.second);
    each.number(row.ok);
    each.number(row.failed);
    each.number(row.bytes_in);
    each.number(row.bytes_out);
    each.histogram(row.latency);
    second = std::uint64_t{row.second} + 1;
  });
};

constexpr auto kMetric = [](auto& wire, auto& metric) {
  wire.text(metric.name);
  wire.choice(metric.type, static_cast<std::size_t>(MetricType::kTrend) + 1);
  wire.number(metric.count);
  wire.number(metric.trues);
  wire.real(metric.sum);
  wire.real(metric.last);
  wire.time(metric.last_at);
  wire.real(metric.min);
  wire.real(metric.max);
  if (wire.since(2)) wire.real(metric.spread);
  wire.values(metric.values);
};

constexpr auto kTagged = [](auto& wire, auto& tagged) {
  wire.text(tagged.tags);
  if (wire.since(2)) wire.text(tagged.step);
  wire.number(tagged.ok);
  wire.number(tagged.failed);
  wire.histogram(tagged.latency);
};

constexpr auto kProvided = [](auto& wire, auto& provided) {
  wire.text(provided.key);
  wire.flag(provided.keep_all);
  wire.flag(provided.keep_first);
  wire.number(provided.max);
  wire.list(provided.values, kMaxProvidedValues, [](auto& each, auto& value) { each.text(value, kMaxProvidedBytes); });
  wire.number(provided.lamport);
};

constexpr auto kCoreUse = [](auto& wire, auto& core) {
  wire.time(core.busy);
  wire.time(core.elapsed);
};

constexpr auto kWorkflow = [](auto& wire, auto& result) {
  wire.text(result.name);
  wire.choice(result.state, static_cast<std::size_t>(WorkflowState::kLost) + 1);
  wire.text(result.reason);
  wire.flag(result.open);
  wire.flag(result.warming_up);
  wire.time(result.began);
  wire.time(result.elapsed);
  wire.number(result.sequence);
  wire.number(result.vus);
  wire.number(result.peak_vus);
  wire.number(result.max_vus);
  wire.number(result.arrivals);
  wire.number(result.dropped);
  wire.number(result.queued);
  wire.number(result.iterations);
  wire.number(result.failed_iterations);
  wire.number(result.interrupted);
  wire.histogram(result.lateness);
  wire.histogram(result.iteration_time);
  wire.list(result.steps, kMaxResultSteps, kStep);
  wire.list(result.metrics, kMaxResultMetrics, kMetric);
  wire.list(result.tagged, kMaxResultTagged, kTagged);
  std::uint64_t second = 0;
  wire.list(result.series, kMaxResultSeconds, [&](auto& each, auto& row) {
    each.above(second, row.second);
    each.number(row.vus);
    each.number(row.iterations);
    each.number(row.dropped);
    second = std::uint64_t{row.second} + 1;
  });
  wire.list(result.provided, kMaxProvidedKeys, kProvided);
  wire.list(result.cores, kMaxResultCores, kCoreUse);
  wire.list(result.notes, kMaxResultNotes, [](auto& each, auto& note) {
    each.text(note.first);
    each.number(note.second);
  });
  if (wire.since(3)) wire.flag(result.scripted);
  if (wire.since(4)) wire.time(result.shift);
};

}  // namespace

void write(Writer& writer, const WorkflowResult& result) {
  writer.byte(kResultVersion);
  Out out(writer);
  kWorkflow(out, result);
}

WorkflowResult read_workflow_result(Reader& reader) {
  WorkflowResult result;
  const std::uint8_t version = reader.byte();
  if (reader.ok() && (version == 0 || version > kResultVersion)) {
    reader.fail(fmt::format("its version is {}, known is {}", version, kResultVersion));
  }
  if (!reader.ok()) return result;
  In in(reader, version);
  kWorkflow(in, result);
  return result;
}

void encode(const WorkflowResult& result, std::string& out) {
  Writer writer(out);
  write(writer, result);
}

base::Expected<WorkflowResult> decode_workflow_result(std::string_view bytes) {
  Reader reader(bytes);
  if (bytes.size() > kMaxResultBytes) {
    reader.fail(fmt::format("it has {} bytes, more than the limit of {}", bytes.size(), kMaxResultBytes));
  }
  WorkflowResult result = read_workflow_result(reader);
  if (reader.ok() && !reader.at_end()) reader.fail("more bytes follow its end");
  if (!reader.ok()) return std::unexpected(reader.error("result of a workflow"));
  return result;
}

}  // namespace muster::model
