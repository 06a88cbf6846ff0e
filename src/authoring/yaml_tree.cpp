#include "authoring/yaml_tree.h"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <istream>
#include <map>
#include <streambuf>
#include <unordered_map>
#include <vector>

#include "authoring/yaml_syntax.h"
#include "authoring/yaml_text.h"

namespace muster::authoring {
namespace {

// Ends yaml-cpp's parse from within an event; never leaves this file.
struct Refused {};

class LineColumns {
 public:
  explicit LineColumns(std::string_view text) : text_(text) {
    starts_.push_back(0);
    for (std::size_t at = 0; at < text.size(); ++at) {
      if (text[at] == '\n') starts_.push_back(at + 1);
    }
  }

  // yaml-cpp counts from 0, and columns in bytes. Marks come nearly in order, so that counting goes on from the one
  // before: from the line's start each time, a long line would cost the square of its length.
  model::Where where(const YAML::Mark& mark, const std::shared_ptr<const std::string>& file) {
    if (mark.line < 0) return {file, 1, 1};
    const std::size_t line = std::min(static_cast<std::size_t>(mark.line), starts_.size() - 1);
    const std::size_t begin = starts_[line];
    const std::size_t at = begin + std::min(static_cast<std::size_t>(std::max(mark.column, 0)), text_.size() - begin);
    if (line != last_line_) {
      last_line_ = line;
      last_at_ = begin;
      last_column_ = 1;
    }
    for (; last_at_ < at; ++last_at_) last_column_ += begins(text_[last_at_]);
    for (; last_at_ > at; --last_at_) last_column_ -= begins(text_[last_at_ - 1]);
    return {file, static_cast<std::uint32_t>(line + 1), last_column_};
  }

  // Whether the text there is a comment of another language.
  bool begins_comment(const model::Where& where) const {
    return text_.substr(std::min(starts_[where.line - 1] + where.column - 1, text_.size())).starts_with("//");
  }

  // The character before the mark that is no white space: the dash of an empty item.
  YAML::Mark before(YAML::Mark mark) const {
    std::size_t at = text_.size() - from(mark).size();
    while (at > 0 && std::string_view(" \t\r\n").find(text_[at - 1]) != std::string_view::npos) --at;
    if (at > 0) --at;
    const auto line = std::ranges::upper_bound(starts_, at) - starts_.begin() - 1;
    mark.line = static_cast<int>(line);
    mark.column = static_cast<int>(at - starts_[static_cast<std::size_t>(line)]);
    return mark;
  }

  // The text from the mark on.
  std::string_view from(const YAML::Mark& mark) const {
    if (mark.line < 0 || static_cast<std::size_t>(mark.line) >= starts_.size()) return {};
    const std::size_t at =
        starts_[static_cast<std::size_t>(mark.line)] + static_cast<std::size_t>(std::max(mark.column, 0));
    return text_.substr(std::min(at, text_.size()));
  }

 private:
  static std::uint32_t begins(char byte) { return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80u ? 0 : 1; }

  std::string_view text_;
  std::vector<std::size_t> starts_;
  std::size_t last_line_ = 0;
  std::size_t last_at_ = 0;
  std::uint32_t last_column_ = 1;
};

// yaml-cpp takes the end of the file for the end of a quoted text.
bool quote_closed(std::string_view text) {
  if (text.empty() || (text.front() != '"' && text.front() != '\'')) return true;
  const char quote = text.front();
  for (std::size_t at = 1; at < text.size(); ++at) {
    if (text[at] == '\\' && quote == '"') {
      ++at;
    } else if (text[at] == quote) {
      if (quote == '"' || at + 1 >= text.size() || text[at + 1] != quote) return true;
      ++at;
    }
  }
  return false;
}

class Builder : public YAML::EventHandler {
 public:
  Builder(LineColumns& columns, std::shared_ptr<const std::string> file, const YamlLimits& limits, Reporter& reporter)
      : columns_(columns), file_(std::move(file)), limits_(limits), reporter_(reporter) {}

  YamlNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode node;
    const bool item = !frames_.empty() && frames_.back().node.is_list() && anchor == 0;
    node.where = place(item ? columns_.before(mark) : mark);
    add(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      refuse(mark, "this alias stands inside the value that it names; a value cannot contain itself");
    }
    count(mark, found->second.nodes, found->second.bytes);
    YamlNode copy = found->second.node;
    if (copy.is_scalar() && expects_key()) copy.where = place(mark);
    if (frames_.size() + found->second.depth > limits_.depth) too_deep(mark);
    add(std::move(copy), 0, false);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node;
    node.kind = YamlNode::Kind::kScalar;
    node.where = place(mark);
    node.text = value;
    node.plain = tag == "?";
    if (tag != "?" && tag != "!" && tag != "tag:yaml.org,2002:str") unknown_tag(mark, tag);
    if (tag == "!" && !quote_closed(columns_.from(mark))) refuse(mark, "this quote is not closed");
    add(std::move(node), anchor);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::kList, mark, tag, anchor);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::kMap, mark, tag, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    YamlNode node;
    YAML::anchor_t anchor = 0;
    std::size_t nodes_before = 0;
    std::size_t bytes_before = 0;
    std::size_t depth = 1;                              // of this node, counted in levels below it
    bool has_key = false;                               // of a map: the key was read, its value comes next
    YamlEntry pending;                                  // of a map
    bool merge = false;                                 // the pending key is `<<`
    std::unordered_map<std::string, std::size_t> keys;  // of a map, with the position of each
    std::vector<YamlNode> merges;
  };

  struct Anchored {
    YamlNode node;
    std::size_t nodes = 1;
    std::size_t bytes = 0;
    std::size_t depth = 0;
  };

  model::Where place(const YAML::Mark& mark) const { return columns_.where(mark, file_); }

  [[noreturn]] void refuse(const YAML::Mark& mark, std::string message) {
    reporter_.report(place(mark), std::move(message));
    throw Refused{};
  }
  [[noreturn]] void too_deep(const YAML::Mark& mark) {
    refuse(mark, fmt::format("nested more than {} levels deep; split it with `include:`", limits_.depth));
  }
  [[noreturn]] void unknown_tag(const YAML::Mark& mark, const std::string& tag) {
    const std::string_view written = written_value(columns_.from(mark));
    if (tag.starts_with("!=") || written.starts_with("! ")) {
      refuse(mark, fmt::format("put quotes around a condition that begins with '!': \"{}\"", written));
    }
    refuse(mark, fmt::format("YAML tag '{}' is not used by muster; leave it out", tag));
  }

  void count(const YAML::Mark& mark, std::size_t more, std::size_t bytes) {
    nodes_ += more;
    bytes_ += bytes;
    if (bytes_ > limits_.texts) {
      refuse(mark, fmt::format("more than {} bytes of text in one file, aliases counted each time they are used",
                               limits_.texts));
    }
    if (nodes_ > limits_.nodes) {
      refuse(mark, fmt::format("more than {} values in one file, aliases counted each time they are used; put "
                               "large data into a `data:` file",
                               limits_.nodes));
    }
  }

  bool expects_key() const { return !frames_.empty() && frames_.back().node.is_map() && !frames_.back().has_key; }

  void open(YamlNode::Kind kind, const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (tag != "?" && tag != "!" && !tag.empty()) unknown_tag(mark, tag);
    if (expects_key()) refuse(mark, "a key must be text, not a list or a map");
    if (frames_.size() >= limits_.depth) too_deep(mark);
    count(mark, 1, 0);
    Frame frame;
    frame.node.kind = kind;
    frame.node.where = place(mark);
    frame.anchor = anchor;
    frame.nodes_before = nodes_;
    frame.bytes_before = bytes_;
    frames_.push_back(std::move(frame));
  }

  void close() {
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    merge_into(frame);
    if (frame.anchor != 0)
      anchors_[frame.anchor] = {frame.node, nodes_ - frame.nodes_before + 1, bytes_ - frame.bytes_before, frame.depth};
    if (!frames_.empty()) frames_.back().depth = std::max(frames_.back().depth, frame.depth + 1);
    place_value(std::move(frame.node));
  }

  // YAML 1.1's `<<: *base`: the map's own keys win, then the earlier of several bases.
  void merge_into(Frame& frame) {
    for (const YamlNode& base : frame.merges) {
      for (const YamlEntry& entry : base.map) {
        if (frame.keys.emplace(entry.key, frame.node.map.size()).second) frame.node.map.push_back(entry);
      }
    }
  }

  void add(YamlNode node, YAML::anchor_t anchor, bool counted = true) {
    if (counted) {
      YAML::Mark mark;
      mark.line = static_cast<int>(node.where.line) - 1;
      mark.column = static_cast<int>(node.where.column) - 1;
      count(mark, 1, node.text.size());
    }
    if (anchor != 0) anchors_[anchor] = {node, 1, node.text.size(), 0};
    if (expects_key()) {
      begin_entry(std::move(node));
    } else {
      place_value(std::move(node));
    }
  }

