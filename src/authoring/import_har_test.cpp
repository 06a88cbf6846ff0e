#include <fmt/format.h>
#include <gmock/gmock.h>

#include "authoring/import_fixture.h"
#include "authoring/import_har_entry.h"
#include "base/utf8.h"

namespace muster::authoring {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kRecording = R"json({"log": {"pages": [{"id": "p1", "title": "https://shop.test/start"}],
 "entries": [
  {"pageref": "p1", "_resourceType": "document", "startedDateTime": "2026-01-01T00:00:00.000Z", "time": 50,
   "request": {"method": "GET", "url": "https://shop.test/start", "headers": [
     {"name": ":authority", "value": "shop.test"}, {"name": "User-Agent", "value": "B/1"}, {"name": "Cookie", "value": "old=1"},
     {"name": "If-None-Match", "value": "x"}, {"name": "Accept", "value": "text/html"}]},
   "response": {"status": 200, "headers": [{"name": "Set-Cookie", "value": "sid=1"}],
     "content": {"mimeType": "text/html", "text": "<input type=hidden name=\"csrf\" value=\"c5rf70k3n123\">"}}},
  {"pageref": "p1", "_resourceType": "stylesheet", "startedDateTime": "2026-01-01T00:00:00.030Z", "time": 10,
   "request": {"method": "GET", "url": "https://shop.test/a.css", "headers": [{"name": "User-Agent", "value": "B/1"}]},
   "response": {"status": 200, "headers": [], "content": {"mimeType": "text/css"}}},
  {"pageref": "p1", "_resourceType": "image", "startedDateTime": "2026-01-01T00:00:00.031Z", "time": 10,
   "request": {"method": "GET", "url": "https://cdn.test/a.png", "headers": []},
   "response": {"status": 200, "headers": [], "content": {"mimeType": "image/png"}}},
  {"pageref": "p1", "_resourceType": "image", "_fromCache": "disk", "startedDateTime": "2026-01-01T00:00:00.031Z", "time": 10,
   "request": {"method": "GET", "url": "https://shop.test/b.png", "headers": []},
   "response": {"status": 200, "headers": [], "content": {"mimeType": "image/png"}}},
  {"_resourceType": "fetch", "startedDateTime": "2026-01-01T00:00:02.050Z", "time": 20,
   "request": {"method": "POST", "url": "https://shop.test/login", "headers": [{"name": "User-Agent", "value": "B/1"},
     {"name": "Content-Type", "value": "application/x-www-form-urlencoded"}, {"name": "Cookie", "value": "sid=1"}],
     "postData": {"mimeType": "application/x-www-form-urlencoded", "text": "user=ada&csrf=c5rf70k3n123"}},
   "response": {"status": 404, "headers": [], "content": {"mimeType": "application/json", "text": "{\"auth\": {\"my token\": \"tok-12345678\"}}"}}},
  {"_resourceType": "fetch", "startedDateTime": "2026-01-01T00:00:02.080Z", "time": 20,
   "request": {"method": "GET", "url": "https://shop.test/me?t=tok-12345678", "headers": [{"name": "User-Agent", "value": "B/1"}]},
   "response": {"status": 302, "headers": [], "content": {}}}
 ]}})json";

class HarImportTest : public ImportTest {};

TEST_F(HarImportTest, KeepsOrderPagesAndPauses) {
  const model::Job job = import(har_importer(), std::string(kRecording));
  ASSERT_EQ(job.workflows.size(), 1u);
  const auto& steps = job.workflows[0].steps;
  ASSERT_EQ(steps.size(), 4u) << made.yaml;
  EXPECT_EQ(steps[0].kind, "group");
  EXPECT_EQ(steps[0].name, "/start");
  EXPECT_EQ(steps[0].branches[0].steps.size(), 2u);
  EXPECT_EQ(steps[1].kind, "think");
  EXPECT_THAT(made.yaml, HasSubstr("think: 2000ms"));
  EXPECT_EQ(text_of(steps[2].field("url")), "/login");
  EXPECT_EQ(made.steps, 4u);
}

