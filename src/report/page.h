// A page of text that is being laid out: lines of labelled facts and rows under headings, with colours and signs in one
// place. Used by the summary; holds nothing but the text made so far.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster::report {

enum class Ink : std::uint8_t { kPlain, kBold, kDim, kGood, kBad, kWarn };

struct Signs {
  std::string_view good;
  std::string_view bad;
  std::string_view warn;
  std::string_view none;
  std::string_view dot;
};

class Page {
 public:
  static constexpr std::size_t kLabel = 13;  // columns before a fact: indent, label, gap

  Page(bool colour, bool unicode, std::size_t columns) : colour_(colour), unicode_(unicode), columns_(columns) {}

  bool unicode() const { return unicode_; }
  std::size_t columns() const { return columns_; }
  const Signs& signs() const;
  std::string_view separator() const;  // between facts of one line

  // `text` in the ink's colour, if there are colours.
  std::string ink(std::string_view text, Ink ink) const;
  // A text from outside, made safe to print.
  std::string safe(std::string_view text) const;
  std::string cut(std::string_view text, std::size_t columns) const;

  void blank() { text_ += '\n'; }
  void line(std::string_view text);
  void heading(std::string_view text);
  // "  label      text", wrapped under itself.
  void fact(std::string_view label, std::string_view text, Ink colour = Ink::kPlain);
  // "    ✓ text", wrapped under itself; the sign in the ink's colour.
  void item(std::string_view sign, Ink sign_ink, std::string_view text, Ink text_ink = Ink::kPlain);
  // "    ✓ text               end", on one line: a text that is too long loses its middle.
  void item_row(std::string_view sign, Ink sign_ink, std::string_view text, std::string_view end,
                Ink end_ink = Ink::kPlain);

  std::string take() { return std::move(text_); }

 private:
  bool colour_;
  bool unicode_;
  std::size_t columns_;
  std::string text_;
};

}  // namespace muster::report
