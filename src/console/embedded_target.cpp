#include "console/embedded_target.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "target/server.h"

namespace muster::console {
namespace {

// What the child does: serves until its parent ends it, or ends.
[[noreturn]] void serve(int tell) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_NAME, "muster-target");
  // They reach the whole process group. Requests under way are served until the run is over, and while it is stopped.
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGTSTP}) signal(number, SIG_IGN);
  target::ServerOptions options;
  options.port = 0;
  target::Server server(options);
  const std::uint16_t port = server.start() ? server.port() : 0;
  [[maybe_unused]] const ssize_t told = write(tell, &port, sizeof(port));
  for (;;) pause();
}

}  // namespace

EmbeddedTarget::~EmbeddedTarget() {
  if (child_ <= 0) return;
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
}

base::Expected<void> EmbeddedTarget::serve_if_named(std::string& target) {
  if (target != "embedded") return {};
  auto address = start();
  if (!address) return std::unexpected(address.error());
  target = std::move(*address);
  return {};
}

base::Expected<std::string> EmbeddedTarget::start() {
  int channel[2];
  if (pipe(channel) != 0) return base::fail(fmt::format("cannot open a pipe: {}", std::strerror(errno)));
  child_ = fork();
  if (child_ < 0) return base::fail(fmt::format("cannot start the embedded target: {}", std::strerror(errno)));
  if (child_ == 0) {
    close(channel[0]);
    serve(channel[1]);
  }
  close(channel[1]);
  std::uint16_t port = 0;
  const ssize_t size = read(channel[0], &port, sizeof(port));
  close(channel[0]);
  if (size != sizeof(port) || port == 0) return base::fail("the embedded target could not listen on 127.0.0.1");
  return fmt::format("http://127.0.0.1:{}", port);
}

}  // namespace muster::console
