// A protocol, a load shape and an output as someone would write them outside this tree: registered, used from YAML by
// the command line itself, and nothing in src/ knows of them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "authoring/schema.h"
#include "authoring/text_template.h"
#include "console/command_line.h"
#include "engine/engine.h"
#include "engine/program.h"
#include "report/output.h"

namespace muster {
namespace {

using testing::HasSubstr;

// The protocol: throws a die with so many sides; the cup holds a number of dice for each core.

model::StepKind dice_kind() {
  using model::FieldType;
  return {
      .name = "dice",
      .doc = "Throws a die.",
      .fields = {{.name = "throw", .type = FieldType::kText, .doc = "Who throws.", .required = true, .holes = true},
                 {.name = "again", .type = FieldType::kDuration, .doc = "How long it rolls.", .fallback = "1ms"}},
      .results = {{.name = "eyes", .type = FieldType::kInteger, .doc = "What is on top."},
                  {.name = "by", .type = FieldType::kText, .doc = "Who threw it."}},
      .target_fields = {{.name = "sides", .type = FieldType::kInteger, .doc = "Sides of the die.", .fallback = "6"}},
      .primary = "throw",
      .inline_fields = true,
      .example = "- dice: ann\n"};
}

struct Throw final : engine::PreparedCall {
  authoring::TextTemplate who;
  base::Duration rolls{};
  std::int64_t sides = 0;
};

class Cup final : public engine::Client {
 public:
  explicit Cup(const engine::CoreServices& services) : services_(services) {}
  ~Cup() override {
    for (const auto& die : dice_) services_.loop.timers().cancel(*die);
  }

  base::Expected<void> open() override { return {}; }

  bool call(engine::Call& call, engine::Outcome& outcome) override {
    const auto& prepared = static_cast<const Throw&>(*call.plan->prepared);
    Die& die = *dice_.emplace_back(std::make_unique<Die>(*this));
    die.call = &call;
    if (const auto rendered = prepared.who.render(services_.host.evaluation(*call.vu), die.by); !rendered) {
      outcome.ok = false;
      outcome.error = model::ErrorClass::kValue;
      return false;
    }
    die.eyes = 1 + next_++ % prepared.sides;
    call.transport = &die;
    services_.loop.timers().arm(die, services_.loop.now() + prepared.rolls);
    return true;
  }
  void cancel(engine::Call& call) override { services_.loop.timers().cancel(*static_cast<Die*>(call.transport)); }
  void iteration_ended(engine::Vu& /*vu*/, bool /*drop_everything*/) override {}

 private:
  struct Die final : reactor::Timer, engine::Response {
    explicit Die(Cup& owner) : Timer(&Cup::lies_still), cup(&owner) {}
    model::Value result(std::size_t result, const authoring::Path& /*rest*/, base::Arena& arena) override {
      return result == 0 ? model::Value::of(eyes) : model::Value::of(arena.copy(by));
    }
    Cup* cup;
    engine::Call* call = nullptr;
    std::string by;
    std::int64_t eyes = 0;
  };

  static void lies_still(reactor::Timer& timer, base::Instant now) {
    auto& die = static_cast<Die&>(timer);
    engine::Outcome outcome;
    outcome.finished = now;
    outcome.response = &die;
    die.cup->services_.host.finished(*die.call, outcome);
  }

  engine::CoreServices services_;
  std::vector<std::unique_ptr<Die>> dice_;
  std::int64_t next_ = 0;
};

class Dice final : public engine::Protocol {
 public:
  base::Expected<std::unique_ptr<engine::PreparedCall>> prepare(const model::Step& step,
                                                                engine::PrepareContext& context) override {
    if (context.target == nullptr) return base::fail("a dice step needs a table: name it with `on`");
    auto made = std::make_unique<Throw>();
    auto who = authoring::TextTemplate::compile(*step.field("throw")->text(), context.scope, authoring::Escape::kNone);
    if (!who) return base::fail(who.error().message);
    made->who = std::move(*who);
    made->rolls = base::Duration(*step.field("again")->integer());
    for (const auto& [name, value] : context.target->options) {
      if (name == "sides") made->sides = *value.integer();
    }
    return made;
  }
  std::unique_ptr<engine::Client> make_client(const engine::CoreServices& services) override {
    return std::make_unique<Cup>(services);
  }
};

// The load shape: so many VUs, and for a while a crowd.

class Spike final : public engine::LoadShape {
 public:
  Spike(std::uint64_t before, std::uint64_t crowd, base::Duration at, base::Duration over, base::Duration length)
      : before_(before), crowd_(crowd), at_(at), over_(over), length_(length) {}

  bool open() const override { return false; }
  double vus_at(base::Duration elapsed) const override {
    if (elapsed >= length_) return 0;
    return static_cast<double>(elapsed >= at_ && elapsed < at_ + over_ ? crowd_ : before_);
  }
  base::Duration next_change(base::Duration elapsed) const override {
    for (const base::Duration each : {at_, at_ + over_, length_}) {
      if (elapsed < each) return each;
    }
    return base::Duration::max();
  }
  base::Duration length() const override { return length_; }
  std::uint64_t peak_vus() const override { return std::max(before_, crowd_); }

