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

}  // namespace
}  // namespace muster::report
