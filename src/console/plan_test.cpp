#include "console/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "authoring/loader.h"
#include "console/plan_words.h"
#include "report/text_layout.h"

namespace muster::console {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using namespace std::chrono_literals;

class PlanTest : public testing::Test {
 protected:
  // A whole file; what it needs from outside is a secret.
  JobPlan plan_of(const std::string& yaml, PlanOptions options = {.cores = 4, .open_files = 0}) {
    authoring::LoadInput input;
    input.environment = {{"PASSWORD", "swordfish"}};
    auto job = authoring::load_job("muster: 1\ntarget: http://shop.test\n" + yaml, "x.yaml", input,
                                   {.kinds = registry_.kinds, .shapes = registry_.shape_keys});
    EXPECT_TRUE(job) << (job ? "" : to_text(job.error().list.front()));
    if (!job) return {};
    job_ = std::move(*job);
    auto plan = make_plan(job_, registry_, options);
    EXPECT_TRUE(plan) << (plan ? "" : plan.error().message);
    return plan ? std::move(*plan) : JobPlan{};
  }
  std::string text_of(const JobPlan& plan) { return plan_text(plan, registry_.kinds, {}); }
  std::string words_of(const std::string& load) {
    const JobPlan plan = plan_of("load: " + load + "\nsteps: [ { get: / } ]\n");
    return load_words(plan.workflows[0].workflow->load, *plan.workflows[0].shape).front();
  }

