#include "authoring/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "authoring/loader_fixture.h"
#include "model/options.h"

namespace muster::authoring {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string with_steps(const std::string& steps) {
  return "muster: 1\ntarget: http://shop.test\nsteps:\n" + steps;
}

constexpr std::string_view kShop = R"(
muster: 1
target: https://shop.test
targets:
  backup: { http: "https://backup.test:8443", insecure: true }
data:    { users: { csv: users.csv, pick: unique } }
secrets: [ PASSWORD ]
thresholds:
  - latency p95 < 300ms
  - { that: latency p99 < 1s, where: { step: login }, window: 10s, min_samples: 100, abort: true }
  - failed rate < 1%
workflows:
  - name: login
    load: { vus: 100, iterations: 1 each }
    steps:
      - name: login
        post: /login
        json: { user: "${data.users.name}", password: "${env.PASSWORD}" }
        check: { status: 200, json.token: exists }
        save: { token: json.token }
    provide: { token: { from: token, keep: all, max: 10000, to: [browse] } }
  - name: browse
    depends: [login]
    use: { token: login }
    load: { rate: 200/s, spacing: poisson, for: 3m, max_vus: 5000 }
    priority: high
    steps:
      - name: catalog
        get: /catalog
        headers: { Authorization: "Bearer ${token}" }
      - think: 1s..3s
      - parallel:
          - { name: price, on: backup, get: "/price/${catalog.json.items[0].id}" }
          - { name: stock, get: /stock/7 }
      - if: stock.json.value > 0
        then:
          - repeat: 3
            steps: [ { name: buy, post: /cart, json: { id: 7 }, expect: [200, 409] } ]
      - choose: [ { weight: 9, steps: [ { get: / } ] }, { weight: 1, steps: [ { get: /help } ] } ]
)";

TEST(Loader, LoadsTheShopExample) {
  Files files;
  files.files["users.csv"] = "name,age\nada,36\n";
  files.environment = {{"PASSWORD", "swordfish"}};
  const model::Job job = files.good(std::string(kShop));
  ASSERT_EQ(job.workflows.size(), 2u);
  ASSERT_EQ(job.targets.size(), 2u);
  EXPECT_EQ(job.targets[0].address, "https://shop.test");
  EXPECT_EQ(job.targets[1].name, "backup");
  EXPECT_EQ(job.thresholds.size(), 3u);
  EXPECT_EQ(job.thresholds[1].window, 10s);
  EXPECT_TRUE(job.thresholds[1].abort);
  const model::Workflow& login = job.workflows[0];
  EXPECT_EQ(login.load.shape, "iterations-each");
  EXPECT_EQ(login.load.vus, 100u);
  EXPECT_EQ(login.steps[0].field("method")->text()[0], "post");
  EXPECT_EQ(login.steps[0].checks.size(), 2u);
  EXPECT_EQ(login.provides[0].keep, model::Keep::kAll);
  const model::Workflow& browse = job.workflows[1];
  EXPECT_EQ(browse.load.shape, "constant-arrivals");
  EXPECT_EQ(browse.load.rate, 200);
  EXPECT_EQ(browse.load.length, 3min);
  EXPECT_EQ(browse.load.spacing, model::Spacing::kPoisson);
  EXPECT_EQ(browse.priority, model::Priority::kHigh);
  ASSERT_EQ(browse.steps.size(), 5u);
  EXPECT_EQ(browse.steps[1].name, "think-1");
  EXPECT_EQ(browse.steps[2].branches.size(), 2u);
  EXPECT_EQ(browse.steps[3].branches[0].label, "then");
  EXPECT_EQ(browse.steps[4].branches[0].weight, 9);
  EXPECT_EQ(browse.steps[4].branches[1].steps[0].name, "GET /help");
  EXPECT_EQ(job.secrets[0].second, "swordfish");
}

