// What a client has to tell its user, gathered until it may: at most 20 times a second, 5 at once, and everything that
// came meanwhile in one piece. Progress is merged, ends and answers are all in it. A plain value, bounded.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "cluster/gate_statistics.h"
#include "cluster/ids.h"
#include "cluster/messages.h"

namespace muster::cluster {

// What became of something that the user asked.
struct ClientAnswer {
  enum class About : std::uint8_t { kSubmit, kStatus, kCancel, kFollow, kDatacenters };
  About about = About::kSubmit;
  JobId job{};
  // What the cluster said last; nothing if no gate answered at all.
  std::optional<Answer> answer;
  std::string reason;
  std::optional<StatusAnswer> status{};
  std::optional<CancelAnswer> cancel{};
};

struct ClientProgress {
  std::map<std::uint32_t, WorkflowTotals> totals;  // over all datacenters, by workflow; they never fall
  // Windows since the last time, by datacenter, workflow and number.
  std::map<std::tuple<std::string, std::uint32_t, std::uint64_t>, WindowRow> windows;
};

struct ClientUpdate {
  std::vector<ClientAnswer> answers;
  std::map<JobId, ClientProgress> progress;
  std::vector<WorkflowEnded> results;  // in order per job
  std::vector<JobEnd> ends;
  std::optional<std::vector<Datacenter>> datacenters;
  std::vector<BodyHash> fetched;  // results that were asked for and are here

  bool empty() const;
  // Merges what a gate pushed. Too many windows become fewer and wider: nothing of what they counted is dropped.
  void add(JobId job, const std::string& datacenter, const WindowRow& row);
};

}  // namespace muster::cluster
