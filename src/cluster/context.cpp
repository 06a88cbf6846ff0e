#include "cluster/context.h"

#include <algorithm>

#include "cluster/fields.h"
#include "cluster/options.h"
#include "model/options.h"

namespace muster::cluster {
namespace {

constexpr std::uint8_t kContextVersion = 1;

template <class Io>
void fields(Io& io, typename Io::template Of<model::Provided>& provided) {
  io.text(provided.key, model::kMaxResultText);
  io.flag(provided.keep_all);
  io.flag(provided.keep_first);
  io.number(provided.max);
  io.list(provided.values, model::kMaxProvidedValues, [&](auto& value) { io.text(value, model::kMaxProvidedBytes); });
  io.number(provided.lamport);
}

template <class Io>
void fields(Io& io, typename Io::template Of<ContextRow>& row) {
  io.number(row.workflow);
  io.list(row.provided, model::kMaxProvidedKeys, [&](auto& provided) { fields(io, provided); });
}

}  // namespace

void LayerValues::add(std::uint32_t workflow, const std::vector<model::Provided>& provided) {
  if (provided.empty()) return;
  auto at = std::ranges::lower_bound(rows, workflow, {}, &ContextRow::workflow);
  if (at == rows.end() || at->workflow != workflow) at = rows.insert(at, ContextRow{workflow, {}});
  for (const model::Provided& value : provided) model::add_provided(at->provided, value);
}

LayerValues LayerValues::of(const std::vector<std::uint32_t>& workflows) const {
  LayerValues found;
  std::ranges::copy_if(rows, std::back_inserter(found.rows),
                       [&](const ContextRow& row) { return std::ranges::binary_search(workflows, row.workflow); });
  return found;
}

void encode(const LayerValues& values, std::string& out) {
  out.push_back(static_cast<char>(kContextVersion));
  Pack io(out);
  io.list(values.rows, kMaxWorkflows, [&](const ContextRow& row) { fields(io, row); });
}

base::Expected<LayerValues> decode_context(std::string_view bytes) {
  metrics::Reader reader(bytes);
  if (bytes.size() > kMaxBodyBytes) reader.fail("it is larger than a context can be");
  if (reader.byte() != kContextVersion && reader.ok()) reader.fail("its version is not known");
  Unpack io(reader);
  LayerValues values;
  io.list(values.rows, kMaxWorkflows, [&](ContextRow& row) {
    const std::uint64_t behind = values.rows.size() < 2 ? 0 : values.rows[values.rows.size() - 2].workflow + 1ull;
    fields(io, row);
    io.require(row.workflow >= behind, "workflows are out of order");
  });
  if (reader.ok() && !reader.at_end()) reader.fail("more bytes follow its end");
  if (!reader.ok()) return std::unexpected(reader.error("context of a layer"));
  return values;
}

}  // namespace muster::cluster
