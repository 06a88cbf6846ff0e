#include "script/wrk_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <lua.hpp>
#include <vector>

#include "base/time.h"
#include "engine/http_response.h"
#include "engine/options.h"
#include "engine/vu.h"
#include "script/options.h"
#include "script/wrk_stats.h"
#include "script/wrk_thread.h"

namespace muster::script {
namespace {

using engine::ScriptAction;

constexpr base::Duration kSampleInterval = std::chrono::milliseconds(100);
constexpr std::size_t kMostSamples = 1'000'000;  // of the request rate: more than a day of them

class WrkScript final : public engine::Script {
 public:
  WrkScript(const engine::ScriptServices& services, WrkThread& thread, std::uint32_t answers)
      : services_(services), thread_(thread), answers_(answers) {}

  base::Expected<void> open() override { return {}; }
  std::string address() const override { return thread_.address; }

  ScriptAction begin(engine::Strand& /*strand*/, engine::VuList /*list*/) override {
    if (thread_.stopped) return {.kind = ScriptAction::Kind::kStop, .scope = engine::StopScope::kVu};
    if (!thread_.has_delay()) return send();
    const auto milliseconds = thread_.delay();
    if (!milliseconds) return give_up(milliseconds.error().message);
    if (*milliseconds <= 0) return send();
    const base::Duration wait(static_cast<std::int64_t>(*milliseconds * 1e6));
    return {.kind = ScriptAction::Kind::kSleep, .least = wait, .most = wait};
  }

  ScriptAction resume(engine::Strand& strand, const engine::StepReport* report) override {
    if (report == nullptr) return send();
    if (report->status != 0) answered(strand, *report);
    if (broken_) return {.kind = ScriptAction::Kind::kBroken};
    // wrk judges nothing: what counts is the share of its requests that failed, not how many of them were sent at once.
    const bool failed = !report->ok && !report->partly_ok;
    if (thread_.stopped) {
      return {.kind = ScriptAction::Kind::kStop, .scope = engine::StopScope::kVu, .failed = failed};
    }
    return {.kind = failed ? ScriptAction::Kind::kFail : ScriptAction::Kind::kEnd};
  }

  void answered(engine::Strand& /*strand*/, const engine::StepReport& report) override {
    if (thread_.has_done()) sample();
    if (!thread_.wants_responses() || broken_) return;
    const auto* response = dynamic_cast<engine::HttpResponse*>(report.response);
    if (response == nullptr) return;
    auto told = thread_.response(report.status, response->headers(), response->raw_body());
    if (!told) give_up(told.error().message);
  }

  void drop(engine::Strand& /*strand*/) override {}
  void forget(engine::Vu& /*vu*/) override {}

 private:
  ScriptAction send() {
    const auto bytes = thread_.request();
    if (!bytes) return give_up(bytes.error().message);
    return {.kind = ScriptAction::Kind::kCall, .callable = 0, .bytes = *bytes, .answers = answers_};
  }

  ScriptAction give_up(const std::string& why) {
    broken_ = true;
    services_.host.broken(why);
    return {.kind = ScriptAction::Kind::kBroken};
  }

  // wrk tells the rate of each thread over every tenth of a second.
  void sample() {
    ++requests_;
    const base::Instant now = base::now();
    if (since_ == base::Instant{}) since_ = now;
    if (now - since_ < kSampleInterval || thread_.rates.size() >= kMostSamples) return;
    thread_.rates.push_back(std::floor(static_cast<double>(requests_) / base::seconds(now - since_)));
    requests_ = 0;
    since_ = now;
  }

