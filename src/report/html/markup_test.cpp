#include "report/html/markup.h"

#include <gtest/gtest.h>

namespace muster::report::html {
namespace {

TEST(Markup, EscapesWhatIsPutIntoIt) {
  Markup page;
  page.put("<a title=\"{}\">{}</a>{}", "\"'>&", "</script><img onerror=x>", 7);
  EXPECT_EQ(page.take(), "<a title=\"&quot;&#39;&gt;&amp;\">&lt;/script&gt;&lt;img onerror=x&gt;</a>7");
}

TEST(Markup, TakesHtmlAsItIsWhereThatIsSaid) {
  Markup page;
  page.put("{}{}", Safe{"<br>"}, "<br>");
  page.raw("<hr>");
  EXPECT_EQ(page.take(), "<br>&lt;br&gt;<hr>");
}

TEST(Markup, LetsNoControlCharacterOrBrokenTextThrough) {
  EXPECT_EQ(escaped("a\x1b[31m\xff\xe2\x80\xae\n\tb\x01"), "a.[31m..  b.") << "also no change of direction (U+202E)";
  EXPECT_EQ(escaped("µs · 注文"), "µs · 注文");
}

TEST(Markup, KeepsTheLinesOfText) {
  EXPECT_EQ(escaped_lines("GET /<x> HTTP/1.1\r\nHost: a\r\n\r\n"), "GET /&lt;x&gt; HTTP/1.1\nHost: a\n\n");
  EXPECT_EQ(escaped_lines("one\n\n  two"), "one\n\n  two");
  EXPECT_EQ(escaped_lines(""), "");
}

}  // namespace
}  // namespace muster::report::html
