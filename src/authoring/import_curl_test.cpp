#include <gmock/gmock.h>

#include "authoring/import_draft.h"
#include "authoring/import_fixture.h"

namespace muster::authoring {
namespace {

using testing::HasSubstr;
using testing::Not;

class CurlImportTest : public ImportTest {
 protected:
  model::Step step(const std::string& command, std::size_t index = 0) {
    const model::Job job = import(curl_importer(), command);
    if (job.workflows.empty() || job.workflows[0].steps.size() <= index) {
      ADD_FAILURE() << "no such step: " << error;
      return {};
    }
    job_ = job;
    return job.workflows[0].steps[index];
  }

  static std::vector<std::string> header_names(const model::Step& step) {
    std::vector<std::string> names;
    for (const auto& [name, value] : *step.field("headers")->map()) names.push_back(name);
    return names;
  }

  model::Job job_;
};

TEST_F(CurlImportTest, SaysWhatCurlSendsByItself) {
  const model::Step got = step("curl http://a.test/x?y=1");
  EXPECT_EQ(text_of(got.field("url")), "/x?y=1");
  EXPECT_THAT(header_names(got), testing::ElementsAre("User-Agent", "Accept"));
  EXPECT_EQ(*got.field("redirects")->integer(), 0);
  EXPECT_EQ(job_.targets[0].address, "http://a.test");
  EXPECT_EQ(made.steps, 1u);
  EXPECT_EQ(notes(), "");
}

TEST_F(CurlImportTest, TakesHeadersInCurlsOrder) {
  const model::Step got = step(
      "curl a.test -H 'X-A: 1' -e ref -b 'c=1' -H 'accept: text/html' --compressed -r 0-9 -H 'X-A: 2' -H 'Empty;' -A "
      "me");
  EXPECT_THAT(header_names(got), testing::ElementsAre("Range", "User-Agent", "Accept-Encoding", "Referer", "Cookie",
                                                      "X-A", "accept", "Empty"));
  EXPECT_EQ(got.field("headers")->find("X-A")->list()->size(), 2u);
}

TEST_F(CurlImportTest, SaysWhatIsDifferentAfterARedirectAndNothingElse) {
  step("curl a.test -L -X PUT -d x=1");
  EXPECT_THAT(notes(), HasSubstr("-X PUT with -L: after 303 muster goes on with GET, curl with PUT; after 301 and 302 "
                                 "muster sends the body again, curl does not"));
  EXPECT_THAT(notes(), Not(HasSubstr("POST")));
  step("curl a.test -L -X POST -d x=1");
  EXPECT_THAT(notes(), HasSubstr("-X POST with -L: after 301, 302 and 303 muster goes on with GET, curl with POST"));
  step("curl a.test -L -X DELETE");
  EXPECT_THAT(notes(), HasSubstr("-X DELETE with -L: after 303 muster goes on with GET, curl with DELETE"));
  EXPECT_THAT(notes(), Not(HasSubstr("body")));
  step("curl a.test -X ''");
  EXPECT_THAT(notes(), HasSubstr("-X '': the method is empty and left out"));
  step("curl a.test -L -X GET -d x=1");
  EXPECT_THAT(notes(), HasSubstr("-X GET with -L: after 301 and 302 muster sends the body again, curl does not"));
  step("curl a.test -L -d x=1");
  EXPECT_EQ(notes(), "");
  step("curl a.test -b x=1 -c /dev/null -L");
  EXPECT_THAT(notes(), HasSubstr("--cookie with -L: after a redirect to another host, port or scheme muster does not "
                                 "send the Cookie header, curl does"));
}

TEST_F(CurlImportTest, SaysWhereAnExpectedContinueIsSent) {
  step("curl a.test -H 'Expect: 100-continue' -H 'X-A: 1' -d abc");
  EXPECT_THAT(notes(), HasSubstr("Expect: 100-continue: muster sends it behind all other headers"));
  step("curl a.test -H 'Expect: 100-continue'");
  EXPECT_THAT(notes(), HasSubstr("Expect: 100-continue: muster sends it only with a body"));
  step("curl a.test -H 'Expect:' -d abc");
  EXPECT_EQ(notes(), "");
}

TEST_F(CurlImportTest, SaysThatAPartWithoutANameGetsAnEmptyOne) {
  step("curl a.test -F '=v'");
  EXPECT_THAT(notes(), HasSubstr("--form: muster sends a part without a name as name=\"\", curl says no name"));
}

TEST_F(CurlImportTest, DataFromAStandardInputThatIsNotKnownIsABodyAllTheSame) {
  EXPECT_EQ(text_of(step("curl a.test -d @-").field("method")), "post");
  EXPECT_THAT(notes(), HasSubstr("data from standard input cannot be known; put it into a file"));
}

TEST_F(CurlImportTest, APartFromStandardInputIsWhatIsKnownOfIt) {
  const model::Step unknown = step("curl a.test -F 'x=@-' -F y=1");
  const model::Tree* part = unknown.field("multipart")->find("x");
  EXPECT_EQ(part->find("file"), nullptr) << "there is no such file";
  EXPECT_EQ(text_of(part->find("text")), "");
  EXPECT_EQ(text_of(part->find("filename")), "-");
  EXPECT_EQ(part->find("type"), nullptr);
  EXPECT_THAT(notes(), HasSubstr("data from standard input cannot be known; put it into a file"));
  EXPECT_THAT(notes(), HasSubstr("muster sends part 'x' as application/octet-stream, curl without a type"));
  const model::Step known = step("curl a.test -F 'x=@-;filename=a.txt' <<E\nabc\nE\n");
  EXPECT_EQ(text_of(known.field("multipart")->find("x")->find("text")), "abc\n");
  EXPECT_EQ(text_of(known.field("multipart")->find("x")->find("filename")), "a.txt");
  EXPECT_EQ(text_of(known.field("multipart")->find("x")->find("type")), "text/plain");
}

TEST_F(CurlImportTest, ATextWithTheNameOfAFileHasItsType) {
  const model::Step got = step("curl a.test -F 'x=v;filename=a.txt'");
  EXPECT_EQ(text_of(got.field("multipart")->find("x")->find("type")), "text/plain");
  EXPECT_EQ(notes(), "");
}

TEST_F(CurlImportTest, AHeadWithABodyIsLeftOutAsCurlRefusesIt) {
  const model::Job job = import(curl_importer(), "curl -I -d x=1 a.test\ncurl -I -G -d x=1 a.test");
  ASSERT_EQ(job.workflows.size(), 1u) << error;
  ASSERT_EQ(job.workflows[0].steps.size(), 1u);
  EXPECT_EQ(text_of(job.workflows[0].steps[0].field("url")), "/?x=1");
  EXPECT_THAT(notes(), HasSubstr("curl refuses -I with a body (-d, -F, -T)"));
}

TEST_F(CurlImportTest, LeavesOutHeadersThatTheCommandTakesAway) {
  const model::Step got = step("curl a.test -H 'Accept:' -A ''");
  EXPECT_TRUE(got.field("headers")->find("Accept")->null());
  EXPECT_TRUE(got.field("headers")->find("User-Agent")->null());
}

TEST_F(CurlImportTest, LeavesTheLengthOfABodyToMuster) {
  for (const char* command : {"curl a.test -H 'Content-Length: 5'", "curl a.test -d abcdef -H 'Content-Length: 5'"}) {
    EXPECT_EQ(step(command).field("headers")->find("Content-Length"), nullptr) << command;
    EXPECT_THAT(notes(), HasSubstr("Content-Length: muster adds that of the body")) << command;
  }
  EXPECT_TRUE(step("curl -X POST a.test").field("headers")->find("Content-Length")->null());
  EXPECT_EQ(text_of(step("curl -X POST a.test -H 'Content-Length: 0'").field("headers")->find("Content-Length")), "0");
  EXPECT_EQ(notes(), "");
}

TEST_F(CurlImportTest, PostsFormsAndRawBodies) {
  EXPECT_EQ(text_of(step("curl a.test -d a=1 -d 'b=x y'").field("body")), "a=1&b=x y");
  EXPECT_EQ(text_of(step("curl a.test -d a=1 -d b=x+y").field("form")->find("b")), "x y");
  const model::Step raw = step("curl a.test --data-raw '{\"a\": 1}'");
  EXPECT_EQ(text_of(raw.field("body")), "{\"a\": 1}");
  EXPECT_EQ(text_of(raw.field("type")), "application/x-www-form-urlencoded");
  EXPECT_EQ(text_of(raw.field("method")), "post");
  const model::Step typed = step("curl a.test -H 'Content-Type: application/json' -d '{}'");
  EXPECT_EQ(typed.field("type"), nullptr);
  const model::Step json = step("curl a.test --json '{}'");
  EXPECT_THAT(header_names(json), testing::ElementsAre("User-Agent", "Content-Type", "Accept"));
  EXPECT_EQ(text_of(step("curl a.test -G -d a=1 --data-urlencode 'b=x y&'").field("url")), "/?a=1&b=x+y%26");
}

TEST_F(CurlImportTest, TellsOnceOfEachFileThatIsNotThere) {
  looks_for_files = true;
  files["there"] = "abc";
  for (const char* command : {"curl a.test -d @nope", "curl a.test --data-binary @nope", "curl a.test -F f=@nope",
                              "curl a.test -T nope", "curl https://a.test --cacert nope"}) {
    step(command);
    const std::string told = "cannot read 'nope': no such file; the load test needs it, so put it there";
    EXPECT_THAT(notes(), HasSubstr(told)) << command;
    EXPECT_EQ(notes().find("cannot read"), notes().rfind("cannot read")) << command;
  }
  step("curl a.test -d @there");
  EXPECT_THAT(notes(), Not(HasSubstr("cannot read")));
}

TEST_F(CurlImportTest, LeavesOutAnAddressToConnectToThatIsNone) {
  step("curl http://a.test --connect-to a.test:80:b.test:x");
  EXPECT_THAT(notes(), HasSubstr("the address to connect to for 'a.test' is left out: expected an address such as"));
}

TEST_F(CurlImportTest, ReadsFilesAsCurlDoes) {
  files["body.txt"] = "one\r\ntwo\n";
  files["flat"] = "abc";
  EXPECT_EQ(text_of(step("curl a.test -d @body.txt").field("body")), "onetwo");
  EXPECT_THAT(text_of(step("curl a.test -d @flat").field("file")), HasSubstr("flat"));
  EXPECT_THAT(text_of(step("curl a.test --data-binary @body.txt").field("file")), HasSubstr("body.txt"));
  EXPECT_EQ(text_of(step("curl a.test -d x=1 --data-urlencode n@flat").field("form")->find("n")), "abc");
}

TEST_F(CurlImportTest, ReadsNoFileWhereAnEqualsSignFollowsTheAt) {
  files["host=1"] = "read";
  EXPECT_EQ(text_of(step("curl a.test --data-urlencode 'me@host=1 2'").field("body")), "me@host=1+2");
  EXPECT_EQ(text_of(step("curl a.test --data-urlencode '@host=1'").field("body")), "@host=1");
  EXPECT_EQ(text_of(step("curl a.test --url-query 'me@host=1'").field("url")), "/?me@host=1");
  EXPECT_EQ(notes(), "");
}

TEST_F(CurlImportTest, SendsPartsWithTheirTypes) {
  files["p.png"] = "x";
  const model::Step got =
      step("curl a.test -F a=1 -F 'f=@p.png;filename=q.png' -F 'j={};type=application/json' -F a=2");
  const model::Tree& parts = *got.field("multipart");
  EXPECT_EQ(parts.find("a")->list()->size(), 2u);
  EXPECT_EQ(text_of(parts.find("f")->find("type")), "image/png");
  EXPECT_EQ(text_of(parts.find("f")->find("filename")), "q.png");
  EXPECT_EQ(text_of(parts.find("j")->find("text")), "{}");
}

TEST_F(CurlImportTest, CutsPartsAsCurlDoes) {
  const auto part = [this](const std::string& given) {
    const model::Step got = step("curl a.test -F '" + given + "'");
    const model::Tree* parts = got.field("multipart");
    const model::Tree* found = parts == nullptr ? nullptr : parts->find("n");
    return found == nullptr ? model::Tree() : *found;
  };
  const auto text = [&](const std::string& given) {
    const model::Tree made_part = part(given);
    return text_of(made_part.text() != nullptr ? &made_part : made_part.find("text"));
  };
  const auto type = [&](const std::string& given) { return text_of(part(given).find("type")); };
  const auto filename = [&](const std::string& given) { return text_of(part(given).find("filename")); };
  EXPECT_EQ(text("n= hi\t\n "), "hi");
  EXPECT_EQ(text("n= hi ;type=a/b"), "hi");
  EXPECT_EQ(text("n= \" a; \\\"b\\\\ \" ;type=a/b"), " a; \"b\\ ");
  EXPECT_EQ(text("n=\"a;type=a/b"), "\"a") << "the quote is not closed";
  EXPECT_EQ(text("n= @a.txt"), "@a.txt");
  EXPECT_EQ(type("n=@a.txt;type=text/plain;charset=utf-8"), "text/plain;charset=utf-8");
  EXPECT_EQ(type("n=@a.txt; TYPE= text/plain ; charset=\"u\" ; filename=z"), "text/plain ; charset=\"u\"");
  EXPECT_EQ(filename("n=@a.txt;type=text/plain;charset=u; filename= q r ;x=1"), "q r");
  EXPECT_THAT(notes(), HasSubstr("--form: ';x=1' of part 'n' is left out, as curl does"));
  EXPECT_EQ(type("n=@a.txt;type=a/b;headers=\"X: 1\";charset=u"), "a/b");
  EXPECT_THAT(notes(), HasSubstr("';headers=' of part 'n' has no counterpart"));
  EXPECT_EQ(filename("n=@ a.txt "), "a.txt");
  EXPECT_EQ(notes(), "");
  EXPECT_EQ(filename("n=@\"a,b;c\""), "a,b;c");
  EXPECT_EQ(notes(), "");
  EXPECT_EQ(type("n=@a.txt,b.png;type=a/b"), "text/plain");
  EXPECT_THAT(notes(), HasSubstr("several files in one part"));
}

TEST_F(CurlImportTest, KeepsWhatLooksLikeAHoleAsText) {
  const model::Step got = step("curl a.test -H 'X: ${a} $${b} {{c}}' --data-raw '${{d}} $'");
  EXPECT_EQ(text_of(got.field("headers")->find("X")), "$${a} $$${b} ${'{{'}c}}");
  EXPECT_EQ(text_of(got.field("body")), "${'${'}{d}} $");
}

TEST_F(CurlImportTest, TurnsShellVariablesIntoEnvironment) {
  const model::Step got = step("curl \"$BASE/x\" -H \"Authorization: Bearer $API_TOKEN\"");
  EXPECT_EQ(text_of(got.field("headers")->find("Authorization")), "Bearer ${env.API_TOKEN}");
  EXPECT_THAT(made.variables, testing::ElementsAre("API_TOKEN", "BASE"));
  EXPECT_THAT(made.yaml, HasSubstr("secrets:\n  - API_TOKEN"));
  EXPECT_THAT(made.yaml, HasSubstr("url: \"${env.BASE}\""));
}

TEST_F(CurlImportTest, SaysThatTheFileHoldsCredentials) {
  step("curl a.test -H 'Authorization: Bearer abc' -b 'sid=1'\ncurl -u ada:lovelace a.test");
  EXPECT_THAT(notes(), HasSubstr("holds credentials as they were given (--cookie, --user, Authorization)"));
  EXPECT_THAT(notes(), HasSubstr("write ${env.NAME} in their place and the name under `secrets`"));
  for (const char* command :
       {"curl a.test -H \"Authorization: Bearer $TOKEN\" -b \"sid=$SID\"", "curl a.test -u \"ada:$PASSWORD\"",
        "curl a.test -u ada:", "curl a.test -H 'Idempotency-Key: 7' -H 'X-Api-Key:'"}) {
    step(command);
    EXPECT_EQ(notes(), "") << command;
  }
}

TEST_F(CurlImportTest, MakesTargetsOfDifferentOptions) {
  step(
      "curl -k https://a.test/1\ncurl https://a.test/2\ncurl --resolve b.test:80:10.0.0.1 http://b.test/3 --max-time "
      "2.5",
      2);
  ASSERT_EQ(job_.targets.size(), 3u);
  EXPECT_EQ(job_.workflows[0].steps[0].target, "");
  EXPECT_NE(job_.workflows[0].steps[1].target, job_.workflows[0].steps[2].target);
  EXPECT_THAT(made.yaml, HasSubstr("b.test: \"10.0.0.1\""));
  EXPECT_THAT(made.yaml, HasSubstr("timeout: 2500ms"));
}

TEST_F(CurlImportTest, SpellsOutPatternsAndNext) {
  const model::Job job = import(curl_importer(), "curl 'a.test/{x,y}/[01-02]' --next -X PURGE a.test/z");
  EXPECT_EQ(job.workflows[0].steps.size(), 5u);
  EXPECT_EQ(text_of(job.workflows[0].steps[1].field("url")), "/x/02");
  EXPECT_EQ(text_of(job.workflows[0].steps[4].field("method")), "PURGE");
}

TEST_F(CurlImportTest, UploadsEachFileOfAPattern) {
  const model::Job job = import(curl_importer(), "curl -T '{a,b}[1-2]' 'a.test/{x,up/}'; curl -g -T '{c}' a.test/");
  std::vector<std::string> sent;
  for (const model::Step& each : job.workflows.at(0).steps) {
    sent.push_back(text_of(each.field("url")) + " " + text_of(each.field("file")));
  }
  EXPECT_THAT(sent, testing::ElementsAre("/x a1", "/up/a1 a1", "/x a2", "/up/a2 a2", "/x b1", "/up/b1 b1", "/x b2",
                                         "/up/b2 b2", "/%7Bc%7D {c}"));
  step("curl -T '{a' a.test/x");
  EXPECT_THAT(notes(), HasSubstr("the pattern in '{a' is not spelt out: it is wrong, or stands for more than"));
}

TEST_F(CurlImportTest, TakesTheUserAfterNextWhateverCameBefore) {
  const std::string command = "curl --digest -u a:b http://x.test/1 --next -u c:d http://x.test/2";
  EXPECT_EQ(step(command, 0).field("auth"), nullptr);
  ASSERT_NE(step(command, 1).field("auth"), nullptr);
  EXPECT_EQ(text_of(step(command, 1).field("auth")->find("basic")), "c:d");
}

TEST_F(CurlImportTest, ListsWhatItCannotTakeOver) {
  step("echo hi; curl a.test --proxy p:1 --http2 --digest -u a:b -b file.txt --frobnicate ftp://b.test/ -K cfg");
  EXPECT_THAT(notes(), HasSubstr("'echo' is not curl"));
  EXPECT_THAT(notes(), HasSubstr("without a proxy"));
  EXPECT_THAT(notes(), HasSubstr("HTTP/1.1"));
  EXPECT_THAT(notes(), HasSubstr("basic and bearer only"));
  EXPECT_THAT(notes(), HasSubstr("file.txt"));
  EXPECT_THAT(notes(), HasSubstr("--frobnicate"));
  EXPECT_THAT(notes(), HasSubstr("left out: expected http or https"));
  EXPECT_THAT(notes(), HasSubstr("-K cfg"));
  EXPECT_EQ(made.left_out, 1u);
}

TEST_F(CurlImportTest, SaysThatZeroBytesAreLeftOut) {
  EXPECT_EQ(text_of(step("curl a.test --data-raw $'a\\0b'").field("body")), "a");
  EXPECT_THAT(notes(), HasSubstr("zero byte"));
}

TEST_F(CurlImportTest, TakesWordsThatAShellHasCut) {
  words = {"curl", "http://a.test/$X", "-H", "A: 'b'"};
  const model::Step got = step("");
  EXPECT_EQ(text_of(got.field("headers")->find("A")), "'b'");
  EXPECT_EQ(text_of(got.field("url")), "/$X");
}

TEST_F(CurlImportTest, TakesAnotherProgramForNoHost) {
  words = {"wget", "-q", "http://a.test/"};
  import(curl_importer(), "");
  EXPECT_THAT(error, HasSubstr("'wget' is not curl"));
  words = {"shop", "-I"};
  EXPECT_EQ(text_of(step("").field("url")), "/");
}

TEST_F(CurlImportTest, FailsWithoutAnyRequest) {
  import(curl_importer(), "ls -l");
  EXPECT_THAT(error, HasSubstr("no curl command"));
  error.clear();
  import(curl_importer(), "curl 'http://a");
  EXPECT_THAT(error, HasSubstr("not closed"));
}

TEST_F(CurlImportTest, SaysWhereShellVariablesComeFrom) {
  for (const char* command : {"X=5; curl a.test/$X", "X=5 && curl a.test/$X", "export X=5\ncurl a.test/$X",
                              "X=5 curl a.test", "time X=5 curl a.test/$X"}) {
    step(command);
    EXPECT_THAT(notes(), HasSubstr("the shell variable X is not set here")) << command;
    EXPECT_THAT(notes(), Not(HasSubstr("'&'"))) << command;
  }
  step("curl a.test/?a=1&b=2");
  EXPECT_THAT(notes(), HasSubstr("left out: 'b=2' is not curl; a shell ends the command before at a bare '&'"));
}

TEST_F(CurlImportTest, KeepsTheBlanksOfHeaders) {
  const model::Step got = step("curl a.test -H 'X-C;' -H 'X-T: v  ' -H 'X-L:   l' -A 'me '");
  EXPECT_EQ(text_of(got.field("headers")->find("X-C")), "");
  EXPECT_EQ(text_of(got.field("headers")->find("X-T")), "v  ");
  EXPECT_EQ(text_of(got.field("headers")->find("X-L")), "  l");
  EXPECT_EQ(text_of(got.field("headers")->find("User-Agent")), "me ");
  EXPECT_EQ(notes(), "");
}

TEST_F(CurlImportTest, SaysWhichHeadersItSpellsInAnotherWay) {
  const model::Step got = step("curl a.test -H 'X-N:v' -H 'X-E : v' -H 'X-S; ' -H 'X-G;g' -H 'a;b: c' -H nothing");
  EXPECT_THAT(notes(), HasSubstr("with one blank after the colon: X-N, X-E\n"));
  EXPECT_THAT(notes(), HasSubstr("'X-S; ' is not a header; it is left out, as curl does"));
  EXPECT_THAT(notes(), HasSubstr("'X-G;g' is not a header; it is left out, as curl does"));
  EXPECT_THAT(notes(), HasSubstr("'a;b: c' is not a header that muster can send"));
  EXPECT_THAT(notes(), HasSubstr("'nothing' is not a header; it is left out, as curl does"));
  EXPECT_THAT(header_names(got), testing::ElementsAre("User-Agent", "Accept", "X-N", "X-E"));
}

TEST_F(CurlImportTest, SaysThatHeadersOfOneNameAreSentTogether) {
  step("curl a.test -H 'accept: a' -H 'ACCEPT: b'");
  EXPECT_THAT(notes(), HasSubstr("the header accept comes several times: muster sends them in one spelling\n"));
  step("curl a.test -H 'X: 1' -H 'Y: 2' -H 'X: 3'");
  EXPECT_THAT(notes(), HasSubstr("the header X comes several times: muster sends them one after the other\n"));
  step("curl a.test -H 'X: 1' -H 'X: 3' -H 'Y: 2'");
  EXPECT_EQ(notes(), "");
}

TEST_F(CurlImportTest, KeepsHolesOfTypesAndFileNamesAsText) {
  const model::Step got = step("curl a.test -F 'f=@p.png;type=a/${b;filename=${c'");
  EXPECT_EQ(text_of(got.field("multipart")->find("f")->find("type")), "a/$${b");
  EXPECT_EQ(text_of(got.field("multipart")->find("f")->find("filename")), "$${c");
}

TEST_F(CurlImportTest, TakesVariablesInFileNamesAndAddresses) {
  const model::Step part = step("curl a.test -F \"f=@$FILE\"");
  EXPECT_EQ(text_of(part.field("multipart")->find("f")->find("filename")), "${env.FILE}");
  EXPECT_EQ(text_of(step("curl a.test/up/ -T \"$FILE\"").field("url")), "/up/${env.FILE}");
  variable = "10.0.0.9";
  step("curl http://a.test --resolve \"a.test:80:$IP\"");
  EXPECT_THAT(made.yaml, HasSubstr("a.test: \"${env.IP}\""));
  variable = "http://env.test";
  step("curl \"$BASE/x\" --resolve '*:80:10.0.0.1'");
  EXPECT_THAT(notes(), HasSubstr("--resolve and --connect-to are left out: the URL's host is a variable"));
}

TEST_F(CurlImportTest, TakesNoByteFromOutsideForAVariable) {
  files["utf16"] = "\xFF\xFEx\n";
  step("curl http://%FEX%FF:b@a.test/ --data-urlencode n@utf16 -d '\xFEY\xFF' -H @utf16 -d @- <<'E'\n\xFEZ\xFF\nE\n");
  EXPECT_THAT(made.variables, testing::IsEmpty());
  EXPECT_THAT(made.yaml, Not(HasSubstr("env.")));
  const model::Step zero = step("curl http://a%00:b@a.test/");
  EXPECT_EQ(text_of(zero.field("auth")->find("basic")), "a:b");
  EXPECT_THAT(notes(), HasSubstr("zero byte"));
}

TEST_F(CurlImportTest, ChangesNoByteInSilence) {
  for (const char* command : {"curl a.test -H 'Content-Type: x/y' -d $'a\\xfe\\xff'", "curl a.test -d 'a\xFE\xFF'",
                              "curl a.test -d @- <<E\na\xFE\xFF\nE", "curl a.test -d @- <<'E'\na\xFE\xFF\nE"}) {
    step(command);
    EXPECT_THAT(notes(), HasSubstr("the body is not UTF-8: 2 byte(s) are left out")) << command;
    EXPECT_THAT(made.yaml, Not(HasSubstr("\uFFFD"))) << command;
  }
  words = {"curl", "a.test", "-d", "a\xFE\xFF"};
  step("");
  EXPECT_THAT(notes(), HasSubstr("the body is not UTF-8: 2 byte(s) are left out"));
}

TEST_F(CurlImportTest, WritesBytesIntoAnAddressAsCurlDoes) {
  EXPECT_EQ(text_of(step("curl a.test/$'\\xff\\xe9'/\"$X\"?$'\\xfe'").field("url")), "/%ff%e9/${env.X}?%fe");
  EXPECT_EQ(notes(), "");
  EXPECT_EQ(text_of(step("curl a.test/ --data-urlencode $'a=\\xff\\xe9'").field("body")), "a=%FF%E9");
  EXPECT_EQ(notes(), "");
  EXPECT_EQ(text_of(step("curl -G a.test/ -d $'a=\\xff'").field("url")), "/?a=%ff");
  EXPECT_THAT(notes(), HasSubstr("curl sends bare and muster percent-encodes:  bytes over 127"));
}

TEST_F(CurlImportTest, TakesOnlyWholeAddressesForAnInterface) {
  step("curl a.test --interface 10");
  EXPECT_THAT(notes(), HasSubstr("--interface 10: give an address of this machine"));
  step("curl a.test --interface 1@a.test/");
  EXPECT_THAT(notes(), HasSubstr("--interface 1@a.test/: give an address of this machine"));
  step("curl a.test --interface 10.0.0.1");
  EXPECT_EQ(notes(), "");
}

TEST_F(CurlImportTest, LeavesOutFlagsWhoseHeaderWouldHaveALineBreak) {
  const model::Step got = step("curl a.test -b $'a=1\\n' -A $'b\\r' -e $'c\\n' -r $'0-\\n'");
  EXPECT_THAT(header_names(got), testing::ElementsAre("Accept"));
  EXPECT_THAT(notes(), HasSubstr("the header 'Cookie' holds a line break; it is left out"));
}

TEST_F(CurlImportTest, LeavesOutAddressesThatCurlRefuses) {
  for (const char* command : {"curl 'a.test/a b'", "curl 'a.test/?q=a b'", "curl $'a.test/a\\tb'",
                              "curl -G a.test -d 'a b'", "curl a.test --url-query '+q=a b'", "curl \"$HOST\nx/\""}) {
    import(curl_importer(), std::string(command) + "; curl a.test/good");
    EXPECT_EQ(made.steps, 1u) << command;
    EXPECT_THAT(notes(), HasSubstr("the URL holds a blank or a control character, which curl refuses too")) << command;
  }
  import(curl_importer(), "curl 'a.test/a b'");
  EXPECT_THAT(error, HasSubstr("write %20 for a blank"));
  step("curl -G a.test --data-urlencode 'q=a b'");
  EXPECT_EQ(notes(), "");
}

}  // namespace
}  // namespace muster::authoring
