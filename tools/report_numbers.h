// tools/report_numbers.h -- what the parts of the data of a picture share: the numbers of what is
// kept, and lists of numbers as text.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/json_text.h"
#include "tools/report_data.h"

namespace memverify {

inline constexpr std::uint32_t kNotKept = 0xFFFFFFFFU;

/// The index of each thing among those that the data hold, in the order of the plan, or kNotKept.
struct Numbers {
  Table<OpId, std::uint32_t> ops;
  Table<TensorId, std::uint32_t> tensors;
  Table<StorageId, std::uint32_t> storages;
  Table<sim::CommandId, std::uint32_t> commands;
  std::vector<std::uint32_t> range;

  /// -1 for what is not kept, or nothing.
  std::int64_t of(OpId id) const { return number(ops, id); }
  std::int64_t of(TensorId id) const { return number(tensors, id); }
  std::int64_t of(StorageId id) const { return number(storages, id); }
  std::int64_t of(sim::CommandId id) const { return number(commands, id); }
  template <typename Id>
  bool has(Id id) const {
    return of(id) >= 0;
  }

 private:
  template <typename Id>
  static std::int64_t number(const Table<Id, std::uint32_t>& numbers, Id id) {
    return id == kNone<Id> || numbers[id] == kNotKept ? -1 : std::int64_t{numbers[id]};
  }
};

/// What is drawn one by one, with all that it names; everything of a plan that is drawn as a whole.
Numbers number_kept(const Drawing& drawing);

/// Queues come first, then the threads, in which host waits are.
std::int64_t lane_of(const Plan& plan, const Op& op);

/// The members "storages", "tensors", "ops", "commands", "uses", "ranges", "views", "reuse",
/// "syncs".
void write_tables(JsonText& json, const Drawing& drawing, const Numbers& numbers);

/// The member "findings".
void write_findings(JsonText& json, const Drawing& drawing, const Numbers& numbers);

/// An array of numbers without blanks.
class Column {
 public:
  void add(std::int64_t value) {
    if (!text_.empty()) text_ += ',';
    char digits[24];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }
  void write(JsonText& json, std::string_view name) const {
    json.key(name);
    json.raw("[" + text_ + "]");
  }

 private:
  std::string text_;
};

}  // namespace memverify
