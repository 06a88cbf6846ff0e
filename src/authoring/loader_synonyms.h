// Words that people bring from elsewhere: what they are called here. For messages only.
#pragma once

#include <string>
#include <string_view>

namespace muster::authoring {

// The protocols of which one may have heard, whether or not this build can call them.
bool known_protocol(std::string_view word);

// "; waiting is `think: 1s`" for a kind of step that goes by another name here; empty if the word says nothing.
std::string kind_advice(std::string_view word);

// "length" for "len": a function by another name; empty if there is none.
std::string_view function_for(std::string_view word);

}  // namespace muster::authoring