  engine::Registry registry_ = engine::built_in_registry();
  model::Job job_;
};

TEST(PlanWords, TimesAreSpelledAsOneWritesThem) {
  EXPECT_EQ(spelled(90s), "1m30s");
  EXPECT_EQ(spelled(300ms), "300ms");
  EXPECT_EQ(spelled(1h + 1ms), "1h1ms");
  EXPECT_EQ(spelled(0s), "0s");
}

TEST_F(PlanTest, LoadsArePutIntoWords) {
  EXPECT_EQ(words_of("{ vus: 1, for: 30s }"), "1 VU for 30s");
  EXPECT_EQ(words_of("{ vus: [ { to: 100, over: 1m }, { hold: 5m }, { to: 0, over: 30s } ] }"),
            "0 to 100 VUs over 1m, then 100 VUs for 5m, then 100 to 0 VUs over 30s");
  EXPECT_EQ(words_of("{ vus: 10, iterations: 1000 }"), "1,000 iterations in all, shared by 10 VUs");
  EXPECT_EQ(words_of("{ vus: 10, iterations: 50 each, for: 1m }"), "50 iterations by each of 10 VUs, for at most 1m");
  EXPECT_EQ(words_of("{ rate: 200/s, for: 3m }"), "arrivals at 200/s for 3m");
  EXPECT_EQ(words_of("{ rate: [ { to: 500/s, over: 2m }, { hold: 1m } ] }"),
            "arrivals at 0 to 500/s over 2m, then 500/s for 1m");
  EXPECT_EQ(words_of("{ rate: [ { to: 0.5/s, over: 0s }, { hold: 1m } ] }"),
            "arrivals at once 0.5/s, then 0.5/s for 1m");
}

TEST_F(PlanTest, IterationsArrivalsAndRequestsAreCounted) {
  const JobPlan plan = plan_of(R"(
load: { rate: [ { to: 100/s, over: 10s }, { hold: 10s } ], max_vus: 10 }
steps:
  - get: /a
  - choose: [ { steps: [ { get: /b }, { get: /c } ] }, { steps: [ { think: 1s } ] } ]
  - repeat: 3
    steps: [ { get: /d } ]
  - parallel: [ { think: 2s }, { think: 1s..3s } ]
)");
  const PlannedWorkflow& flow = plan.workflows.at(0);
  EXPECT_EQ(flow.iterations, 1500);
  EXPECT_EQ(flow.requests.least, 4);
  EXPECT_EQ(flow.requests.most, 6);
  EXPECT_DOUBLE_EQ(flow.thinking.least, 2);
  EXPECT_DOUBLE_EQ(flow.thinking.most, 4);
  EXPECT_EQ(plan.length, 20s);
}

TEST_F(PlanTest, ALoopWithoutBoundHasNoMostRequests) {
  const JobPlan plan = plan_of(R"(
load: { vus: 2, for: 1s }
steps: [ { repeat: { while: n.json.more }, steps: [ { name: n, get: /n } ] } ]
)");
  EXPECT_TRUE(std::isinf(plan.workflows.at(0).requests.most));
}

TEST_F(PlanTest, LayersBatchesAndVusPerCoreAreThoseOfARun) {
  const JobPlan plan = plan_of(R"(
workflows:
  - { name: first, load: { vus: 10, iterations: 1 each }, steps: [ { get: / } ] }
  - { name: second, depends: first, load: { vus: 10, for: 5s }, steps: [ { get: / } ] }
)");
  ASSERT_EQ(plan.layers.size(), 2u);
  EXPECT_THAT(plan.layers[1].at(0), ElementsAre(1u));
  std::vector<std::uint64_t> vus;
  for (const engine::Slice& core : plan.workflows[1].cores) vus.push_back(core.vus);
  EXPECT_THAT(vus, ElementsAre(2u, 2u, 2u, 4u));
  EXPECT_EQ(plan.length, base::Duration::max());
}

TEST_F(PlanTest, ConstantRequestsAreShownAsConstantAndHolesAreNamed) {
  const JobPlan plan = plan_of(R"(
load: { vus: 1, for: 1s }
steps:
  - { name: home, get: / }
  - { name: buy, post: /buy, json: { id: "${random(1, 3)}" }, headers: { X-Key: "k-${vu.id}" } }
)");
  const std::string text = text_of(plan);
  EXPECT_THAT(text, HasSubstr("home: constant, "));
  EXPECT_THAT(text, HasSubstr("> GET / HTTP/1.1"));
  EXPECT_THAT(text, HasSubstr("3 holes filled each time: ${vu.id}, ${length"));
  EXPECT_THAT(text, HasSubstr("> X-Key: k-${vu.id}"));
  EXPECT_THAT(text, HasSubstr("http://shop.test: one connection for each VU, kept open"));
}

TEST_F(PlanTest, SecretsAreNamedButNeverShown) {
  const JobPlan plan = plan_of(R"(
secrets: [ PASSWORD ]
load: { vus: 1, for: 1s }
steps: [ { post: "/login?trap=swordfish", json: { password: "${env.PASSWORD}" } } ]
)");
  const std::string text = text_of(plan) + plan_json(plan, registry_.kinds);
  EXPECT_THAT(text, HasSubstr("PASSWORD (never shown)"));
  EXPECT_THAT(text, HasSubstr("${env.PASSWORD}"));
  EXPECT_THAT(text, Not(HasSubstr("swordfish")));
}

TEST_F(PlanTest, UsersOfAddressesAreNotShown) {
  const JobPlan plan = plan_of(R"(
load: { vus: 1, iterations: 1 }
steps: [ { get: "http://ada:hunter2@a.test/x?key=k77" }, { name: again, get: "http://ada:hunter2@a.test/y?key=k77" } ]
)");
  const std::string text = plan_text(plan, registry_.kinds, {.columns = 80, .bytes = 400});
  const std::string json = plan_json(plan, registry_.kinds);
  for (const std::string& shown : {text, json}) {
    EXPECT_THAT(shown, Not(HasSubstr("hunter2")));
    EXPECT_THAT(shown, Not(HasSubstr("YWRhOmh1bnRlcjI")));
    EXPECT_THAT(shown, HasSubstr("GET http://***@a.test/y?key=***"));
  }
}

TEST_F(PlanTest, WarnsOfWhatIsLikelyNotMeant) {
  const JobPlan open = plan_of("load: { rate: 5/s, for: 1s }\nsteps: [ { get: / } ]\n");
  EXPECT_THAT(open.warnings, Contains(HasSubstr("`max_vus` is not given, so at most 100 VUs")));
  EXPECT_THAT(open.warnings, Contains(HasSubstr("no thresholds")));

  const JobPlan closed =
      plan_of("load: { vus: 5, for: 1s }\nthresholds: [ dropped count < 1 ]\nsteps: [ { get: / } ]\n",
              {.cores = 1, .open_files = 10});
  EXPECT_THAT(closed.warnings, Contains(HasSubstr("no `think` and no `every`")));
  EXPECT_THAT(closed.warnings, Contains(HasSubstr("`dropped count < 1` tells nothing")));
  EXPECT_THAT(closed.warnings, Contains(HasSubstr("may have 10 open files")));
  EXPECT_THAT(closed.warnings, Not(Contains(HasSubstr("no thresholds"))));

  const JobPlan short_run = plan_of(R"(
load: { vus: 5, iterations: 10 }
thresholds:
  - { that: latency p95 < 1s, min_samples: 100 }
  - { that: failed rate < 1%, where: { colour: red } }
steps: [ { get: /, tags: { colour: blue } } ]
)");
  EXPECT_THAT(short_run.warnings, Contains(HasSubstr("needs 100 samples, and the run makes at most 10 requests")));
  EXPECT_THAT(short_run.warnings, Contains(HasSubstr("can never be judged")));
}

TEST_F(PlanTest, WarnsOfTooFewSamplesOnlyWhereThereAreTooFew) {
  const auto warned = [&](const std::string& threshold, const std::string& steps) {
    const JobPlan plan =
        plan_of("load: { vus: 5, iterations: 10 }\nthresholds: [ { that: " + threshold + " } ]\n" + steps);
    std::string found;
    for (const std::string& each : plan.warnings) found += each.contains(" samples, ") ? each : "";
    return found;
  };
  const std::string checked = "steps: [ { get: /, check: [ status == 200, size > 1, latency < 1s ] } ]\n";
  EXPECT_EQ(warned("checks rate > 99%, min_samples: 30", checked), "");
  EXPECT_THAT(warned("checks rate > 99%, min_samples: 31", checked), HasSubstr("at most 30 checks"));
  EXPECT_THAT(warned("failed rate < 1%, min_samples: 11", checked), HasSubstr("at most 10 requests"));
  EXPECT_EQ(warned("mine count > 1, min_samples: 100",
                   "steps: [ { get: / }, { repeat: 20, steps: [ { metric: mine, type: counter, value: 1 } ] } ]\n"),
            "");
  EXPECT_EQ(warned("latency p95 < 1s, min_samples: 15", "start: [ { get: /login } ]\nsteps: [ { get: / } ]\n"), "")
      << "each VU logs in";
}

TEST_F(PlanTest, WarnsOfWorkflowsThatTakeTurnsForLackOfCores) {
  const std::string yaml = R"(
workflows:
  - { name: a, load: { vus: 5, for: 1s }, steps: [ { get: / } ] }
  - { name: b, load: { vus: 5, for: 1s }, steps: [ { get: / } ] }
)";
  const auto turns = HasSubstr("2 workflows of one layer need 2 cores to run together, and 1 is there");
  EXPECT_THAT(plan_of(yaml, {.cores = 1, .open_files = 0}).warnings, Contains(turns));
  EXPECT_THAT(plan_of(yaml).warnings, Not(Contains(turns)));
}