TEST_F(HarImportTest, DropsWhatTheClientDecidesItself) {
  import(har_importer(), std::string(kRecording));
  EXPECT_THAT(made.yaml, Not(HasSubstr("authority")));
  EXPECT_THAT(made.yaml, Not(HasSubstr("If-None-Match")));
  EXPECT_THAT(made.yaml, Not(HasSubstr("sid=1")));
  EXPECT_THAT(notes(), HasSubstr("1 cookie was set before the recording began (old)"));
  EXPECT_THAT(notes(), HasSubstr("1 request from the browser's cache left out"));
}

TEST_F(HarImportTest, TakesTheHostsAndTypesThatAreChosen) {
  import(har_importer(), std::string(kRecording));
  EXPECT_THAT(notes(), HasSubstr("1 request to cdn.test left out; --host cdn.test takes it"));
  settings = {{"host", "*"}, {"only", "document,image"}};
  import(har_importer(), std::string(kRecording));
  EXPECT_EQ(made.steps, 2u);
  EXPECT_THAT(notes(), HasSubstr("2 requests of type fetch left out"));
}

TEST_F(HarImportTest, RefusesTypesThatNoRecordingHas) {
  for (const char* types : {"fetch,foo", "foo"}) {
    error.clear();
    settings = {{"only", types}};
    import(har_importer(), std::string(kRecording));
    EXPECT_THAT(error,
                HasSubstr("unknown type 'foo'; there are document, stylesheet, script, image, font, media, xhr"));
  }
  error.clear();
  settings = {{"only", "Document,manifest"}};
  import(har_importer(), std::string(kRecording));
  EXPECT_EQ(error, "");
  EXPECT_EQ(made.steps, 1u);
}

TEST_F(HarImportTest, TakesATypeThatOnlyTheRecordingKnows) {
  std::string recording(kRecording);
  recording.replace(recording.find("\"stylesheet\""), 12, "\"hologram\"");
  settings = {{"only", "hologram"}};
  import(har_importer(), recording);
  EXPECT_EQ(error, "");
  EXPECT_EQ(made.steps, 1u);
}

TEST_F(HarImportTest, TellsOfEveryRequestWhyNoneIsLeft) {
  settings = {{"only", "font"}};
  import(har_importer(), std::string(kRecording));
  EXPECT_THAT(error, HasSubstr("no request of the recording is left to import: "));
  EXPECT_THAT(error, HasSubstr("1 request of type document left out, as --only says; "));
  EXPECT_THAT(error, HasSubstr("2 requests of type fetch left out, as --only says"));
}

TEST_F(HarImportTest, BytesThatAreNoJsonAreNotCalledDeep) {
  std::string noise = "\x8f\xfe";
  for (int i = 0; i < 200; ++i) noise += "{\xc3[";
  for (const std::string& text : {noise, std::string(200, '{'), "[1, 2" + std::string(200, '{')}) {
    error.clear();
    import(har_importer(), text);
    EXPECT_THAT(error, HasSubstr("it is not JSON: at line 1, column"));
    EXPECT_TRUE(base::is_utf8(error)) << error;
  }
  for (const std::size_t closed : {0u, 200u}) {
    error.clear();
    import(har_importer(), std::string(200, '[') + std::string(closed, ']'));
    EXPECT_THAT(error, HasSubstr("it is nested more than 100 levels deep")) << closed;
  }
  error.clear();
  import(har_importer(), std::string(100, '[') + std::string(100, ']'));
  EXPECT_THAT(error, HasSubstr("expected a HAR recording")) << "100 levels are read";
}

