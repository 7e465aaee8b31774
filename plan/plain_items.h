// plan/plain_items.h -- the items of long lists, read straight from the text.
//
// Problem: a plan of 10^6 ops is 40 million events of JSON, and each goes through the library, an
//   adapter and a state machine; that was half of the instructions from file to verdict.
// Idea: nearly every item is *plain*: known keys, ASCII without escapes, nothing wrong with it.
//   That is read by functions made of the same tables (plan/plain_item.h). Any other is left as it
//   is, to the reader that knows all of JSON and what to say of errors.
// Cost: linear; 10 instructions a byte, with what the tables' hooks do, where that reader takes 63.
// Tested by tests/fuzz/reader_mutation_test.cpp, which reads everything with and without it.
#pragma once

#include <cstddef>
#include <string_view>

#include "plan/reader_fields.h"

namespace memverify {

class PlainItems {
 public:
  PlainItems(std::string_view text, PlanFields& fields) : text_(text), fields_(fields) {}

  struct Read {
    std::size_t items = 0;
    std::size_t end = 0;  ///< Offset behind the last of them.
  };
  /// Reads items of `list` for as long as they are plain. `at` is the offset behind the item
  /// before, which has the index `index` - 1. An item that is not plain leaves no trace but in the
  /// spec that `list.element` gives out, which is given out anew for the next attempt.
  Read read(const ListFields& list, std::size_t index, std::size_t at);

 private:
  static constexpr int kMostMisses = 64;
  std::string_view text_;
  PlanFields& fields_;
  int misses_ = 0;  ///< Attempts that read nothing, in a row. After so many there are no more.
};

}  // namespace memverify
