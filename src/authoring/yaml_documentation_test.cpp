// What is written about the YAML format holds: every example of docs/yaml.md loads, docs/reference.md is what the
// descriptors say, and the examples obey the JSON Schema's idea of which keys there are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "authoring/loader_fixture.h"
#include "authoring/reference.h"
#include "authoring/schema.h"

namespace muster::authoring {
namespace {

using testing::HasSubstr;

std::filesystem::path docs() {
  return std::filesystem::path(MUSTER_TEST_DATA) / ".." / ".." / "docs";
}

std::string slurp(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> examples(const std::string& page) {
  std::vector<std::string> found;
  constexpr std::string_view kFence = "```yaml\n";
  for (std::size_t at = page.find(kFence); at != std::string::npos; at = page.find(kFence, at)) {
    at += kFence.size();
    found.push_back(page.substr(at, page.find("```", at) - at));
  }
  return found;
}

TEST(YamlGuide, HasOnlyExamplesThatLoad) {
  const std::vector<std::string> all = examples(slurp(docs() / "yaml.md"));
  EXPECT_GE(all.size(), 8u);
  for (const std::string& example : all) {
    SCOPED_TRACE(example);
    Files files;
    files.environment = {{"PASSWORD", "swordfish"}};
    files.files["users.csv"] = "name\nada\n";
    files.files["words.json"] = R"([{"text": "tea"}])";
    files.good(example);
  }
}

TEST(Reference, IsWhatTheDescriptorsSay) {
  const std::string made = markdown_reference(model::built_in_kinds());
  if (std::getenv("MUSTER_REWRITE_EXPECTED") != nullptr)
    std::ofstream(docs() / "reference.md", std::ios::binary) << made;
  EXPECT_EQ(made, slurp(docs() / "reference.md"))
      << "docs/reference.md is old; run this test with MUSTER_REWRITE_EXPECTED=1 in the environment";
}

TEST(Reference, ShowsExamplesThatLoad) {
  for (const model::StepKind& kind : model::built_in_kinds().all()) {
    SCOPED_TRACE(kind.name);
    Files files;
    std::string yaml =
        "muster: 1\ntarget: http://a\nsteps:\n"
        "- { get: /, save: { total: json.total, stock: json } }\n- { name: cart, get: / }\n- { name: order, get: / }\n";
    files.good(yaml + std::string(kind.example));
  }
}

TEST(Schema, KnowsEveryKindAndField) {
  const auto schema = nlohmann::json::parse(json_schema({model::built_in_kinds(), {{"wave", {}}}}));
  EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  const auto& keys = schema["$defs"]["step"]["properties"];
  for (const model::StepKind& kind : model::built_in_kinds().all()) {
    EXPECT_TRUE(keys.contains(std::string(kind.name))) << kind.name;
    for (const model::Shorthand& shorthand : kind.shorthands) EXPECT_TRUE(keys.contains(std::string(shorthand.key)));
  }
  EXPECT_TRUE(keys["http"]["anyOf"][1]["properties"].contains("headers"));
  EXPECT_EQ(keys["timeout"]["default"], "30s");
  EXPECT_TRUE(schema["$defs"]["load"]["properties"].contains("wave"));
  EXPECT_TRUE(schema["properties"].contains("workflows"));
}

TEST(Schema, NamesOnlyDefinitionsThatItHas) {
  const std::string text = json_schema({model::built_in_kinds(), {}});
  const auto schema = nlohmann::json::parse(text);
  constexpr std::string_view kReference = "\"#/$defs/";
  for (std::size_t at = text.find(kReference); at != std::string::npos; at = text.find(kReference, at)) {
    at += kReference.size();
    const std::string name = text.substr(at, text.find('"', at) - at);
    EXPECT_TRUE(schema["$defs"].contains(name)) << name;
  }
}

}  // namespace
}  // namespace muster::authoring
