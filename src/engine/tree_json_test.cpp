#include "engine/tree_json.h"

#include <gtest/gtest.h>

#include "authoring/yaml_node.h"

namespace muster::engine {
namespace {

std::string sent(const std::string& written) {
  authoring::YamlNode node;
  node.kind = authoring::YamlNode::Kind::kScalar;
  node.plain = true;
  node.text = written;
  return json_text(authoring::to_tree(node));
}

TEST(TreeJson, WholeNumbersKeepTheDigitsThatWereWritten) {
  for (const char* text : {"7", "9007199254740993", "9223372036854775807", "9223372036854775808",
                           "12345678901234567890", "-12345678901234567890", "123456789012345678901234567890"}) {
    EXPECT_EQ(sent(text), text);
  }
  EXPECT_EQ(sent("+12345678901234567890"), "12345678901234567890");
  EXPECT_EQ(sent("0.5"), "0.5");
  EXPECT_EQ(sent("1e20"), "1e+20");
}

}  // namespace
}  // namespace muster::engine
