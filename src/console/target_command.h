// `muster target`: runs the embedded server until a signal ends it. Flags are a plain struct, so that the command line
// and tests fill it alike.
#pragma once

#include <string>

#include "console/command.h"

namespace muster::console {

struct TargetFlags {
  std::string listen = "127.0.0.1:8080";  // --listen: address and port; port 0 takes any free one
  bool tls = false;                       // --tls: HTTPS with a certificate made for this run
  unsigned cores = 1;                     // --cores: threads that serve
  std::string log;                        // --log: CSV of what each request really took, written at the end
  std::string http_log;                   // --http-log: requests as received, one JSON object per line
  std::string stall;                      // --stall at=10s,for=1s: stand still once, counted from the first request
  std::string cert_out;                   // --cert-out: where to write the certificate, for clients' --cacert
  unsigned long long seed = 1;            // --seed: of random delays and failures
  bool json = false;                      // --json: what is printed is JSON
};

// Prints where it listens, serves until SIGINT or SIGTERM, prints what was served. Returns the exit code: 0, 2 when
// the flags are wrong, 1 when the address is taken or a file cannot be written (told on standard error). Call it on the
// main thread, before other threads are started.
int run_target(const TargetFlags& flags);

void add_target(CLI::App& app, CommandContext& context);

}  // namespace muster::console
