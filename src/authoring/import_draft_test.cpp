#include "authoring/import_draft.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "authoring/loader_fixture.h"
#include "authoring/test_scope.h"
#include "authoring/text_template.h"

namespace muster::authoring {
namespace {

std::string rendered(const std::string& text) {
  TestScope scope;
  const auto made = TextTemplate::compile(text, scope, Escape::kNone);
  if (!made) return "refused: " + made.error().message;
  std::string out;
  return made->render(scope.evaluation(), out) ? out : "failed";
}

rc::Gen<std::string> hole_like() {
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(
                          rc::gen::element<std::string>("$", "{", "}", "{{", "}}", "${", "$${", "'", "\"", "\\", "a",
                                                        "env.X", " ", "\n", "\r\n", "é", "yes", "1", ": ")),
                      [](const std::vector<std::string>& pieces) {
                        std::string all;
                        for (const std::string& each : pieces) all += each;
                        return all;
                      });
}

RC_GTEST_PROP(TemplateText, RendersToWhatItWasMadeFrom, ()) {
  const std::string text = *hole_like();
  RC_ASSERT(rendered(template_text(text)) == text);
}

// From outside into a file, through the loader, to what the engine would send.
RC_GTEST_PROP(TemplateText, SurvivesTheFileAndTheLoader, ()) {
  const std::string text = *hole_like();
  YamlOut root = YamlOut::of_map();
  root.set("muster", YamlOut::bare("1"));
  YamlOut fields = YamlOut::of_map();
  fields.set("body", YamlOut::of(template_text(text)));
  root.set("target", YamlOut::of("http://a.test"));
  root.set("steps", YamlOut::of_list().add(request_step("POST", "/", "", fields)));
  Files files;
  const auto job = files.load(write_yaml(root));
  RC_ASSERT(job.has_value());
  RC_ASSERT(rendered(*job->workflows[0].steps[0].field("body")->text()) == text);
}

TEST(TemplateText, KeepsADollarBeforeAVariable) {
  EXPECT_EQ(template_text("$$\xFEX\xFF"), "${'$$'}${env.X}");
  EXPECT_EQ(template_text("a\xFEX\xFF"
                          "b"),
            "a${env.X}b");
}

TEST(FormFields, AreGivenOnlyWhereTheyEncodeToTheSameBytes) {
  EXPECT_EQ(form_fields("a=1&b=x+y%26").map.size(), 2u);
  for (const char* text : {"", "a", "a=1&a=2", "a=%7e", "a=x y", "=1", "a=1&", "a=%ff"}) {
    EXPECT_TRUE(form_fields(text).empty()) << text;
  }
}

TEST(ImportDraft, KeepsTargetsWithinWhatTheLoaderReads) {
  ImportInput input;
  input.limits.steps = 3;
  ImportDraft draft("test", input);
  for (int i = 0; i < 10; ++i) {
    const std::string on = draft.target("http://" + std::to_string(i) + ".test", YamlOut::of_map());
    draft.step(request_step("GET", "/", on, YamlOut::of_map()), "here");
  }
  const Imported made = draft.finish();
  EXPECT_EQ(made.steps, 3u);
  EXPECT_EQ(made.left_out, 7u);
  EXPECT_EQ(made.yaml.find("3.test"), std::string::npos) << made.yaml;
}

TEST(ImportDraft, CutsNotesBetweenCharacters) {
  const ImportInput input;
  ImportDraft draft("test", input);
  draft.note("h\xC3", "\xFEX\xFF é\xC3");
  draft.target("http://a.test", YamlOut::of_map());
  const Imported made = draft.finish();
  EXPECT_EQ(made.notes.front().where, "h");
  EXPECT_EQ(made.notes.front().message, "$X é");
}

}  // namespace
}  // namespace muster::authoring
