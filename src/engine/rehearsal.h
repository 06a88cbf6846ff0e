// Runs a workflow written in YAML with the protocol of scripted_protocol.h, for tests: on so many cores, in this
// process or in an executor of its own, with commands sent while it runs.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <system_error>
#include <thread>

#include "authoring/loader.h"
#include "engine/engine.h"
#include "engine/job_run.h"
#include "engine/runner.h"
#include "engine/scripted_protocol.h"

namespace muster::engine {

class Rehearsal {
 public:
  using During = std::function<void(Runner&, const model::WorkflowResult&)>;

  Rehearsal() {
    registry.kinds.add(play_kind());
    registry.protocols.add("play", std::make_shared<PlayProtocol>(journal));
  }

  Registry registry = built_in_registry();
  std::shared_ptr<Journal> journal = std::make_shared<Journal>();
  std::uint32_t cores = 1;
  std::uint64_t seed = 7;
  bool in_process = true;
  During during;  // called again and again while it runs

  model::Job job(const std::string& yaml) const {
    authoring::LoadInput input;
    input.read_file = [](const std::string& path) -> base::Expected<std::string> {
      std::ifstream file(path);
      if (!file) return base::fail("no such file");
      return std::string(std::istreambuf_iterator<char>(file), {});
    };
    auto loaded = authoring::load_job(yaml, "test.yaml", input, {.kinds = registry.kinds, .shapes = {}});
    if (loaded) return std::move(*loaded);
    for (const auto& problem : loaded.error().list) ADD_FAILURE() << authoring::to_text(problem);
    return {};
  }

  // A workflow of `load` and `rest` (its `steps:` and more, indented by four).
  model::WorkflowResult run(const std::string& load, const std::string& rest, const std::string& top = "") {
    return run_job(job("muster: 1\n" + top + "workflows:\n  - name: w\n    load: " + load + "\n" + rest));
  }

  model::WorkflowResult run_job(const model::Job& job) {
    if (job.workflows.empty()) return {};
    auto engine = Engine::make(
        {.job = &job, .workflow = &job.workflows.front(), .cores = cores, .seed = seed, .received = {}, .trace = {}},
        registry);
    if (!engine) {
      ADD_FAILURE() << engine.error().message;
      return {};
    }
    auto runner = in_process ? make_in_process_runner(std::move(*engine)) : make_process_runner(std::move(*engine));
    if (auto started = runner->start(); !started) {
      ADD_FAILURE() << started.error().message;
      return {};
    }
    model::WorkflowResult result;
    const base::Instant patience = base::now() + std::chrono::seconds(60);
    while (!runner->finished()) {
      runner->poll(result);
      if (during) during(*runner, result);
      if (base::now() > patience) {
        ADD_FAILURE() << "it did not end";
        return result;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return result;
  }

  // A whole job, in layers.
  model::RunResult run_layers(const std::string& yaml) {
    return run_layers(yaml, {.cores = cores, .in_process = in_process, .trace = {}}, [](JobRun&) {});
  }

  // The same with options of its own; `meanwhile` is called again and again while it runs.
  model::RunResult run_layers(const std::string& yaml, const JobOptions& options,
                              const std::function<void(JobRun&)>& meanwhile) {
    const model::Job loaded = job(yaml);
    JobRun run(loaded, registry, options);
    if (auto started = run.start(); !started) {
      ADD_FAILURE() << started.error().message;
      return {};
    }
    const base::Instant patience = base::now() + std::chrono::seconds(60);
    while (run.advance()) {
      meanwhile(run);
      if (base::now() > patience) {
        ADD_FAILURE() << "it did not end";
        break;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return run.result();
  }
};

inline const model::StepResult& step(const model::WorkflowResult& result, const std::string& name) {
  static const model::StepResult kNone;
  for (const auto& each : result.steps) {
    if (each.name == name) return each;
  }
  ADD_FAILURE() << "no step '" << name << "'";
  return kNone;
}

// A folder of this process alone, gone at its end: tests of one binary run side by side, each in a process of its own.
class ScratchFolder {
 public:
  ScratchFolder() : owner_(::getpid()), path_(testing::TempDir() + "muster_rehearsal." + std::to_string(owner_)) {
    std::filesystem::create_directory(path_);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    if (::getpid() == owner_) std::filesystem::remove_all(path_, ignored);  // not from an executor
  }

  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  pid_t owner_;
  std::string path_;
};

inline std::string temporary_file(const std::string& name, const std::string& text) {
  static const ScratchFolder kFolder;
  std::string path = kFolder.file(name);
  std::ofstream(path) << text;
  return path;
}

}  // namespace muster::engine
