// A node's disk: files, the writes that are under way, and what a crash or a failing device leaves of them. Writes that
// wait are carried out together, as a log with group commit does. Owned by the kernel; outlives the node's processes.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "sim/options.h"
#include "sim/process.h"

namespace muster::sim {

struct DiskTrouble {
  bool full = false;              // every write that adds bytes fails
  double error_share = 0;         // of the writes fail, with any part of them on the disk
  std::int64_t stalled_till = 0;  // true time before which nothing is finished
};

class Disk {
 public:
  struct Answer {
    WriteTicket ticket;
    bool ok;
  };

  WriteTicket append(std::string_view file, std::string bytes);
  WriteTicket replace(std::string_view file, std::string bytes);
  WriteTicket truncate(std::string_view file, std::size_t size);
  std::string_view contents(std::string_view file) const;
  std::vector<std::string> files() const;

  // True while writes wait that no batch has taken yet.
  bool waiting() const { return taken_ < pending_.size(); }
  bool busy() const { return taken_ > 0; }
  // Takes all waiting writes as the next batch; not busy. Returns the true time at which finish() is due.
  std::int64_t take(std::int64_t now, const DiskOptions& options, base::Random& random);
  // Carries the batch out and gives its answers, in order. Behind a write that failed, all writes of the same file fail
  // that were asked for before the process heard of it: a file has no holes. Other files are not concerned.
  std::vector<Answer> finish(base::Random& random);
  // The process is told this answer now.
  void heard(const Answer& answer);

  // What was under way is kept up to some write, of which an append may keep its beginning; the rest is gone. With
  // `tear`, a beginning is kept whenever the first unfinished write is an append.
  void crash(base::Random& random, bool tear);

  DiskTrouble& trouble() { return trouble_; }
  std::uint64_t torn() const { return torn_; }  // appends of which a crash kept only the beginning

 private:
  enum class Kind : std::uint8_t { kAppend, kReplace, kTruncate };
  struct Write {
    Kind kind;
    WriteTicket ticket;
    std::string file;
    std::string bytes;
    std::size_t size = 0;
  };

  // A write that failed, and up to which ticket those behind it do: all while its process has not heard of it.
  struct Failure {
    WriteTicket write;
    std::uint64_t through = UINT64_MAX;
  };

  WriteTicket ask(Kind kind, std::string_view file, std::string bytes, std::size_t size);
  bool behind_failure(const Write& write) const;
  void apply(Write& write);
  void apply_beginning(const Write& write, std::size_t size);

  std::map<std::string, std::string, std::less<>> files_;
  std::vector<Write> pending_;  // the first taken_ of them are with the device
  std::size_t taken_ = 0;
  std::uint64_t tickets_ = 0;
  std::uint64_t torn_ = 0;
  std::map<std::string, Failure, std::less<>> failed_;  // by file
  DiskTrouble trouble_;
};

}  // namespace muster::sim