 private:
  std::uint64_t before_;
  std::uint64_t crowd_;
  base::Duration at_;
  base::Duration over_;
  base::Duration length_;
};

authoring::LoadShapeKey spike_key() {
  using model::FieldType;
  return {.name = "spike",
          .fields = {{.name = "crowd", .type = FieldType::kInteger, .doc = "VUs in it.", .min = 1, .required = true},
                     {.name = "at", .type = FieldType::kDuration, .doc = "When it comes.", .required = true},
                     {.name = "over", .type = FieldType::kDuration, .doc = "How long it stays.", .required = true}}};
}

base::Expected<std::unique_ptr<engine::LoadShape>> make_spike(const model::Load& load) {
  const auto number = [&](std::string_view name) -> std::int64_t {
    for (const auto& [key, tree] : load.options) {
      if (key == name && tree.integer() != nullptr) return *tree.integer();
    }
    return 0;
  };
  if (load.length <= base::Duration::zero()) return base::fail("a spike needs a length: add `for: 30s`");
  return std::make_unique<Spike>(load.vus, static_cast<std::uint64_t>(number("crowd")), base::Duration(number("at")),
                                 base::Duration(number("over")), load.length);
}

// The output: keeps what it is given.

struct Kept {
  std::string argument;
  report::RunInfo run;
  int snapshots = 0;
  model::RunResult result;
};

class Keeper final : public report::Output {
 public:
  explicit Keeper(Kept& kept) : kept_(kept) {}
  base::Expected<void> open(const report::RunInfo& run) override {
    kept_.run = run;
    return {};
  }
  base::Expected<void> write(const model::RunResult& /*snapshot*/) override {
    ++kept_.snapshots;
    return {};
  }
  base::Expected<void> finish(const model::RunResult& result) override {
    kept_.result = result;
    return {};
  }

 private:
  Kept& kept_;
};

class Extension : public testing::Test {
 protected:
  Extension() {
    registry_.kinds.add(dice_kind());
    registry_.protocols.add("dice", std::make_shared<Dice>());
    registry_.shapes.add("spike", &make_spike);
    registry_.shape_keys.push_back(spike_key());
    outputs_.add({.name = "keep", .doc = "Keeps the result.", .make = [this](std::string argument) {
                    kept_.argument = std::move(argument);
                    return base::Expected<std::unique_ptr<report::Output>>(std::make_unique<Keeper>(kept_));
                  }});
  }

  int muster(const std::string& yaml, std::vector<std::string> words) {
    const std::string path = testing::TempDir() + "muster_extension_test." + std::to_string(getpid());
    std::ofstream(path) << yaml;
    words.insert(words.begin(), "muster");
    words.push_back(path);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    return console::command_line(static_cast<int>(arguments.size()), arguments.data(), registry_, outputs_);
  }

  engine::Registry registry_ = engine::built_in_registry();
  report::Outputs outputs_ = report::built_in_outputs();
  Kept kept_;
};

constexpr const char* kGame = R"(muster: 1
targets: { table: { dice: oak, sides: 4 } }
thresholds: [ failed rate < 1% ]
workflows:
  - name: game
    load: { vus: 2, for: 600ms, spike: { crowd: 8, at: 200ms, over: 200ms } }
    steps:
      - { name: first, on: table, dice: "vu${vu.id}", check: { eyes: "<= 4", by: exists }, save: { won: eyes } }
      - if: won == 4
        then: [ { name: second, on: table, dice: "again ${first.by}" } ]
)";

TEST_F(Extension, AProtocolALoadShapeAndAnOutputFromOutsideRunFromTheCommandLine) {
  EXPECT_EQ(muster(kGame, {"run", "--ui", "none", "--cores", "2", "--out", "keep=somewhere"}), 0);
  EXPECT_EQ(kept_.argument, "somewhere");
  EXPECT_THAT(kept_.run.source, HasSubstr("crowd: 8"));
  ASSERT_EQ(kept_.result.workflows.size(), 1U);
  const model::WorkflowResult& game = kept_.result.workflows[0];
  EXPECT_EQ(game.state, model::WorkflowState::kCompleted);
  EXPECT_EQ(game.peak_vus, 8U);
  ASSERT_EQ(game.steps.size(), 2U);
  EXPECT_EQ(game.steps[0].kind, "dice");
  EXPECT_EQ(game.steps[0].ok, game.iterations);
  EXPECT_GT(game.steps[1].ok, 0U);
  EXPECT_LT(game.steps[1].ok, game.steps[0].ok);
  ASSERT_EQ(game.steps[0].checks.size(), 2U);
  EXPECT_EQ(game.steps[0].checks[0].ok, game.iterations);
  EXPECT_EQ(game.steps[0].checks[0].failed, 0U);
  ASSERT_EQ(kept_.result.thresholds.size(), 1U);
  EXPECT_TRUE(kept_.result.thresholds[0].passed);
}

TEST_F(Extension, IsCheckedLikeWhatIsBuiltIn) {
  EXPECT_EQ(muster(kGame, {"check"}), 0);
  const auto mistaken = [&](const std::string& from, const std::string& to) {
    std::string yaml = kGame;
    yaml.replace(yaml.find(from), from.size(), to);
    testing::internal::CaptureStderr();
    const int code = muster(yaml, {"check"});
    EXPECT_EQ(code, 2);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(mistaken("crowd: 8", "crowds: 8"), HasSubstr("did you mean 'crowd'"));
  EXPECT_THAT(mistaken("crowd: 8", "crowd: 0"), HasSubstr("crowd"));
  EXPECT_THAT(mistaken("dice: \"again", "dise: \"again"), HasSubstr("did you mean 'dice'"));
  EXPECT_THAT(mistaken("won == 4", "first.eye == 4"), HasSubstr("eye"));
}

TEST_F(Extension, StandsInTheSchema) {
  const std::string schema = authoring::json_schema({.kinds = registry_.kinds, .shapes = registry_.shape_keys});
  EXPECT_THAT(schema, HasSubstr("Throws a die."));
  EXPECT_THAT(schema, HasSubstr("\"spike\""));
}

}  // namespace
}  // namespace muster