TEST_F(PlanTest, AGoodFileHasNoWarnings) {
  const JobPlan plan = plan_of(R"(
load: { vus: 5, for: 10s }
thresholds: [ latency p95 < 1s ]
steps: [ { get: / }, { think: 1s } ]
)");
  EXPECT_THAT(plan.warnings, ElementsAre());
}

TEST_F(PlanTest, NothingIsWiderThan80ColumnsHoweverLongTheNames) {
  const std::string wide(150, 'w');
  const JobPlan plan = plan_of("load: { vus: 5, for: 10s }\nsteps:\n  - { name: " + wide + ", get: /" + wide +
                               ", headers: { " + wide + ": \"" + wide + "\" } }\n  - { if: \"vu.id > 1\", then: [ { " +
                               "if: \"vu.id > 2\", then: [ { get: /deep-" + wide + " } ] } ] }\n");
  std::istringstream lines(text_of(plan));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(report::width(line), 80u) << line;
}

TEST_F(PlanTest, IterationsThatForMayCutShortAreAtMostSoMany) {
  EXPECT_THAT(text_of(plan_of("load: { vus: 2, iterations: 1000, for: 2s }\nsteps: [ { get: / } ]\n")),
              HasSubstr("at most 1,000 iterations · at most 1,000 requests"));
  EXPECT_THAT(text_of(plan_of("load: { vus: 2, iterations: 1000 }\nsteps: [ { get: / } ]\n")),
              Not(HasSubstr("at most 1,000")));
}