TEST_F(HarImportTest, CountsEveryEntryThatMakesNoStep) {
  const auto entry = [](std::string_view url, std::string_view more, int status) {
    return fmt::format(
        R"({{"startedDateTime": "2026-01-01T00:00:00Z", "time": 1, {}"request": {{"method": "GET", )"
        R"("url": "{}", "headers": []}}, "response": {{"status": {}, "headers": [], "content": {{}}}}}})",
        more, url, status);
  };
  const std::vector<std::string> entries{entry("https://a.test/", R"("_resourceType": "document", )", 200),
                                         entry("data:text/plain,hello", "", 200),
                                         entry("data:image/png;base64,AA", "", 200),
                                         entry("blob:https://a.test/1", "", 200),
                                         entry("https://b.test/", "", 200),
                                         entry("https://a.test/c", R"("_fromCache": "memory", )", 200),
                                         entry("https://a.test/gone", "", 0),
                                         entry("wss://a.test/live", "", 101),
                                         entry("https://a.test/i", R"("_resourceType": "image", )", 200)};
  settings = {{"only", "document"}};
  import(har_importer(), fmt::format(R"({{"log": {{"entries": [{}]}}}})", fmt::join(entries, ",")));
  EXPECT_EQ(made.steps, 1u);
  EXPECT_EQ(made.steps + made.left_out, entries.size()) << notes();
  EXPECT_THAT(notes(), HasSubstr("3 requests for a data: or blob: URL left out"));
  EXPECT_THAT(notes(), HasSubstr("1 request from the browser's cache left out"));
  EXPECT_THAT(notes(), HasSubstr("1 request to b.test left out"));
  EXPECT_THAT(notes(), HasSubstr("1 request of type image left out"));
}

TEST_F(HarImportTest, WritesSharedHeadersOnce) {
  const model::Job job = import(har_importer(), std::string(kRecording));
  EXPECT_EQ(made.yaml.find("B/1"), made.yaml.rfind("B/1")) << made.yaml;
  EXPECT_EQ(job.targets[0].options.empty(), false);
}

TEST_F(HarImportTest, AcceptsTheStatusThatWasRecorded) {
  import(har_importer(), std::string(kRecording));
  EXPECT_THAT(made.yaml, HasSubstr("expect: [200..399, 404]"));
  EXPECT_THAT(made.yaml, HasSubstr("redirects: 0"));
}

TEST_F(HarImportTest, SuggestsAndHandsOnValues) {
  import(har_importer(), std::string(kRecording));
  EXPECT_THAT(notes(), HasSubstr("--correlate saves it there"));
  settings = {{"correlate", "true"}};
  import(har_importer(), std::string(kRecording));
  EXPECT_THAT(made.yaml, HasSubstr("saved_csrf: "));
  EXPECT_THAT(made.yaml, HasSubstr("csrf: \"${saved_csrf}\""));
  EXPECT_THAT(made.yaml, HasSubstr("/me?t=${saved_my_token}"));
  EXPECT_THAT(made.yaml, HasSubstr("json.auth[\\\"my token\\\"]"));
}

std::string entry_with(std::string_view path, std::string_view headers, std::string_view answer = "{}") {
  return fmt::format(
      R"({{"_resourceType": "fetch", "startedDateTime": "2026-01-01T00:00:00Z", "time": 1, "request": {{"method": )"
      R"("PURGE", "url": "https://a.test{}", "headers": [{}]}}, "response": {{"status": 200, "headers": [], )"
      R"("content": {{"mimeType": "application/json", "text": "{}"}}}}}})",
      path, headers, answer);
}

std::string recording(const std::vector<std::string>& entries) {
  return fmt::format(R"({{"log": {{"entries": [{}]}}}})", fmt::join(entries, ","));
}

TEST_F(HarImportTest, LeavesTheTypeOfAMultipartBodyToItsParts) {
  const model::Job job = import(har_importer(), R"({"log": {"entries": [{"startedDateTime": "2026-01-01T00:00:00Z",
      "time": 1, "request": {"method": "POST", "url": "https://a.test/up", "headers": [{"name": "X-A", "value": "1"},
        {"name": "Content-Type", "value": "multipart/form-data; boundary=recorded"}],
      "postData": {"mimeType": "multipart/form-data; boundary=recorded",
        "params": [{"name": "a", "value": "1"}, {"name": "b", "value": "2"}]}},
      "response": {"status": 200, "headers": [], "content": {}}}]}})");
  ASSERT_EQ(made.steps, 1u) << error;
  const model::Step& sent = job.workflows[0].steps[0];
  EXPECT_EQ(text_of(sent.field("multipart")->find("b")), "2");
  ASSERT_NE(sent.field("headers"), nullptr);
  EXPECT_EQ(sent.field("headers")->map()->size(), 1u) << made.yaml;
  EXPECT_EQ(made.yaml.find("recorded"), std::string::npos) << made.yaml;
}

