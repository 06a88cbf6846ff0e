// What the workflows of a job provided to later ones: the content of a layer's context. A plain value with its bytes;
// decoding trusts nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "cluster/job.h"
#include "model/result.h"

namespace muster::cluster {

struct ContextRow {
  std::uint32_t workflow = 0;
  std::vector<model::Provided> provided;
};

struct LayerValues {
  std::vector<ContextRow> rows;  // ascending by workflow

  // Adds what one part of a workflow provided.
  void add(std::uint32_t workflow, const std::vector<model::Provided>& provided);
  // Only the rows of these workflows, which ascend.
  LayerValues of(const std::vector<std::uint32_t>& workflows) const;
};

// Appends to `out`.
void encode(const LayerValues& values, std::string& out);

// All of `bytes` must be one context.
base::Expected<LayerValues> decode_context(std::string_view bytes);

}  // namespace muster::cluster