TEST(Loader, TakesAFileWithStepsForOneWorkflowNamedAfterIt) {
  Files files;
  auto job = files.load("muster: 1\nsteps: [ { get: 'http://a/' } ]\n", "tests/ping.yaml");
  ASSERT_TRUE(job);
  ASSERT_EQ(job->workflows.size(), 1u);
  EXPECT_EQ(job->workflows[0].name, "ping");
  EXPECT_EQ(job->workflows[0].load.shape, "shared-iterations");
  EXPECT_EQ(job->workflows[0].load.vus, 1u);
  EXPECT_EQ(job->workflows[0].load.iterations, 1u);
}

TEST(Loader, FillsInTheDefaultsOfFields) {
  Files files;
  const model::Job job = files.good(with_steps("  - get: /\n"));
  const model::Step& step = job.workflows[0].steps[0];
  EXPECT_EQ(*step.field("timeout")->integer(), 30'000'000'000);
  EXPECT_EQ(*step.field("redirects")->integer(), 10);
  EXPECT_EQ(*step.field("compressed")->boolean(), false);
  const model::TreeList& expect = *step.field("expect")->list();
  ASSERT_EQ(expect.size(), 1u);
  EXPECT_EQ(*(*expect[0].list())[0].integer(), 200);
  EXPECT_EQ(*(*expect[0].list())[1].integer(), 399);
  EXPECT_EQ(step.field("body"), nullptr);
}

TEST(Loader, TakesFieldsInsideTheKindAsWellAsBesideAShorthand) {
  Files files;
  const model::Job job =
      files.good(with_steps("  - http: { url: /a, method: PUT, headers: { x: 1.10 } }\n"
                            "  - put: /a\n    headers: { x: 1.10 }\n"
                            "  - http: /b\n"));
  const auto& steps = job.workflows[0].steps;
  EXPECT_EQ(steps[0].name, "PUT /a");
  EXPECT_EQ(*steps[0].field("headers")->find("x")->text(), "1.10");
  EXPECT_EQ(*steps[1].field("method")->text(), "put");
  EXPECT_EQ(steps[1].name, "PUT /a-2");
  EXPECT_EQ(steps[2].name, "GET /b");
}

TEST(Loader, MakesUpNamesWithoutTheCredentialsOfAnAddress) {
  Files files;
  const std::string long_path(70, 'x');
  const model::Job job =
      files.good(with_steps("  - get: /a?page=2&token=tok77\n"
                            "  - get: /a?page=2&token=tok88\n"
                            "  - get: http://bob:bobpw99@a.test/b?key=k1\n"
                            "  - get: /" +
                            long_path + "?token=a-long-one\n"));
  const auto& steps = job.workflows[0].steps;
  EXPECT_EQ(steps[0].name, "GET /a?page=2&token=***");
  EXPECT_EQ(steps[1].name, "GET /a?page=2&token=***-2");
  EXPECT_EQ(steps[2].name, "GET http://***@a.test/b?key=***");
  EXPECT_EQ(steps[3].name, "GET /" + long_path + "?token=**");
}

TEST(Loader, KeepsTheTypesOfAJsonBody) {
  Files files;
  const model::Job job = files.good(with_steps(
      "  - post: /\n    json: { a: 1, b: 1.5, c: true, d: null, e: '1', f: 007, g: [x, -2], h: 1e3, i: ~ }\n"));
  const model::Tree& json = *job.workflows[0].steps[0].field("json");
  EXPECT_EQ(*json.find("a")->integer(), 1);
  EXPECT_EQ(*json.find("b")->number(), 1.5);
  EXPECT_EQ(*json.find("c")->boolean(), true);
  EXPECT_TRUE(json.find("d")->null());
  EXPECT_EQ(*json.find("e")->text(), "1");
  EXPECT_EQ(*json.find("f")->text(), "007");
  EXPECT_EQ(*(*json.find("g")->list())[1].integer(), -2);
  EXPECT_EQ(*json.find("h")->number(), 1000.0);
  EXPECT_TRUE(json.find("i")->null());
}

TEST(Loader, LoadsEveryControlKind) {
  Files files;
  const model::Job job = files.good(with_steps(R"(
  - set: { n: 0, page: "${random(1, 10)}", twice: "n * 2" }
  - group: checkout
    steps: [ { name: cart, post: /cart }, { post: /pay } ]
  - repeat: { while: "last.json.more", times: 5 }
    steps: [ { name: last, get: "/page/${page}" } ]
  - retry: { until: job.json.done, times: 5, delay: 200ms..1s }
    steps: [ { name: job, get: /job } ]
  - if: cart.status == 200 and n == 0
    then: [ { log: "cart ${cart.json.id}" } ]
    else: [ { stop: iteration } ]
  - choose: [ { get: /a }, [ { get: /b }, { get: /c } ] ]
  - metric: basket
    value: cart.json.total
  - check: { n: "< 5" }
  - stop:
)"));
  const auto& steps = job.workflows[0].steps;
  ASSERT_EQ(steps.size(), 9u);
  EXPECT_EQ(*steps[0].field("set")->find("n")->integer(), 0);
  EXPECT_EQ(*steps[0].field("set")->find("twice")->text(), "n * 2");
  EXPECT_EQ(steps[1].name, "checkout");
  EXPECT_EQ(*steps[2].field("times")->integer(), 5);
  EXPECT_EQ(*steps[2].field("while")->text(), "last.json.more");
  EXPECT_EQ(*(*steps[3].field("delay")->list())[1].integer(), 1'000'000'000);
  ASSERT_EQ(steps[4].branches.size(), 2u);
  EXPECT_EQ(steps[4].branches[1].label, "else");
  EXPECT_EQ(steps[5].branches[1].steps.size(), 2u);
  EXPECT_EQ(*steps[6].field("type")->text(), "trend");
  EXPECT_EQ(steps[7].kind, "check");
  EXPECT_EQ(*steps[8].field("stop")->text(), "iteration");
}

TEST(Loader, ReadsChecksAsMapsExpressionsAndLists) {
  Files files;
  const model::Job job = files.good(with_steps(R"(
  - get: /
    check:
      - { status: [200, 201], body: { that: contains hello, required: true }, json.next: null }
      - json.total > 5 and status == 200
      - { that: size < 1000, required: true, label: it is small }
)"));
  const auto& checks = job.workflows[0].steps[0].checks;
  ASSERT_EQ(checks.size(), 5u);
  EXPECT_EQ(checks[0].condition.text, "in [200, 201]");
  EXPECT_EQ(checks[0].label, "status: in [200, 201]");
  EXPECT_TRUE(checks[1].required);
  EXPECT_EQ(checks[2].condition.text, "null");
  EXPECT_EQ(checks[3].subject.text, "");
  EXPECT_TRUE(checks[4].required);
  EXPECT_EQ(checks[4].label, "it is small");
}

TEST(Loader, NamesACheckByTheBeginningOfALongCondition) {
  Files files;
  std::string wide;
  for (int i = 0; i < 100; ++i) wide += "µ€";
  const model::Job job = files.good(with_steps("\n  - get: /\n    check: [ { body: '" + wide +
                                               "' }, { body: { that: '" + wide + "', label: '" + wide + "' } } ]\n"));
  const auto& checks = job.workflows[0].steps[0].checks;
  ASSERT_EQ(checks.size(), 2u);
  EXPECT_EQ(checks[0].condition.text, wide);
  EXPECT_EQ(checks[0].label, "body: " + wide.substr(0, 190) + "…");
  EXPECT_EQ(checks[1].label, wide) << "what the user chose";
}

TEST(Loader, OrdersStepsByAfter) {
  Files files;
  const model::Job job = files.good(with_steps(R"(
  - { name: a, get: /, after: [] }
  - { name: b, get: "/${a.status}", after: a }
  - { name: c, get: "/${a.status}", after: [ a ] }
  - { name: d, get: "/${a.status}/${c.status}", after: [ b, c ] }
)"));
  EXPECT_TRUE(job.workflows[0].graph);
  EXPECT_THAT(job.workflows[0].steps[3].after, ElementsAre("b", "c"));
}

TEST(Loader, RefusesMoreStepsThanAResultTells) {
  std::string steps;
  for (std::size_t i = 0; i <= model::kMaxResultSteps; ++i) steps += "  - log: a\n";
  EXPECT_THAT(Files().bad("muster: 1\ntarget: http://a.test\nsteps:\n" + steps),
              HasSubstr("test.yaml:10004:5: 10001 steps in one workflow; at most 10000 can be told in a result"));
}

TEST(Loader, RefusesMoreChecksThanAResultTells) {
  std::string checks;
  for (std::size_t i = 0; i <= model::kMaxResultDetails; ++i) checks += "size > 0,";
  EXPECT_THAT(
      Files().bad("muster: 1\ntarget: http://a.test\nsteps:\n  - { name: a, get: /, check: [" + checks + "] }\n"),
      HasSubstr("test.yaml:4:5: 10001 checks; at most 10000 can be told in a result"));
}

TEST(Loader, RefusesAWindowOfPartsOfASecond) {
  EXPECT_THAT(Files().bad("muster: 1\ntarget: http://a.test\nsteps: [ { get: / } ]\n"
                          "thresholds: [ { that: latency p99 < 1s, window: 1500ms } ]\n"),
              HasSubstr("'window' must be whole seconds, found '1500ms'"));
}

TEST(Loader, RefusesAMetricThatNoThresholdCouldName) {
  EXPECT_THAT(Files().bad("muster: 1\ntarget: http://a.test\nsteps: [ { metric: basket size, value: 1 } ]\n"),
              HasSubstr("'basket size' has a blank, so no threshold could name it"));
}

TEST(Loader, TakesAnEmptySecretForAMissingOne) {
  Files files;
  files.environment = {{"TOKEN", ""}};
  EXPECT_THAT(files.bad("muster: 1\ntarget: http://a.test\nsecrets: [ TOKEN ]\nsteps: [ { get: / } ]\n"),
              HasSubstr("secret 'TOKEN' is empty in the environment; run `export TOKEN=…` first"));
}

TEST(Loader, AFileThatIsMissingIsBlamedAlone) {
  Files files;
  files.missing = {"nope.bin", "nope.pem"};
  const std::string body = files.bad(with_steps("  - { post: /, file: nope.bin, type: text/plain }\n"));
  EXPECT_THAT(body, HasSubstr("'file': cannot read 'nope.bin': no such file"));
  EXPECT_THAT(body, Not(HasSubstr("'type'")));
  EXPECT_THAT(files.bad(with_steps("  - { post: /, file: [ a ], type: text/plain }\n")), Not(HasSubstr("'type'")));
  EXPECT_THAT(files.bad(with_steps("  - { post: /, file: '${env.NOPE}', type: text/plain }\n")),
              Not(HasSubstr("'type'")));
  const std::string target =
      files.bad("muster: 1\ntarget: { url: 'https://a', cert: nope.pem, key: there.pem }\nsteps: [ { get: / } ]\n");
  EXPECT_THAT(target, HasSubstr("'cert': cannot read 'nope.pem'"));
  EXPECT_THAT(target, Not(HasSubstr("'key'")));
}

TEST(Loader, SharesWhatStartSavedWithStepsAndStop) {
  Files files;
  files.good(R"(
muster: 1
target: http://shop.test
workflows:
  - name: main
    start: [ { name: login, post: /login, save: { token: json.token } }, { set: { n: 1 } } ]
    steps: [ { get: "/${token}/${n}" } ]
    stop: [ { post: "/logout/${token}" } ]
)");
}

TEST(Loader, FillsTheEnvironmentIntoPlacesThatAreFixedBeforeTheRun) {
  Files files;
  files.environment = {{"BASE", "https://shop.test"}, {"VUS", "7"}, {"UNUSED", "x"}};
  const model::Job job = files.good(R"(
muster: 1
env: { BASE: http://localhost, PATH_PREFIX: /v1 }
target: ${env.BASE}
load: { vus: "${env.VUS}", for: "${env.LENGTH ?? '5s'}" }
steps: [ { get: "${env.PATH_PREFIX}/x" } ]
)");
  EXPECT_EQ(job.targets[0].address, "https://shop.test");
  EXPECT_EQ(job.workflows[0].load.vus, 7u);
  EXPECT_EQ(job.workflows[0].load.length, 5s);
  ASSERT_EQ(job.environment.size(), 3u);
  EXPECT_EQ(job.environment[1].second, "/v1");
  EXPECT_EQ(job.environment[2].first, "VUS");
}

TEST(Loader, RefusesWhatChangesInPlacesThatAreFixedBeforeTheRun) {
  for (const std::string text : {"vu", "iteration", "vu()", "iteration()", "time()", "time('%F')", "now()", "uuid()",
                                 "random()", "pick('a', 'b')", "counter()"}) {
    Files files;
    const std::string said =
        files.bad("muster: 1\ntarget: http://a\nname: x ${upper(" + text + ")}\nsteps: [ { get: / } ]\n");
    const std::string named = text.substr(0, text.find('(')) + (text.contains('(') ? "()" : "");
    EXPECT_THAT(said, HasSubstr("test.yaml:3:17: '" + named +
                                "' is not known before the run; only ${env.NAME} can stand here"));
  }
  Files files;
  EXPECT_THAT(files.bad("muster: 1\ntarget: http://a\ndata: { u: { csv: \"u-${time('%F')}.csv\" } }\n"
                        "steps: [ { get: / } ]\n"),
              HasSubstr("'time()' is not known before the run"));
  EXPECT_THAT(files.bad(with_steps("\n  - { name: \"order ${iteration}\", get: / }\n")),
              HasSubstr("'iteration' is not known before the run"));
  files.environment = {{"WHO", "ada"}};
  EXPECT_EQ(files.good("muster: 1\ntarget: http://a\nname: ${upper(env.WHO)}\nsteps: [ { get: / } ]\n").name, "ADA");
}

TEST(Loader, NeverShowsASecret) {
  Files files;
  files.environment = {{"PASSWORD", "swordfish"}};
  const std::string said =
      files.bad("muster: 1\nsecrets: [ PASSWORD ]\ntimeout: ${env.PASSWORD}\nsteps: [ { get: swordfish } ]\n");
  EXPECT_THAT(said, HasSubstr("***"));
  EXPECT_EQ(said.find("swordfish"), std::string::npos) << said;
}

TEST(Loader, RefusesNamesThatAreMadeOfSecrets) {
  const std::string head = "muster: 1\nsecrets: [ PASSWORD ]\nenv: { SAME: \"${env.PASSWORD}\" }\n";
  for (const std::string text : {"name: n ${env.PASSWORD}\nsteps: [ { get: http://a/ } ]\n",
                                 "steps: [ { name: \"${env.SAME}\", get: http://a/ } ]\n",
                                 "workflows: [ { name: \"${env.PASSWORD}\", steps: [ { get: http://a/ } ] } ]\n",
                                 "thresholds: [ { that: failed rate < 1%, where: { step: \"${env.PASSWORD}\" } } ]\n"
                                 "steps: [ { get: http://a/ } ]\n"}) {
    Files files;
    files.environment = {{"PASSWORD", "swordfish"}};
    EXPECT_THAT(files.bad(head + text), HasSubstr("must not be made of the secret PASSWORD; take it out")) << text;
  }
}

TEST(Loader, MergesIncludedFiles) {
  Files files;
  files.files["suite/common/targets.yaml"] = "targets: { backup: http://b }\nthresholds: [ failed rate < 1% ]\n";
  files.files["suite/login.yaml"] =
      "include: common/targets.yaml\nsteps: [ { get: /, on: backup } ]\ndata: { users: users.csv }\n";
  files.files["suite/users.csv"] = "name\nada\n";
  auto job = files.load(
      "muster: 1\ntarget: http://a\ninclude: [ login.yaml, common/targets.yaml ]\nthresholds: latency p99 < 1s\n"
      "workflows: [ { name: main, steps: [ { get: '/${data.users.name}' } ] } ]\n",
      "suite/main.yaml");
  ASSERT_TRUE(job) << to_text(job.error().list[0]);
  ASSERT_EQ(job->workflows.size(), 2u);
  EXPECT_EQ(job->workflows[1].name, "login");
  EXPECT_EQ(job->thresholds.size(), 2u);
  EXPECT_EQ(job->data[0].path, "suite/users.csv");
}

TEST(Loader, SetsValuesByPath) {
  Files files;
  files.sets = {{"workflows[0].load.vus", "5"},
                {"workflows.login.load.for", "2s"},
                {"target", "http://other"},
                {"workflows.login.steps.first.headers.x-id", "7"},
                {"tags", "{ team: shop }"}};
  const model::Job job = files.good(
      "muster: 1\ntarget: http://a\nworkflows: [ { name: login, load: { vus: 1, for: 1s }, steps: [ { name: first, "
      "get: / } ] } ]\n");
  EXPECT_EQ(job.workflows[0].load.vus, 5u);
  EXPECT_EQ(job.workflows[0].load.length, 2s);
  EXPECT_EQ(job.targets[0].address, "http://other");
  EXPECT_EQ(*job.workflows[0].steps[0].field("headers")->find("x-id")->text(), "7");
  EXPECT_EQ(job.tags[0].name, "team");
}

TEST(Loader, SettingTheLoadOfOneOfSeveralWorkflowsNeedsItsName) {
  const std::string head = "muster: 1\ntarget: http://a\ninclude: c.yaml\n";
  for (const std::string own :
       {"workflows: [ { name: a, steps: [ { get: / } ] }, { name: b, steps: [ { get: / } ] } ]\n",
        "workflows: [ { name: a, steps: [ { get: / } ] } ]\n", "steps: [ { get: / } ]\n"}) {
    Files files;
    files.files["c.yaml"] = "load: { vus: 1, for: 1s }\nsteps: [ { get: / } ]\n";
    files.sets = {{"load.vus", "5"}};
    EXPECT_THAT(files.bad(head + own), HasSubstr("'load' belongs to one of the 'workflows'")) << own;
  }
  Files files;
  files.files["c.yaml"] = "load: { vus: 1, for: 1s }\nsteps: [ { get: / } ]\n";
  files.sets = {{"load.vus", "5"}};
  const model::Job only = files.good(head);
  ASSERT_EQ(only.workflows.size(), 1u);
  EXPECT_EQ(only.workflows[0].load.vus, 5u);
}

TEST(Loader, WhatIsIncludedCannotBeSet) {
  for (const char* path : {"include", "include[0]"}) {
    Files files;
    files.sets = {{path, "other.yaml"}};
    EXPECT_THAT(files.bad(with_steps("  - get: /\n")), HasSubstr("'include' cannot be set")) << path;
  }
}

TEST(Loader, SettingATargetsAddressKeepsItsOptions) {
  Files files;
  files.sets = {{"target", "http://other"}};
  const model::Job job = files.good(
      "muster: 1\ntarget: { url: http://a, connections: none }\nworkflows: [ { name: w, steps: [ { get: / } ] } ]\n");
  EXPECT_EQ(job.targets[0].address, "http://other");
  ASSERT_FALSE(job.targets[0].options.empty());
  const auto& options = job.targets[0].options;
  const bool kept = std::any_of(options.begin(), options.end(), [](const auto& option) {
    return option.first == "connections" && option.second.text() != nullptr && *option.second.text() == "none";
  });
  EXPECT_TRUE(kept);
}

TEST(Loader, ReportsAtMostTwentyProblemsInOrder) {
  Files files;
  std::string yaml = with_steps("");
  for (int i = 0; i < 50; ++i) yaml += "  - gett: /\n";
  const auto job = files.load(yaml);
  ASSERT_FALSE(job);
  ASSERT_EQ(job.error().list.size(), 20u);
  for (std::size_t i = 0; i < 20; ++i) EXPECT_EQ(job.error().list[i].where.line, i + 4);
}

TEST(Loader, TakesAnchorsAliasesAndMergeKeys) {
  Files files;
  const model::Job job = files.good(with_steps(R"(
  - { name: a, get: /, headers: &all { x: "1", y: "2" } }
  - { name: b, get: /, headers: *all }
  - { name: c, get: /, headers: { <<: *all, y: "3" } }
)"));
  EXPECT_EQ(*job.workflows[0].steps[1].field("headers")->find("y")->text(), "2");
  EXPECT_EQ(*job.workflows[0].steps[2].field("headers")->find("x")->text(), "1");
  EXPECT_EQ(*job.workflows[0].steps[2].field("headers")->find("y")->text(), "3");
}

TEST(Loader, PutsTheCaretUnderTheRightLetterAfterOtherScripts) {
  Files files;
  EXPECT_THAT(files.bad(with_steps("  - { name: \"größe ✓\", gett: / }\n")),
              HasSubstr("test.yaml:4:24: unknown kind of step 'gett'; did you mean 'get'?\n"
                        "  4 |   - { name: \"größe ✓\", gett: / }\n"
                        "    |                        ^\n"));
}

TEST(Loader, WhatResetDropsMayBeReadWithADefaultSavedAgainAndProvided) {
  Files files;
  files.good(R"(
muster: 1
target: http://shop.test
workflows:
  - name: shop
    reset: iteration
    start: [ { name: login, post: /login, save: { tok: json.token, plan: json.plan } } ]
    steps:
      - { get: "/a?t=${tok ?? ''}", check: { body: "contains ${plan ?? ''}" } }
      - { post: /login, save: { tok: json.token } }
      - { get: "/b?t=${tok}" }
    provide: { plan: plan }
)");
}

TEST(Loader, LoadsAKindThatItHasNeverHeardOf) {
  Files files;
  model::StepKind kind;
  kind.name = "gopher";
  kind.doc = "Fetches a selector.";
  kind.fields = {
      {.name = "selector", .type = model::FieldType::kText, .doc = "What to fetch.", .required = true, .holes = true},
      {.name = "retries", .type = model::FieldType::kInteger, .doc = "Tries.", .fallback = "2", .min = 0, .max = 9}};
  kind.target_fields = {{.name = "port", .type = model::FieldType::kInteger, .doc = "Port.", .fallback = "70"}};
  kind.results = {{.name = "lines", .type = model::FieldType::kInteger, .doc = "Lines."}};
  kind.primary = "selector";
  kind.shorthands = {{.key = "menu", .field = "selector", .value = "/"}};
  files.languages.kinds.add(kind);
  const model::Job job = files.good(R"(
muster: 1
targets: { hole: { gopher: "gopher.test", port: 7070 } }
steps:
  - { name: one, on: hole, gopher: /about, check: { lines: "> 3" } }
  - { on: hole, gopher: { selector: "/n/${one.lines}", retries: 3 } }
)");
  EXPECT_EQ(job.targets[0].kind, "gopher");
  EXPECT_EQ(*job.targets[0].options[0].second.integer(), 7070);
  EXPECT_EQ(*job.workflows[0].steps[0].field("retries")->integer(), 2);
  EXPECT_THAT(
      files.bad(
          "muster: 1\ntargets: { h: { gopher: g } }\nsteps: [ { on: h, gopher: { selector: x, retries: 10 } } ]\n"),
      HasSubstr("'retries' must be between 0 and 9, found '10'"));
  EXPECT_THAT(files.bad("muster: 1\ntargets: { h: http://a }\nsteps: [ { on: h, gopher: x } ]\n"),
              HasSubstr("target 'h' is for 'http' steps, and this is a step of kind 'gopher'"));
}

TEST(Loader, AStepWithoutResultsWhoseCheckNamesTheResponseIsRefusedAndDoesNotCrash) {
  Files files;
  EXPECT_THAT(files.bad("muster: 1\nsteps: [ { name: a, check: [ response.status == 200 ] } ]\n"),
              HasSubstr("'response'"));
}

}  // namespace
}  // namespace muster::authoring