  void begin_entry(YamlNode key) {
    Frame& frame = frames_.back();
    if (!key.is_scalar()) {
      reporter_.report(key.where, !key.null() ? "a key must be text, not a list or a map"
                                  : columns_.begins_comment(key.where)
                                      ? "comments begin with '#' in YAML, not with '//'"
                                      : "a key must not be empty");
      throw Refused{};
    }
    frame.has_key = true;
    frame.merge = key.plain && key.text == "<<";
    frame.pending = {};
    frame.pending.key_where = key.where;
    frame.pending.key = std::move(key.text);
  }

  void place_value(YamlNode node) {
    if (frames_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = frames_.back();
    if (frame.node.is_list()) {
      frame.node.list.push_back(std::move(node));
      return;
    }
    frame.has_key = false;
    if (frame.merge) {
      place_merge(frame, std::move(node));
      return;
    }
    const auto [found, fresh] = frame.keys.emplace(frame.pending.key, frame.node.map.size());
    if (!fresh) {
      reporter_.report(frame.pending.key_where,
                       fmt::format("key '{}' is given twice; the first is on line {}", frame.pending.key,
                                   frame.node.map[found->second].key_where.line));
      return;
    }
    // An empty value has its place wherever the next token begins; the key is nearer.
    if (node.null()) node.where = frame.pending.key_where;
    frame.pending.value = std::move(node);
    frame.node.map.push_back(std::move(frame.pending));
  }

  void place_merge(Frame& frame, YamlNode node) {
    std::vector<YamlNode> bases;
    if (node.is_list()) {
      bases = std::move(node.list);
    } else {
      bases.push_back(std::move(node));
    }
    for (YamlNode& base : bases) {
      if (!base.is_map()) {
        reporter_.report(frame.pending.key_where, "'<<' takes a map, or a list of maps, such as `<<: *base`");
        return;
      }
      frame.merges.push_back(std::move(base));
    }
  }

  LineColumns& columns_;
  std::shared_ptr<const std::string> file_;
  const YamlLimits& limits_;
  Reporter& reporter_;
  std::vector<Frame> frames_;
  std::map<YAML::anchor_t, Anchored> anchors_;
  std::size_t nodes_ = 0;
  std::size_t bytes_ = 0;
  YamlNode root_;
};

// A view as a stream: std::istringstream would copy the text.
class ViewBuffer : public std::streambuf {
 public:
  explicit ViewBuffer(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // streambuf's interface; get areas are only read
    setg(begin, begin, begin + text.size());
  }
};

void report_syntax(std::string_view text, const YAML::Exception& error, LineColumns& columns,
                   const std::shared_ptr<const std::string>& file, Reporter& reporter) {
  const auto at = [](int number) { return static_cast<std::size_t>(std::max(number, 0)); };
  SyntaxProblem problem = explain_syntax(text, {at(error.mark.line), at(error.mark.column), error.msg});
  YAML::Mark mark;
  mark.line = static_cast<int>(problem.line);
  mark.column = static_cast<int>(problem.column);
  reporter.report(columns.where(mark, file), std::move(problem.message));
}

}  // namespace

std::optional<YamlNode> parse_yaml(std::string_view text, const std::shared_ptr<const std::string>& file,
                                   const YamlLimits& limits, Reporter& reporter) {
  if (text.size() > limits.file_bytes) {
    reporter.report({file, 0, 0}, fmt::format("the file has {} bytes, more than the {} that are allowed; put large "
                                              "data into a `data:` file",
                                              text.size(), limits.file_bytes));
    return std::nullopt;
  }
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  if (!check_text(text, file, reporter)) return std::nullopt;

  LineColumns columns(text);
  Builder builder(columns, file, limits, reporter);
  try {
    ViewBuffer buffer(text);
    std::istream stream(&buffer);
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) {
      reporter.report({file, 1, 1},
                      "the file is empty; a small one has `muster: 1`, `target: http://…` and `steps: [ { get: / } ]`");
      return std::nullopt;
    }
    Builder second(columns, file, limits, reporter);
    if (parser.HandleNextDocument(second)) {
      reporter.report({file, second.take().where.line, 1},
                      "a second document begins here; a file holds one, others are named by `include:`");
      return std::nullopt;
    }
  } catch (const Refused&) {
    return std::nullopt;
  } catch (const YAML::Exception& error) {
    report_syntax(text, error, columns, file, reporter);
    return std::nullopt;
  } catch (const std::exception& error) {
    reporter.report({file, 1, 1}, fmt::format("not valid YAML: {}", error.what()));
    return std::nullopt;
  }
  return builder.take();
}

}  // namespace muster::authoring
