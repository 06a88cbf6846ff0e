#include "report/page.h"

#include <algorithm>

#include "report/text_layout.h"

namespace muster::report {
namespace {

constexpr std::size_t kItemIndent = 4;

std::string_view code(Ink ink) {
  switch (ink) {
    case Ink::kPlain:
      return "";
    case Ink::kBold:
      return "\x1b[1m";
    case Ink::kDim:
      return "\x1b[2m";
    case Ink::kGood:
      return "\x1b[32m";
    case Ink::kBad:
      return "\x1b[31m";
    case Ink::kWarn:
      return "\x1b[33m";
  }
  return "";
}

}  // namespace

const Signs& Page::signs() const {
  static constexpr Signs kUnicode = {"✓", "✗", "⚠", "–", "·"};
  static constexpr Signs kAscii = {"ok", "XX", "!!", "--", "-"};
  return unicode_ ? kUnicode : kAscii;
}

std::string_view Page::separator() const {
  return unicode_ ? " · " : ", ";
}

std::string Page::ink(std::string_view text, Ink ink) const {
  if (!colour_ || ink == Ink::kPlain || text.empty()) return std::string(text);
  return std::string(code(ink)).append(text).append("\x1b[0m");
}

std::string Page::safe(std::string_view text) const {
  return printable(text, unicode_);
}

std::string Page::cut(std::string_view text, std::size_t columns) const {
  return shortened(safe(text), columns, unicode_);
}

void Page::line(std::string_view text) {
  text_.append(text).append("\n");
}

void Page::heading(std::string_view text) {
  blank();
  line("  " + ink(text, Ink::kBold));
}

void Page::fact(std::string_view label, std::string_view text, Ink colour) {
  std::string before = "  " + ink(left(label, kLabel - 2), Ink::kDim);
  for (const std::string& part : wrapped(text, columns_ - kLabel)) {
    line(before + ink(part, colour));
    before.assign(kLabel, ' ');
  }
}

void Page::item(std::string_view sign, Ink sign_ink, std::string_view text, Ink text_ink) {
  const std::size_t indent = kItemIndent + width(sign) + 1;
  std::string before = std::string(kItemIndent, ' ') + ink(sign, sign_ink) + " ";
  for (const std::string& part : wrapped(text, columns_ - indent)) {
    line(before + ink(part, text_ink));
    before.assign(indent, ' ');
  }
}

void Page::item_row(std::string_view sign, Ink sign_ink, std::string_view text, std::string_view end, Ink end_ink) {
  const std::size_t used = kItemIndent + width(sign) + 1;
  const std::size_t room = columns_ - std::min(columns_, used + 2 + width(end));
  line(std::string(kItemIndent, ' ') + ink(sign, sign_ink) + " " + left(cut(text, room), room) + "  " +
       ink(end, end_ink));
}

}  // namespace muster::report
