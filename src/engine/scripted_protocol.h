// A protocol without a network, for tests: a `play` step says in its own fields how long it takes and how it ends, and
// every call is written to a journal that all cores share. Calls are served by timers of the core's own loop.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "authoring/text_template.h"
#include "engine/program.h"
#include "engine/protocol.h"
#include "engine/vu.h"
#include "model/step_kind.h"

namespace muster::engine {

inline model::StepKind play_kind() {
  using model::FieldType;
  return {
      .name = "play",
      .doc = "Plays a part that was written before.",
      .fields = {{.name = "text", .type = FieldType::kText, .doc = "What it says.", .required = true, .holes = true},
                 {.name = "takes", .type = FieldType::kDuration, .doc = "How long.", .fallback = "0s"},
                 {.name = "fails",
                  .type = FieldType::kText,
                  .doc = "An error class, true (reset), or false.",
                  .fallback = "false",
                  .holes = true},
                 {.name = "at_once", .type = FieldType::kBool, .doc = "Ends inside call().", .fallback = "false"},
                 {.name = "stalls", .type = FieldType::kBool, .doc = "Never ends.", .fallback = "false"}},
      .results = {{.name = "said", .type = FieldType::kText, .doc = "The text."},
                  {.name = "size", .type = FieldType::kInteger, .doc = "Its length."},
                  {.name = "read_at", .type = FieldType::kInteger, .doc = "The clock when this is read, in ns."}},
      .primary = "text",
      .inline_fields = true,
      .example = "- play: hello\n"};
}

class Journal {
 public:
  struct Entry {
    std::string text;
    std::uint64_t vu;
    std::uint64_t iteration;
    std::uint32_t core;
    base::Instant intended;
    base::Instant started;
  };

  void add(Entry entry) {
    const std::lock_guard lock(mutex_);
    entries_.push_back(std::move(entry));
  }
  std::vector<Entry> entries() const {
    const std::lock_guard lock(mutex_);
    return entries_;
  }
  std::vector<std::string> texts() const {
    std::vector<std::string> made;
    for (const Entry& entry : entries()) made.push_back(entry.text);
    return made;
  }
  std::size_t count(std::string_view text) const {
    const auto all = texts();
    return static_cast<std::size_t>(std::count(all.begin(), all.end(), text));
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
};

struct PlayCall final : PreparedCall {
  authoring::TextTemplate text;
  authoring::TextTemplate fails;
  base::Duration takes{};
  bool at_once = false;
  bool stalls = false;
};

class PlayClient final : public Client {
 public:
  PlayClient(const CoreServices& services, std::shared_ptr<Journal> journal)
      : loop_(services.loop), host_(services.host), core_(services.core), journal_(std::move(journal)) {}
  ~PlayClient() override {
    for (const auto& part : parts_) loop_.timers().cancel(*part);
  }

  base::Expected<void> open() override { return {}; }

  bool call(Call& call, Outcome& outcome) override {
    const auto& prepared = static_cast<const PlayCall&>(*call.plan->prepared);
    Part& part = take(call);
    part.text.clear();
    std::string fails;
    const auto& evaluation = host_.evaluation(*call.vu);
    const bool rendered = prepared.text.render(evaluation, part.text) && prepared.fails.render(evaluation, fails);
    journal_->add({part.text, call.vu->number, call.vu->iteration, core_, call.intended, call.started});
    part.ok = rendered && fails == "false";
    part.error = rendered ? to_error(fails) : model::ErrorClass::kValue;
    if (prepared.at_once || !rendered) {
      outcome.ok = part.ok;
      outcome.error = part.error;
      outcome.detail = "it was written so";
      if (part.ok) outcome.response = &part;
      free_.push_back(&part);
      return false;
    }
    call.transport = &part;
    if (!prepared.stalls) loop_.timers().arm(part, loop_.now() + prepared.takes);
    return true;
  }

  void cancel(Call& call) override {
    auto& part = *static_cast<Part*>(call.transport);
    loop_.timers().cancel(part);
    free_.push_back(&part);
  }

  void iteration_ended(Vu& /*vu*/, bool /*drop_everything*/) override {}

 private:
  struct Part final : reactor::Timer, Response {
    Part(PlayClient& owner) : Timer(&PlayClient::on_time), client(&owner) {}
    model::Value result(std::size_t result, const authoring::Path& /*rest*/, base::Arena& arena) override {
      if (result == 1) return model::Value::of(static_cast<std::int64_t>(text.size()));
      if (result == 2) return model::Value::of(static_cast<std::int64_t>(base::now().time_since_epoch().count()));
      char* copy = arena.allocate(text.size());
      std::copy(text.begin(), text.end(), copy);
      return model::Value::of(std::string_view(copy, text.size()));
    }
    PlayClient* client;
    Call* call = nullptr;
    std::string text;
    bool ok = true;
    model::ErrorClass error = model::ErrorClass::kReset;
  };

  static model::ErrorClass to_error(std::string_view text) {
    for (std::size_t i = 0; i < model::kErrorClasses; ++i) {
      if (model::to_text(static_cast<model::ErrorClass>(i)) == text) return static_cast<model::ErrorClass>(i);
    }
    return model::ErrorClass::kReset;
  }

  Part& take(Call& call) {
    if (free_.empty()) free_.push_back(parts_.emplace_back(std::make_unique<Part>(*this)).get());
    Part& part = *free_.back();
    free_.pop_back();
    part.call = &call;
    return part;
  }

  static void on_time(reactor::Timer& timer, base::Instant now) {
    auto& part = static_cast<Part&>(timer);
    PlayClient& self = *part.client;
    Outcome outcome;
    outcome.ok = part.ok;
    outcome.error = part.error;
    outcome.finished = now;
    outcome.bytes_in = part.text.size();
    outcome.bytes_out = 1;
    outcome.detail = part.ok ? "" : "it was written so";
    outcome.response = part.ok ? &part : nullptr;
    // Freed only afterwards: the VU's next call starts inside finished() and would overwrite the response.
    self.host_.finished(*part.call, outcome);
    self.free_.push_back(&part);
  }

  reactor::Loop& loop_;
  CallHost& host_;
  std::uint32_t core_;
  std::shared_ptr<Journal> journal_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::vector<Part*> free_;
};

class PlayProtocol final : public Protocol {
 public:
  explicit PlayProtocol(std::shared_ptr<Journal> journal) : journal_(std::move(journal)) {}

  base::Expected<std::unique_ptr<PreparedCall>> prepare(const model::Step& step, PrepareContext& context) override {
    auto made = std::make_unique<PlayCall>();
    for (auto& [field, into] : {std::pair("text", &made->text), std::pair("fails", &made->fails)}) {
      auto compiled =
          authoring::TextTemplate::compile(*step.field(field)->text(), context.scope, authoring::Escape::kNone);
      if (!compiled) return base::fail(compiled.error().message);
      *into = std::move(*compiled);
    }
    made->takes = base::Duration(*step.field("takes")->integer());
    made->at_once = *step.field("at_once")->boolean();
    made->stalls = *step.field("stalls")->boolean();
    return made;
  }
  std::unique_ptr<Client> make_client(const CoreServices& services) override {
    return std::make_unique<PlayClient>(services, journal_);
  }

 private:
  std::shared_ptr<Journal> journal_;
};

}  // namespace muster::engine
