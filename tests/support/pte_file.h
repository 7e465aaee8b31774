// tests/support/pte_file.h -- ExecuTorch programs for tests, as small as can be.
#pragma once

#include <flatbuffers/flatbuffers.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace memverify::testing {

struct PteFileValue {
  std::vector<std::int32_t> sizes = {16};  ///< Of bytes.
  std::optional<std::uint32_t> offset;     ///< In `memory`.
  std::uint32_t data = 0;                  ///< A constant; 1 is of 64 bytes.
  std::vector<std::int32_t> list;          ///< Not a tensor, but a list of such.
  std::int8_t type = 1;
  std::uint32_t memory = 1;
};

struct PteFileCall {
  std::vector<std::int32_t> args;
  std::uint8_t kind = 1;  ///< 1 a kernel, 2 a delegate, 4 a jump, 5 a free.
  std::int32_t op = 0;    ///< 0 "aten::op.out", 1 "executorch_prim::et_view"; the value to free.
};

struct PteFile {
  std::vector<PteFileValue> values;
  std::vector<PteFileCall> calls;
  std::vector<std::int32_t> inputs;
  std::vector<std::int32_t> outputs;
  std::int64_t memory = 1024;
};

class PteWriter {
 public:
  std::string write(const PteFile& file) {
    std::vector<Table> values;
    for (const PteFileValue& value : file.values) values.push_back(add(value));
    std::vector<Table> calls;
    for (const PteFileCall& call : file.calls) calls.push_back(add(call));
    const std::vector<Table> operators = {named("aten::op", "out"),
                                          named("executorch_prim::et_view", "default")};
    const std::vector<Table> delegates = {named("Backend", "")};
    const auto all_calls = builder_.CreateVector(calls);
    auto start = builder_.StartTable();
    builder_.AddOffset(at(2), all_calls);
    const std::vector<Table> chains = {Table(builder_.EndTable(start))};
    const auto name = builder_.CreateString("forward");
    const auto all_values = builder_.CreateVector(values);
    const auto inputs = builder_.CreateVector(file.inputs);
    const auto outputs = builder_.CreateVector(file.outputs);
    const auto all_chains = builder_.CreateVector(chains);
    const auto all_operators = builder_.CreateVector(operators);
    const auto all_delegates = builder_.CreateVector(delegates);
    const auto sizes = builder_.CreateVector(std::vector<std::int64_t>{0, file.memory});
    start = builder_.StartTable();
    builder_.AddOffset(at(0), name);
    builder_.AddOffset(at(2), all_values);
    builder_.AddOffset(at(3), inputs);
    builder_.AddOffset(at(4), outputs);
    builder_.AddOffset(at(5), all_chains);
    builder_.AddOffset(at(6), all_operators);
    builder_.AddOffset(at(7), all_delegates);
    builder_.AddOffset(at(8), sizes);
    const std::vector<Table> plans = {Table(builder_.EndTable(start))};
    const std::vector<Table> constants = {constant(0), constant(64)};
    const auto all_plans = builder_.CreateVector(plans);
    const auto all_constants = builder_.CreateVector(constants);
    start = builder_.StartTable();
    builder_.AddOffset(at(1), all_plans);
    builder_.AddOffset(at(2), all_constants);
    builder_.Finish(Table(builder_.EndTable(start)), "ET12");
    return {reinterpret_cast<const char*>(builder_.GetBufferPointer()), builder_.GetSize()};
  }

 private:
  using Table = flatbuffers::Offset<void>;
  static flatbuffers::voffset_t at(int field) {
    return static_cast<flatbuffers::voffset_t>(4 + 2 * field);
  }

  Table named(const std::string& first, const std::string& second) {
    const auto a = builder_.CreateString(first);
    const auto b = builder_.CreateString(second);
    const auto start = builder_.StartTable();
    builder_.AddOffset(at(0), a);
    builder_.AddOffset(at(1), b);
    return Table(builder_.EndTable(start));
  }

  Table constant(std::size_t bytes) {
    const auto data = builder_.CreateVector(std::vector<std::uint8_t>(bytes, 7));
    const auto start = builder_.StartTable();
    builder_.AddOffset(at(0), data);
    return Table(builder_.EndTable(start));
  }

  /// A union: its tag and its table.
  Table either(std::uint8_t tag, Table table) {
    const auto start = builder_.StartTable();
    builder_.AddElement<std::uint8_t>(at(0), tag, 0);
    builder_.AddOffset(at(1), table);
    return Table(builder_.EndTable(start));
  }

  Table add(const PteFileValue& value) {
    if (!value.list.empty()) {
      const auto items = builder_.CreateVector(value.list);
      const auto start = builder_.StartTable();
      builder_.AddOffset(at(0), items);
      return either(10, Table(builder_.EndTable(start)));
    }
    Table place;
    if (value.offset) {
      const auto start = builder_.StartTable();
      builder_.AddElement<std::uint32_t>(at(0), value.memory, 0);
      builder_.AddElement<std::uint32_t>(at(1), *value.offset, 0);
      place = Table(builder_.EndTable(start));
    }
    const auto sizes = builder_.CreateVector(value.sizes);
    const auto start = builder_.StartTable();
    builder_.AddElement<std::int8_t>(at(0), value.type, 0);
    builder_.AddOffset(at(2), sizes);
    builder_.AddElement<std::uint32_t>(at(5), value.data, 0);
    if (value.offset) builder_.AddOffset(at(6), place);
    return either(5, Table(builder_.EndTable(start)));
  }

  Table add(const PteFileCall& call) {
    const auto args = builder_.CreateVector(call.args);
    const auto start = builder_.StartTable();
    builder_.AddElement<std::int32_t>(at(0), call.op, 0);
    builder_.AddOffset(at(1), args);
    return either(call.kind, Table(builder_.EndTable(start)));
  }

  flatbuffers::FlatBufferBuilder builder_;
};

inline std::string pte_bytes(const PteFile& file) { return PteWriter().write(file); }

}  // namespace memverify::testing