  engine::ScriptServices services_;
  WrkThread& thread_;
  std::uint32_t answers_;
  std::uint64_t requests_ = 0;
  base::Instant since_{};
  bool broken_ = false;
};

struct DoneCall {
  int function;
  const model::WorkflowResult& totals;
  const WrkStats& latency;
  const WrkStats& requests;
};

void set_count(lua_State* state, const char* name, double value) {
  lua_pushnumber(state, value);
  lua_setfield(state, -2, name);
}

int call_done(lua_State* state) {
  const auto& call = *static_cast<DoneCall*>(lua_touserdata(state, 1));
  const model::StepResult& step = call.totals.steps.front();
  const auto errors = [&](std::initializer_list<model::ErrorClass> classes) {
    double sum = 0;
    for (const model::ErrorClass each : classes)
      sum += static_cast<double>(step.errors[static_cast<std::size_t>(each)]);
    return sum;
  };
  using enum model::ErrorClass;
  lua_rawgeti(state, LUA_REGISTRYINDEX, call.function);
  lua_newtable(state);
  set_count(state, "duration", std::round(base::seconds(call.totals.elapsed) * 1e6));
  set_count(state, "requests", static_cast<double>(step.ok) + errors({kStatus}));
  set_count(state, "bytes", static_cast<double>(step.bytes_in));
  lua_newtable(state);
  set_count(state, "connect", errors({kDns, kConnect, kTls, kResource}));
  set_count(state, "read", errors({kReset, kProtocol}));
  set_count(state, "write", 0);
  set_count(state, "status", errors({kStatus}));
  set_count(state, "timeout", errors({kTimeout}));
  lua_setfield(state, -2, "errors");
  push_stats(state, call.latency);
  push_stats(state, call.requests);
  lua_call(state, 3, 0);
  return 0;
}

class WrkProgram final : public engine::ScriptProgram {
 public:
  explicit WrkProgram(const engine::Program& program) : program_(program) {}

  base::Expected<void> begin(std::uint32_t cores, const engine::GiveUp& give_up) override {
    {
      const ReadingLimit limit(program_.script->file, kScriptLimits.read_time, 1);
      if (auto opened = open(main_); !opened) return opened;
      if (auto found = main_->resolve(); !found) return found;
    }
    const auto limited = [&](const char* hook, auto call) {
      const TimeLimit limit(kScriptLimits.read_time, [&] { give_up(endless(hook)); });
      return call();
    };
    for (std::uint32_t core = 0; core < cores; ++core) {
      if (auto opened = open(threads_.emplace_back()); !opened) return opened;
      WrkThread& thread = *threads_.back();
      if (auto done = limited("setup", [&] { return main_->set_up(thread); }); !done) return done;
      if (auto done = limited("init", [&] { return thread.begin(); }); !done) return done;
      if (core != 0) continue;
      auto count = limited("request", [&] { return thread.count_requests(); });
      if (!count) return std::unexpected(count.error());
      answers_ = *count;
    }
    return {};
  }

  std::unique_ptr<engine::Script> make(const engine::ScriptServices& services) override {
    return std::make_unique<WrkScript>(services, *threads_[services.slice.core], answers_);
  }

  base::Expected<void> end(const model::WorkflowResult& totals, const engine::GiveUp& give_up) override {
    base::Expected<void> told;
    if (!threads_.empty() && threads_.front()->has_done() && !totals.steps.empty()) {
      // Before whoever waits for this process gives it up without knowing why.
      static_assert(kScriptLimits.read_time < engine::kStarvedPatience);
      const TimeLimit limit(kScriptLimits.read_time, [&] { give_up(endless("done")); });
      told = tell_done(totals);
    }
    std::fflush(stdout);
    return told;
  }

 private:
  base::Expected<void> open(std::unique_ptr<WrkThread>& thread) {
    const ReadingLimit limit(program_.script->file, kScriptLimits.read_time, 1);
    thread = std::make_unique<WrkThread>(*program_.script, kScriptLimits.memory_bytes);
    return thread->open();
  }

  std::string endless(const char* hook) const {
    return fmt::format("`{}` of '{}' did not come back for {:.0f} s: a loop in it never ends, or it takes far too long",
                       hook, program_.script->file, base::seconds(kScriptLimits.read_time));
  }

  base::Expected<void> tell_done(const model::WorkflowResult& totals) {
    std::vector<double> rates;
    for (const auto& thread : threads_) rates.insert(rates.end(), thread->rates.begin(), thread->rates.end());
    const WrkStats latency(totals.steps.front().latency);
    const WrkStats requests(std::move(rates));
    const int function = main_->find_done();
    if (function == 0) return {};
    DoneCall call{.function = function, .totals = totals, .latency = latency, .requests = requests};
    return main_->call(&call_done, &call);
  }

  const engine::Program& program_;
  std::unique_ptr<WrkThread> main_;
  std::vector<std::unique_ptr<WrkThread>> threads_;
  std::uint32_t answers_ = 1;
};

}  // namespace

std::unique_ptr<engine::ScriptProgram> open_wrk(const engine::Program& program) {
  return std::make_unique<WrkProgram>(program);
}

}  // namespace muster::script
