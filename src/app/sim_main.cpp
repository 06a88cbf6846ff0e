// The muster-sim binary: the scenarios that are built in, and the command line over them.
#include <cstdio>

#include "sim/command_line.h"
#include "sim/scenario.h"

int main(int argc, char** argv) {
  return muster::sim::command_line(argc, argv, muster::sim::built_in_scenarios(), stdout, stderr);
}
