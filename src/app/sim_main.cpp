// The muster-sim binary: the scenarios that are built in, and the command line over them.
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "sim/command_line.h"
#include "sim/scenario.h"

namespace {

volatile std::sig_atomic_t asked_to_end = 0;

}  // namespace

int main(int argc, char** argv) {
  struct sigaction once{};
  once.sa_handler = [](int) { asked_to_end = 1; };
  once.sa_flags = static_cast<int>(SA_RESETHAND);  // who asks a second time does not want to wait
  sigaction(SIGINT, &once, nullptr);
  sigaction(SIGTERM, &once, nullptr);
  return muster::sim::command_line(
      argc, argv, muster::sim::built_in_scenarios(),
      {.out = stdout, .err = stderr, .err_is_terminal = isatty(STDERR_FILENO) == 1, .interrupted = [] {
         return asked_to_end != 0;
       }});
}
