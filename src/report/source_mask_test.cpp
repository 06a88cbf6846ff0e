#include "report/source_mask.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::report {
namespace {

TEST(SourceMask, LeavesOrdinaryTextAsItIs) {
  const std::string text =
      "muster: 1\r\ntarget: https://shop.test  # the shop: password: none\nsecrets: [ PASSWORD ]\n"
      "steps:\n  - { name: login, save: { token: json.token }, check: { json.password: exists } }\n\n";
  EXPECT_EQ(masked_source(text), text);
}

TEST(SourceMask, KeepsWhatComesFromElsewhere) {
  const std::string text = "json: { user: ada, password: \"${env.PASSWORD}\" }\nauth: { bearer: \"${token}\" }\n";
  EXPECT_EQ(masked_source(text), text);
}

TEST(SourceMask, MasksPasswordsThatWereWrittenInPlace) {
  EXPECT_EQ(masked_source("json: { user: ada, password: hunter2, n: 1 }"), "json: { user: ada, password: ***, n: 1 }");
  EXPECT_EQ(masked_source("  Authorization: Basic YTpi # why"), "  Authorization: *** # why");
  EXPECT_EQ(masked_source("{\"auth\":{\"basic\":\"ada:hun\\\"ter2\"},\"x\":1}"),
            "{\"auth\":{\"basic\":\"***\"},\"x\":1}");
  EXPECT_EQ(masked_source("basic: [ada, 'hunter]2']\nnext: 1"), "basic: ***\nnext: 1");
  EXPECT_EQ(masked_source("\"X-Api-Key\" : 'it''s mine', more: 1"), "\"X-Api-Key\" : '***', more: 1");
  EXPECT_EQ(masked_source("headers: { X-Session-Token: abc, X-Trace: on }"),
            "headers: { X-Session-Token: ***, X-Trace: on }");
}

TEST(SourceMask, MasksBlocksOfTextAndTheUserOfAnAddress) {
  EXPECT_EQ(masked_source("password: |\n  hunter2\n\n  more\nname: x"), "password: |\n  ***\n\n  ***\nname: x");
  EXPECT_EQ(masked_source("target: https://ada:hunter2@shop.test/a@b"), "target: https://***@shop.test/a@b");
}

TEST(SourceMask, MasksWhatGoesOnBelowItsKey) {
  EXPECT_EQ(masked_source("password:\n  hunter2\nname: x"), "password:\n  ***\nname: x");
  EXPECT_EQ(masked_source("password: hunter2\n  and more\r\nname: x"), "password: ***\n  ***\nname: x");
  EXPECT_EQ(masked_source("password:\r\n  \"hun\n  ter2\"\nname: x"), "password:\r\n  ***\n  ***\nname: x");
  EXPECT_EQ(masked_source("pwd: \"hun\n  ter2\"\nname: x"), "pwd: \"***\"\n  ***\nname: x");
  EXPECT_EQ(masked_source("  \"basic\": [\n    \"ada\",\n    \"hunter2\"\n  ],\n"),
            "  \"basic\": ***\n    ***\n    ***\n  ],\n");
  EXPECT_EQ(masked_source("  basic:\n  - ada\n  - hunter2\n  name: x"), "  basic:\n  ***\n  ***\n  name: x");
  EXPECT_EQ(masked_source("password:\thunter2"), "password:\t***");
}

TEST(SourceMask, LeavesWhatStandsBelowAValueThatHasEnded) {
  EXPECT_EQ(masked_source("- password: hunter2\n  name: x"), "- password: ***\n  name: x");
  EXPECT_EQ(masked_source("- password: hunter2\n- name: x"), "- password: ***\n- name: x");
  EXPECT_EQ(masked_source("- password: |\n    hunter2\n  name: x"), "- password: |\n    ***\n  name: x");
  EXPECT_EQ(masked_source("- json: { password: hunter2 }\n  name: x"), "- json: { password: *** }\n  name: x");
  EXPECT_EQ(masked_source("- json: { password: 'hunter2'\n    , n: 1 }"), "- json: { password: '***'\n    , n: 1 }");
}

TEST(SourceMask, LeavesALuaScriptWithoutCredentialsAsItIs) {
  const std::string text =
      "-- password = \"of nobody\"\nlocal items, names = { 'a', [[b\nc]] }, nil\n"
      "local say = http.get(\"/items/${id}\", { save = { token = \"json.token\" }, headers = { Accept = 'text/plain' } "
      "})\n"
      "function run(vu)\n  if #items > 1 and vu.password == nil then say { id = 7 } end\n"
      "  local password = data.people.password\n  wrk.headers[\"Authorization\"] = \"${env.TOKEN}\"\nend\n";
  EXPECT_EQ(masked_source(text), text);
}

TEST(SourceMask, MasksHeadersAndPasswordsOfALuaScriptHoweverTheyAreSpelled) {
  EXPECT_EQ(masked_source("wrk.headers[\"Authorization\"] = \"Bearer abc\""),
            "wrk.headers[\"Authorization\"] = \"***\"");
  EXPECT_EQ(masked_source("wrk.headers['x-api-key']='a\\'bc'; n = 1"), "wrk.headers['x-api-key']='***'; n = 1");
  EXPECT_EQ(masked_source("wrk.headers.Authorization = \"Bearer abc\" -- why"),
            "wrk.headers.Authorization = \"***\" -- why");
  EXPECT_EQ(masked_source("local h = { headers = { Authorization = \"Bearer abc\", Accept = \"x\" } }"),
            "local h = { headers = { Authorization = \"***\", Accept = \"x\" } }");
  EXPECT_EQ(masked_source("local h = { [ \"Cookie\" ] = [==[id=1\n\nb]==], n = 1 }"),
            "local h = { [ \"Cookie\" ] = [==[***\n\n***]==], n = 1 }");
  EXPECT_EQ(masked_source("local h = { [ [[Authorization]] ] =\n\"Bearer abc\"\n}"),
            "local h = { [ [[Authorization]] ] =\n\"***\"\n}");
  EXPECT_EQ(masked_source("set('password', 'hunter2')"), "set('password', '***')");
  EXPECT_EQ(masked_source("local a = { basic = { 'ada', 'hunter2' }, pwd = 1234, n = 5 }"),
            "local a = { basic = { '***', '***' }, pwd = ***, n = 5 }");
}

TEST(SourceMask, MasksAllTextsOfAnExpressionInLuaAndNothingBehindIt) {
  EXPECT_EQ(
      masked_source("wrk.headers[\"Authorization\"] = \"Basic \" .. b64('ada:' .. \"hunter2\")\nlocal n = 'kept'"),
      "wrk.headers[\"Authorization\"] = \"***\" .. b64('***' .. \"***\")\nlocal n = 'kept'");
  EXPECT_EQ(masked_source("local user, password = 'ada', 'hunter2'\nprint('kept')"),
            "local user, password = '***', '***'\nprint('kept')");
  EXPECT_EQ(masked_source("local password, user = 'hunter2', 'ada'\nprint('kept')"),
            "local password, user = '***', '***'\nprint('kept')");
  EXPECT_EQ(masked_source("local h = { Cookie = function() if x then return 'id=1' end end, n = 'kept' }"),
            "local h = { Cookie = function() if x then return '***' end end, n = 'kept' }");
  EXPECT_EQ(masked_source("local token = 'abc'\nlocal a = 'Bearer abc'"), "local token = '***'\nlocal a = '***'");
  EXPECT_EQ(masked_source("vu.token = login({ user = 'kept', password = 'hunter2' }).token"),
            "vu.token = login({ user = 'kept', password = '***' }).token");
}

TEST(SourceMask, TheLengthOfATableInLuaIsNoComment) {
  EXPECT_EQ(masked_source("local n = #items wrk.headers[\"Authorization\"] = \"Bearer abc\""),
            "local n = #items wrk.headers[\"Authorization\"] = \"***\"");
  EXPECT_EQ(masked_source("#!/usr/bin/env muster\nn = # items; password = 'hunter2'"),
            "#!/usr/bin/env muster\nn = # items; password = '***'");
}

TEST(SourceMask, LooksIntoTheTextsOfALuaScript) {
  EXPECT_EQ(masked_source("wrk.body = '{\"user\":\"ada\",\"password\":\"hunter2\"}'"),
            "wrk.body = '{\"user\":\"ada\",\"password\":\"***\"}'");
  EXPECT_EQ(masked_source("wrk.body = \"{\\\"password\\\":\\\"hunter2\\\"}\""), "wrk.body = \"***\"");
  EXPECT_EQ(masked_source("wrk.body = [[\n{\n  \"password\": \"hunter2\"\n}]]"),
            "wrk.body = [[\n{\n  \"password\": \"***\"\n}]]");
  EXPECT_EQ(masked_source("wrk.body = 'user=ada&password=hunter2&n=1'"), "wrk.body = 'user=ada&password=***&n=1'");
  EXPECT_EQ(masked_source("wrk.path = \"/in?pwd=hunter2\""), "wrk.path = \"/in?pwd=***\"");
  EXPECT_EQ(masked_source("local target = [[https://ada:hunter2@shop.test/]]"),
            "local target = [[https://***@shop.test/]]");
}

TEST(SourceMask, LooksIntoTheTextsOfAJob) {
  EXPECT_EQ(masked_source("body: '{\"user\":\"ada\",\"password\":\"hunter2\"}'"),
            "body: '{\"user\":\"ada\",\"password\":\"***\"}'");
  EXPECT_EQ(masked_source("body: \"{\\\"password\\\":\\\"hunter2\\\"}\"  # why"), "body: \"***\"  # why");
  EXPECT_EQ(masked_source("body: user=ada&password=hunter2&n=1"), "body: user=ada&password=***&n=1");
  EXPECT_EQ(masked_source("- get: \"/in?pwd=hunter2&n=1\""), "- get: \"/in?pwd=***&n=1\"");
  EXPECT_EQ(masked_source("target: https://a,pwd=hunter2@shop.test/a"), "target: https://***@shop.test/a");
  for (const char* text : {"- if: user.password == 'x'", "body: '{\"password\":\"${env.WORD}\"}'",
                           "get: /in?password=${env.WORD}", "check: { body: 'contains it''s' }"}) {
    EXPECT_EQ(masked_source(text), text);
  }
}

TEST(SourceMask, MasksTokensAndSignaturesThatWereWrittenInPlace) {
  EXPECT_EQ(masked_source("json: { token: tkG7, refresh_token: rtH8, sig: sgQ8, token_type: bearer, keyboard: us }"),
            "json: { token: ***, refresh_token: ***, sig: ***, token_type: bearer, keyboard: us }");
  EXPECT_EQ(masked_source("headers: { \"X-Session\": sessI9 }"), "headers: { \"X-Session\": *** }");
  EXPECT_EQ(masked_source("get: \"/?token=a&sig=b&key=c&monkey=d&q=e\""),
            "get: \"/?token=***&sig=***&key=***&monkey=d&q=e\"");
  EXPECT_EQ(masked_source("- save: { token: json.token }\n  json: { token: abc }"),
            "- save: { token: json.token }\n  json: { token: *** }");
  EXPECT_EQ(masked_source("local a = http.post('/', { save = { token = 'json.token' }, json = { token = 'abc' } })"),
            "local a = http.post('/', { save = { token = 'json.token' }, json = { token = '***' } })");
}

TEST(SourceMask, LeavesTheNamesOfExpressions) {
  for (const char* text :
       {"- save:\n    token: json.token\n    id_token: json.id\n  name: x", "set: { token: login.token }",
        "provide: { token: { from: token, keep: all } }\nuse: { token: login }",
        "provide: {\n  token: { from: token }\n}", "target: { cert: client.pem, key: client.key }",
        "local a = step { set = { token = 'login.token' } }"}) {
    EXPECT_EQ(masked_source(text), text);
  }
  EXPECT_EQ(masked_source("- save:\n    token: json.token\n  json:\n    token: abc"),
            "- save:\n    token: json.token\n  json:\n    token: ***");
}

TEST(SourceMask, MaskedTextStaysAsItIs) {
  for (const char* text : {"json: { token: abc, password: \"x\" }\nget: http://ada:b@a.test/?key=c\npwd: |\n  more",
                           "local password, n = 'hunter2', 5\nlocal a = { pwd = 1234, url = 'http://a:b@c/?sig=d' }"}) {
    const std::string masked = masked_source(text);
    EXPECT_NE(masked, text);
    EXPECT_EQ(masked_source(masked), masked);
  }
}

TEST(SourceMask, TellsLuaFromYamlByTheFirstLineThatSaysSomething) {
  for (const char* yaml : {"# why\n---\nmuster: 1\n", "{\"muster\":1,\n", "\"muster\" : 1\n", "\xEF\xBB\xBFtarget: x\n",
                           "%YAML 1.2\n---\r\nmuster:\r\n", "- a: 1\n", "!!map\n", ""}) {
    const std::string text = std::string(yaml) + "a: 'x' # password: none\n";
    EXPECT_EQ(masked_source(text), text);
  }
  for (const char* lua : {"--- Asks the shop: politely\n", "-- muster: 1\n", "--todo: x\n", "--[[\nmuster: 1\n]]\n",
                          "wrk.method = 'GET'\n", "shop:open()\n", "local x\n"}) {
    EXPECT_EQ(masked_source(std::string(lua) + "f(x) # password='a'"), std::string(lua) + "f(x) # password='***'");
  }
}

}  // namespace
}  // namespace muster::report