TEST_F(PlanTest, WarnsOfABareOneThatIsAShare) {
  const JobPlan plan = plan_of(R"(
load: { vus: 5, for: 10s }
thresholds: [ failed rate < 1, failed rate < 100%, failed rate < 0.5, failed count < 1 ]
steps: [ { get: / } ]
)");
  EXPECT_THAT(plan.warnings, Contains(HasSubstr("the threshold `failed rate < 1` compares with 100 %")));
  EXPECT_THAT(plan.warnings, Not(Contains(HasSubstr("< 100%` compares"))));
  EXPECT_THAT(plan.warnings, Not(Contains(HasSubstr("0.5"))));
  EXPECT_THAT(plan.warnings, Not(Contains(HasSubstr("count"))));
}

TEST_F(PlanTest, WarnsOfAConditionThatIsOneSlipFromAWord) {
  const JobPlan plan = plan_of(R"(
load: { vus: 5, for: 10s }
steps:
  - { get: /, check: { json.a: exist, json.b: not exits, body: contain tea, json.c: exists, json.d: contain } }
  - { if: vu.id > 1, then: [ { get: /b, check: { json.e: match ^a, json.f: "'exist'" } } ] }
)");
  EXPECT_THAT(plan.warnings, Contains("the check `json.a: exist`: 'exist' is compared as text; 'exists' asks whether "
                                      "there is a value"));
  EXPECT_THAT(plan.warnings, Contains(HasSubstr("'not exits' is compared as text; 'exists' asks")));
  EXPECT_THAT(plan.warnings, Contains(HasSubstr("'contain tea' is compared as text; 'contains' looks for a part")));
  EXPECT_THAT(plan.warnings, Contains(HasSubstr("'match ^a' is compared as text; 'matches' takes")));
  for (const char* good : {"json.c", "json.d", "json.f"}) {
    EXPECT_THAT(plan.warnings, Not(Contains(HasSubstr(good))));
  }
}

TEST_F(PlanTest, WarnsOfDatacentersThatOneMachineHasNot) {
  const std::string file = "load: { vus: 5, for: 10s }\nsteps: [ { get: / } ]\n";
  EXPECT_THAT(plan_of("datacenters: [ eu ]\n" + file).warnings,
              Contains(HasSubstr("`datacenters` has no effect on one machine")));
  EXPECT_THAT(plan_of(file).warnings, Not(Contains(HasSubstr("datacenters"))));
}

TEST_F(PlanTest, TheJsonTellsTheSame) {
  const JobPlan plan = plan_of(R"(
load: { vus: 5, for: 10s }
thresholds: [ latency p95 < 1s ]
steps: [ { name: home, get: /, check: { status: 200 } }, { if: "home.status == 200", then: [ { think: 1s } ] } ]
)");
  const auto json = nlohmann::json::parse(plan_json(plan, registry_.kinds));
  EXPECT_EQ(json["cores"], 4);
  EXPECT_EQ(json["layers"], nlohmann::json::parse(R"([[["x"]]])"));
  const auto& flow = json["workflows"][0];
  EXPECT_EQ(flow["load"]["peak_vus"], 5);
  EXPECT_EQ(flow["iterations"], nullptr);
  EXPECT_EQ(flow["steps"][0]["request"]["constant"], true);
  EXPECT_EQ(flow["steps"][0]["does"], "GET /");
  EXPECT_EQ(flow["steps"][1]["branches"][0]["label"], "then");
  EXPECT_EQ(json["thresholds"][0]["judgeable"], true);
}

}  // namespace
}  // namespace muster::console
