// A value at run time: what an expression yields, a slot of a VU's context holds, a feeder's column gives.
// Small and trivially copyable: text and JSON are views, and whoever makes a Value says how long they live
// (a VU's arena: until the iteration ends; a feeder or a plan: as long as the run).
#pragma once

#include <cstdint>
#include <string_view>

namespace muster::model {

enum class ValueType : std::uint8_t {
  kMissing,  // nothing there: a step that needs it fails
  kNull,
  kBool,
  kInteger,
  kNumber,
  kText,
  kJson,  // the JSON text of an array or object
};

class Value {
 public:
  Value() = default;  // missing

  static Value null() { return Value(ValueType::kNull); }
  static Value of(bool value) {
    Value made(ValueType::kBool);
    made.integer_ = value ? 1 : 0;
    return made;
  }
  static Value of(std::int64_t value) {
    Value made(ValueType::kInteger);
    made.integer_ = value;
    return made;
  }
  static Value of(double value) {
    Value made(ValueType::kNumber);
    made.number_ = value;
    return made;
  }
  static Value of(std::string_view text) { return view(ValueType::kText, text); }
  static Value of(const char* text) { return view(ValueType::kText, text); }
  static Value json(std::string_view text) { return view(ValueType::kJson, text); }

  ValueType type() const { return type_; }
  bool missing() const { return type_ == ValueType::kMissing; }
  bool numeric() const { return type_ == ValueType::kInteger || type_ == ValueType::kNumber; }
  bool textual() const { return type_ == ValueType::kText || type_ == ValueType::kJson; }

  bool boolean() const { return integer_ != 0; }     // only for kBool
  std::int64_t integer() const { return integer_; }  // only for kInteger
  double number() const {                            // for kInteger and kNumber
    return type_ == ValueType::kInteger ? static_cast<double>(integer_) : number_;
  }
  std::string_view text() const { return {text_, size_}; }  // for kText and kJson

 private:
  explicit Value(ValueType type) : type_(type) {}
  static Value view(ValueType type, std::string_view text) {
    Value made(type);
    made.text_ = text.data();
    made.size_ = static_cast<std::uint32_t>(text.size());
    return made;
  }

  ValueType type_ = ValueType::kMissing;
  std::uint32_t size_ = 0;
  union {
    std::int64_t integer_ = 0;
    double number_;
    const char* text_;
  };
};

static_assert(sizeof(Value) == 16);

}  // namespace muster::model
