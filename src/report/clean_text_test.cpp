#include "report/clean_text.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace muster::report {
namespace {

TEST(CleanText, KeepsWhatEveryFormatTakesAndReplacesTheRest) {
  EXPECT_EQ(clean_text("a\tb\nc\rd"), "a\tb\nc\rd");
  EXPECT_EQ(clean_text("注文 é 🙂"), "注文 é 🙂");
  EXPECT_EQ(clean_text(std::string("a\0b", 3)),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(clean_text("\x1b[31m"), "\xEF\xBF\xBD[31m");
  EXPECT_EQ(clean_text("\xff\xfe"), "\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(clean_text("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD") << "a surrogate is no character";
  EXPECT_EQ(clean_text("\xEF\xBF\xBF"), "\xEF\xBF\xBD") << "U+FFFF is not allowed in XML";
  EXPECT_EQ(clean_text("caf\xC3"), "caf\xEF\xBF\xBD") << "cut in the middle of a character";
}

TEST(CleanText, XmlIsEscapedSoThatLineEndsSurviveInAttributes) {
  EXPECT_EQ(xml_text(R"(a<b>&"c'])>)"), R"(a&lt;b&gt;&amp;&quot;c'])&gt;)");
  EXPECT_EQ(xml_text("a\tb\r\nc"), "a&#9;b&#13;&#10;c");
}

TEST(CleanText, CsvCellsAreQuotedWhereTheyMustBe) {
  EXPECT_EQ(csv_text("GET /"), "GET /");
  EXPECT_EQ(csv_text("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_text("say \"hi\""), "\"say \"\"hi\"\"\"");
  EXPECT_EQ(csv_text("a\nb"), "\"a\nb\"");
  EXPECT_EQ(csv_text(""), "");
}

TEST(CleanText, ACsvCellIsNeverAFormula) {
  EXPECT_EQ(csv_text("=1+1"), "'=1+1");
  EXPECT_EQ(csv_text("@SUM(A1,A2)"), "\"'@SUM(A1,A2)\"");
  EXPECT_EQ(csv_text("-x"), "'-x");
  EXPECT_EQ(csv_text("\t=1"), "'\t=1");
  EXPECT_EQ(csv_text("a=1"), "a=1");
}

RC_GTEST_PROP(CleanText, WhateverBytesComeInCleanTextGoesOut, (const std::string& bytes)) {
  const std::string clean = clean_text(bytes);
  RC_ASSERT(clean_text(clean) == clean);
  RC_ASSERT_FALSE(nlohmann::json(clean).dump().empty());  // throws where it is no UTF-8
  const std::string xml = xml_text(bytes);
  RC_ASSERT(xml.find_first_of("<>\"\n\t") == std::string::npos);
}

}  // namespace
}  // namespace muster::report