// A POST whose body is known by its fields only.
std::string upload(std::string_view type, std::string_view fields) {
  return fmt::format(
      R"({{"log": {{"entries": [{{"startedDateTime": "2026-01-01T00:00:00Z", "time": 1, "request": {{"method": "POST", )"
      R"("url": "https://a.test/up", "headers": [], "postData": {{"mimeType": "{}", "params": [{}]}}}}, )"
      R"("response": {{"status": 200, "headers": [], "content": {{}}}}}}]}}}})",
      type, fields);
}

TEST_F(HarImportTest, SendsAFileThatIsInTheRecordingUnderItsName) {
  for (const char* type : {"multipart/form-data; boundary=b", ""}) {
    const model::Job job =
        import(har_importer(),
               upload(type, R"({"name": "f", "fileName": "a.txt", "contentType": "text/plain", "value": "CONTENT ${x}"},
                        {"name": "g", "fileName": "b.txt", "value": "B"}, {"name": "h", "value": "plain"})"));
    ASSERT_EQ(made.steps, 1u) << error;
    const model::Tree& parts = *job.workflows[0].steps[0].field("multipart");
    EXPECT_EQ(text_of(parts.find("f")->find("text")), "CONTENT $${x}");
    EXPECT_EQ(text_of(parts.find("f")->find("filename")), "a.txt");
    EXPECT_EQ(text_of(parts.find("f")->find("type")), "text/plain");
    EXPECT_EQ(text_of(parts.find("g")->find("text")), "B");
    EXPECT_EQ(parts.find("g")->find("type"), nullptr);
    EXPECT_EQ(text_of(parts.find("h")), "plain");
    EXPECT_THAT(notes(), Not(HasSubstr("uploads")));
  }
}

TEST_F(HarImportTest, TellsThatTheContentOfAFileIsNotInTheRecording) {
  const model::Job job = import(har_importer(), upload("multipart/form-data", R"({"name": "f", "fileName": "a.txt"})"));
  EXPECT_EQ(text_of(job.workflows[0].steps[0].field("multipart")->find("f")), "a.txt");
  EXPECT_THAT(notes(),
              HasSubstr("the file 'a.txt', whose content is not in the recording; the part 'f' holds its name"));
  // Of a file, a form of this type carries the name alone.
  const model::Job form =
      import(har_importer(), upload("application/x-www-form-urlencoded", R"({"name": "f", "fileName": "a.txt"})"));
  EXPECT_EQ(text_of(form.workflows[0].steps[0].field("form")->find("f")), "a.txt");
}

TEST_F(HarImportTest, WritesNoCredentialsOfHeadersDown) {
  constexpr std::string_view kBearer = R"({"name": "authorization", "value": "Bearer LEAK-ME-1"})";
  const auto with = [](std::string_view shared, std::string_view own) { return fmt::format("{}, {}", shared, own); };
  const model::Job job =
      import(har_importer(),
             recording({entry_with("/1", with(kBearer, R"({"name": "X-Api-Key", "value": "LEAK-ME-2"})")),
                        entry_with("/2", with(kBearer, R"({"name": "x-api-key", "value": "LEAK-ME-3"})")),
                        entry_with("/3", with(kBearer, R"({"name": "X-Api-Key", "value": "LEAK-ME-2"})")),
                        entry_with("/4", with(kBearer, R"({"name": "Idempotency-Key", "value": "no-secret"})"))}));
  EXPECT_THAT(made.yaml, Not(HasSubstr("LEAK-ME")));
  EXPECT_THAT(made.yaml, HasSubstr("Bearer ${env.TOKEN}")) << "of the target";
  EXPECT_THAT(made.yaml, HasSubstr("secrets:\n  - API_KEY\n  - API_KEY_2\n  - TOKEN\n"));
  EXPECT_THAT(made.variables, testing::ElementsAre("API_KEY", "API_KEY_2", "TOKEN"));
  ASSERT_EQ(job.workflows[0].steps.size(), 4u);
  EXPECT_EQ(text_of(job.workflows[0].steps[2].field("headers")->find("X-Api-Key")), "${env.API_KEY}");
  EXPECT_EQ(text_of(job.workflows[0].steps[3].field("headers")->find("Idempotency-Key")), "no-secret");
  EXPECT_THAT(notes(), HasSubstr("the credentials in the header authorization are not written down: start muster with "
                                 "TOKEN=… in its environment"));
}

TEST_F(HarImportTest, AsksForNoCredentialsThatAResponseGives) {
  const std::string text =
      recording({entry_with("/1", "", R"({\"session\": \"tok-12345678\"})"),
                 entry_with("/2", R"({"name": "Authorization", "value": "Bearer tok-12345678"})")});
  settings = {{"correlate", "true"}};
  import(har_importer(), text);
  EXPECT_THAT(made.yaml, HasSubstr("Bearer ${saved_session}"));
  EXPECT_EQ(made.variables.size(), 0u);
  settings.clear();
  import(har_importer(), text);
  EXPECT_THAT(made.yaml, HasSubstr("Bearer ${env.TOKEN}"));
  EXPECT_THAT(notes(), HasSubstr("--correlate saves it there"));
}

TEST_F(HarImportTest, TellsThatAPasswordInAUrlIsLeftOut) {
  const auto recording = [](std::string_view headers) {
    return fmt::format(
        R"({{"log": {{"entries": [
  {{"request": {{"method": "GET", "url": "http://ada:s3cr3t@shop.test/a", "headers": [{0}]}}, "response": {{"status": 200}}}},
  {{"request": {{"method": "GET", "url": "http://ada:s3cr3t@shop.test/b", "headers": [{0}]}}, "response": {{"status": 200}}}}]}}}})",
        headers);
  };
  import(har_importer(), recording(""));
  EXPECT_THAT(made.yaml, Not(HasSubstr("s3cr3t")));
  EXPECT_THAT(notes(), HasSubstr("the user and the password in the URL are left out"));
  EXPECT_EQ(notes().find("in the URL are left out"), notes().rfind("in the URL are left out")) << "once for a server";
  import(har_importer(), recording(R"({"name": "Authorization", "value": "Basic YWRhOnMzY3IzdA=="})"));
  EXPECT_THAT(notes(), Not(HasSubstr("in the URL are left out")));
}

