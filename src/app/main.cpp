// The muster binary: wires what is built in and hands over to the command line.
#include "console/command_line.h"
#include "engine/engine.h"
#include "report/output.h"
#include "script/lua_job.h"

int main(int argc, char** argv) {
  muster::engine::Registry registry = muster::engine::built_in_registry();
  registry.scripts.add("lua", muster::script::lua(registry.kinds));
  const muster::report::Outputs outputs = muster::report::built_in_outputs();
  return muster::console::command_line(argc, argv, registry, outputs);
}
