// The fields of what the ledgers of managers and of gates both keep: ends of forgotten jobs, refused proposals; and how
// such rows are written and read, oldest first. For the codecs of the ledgers only.
#pragma once

#include <cstddef>
#include <string>

#include "cluster/fields.h"
#include "cluster/fields_job.h"
#include "cluster/ledger.h"
#include "cluster/tombstones.h"

namespace muster::cluster {

template <class Io>
void fields(Io& io, typename Io::template Of<Tombstone>& tombstone) {
  io.number(tombstone.job);
  io.number(tombstone.client);
  io.choice(tombstone.state, kJobStates);
}

template <class Io>
void fields(Io& io, typename Io::template Of<RefusedProposal>& refused) {
  fields(io, refused.proposer);
  io.number(refused.sequence);
}

template <class Rows>
void write_rows(std::string& out, const Rows& rows) {
  metrics::Writer(out).varint(rows.size());
  Pack io(out);
  for (const auto& row : rows) fields(io, row);
}

template <class Rows>
void read_rows(metrics::Reader& reader, Rows& rows, std::size_t limit) {
  Unpack io(reader);
  const std::size_t size = reader.length(limit);
  for (std::size_t i = 0; i < size && reader.ok(); ++i) {
    typename Rows::value_type row;
    fields(io, row);
    rows.push_back(row);
  }
}

}  // namespace muster::cluster