TEST_F(HarImportTest, GivesNotEverySignedRequestAVariable) {
  std::vector<std::string> entries;
  for (int i = 0; i < 30; ++i) {
    entries.push_back(entry_with("/", fmt::format(R"({{"name": "Authorization", "value": "AWS4 {}"}})", i)));
  }
  import(har_importer(), recording(entries));
  EXPECT_EQ(made.variables.size(), 20u);
  EXPECT_THAT(made.yaml, HasSubstr("AWS4 ${env.AUTHORIZATION_20}"));
  EXPECT_THAT(notes(), HasSubstr("more than 20 different credentials: from there on all are ${env.AUTHORIZATION}"));
}

TEST_F(HarImportTest, RunsTogetherWhatOverlapped) {
  settings = {{"parallel", "true"}, {"host", "*"}, {"think", "none"}};
  import(har_importer(), std::string(kRecording));
  EXPECT_THAT(made.yaml, HasSubstr("parallel:"));
  EXPECT_THAT(made.yaml, Not(HasSubstr("think")));
  EXPECT_EQ(made.steps, 5u);
}

TEST_F(HarImportTest, RefusesWhatIsNoRecording) {
  for (const char* text :
       {"", "{", "{}", "[]", "{\"log\": 1}", "{\"log\": {\"entries\": []}}", "{\"log\": {\"entries\": [1, null]}}"}) {
    error.clear();
    import(har_importer(), text);
    EXPECT_NE(error, "") << text;
  }
}

