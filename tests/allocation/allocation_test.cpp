// The request path allocates nothing: operator new is counted for each thread, and a step that runs on the core's own
// thread notes the count once in every iteration. What lies between two notes is one iteration, request and all.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "authoring/loader.h"
#include "engine/engine.h"
#include "engine/program.h"
#include "reactor/address.h"

namespace {

thread_local std::uint64_t allocations = 0;

void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  const std::size_t rounded = (std::max<std::size_t>(size, 1) + alignment - 1) / alignment * alignment;
  void* memory = alignment <= alignof(std::max_align_t) ? std::malloc(rounded) : std::aligned_alloc(alignment, rounded);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) {
  return counted(size, alignof(std::max_align_t));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted(size, alignof(std::max_align_t));
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  std::free(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}

namespace muster {
namespace {

using namespace std::chrono_literals;

// Answers every request that ends in a blank line with the same bytes, on a thread of its own.
class Server {
 public:
  explicit Server(std::string body)
      : reply_("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
               "\r\n\r\n" + body) {
    auto listening = reactor::listen_on(*reactor::Address::parse("127.0.0.1", 0), false, bound_);
    EXPECT_TRUE(listening);
    fds_.push_back({.fd = *listening, .events = POLLIN, .revents = 0});
    EXPECT_EQ(pipe(stop_), 0);
    fds_.push_back({.fd = stop_[0], .events = POLLIN, .revents = 0});
    thread_ = std::thread([this] { serve(); });
  }
  ~Server() {
    EXPECT_EQ(write(stop_[1], "x", 1), 1);
    thread_.join();
    close(stop_[1]);
    for (const pollfd& each : fds_) close(each.fd);
  }
  std::string url() const { return "http://" + bound_.to_text(); }

 private:
  void serve() {
    for (;;) {
      poll(fds_.data(), fds_.size(), -1);
      if (fds_[1].revents != 0) return;
      for (std::size_t i = 2; i < fds_.size(); ++i) {
        if (fds_[i].revents == 0) continue;
        char buffer[8192];
        const ssize_t got = recv(fds_[i].fd, buffer, sizeof(buffer), 0);
        if (got <= 0) {
          fds_[i].events = 0;
          fds_[i].fd = -std::abs(fds_[i].fd);
        } else if (std::string_view(buffer, static_cast<std::size_t>(got)).ends_with("\r\n\r\n")) {
          send(fds_[i].fd, reply_.data(), reply_.size(), MSG_NOSIGNAL);
        }
      }
      if (fds_[0].revents != 0) {
        const int fd = accept4(fds_[0].fd, nullptr, nullptr, SOCK_CLOEXEC);
        if (fd >= 0) fds_.push_back({.fd = fd, .events = POLLIN, .revents = 0});
      }
    }
  }

  std::string reply_;
  reactor::Address bound_;
  std::vector<pollfd> fds_;
  int stop_[2] = {-1, -1};
  std::thread thread_;
};

// The step that notes how much this thread has allocated.
struct Note {
  base::Instant when;
  std::uint64_t allocations;
};

struct Nothing final : engine::PreparedCall {};

class Notebook final : public engine::Protocol {
 public:
  Notebook() { notes.reserve(10'000'000); }

  base::Expected<std::unique_ptr<engine::PreparedCall>> prepare(const model::Step&, engine::PrepareContext&) override {
    return std::make_unique<Nothing>();
  }
  std::unique_ptr<engine::Client> make_client(const engine::CoreServices& services) override {
    class Pencil final : public engine::Client {
     public:
      Pencil(reactor::Loop& loop, std::vector<Note>& into) : loop_(loop), notes_(into) {}
      base::Expected<void> open() override { return {}; }
      bool call(engine::Call&, engine::Outcome&) override {
        if (notes_.size() < notes_.capacity()) notes_.push_back({loop_.now(), allocations});
        return false;
      }
      void cancel(engine::Call&) override {}
      void iteration_ended(engine::Vu&, bool) override {}

     private:
      reactor::Loop& loop_;
      std::vector<Note>& notes_;
    };
    return std::make_unique<Pencil>(services.loop, notes);
  }

  std::vector<Note> notes;
};

// Runs `step` in a loop for a while and gives what it allocated once all was warm: how often, in how many iterations.
std::pair<std::uint64_t, std::size_t> allocated(const std::string& step, const std::string& body,
                                                const std::string& load = "{ vus: 3, for: 1500ms }") {
  const Server server(body);
  auto notebook = std::make_shared<Notebook>();
  engine::Registry registry = engine::built_in_registry();
  registry.kinds.add({.name = "note", .doc = "Notes.", .fields = {{.name = "note", .doc = "?"}}, .primary = "note"});
  registry.protocols.add("note", notebook);
  const std::string rows = testing::TempDir() + "muster_allocation_test." + std::to_string(getpid());
  std::ofstream(rows) << "name,age\nann,31\nbob,42\ncid,53\n";
  authoring::LoadInput input;
  input.read_file = [](const std::string& path) -> base::Expected<std::string> {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const auto job = authoring::load_job("muster: 1\ntarget: " + server.url() + "\ndata: { people: { csv: \"" + rows +
                                           "\" } }\nworkflows:\n  - name: w\n    load: " + load +
                                           "\n    steps:\n      - note: x\n" + step,
                                       "test.yaml", input, {.kinds = registry.kinds, .shapes = {}});
  if (!job) {
    for (const auto& problem : job.error().list) ADD_FAILURE() << authoring::to_text(problem);
    return {};
  }
  auto engine = engine::Engine::make(
      {.job = &*job, .workflow = &job->workflows.front(), .cores = 1, .seed = 1, .received = {}, .trace = {}},
      registry);
  if (!engine) {
    ADD_FAILURE() << engine.error().message;
    return {};
  }
  EXPECT_TRUE((*engine)->start());
  while (!(*engine)->finished()) {
    (*engine)->poll();
    std::this_thread::sleep_for(1ms);
  }
  (*engine)->join();
  const model::WorkflowResult& result = (*engine)->totals();
  EXPECT_EQ(result.failed_iterations, 0U) << result.steps.back().samples.front().detail;
  for (const model::CheckResult& check : result.steps.back().checks) EXPECT_EQ(check.failed, 0U) << check.label;
  const auto& notes = notebook->notes;
  // By then each of the two recording sets has been in use.
  const auto warm = std::find_if(notes.begin(), notes.end(),
                                 [&](const Note& note) { return note.when > notes.front().when + 800ms; });
  if (warm == notes.end()) return {};
  return {notes.back().allocations - warm->allocations, static_cast<std::size_t>(notes.end() - warm - 1)};
}

TEST(Allocation, AConstantRequestNeedsNone) {
  const auto [count, requests] = allocated("      - { name: a, get: /fixed, headers: { X-One: two } }\n", "{}");
  EXPECT_GE(requests, 1000U);
  EXPECT_EQ(count, 0U) << "in " << requests << " requests";
}

TEST(Allocation, ADynamicRequestWithARowOfDataAnExtractionAndTwoChecksNeedsNone) {
  std::string body = R"({"id": 7, "name": "ann", "items": [)";
  while (body.size() < 1000) body += R"({"id": 12345, "text": "some words"},)";
  body += R"({"last": true}]})";
  const auto [count, requests] = allocated(R"(      - name: a
        post: /people/${data.people.name}
        query: { age: "${data.people.age}" }
        headers: { X-Round: "${iteration}" }
        check: { status: 200, json.id: 7 }
        save: { who: "json.items[3].text" }
)",
                                           body);
  EXPECT_GE(requests, 1000U);
  EXPECT_EQ(count, 0U) << "in " << requests << " requests";
}

TEST(Allocation, LoopsAndBranchesNeedNone) {
  const auto [count, requests] = allocated(R"(      - repeat: 2
        steps: [ { name: r, get: /a } ]
      - parallel: [ { name: p, get: /b }, { name: q, get: /c } ]
      - { name: a, get: /d }
)",
                                           "{}");
  EXPECT_GE(requests, 1000U);
  EXPECT_EQ(count, 0U) << "in " << requests << " iterations";
}

TEST(Allocation, ArrivalsThatWaitForAVuNeedNoneEach) {
  // More than one VU can do: the queue only grows, and its ring doubles once or twice in the time that is counted.
  const auto [count, requests] = allocated("      - { name: a, get: /a }\n      - think: 300us\n", "{}",
                                           "{ rate: 4000/s, for: 1500ms, max_vus: 1 }");
  EXPECT_GE(requests, 500U);
  EXPECT_LE(count, 2U) << "in " << requests << " requests";
}

}  // namespace
}  // namespace muster
