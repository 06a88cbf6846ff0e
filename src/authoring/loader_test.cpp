#include "authoring/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace muster::authoring {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class Files {
 public:
  std::map<std::string, std::string> files;
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<std::pair<std::string, std::string>> sets;
  Languages languages{model::built_in_kinds(), {}};

  std::expected<model::Job, Problems> load(const std::string& yaml, const std::string& name = "test.yaml") {
    LoadInput input;
    input.environment = environment;
    input.sets = sets;
    input.read_file = [this](const std::string& path) -> base::Expected<std::string> {
      const auto found = files.find(path);
      if (found == files.end()) return base::fail("no such file");
      return found->second;
    };
    return load_job(yaml, name, input, languages);
  }

  model::Job good(const std::string& yaml) {
    auto job = load(yaml);
    if (job) return std::move(*job);
    for (const Problem& problem : job.error().list) ADD_FAILURE() << to_text(problem);
    return {};
  }

  std::string bad(const std::string& yaml) {
    const auto job = load(yaml);
    if (job) return "loaded";
    std::string text;
    for (const Problem& problem : job.error().list) text += to_text(problem) + "\n";
    return text;
  }
};

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

}  // namespace
}  // namespace muster::authoring
