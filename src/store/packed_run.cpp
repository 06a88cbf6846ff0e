#include "store/packed_run.h"

#include <fmt/format.h>
#include <zlib.h>

#include "metrics/wire.h"
#include "model/options.h"
#include "model/run_codec.h"
#include "store/options.h"

namespace muster::store {
namespace {

constexpr std::string_view kMark = "\x93muster-run\n";
constexpr std::uint8_t kVersion = 1;
// Half way between speed and size: an hour of 20 steps takes a tenth of a second.
constexpr int kLevel = 4;

base::Expected<std::string> compressed(std::string_view bytes) {
  std::string out(kMark);
  metrics::Writer writer(out);
  writer.byte(kVersion);
  writer.varint(bytes.size());
  const std::size_t header = out.size();
  uLongf size = compressBound(bytes.size());
  out.resize(header + size);
  const int status = compress2(reinterpret_cast<Bytef*>(out.data() + header), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), kLevel);
  if (status != Z_OK) return base::fail("the result could not be compressed: out of memory");
  out.resize(header + size);
  return out;
}

model::RunResult without_step_series(const model::RunResult& run) {
  model::RunResult smaller = run;
  for (model::WorkflowResult& workflow : smaller.workflows) {
    for (model::StepResult& step : workflow.steps) step.series.clear();
  }
  if (!smaller.workflows.empty()) {
    model::add_note(smaller.workflows.front().notes, "the run was too large to keep the seconds of its steps");
  }
  return smaller;
}

base::Expected<std::string> pack_within_limits(const model::RunResult& run) {
  std::string bytes;
  model::encode(run, bytes);
  if (bytes.size() > model::kMaxRunBytes) {
    return base::fail(fmt::format("the result takes {} MB, more than the limit of {} MB", bytes.size() >> 20U,
                                  model::kMaxRunBytes >> 20U));
  }
  auto packed = compressed(bytes);
  if (packed && packed->size() > kMaxPackedBytes) {
    return base::fail(fmt::format("the compressed result takes {} MB, more than the limit of {} MB",
                                  packed->size() >> 20U, kMaxPackedBytes >> 20U));
  }
  return packed;
}

}  // namespace

base::Expected<std::string> pack(const model::RunResult& run) {
  if (auto packed = pack_within_limits(run)) return packed;
  return pack_within_limits(without_step_series(run));
}

bool looks_packed(std::string_view bytes) {
  return bytes.starts_with(kMark);
}

base::Expected<model::RunResult> unpack(std::string_view packed, std::string_view what) {
  const auto refuse = [&](std::string_view why) { return base::fail(fmt::format("{} cannot be read: {}", what, why)); };
  if (!looks_packed(packed)) return refuse("it does not begin as results of muster do");
  if (packed.size() > kMaxPackedBytes) return refuse(fmt::format("it is larger than {} MB", kMaxPackedBytes >> 20U));
  packed.remove_prefix(kMark.size());
  metrics::Reader reader(packed);
  const std::uint8_t version = reader.byte();
  if (reader.ok() && version != kVersion) {
    return refuse(fmt::format("its form has version {}, this muster knows {}; use a newer muster", version, kVersion));
  }
  const std::uint64_t size = reader.varint_below(model::kMaxRunBytes + 1);
  if (!reader.ok()) return refuse(reader.error("its header").message);
  packed.remove_prefix(packed.size() - reader.remaining());
  // zlib makes at most 1,032 bytes of one: a size that cannot be there allocates nothing.
  if (size / 1'032 > packed.size()) return refuse("it is cut short");
  std::string bytes(size, '\0');
  uLongf produced = size;
  uLong consumed = packed.size();
  const int status = uncompress2(reinterpret_cast<Bytef*>(bytes.data()), &produced,
                                 reinterpret_cast<const Bytef*>(packed.data()), &consumed);
  if (status != Z_OK || produced != size) return refuse("it is damaged");
  if (consumed != packed.size()) return refuse("more bytes follow its end");
  auto run = model::decode_run_result(bytes);
  if (!run) return refuse(run.error().message);
  return run;
}

}  // namespace muster::store
