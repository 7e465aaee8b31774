// tests/support/hlo_file.h -- HloProto files for tests, as small as can be.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace memverify::testing {

/// A protocol buffer, field by field.
class ProtoText {
 public:
  ProtoText& number(std::uint32_t field, std::uint64_t value) {
    return varint(std::uint64_t{field} << 3U).varint(value);
  }
  ProtoText& text(std::uint32_t field, const std::string& bytes) {
    varint(std::uint64_t{field} << 3U | 2U).varint(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  ProtoText& packed(std::uint32_t field, const std::vector<std::int64_t>& values) {
    ProtoText list;
    for (const std::int64_t value : values) list.varint(static_cast<std::uint64_t>(value));
    return values.empty() ? *this : text(field, list.bytes_);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  ProtoText& varint(std::uint64_t value) {
    for (; value >= 128; value >>= 7U) bytes_ += static_cast<char>(value | 128U);
    bytes_ += static_cast<char>(value);
    return *this;
  }
  std::string bytes_;
};

/// An array of 64 bytes, or a tuple.
struct HloFileShape {
  std::int64_t type = 11;  ///< F32; 1 is PRED.
  std::vector<HloFileShape> elements = {};
};

struct HloFileInstruction {
  std::string name;
  std::string opcode;
  std::vector<std::string> operands = {};
  HloFileShape shape = {};
  std::vector<std::string> called = {};
  std::int64_t parameter = 0;
  std::int64_t tuple_index = 0;
};

struct HloFileComputation {
  std::string name;
  std::vector<HloFileInstruction> instructions;  ///< The last one is the root.
  bool scheduled = true;
};

/// A buffer of 64 bytes that an instruction defines.
struct HloFileBuffer {
  std::string instruction;
  std::int64_t offset = 0;
  std::vector<std::int64_t> index = {};
  std::int64_t allocation = 0;
};

struct HloFile {
  std::vector<HloFileComputation> computations;  ///< Callees first; the last one is the entry.
  std::vector<HloFileBuffer> buffers;
  std::vector<std::int64_t> donated = {};  ///< Parameters.
  std::int64_t bytes = 64;                 ///< Of every buffer.
};

inline std::string shape_bytes(const HloFileShape& shape) {
  ProtoText out;
  if (shape.elements.empty()) {
    return out.number(2, static_cast<std::uint64_t>(shape.type)).packed(3, {16}).bytes();
  }
  out.number(2, 13);
  for (const HloFileShape& element : shape.elements) out.text(4, shape_bytes(element));
  return out.bytes();
}

inline std::string hlo_bytes(const HloFile& file) {
  std::vector<std::string> names = {""};  // Ids are places in this list.
  std::vector<std::string> computation_names = {""};
  const auto id_in = [](const std::vector<std::string>& list, const std::string& name) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (list[i] == name) return static_cast<std::int64_t>(i);
    }
    return std::int64_t{999};
  };
  ProtoText module;
  module.text(1, "test").text(2, "entry");
  ProtoText schedule;
  for (const HloFileComputation& computation : file.computations) {
    ProtoText out;
    out.text(1, computation.name);
    ProtoText sequence;
    std::vector<std::int64_t> order;
    for (const HloFileInstruction& one : computation.instructions) {
      std::vector<std::int64_t> operands;
      for (const std::string& operand : one.operands) operands.push_back(id_in(names, operand));
      std::vector<std::int64_t> called;
      for (const std::string& name : one.called) called.push_back(id_in(computation_names, name));
      ProtoText instruction;
      instruction.text(1, one.name).text(2, one.opcode).text(3, shape_bytes(one.shape));
      instruction.number(9, static_cast<std::uint64_t>(one.parameter)).text(11, "kLoop");
      instruction.number(13, static_cast<std::uint64_t>(one.tuple_index));
      instruction.number(35, names.size()).packed(36, operands).packed(38, called);
      order.push_back(static_cast<std::int64_t>(names.size()));
      names.push_back(one.name);
      out.text(2, instruction.bytes());
    }
    out.number(5, computation_names.size()).number(6, names.size() - 1);
    computation_names.push_back(computation.name);
    module.text(3, out.bytes());
    if (!computation.scheduled) continue;
    ProtoText entry;
    entry.number(1, computation_names.size() - 1).text(2, sequence.packed(1, order).bytes());
    schedule.text(1, entry.bytes());
  }
  module.number(6, computation_names.size() - 1).text(7, schedule.bytes());
  for (const std::int64_t parameter : file.donated) {
    ProtoText donor;
    module.text(18, ProtoText()
                        .text(1, donor.number(1, static_cast<std::uint64_t>(parameter)).bytes())
                        .bytes());
  }
  ProtoText assignment;
  std::vector<ProtoText> allocations(8);
  const auto bytes = static_cast<std::uint64_t>(file.bytes);
  for (std::size_t i = 0; i < file.buffers.size(); ++i) {
    const HloFileBuffer& buffer = file.buffers[i];
    ProtoText location;
    location.packed(3, buffer.index);
    location.number(4, static_cast<std::uint64_t>(id_in(names, buffer.instruction)));
    assignment.text(
        1, ProtoText().number(1, i + 1).number(2, bytes).text(3, location.bytes()).bytes());
    allocations[static_cast<std::size_t>(buffer.allocation)].text(
        9, ProtoText()
               .number(1, i + 1)
               .number(2, static_cast<std::uint64_t>(buffer.offset))
               .number(3, bytes)
               .bytes());
  }
  for (std::size_t i = 0; i < allocations.size(); ++i) {
    assignment.text(3, ProtoText().number(1, i).number(2, 1024).bytes() + allocations[i].bytes());
  }
  return ProtoText().text(1, module.bytes()).text(3, assignment.bytes()).bytes();
}

}  // namespace memverify::testing