// A response that gives out a value under `name`, and a request that sends `sent` to `url`.
std::string two_entries(std::string_view header, std::string_view json, std::string_view url, std::string_view sent,
                        std::string_view method = "POST") {
  constexpr std::string_view kForm =
      R"({{"log": {{"entries": [{{"startedDateTime": "2026-01-01T00:00:00Z", "time": 1,
      "request": {{"method": "GET", "url": "http://a.test/", "headers": []}},
      "response": {{"status": 200, "headers": [{{"name": "{}", "value": "tok3n-1n-head"}}],
        "content": {{"mimeType": "application/json", "text": "{}"}}}}}},
     {{"startedDateTime": "2026-01-01T00:00:01Z", "time": 1,
      "request": {{"method": "{}", "url": "{}", "headers": [], "postData": {{"mimeType": "text/plain", "text": "{}"}}}},
      "response": {{"status": 200, "headers": [], "content": {{}}}}}}]}}}})";
  return fmt::format(kForm, header, json, method, url, sent);
}

TEST_F(HarImportTest, HandsOnAValueThatADollarStandsBefore) {
  settings = {{"correlate", "true"}};
  const model::Job job =
      import(har_importer(), two_entries("X", R"([\"drawn-12345\"])", "http://a.test/b", "pay $$drawn-12345"));
  ASSERT_EQ(made.steps, 2u) << error;
  EXPECT_EQ(text_of(job.workflows[0].steps.back().field("body")), "pay ${'$$'}${saved_value}");
}

TEST_F(HarImportTest, HandsOnNothingInNamesOfTargetsAndMethods) {
  settings = {{"correlate", "true"}, {"host", "*"}};
  const model::Job job = import(har_importer(), two_entries("X", R"([\"drawn123_test\", \"DRAWN-12345\"])",
                                                            "http://drawn123.test/b", "", "DRAWN-12345"));
  ASSERT_EQ(made.steps, 2u) << error;
  EXPECT_EQ(job.workflows[0].steps.back().target, "drawn123_test");
  EXPECT_EQ(text_of(job.workflows[0].steps.back().field("method")), "DRAWN-12345");
}

TEST_F(HarImportTest, ReadsHeadersByAnyNameThatTheyMayHave) {
  settings = {{"correlate", "true"}};
  import(har_importer(), two_entries("X.CSRF-Token", "", "http://a.test/b", "tok3n-1n-head"));
  EXPECT_THAT(made.yaml, HasSubstr(R"(header[\"x.csrf-token\"])"));
  import(har_importer(), two_entries("my token(", "", "http://a.test/b", "tok3n-1n-head"));
  EXPECT_THAT(made.yaml, Not(HasSubstr("saved_")));
  EXPECT_EQ(made.steps, 2u);
}

TEST_F(HarImportTest, LeavesValuesThatTakeTooLongAnExpression) {
  settings = {{"correlate", "true"}};
  const std::string json = R"({\")" + std::string(9'000, 'k') + R"(\": \"drawn-12345\"})";
  import(har_importer(), two_entries("X", json, "http://a.test/b", "drawn-12345"));
  EXPECT_EQ(made.steps, 2u) << error;
  EXPECT_THAT(made.yaml, Not(HasSubstr("saved_")));
}

TEST(HarTime, IsReadWithItsZone) {
  EXPECT_EQ(read_har_time("1970-01-01T00:00:01.500Z"), 1500);
  EXPECT_EQ(read_har_time("1970-01-01T02:00:00.000+02:00"), 0);
  EXPECT_EQ(read_har_time("1970-01-01T00:00:00-01:30"), 5400000);
  EXPECT_EQ(read_har_time("yesterday"), 0);
}

}  // namespace
}  // namespace muster::authoring
