// Field numbers are those of ExecuTorch's schema, program.fbs, file identifier "ET12".
#include "tools/executorch_program.h"

#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "plan/words.h"
#include "tools/flat_table.h"
#include "tools/plan_draft.h"

namespace memverify {
namespace {

constexpr std::string_view kPteIdentifier = "ET12";
constexpr std::size_t kPteIdentifierAt = 4;
constexpr std::size_t kHeaderAt = 8;  ///< "eh00", its length, bytes of the program, start of data.
constexpr std::size_t kHeaderBytes = 32;
constexpr std::int64_t kMostPteBytes = std::int64_t{1} << 48U;
constexpr std::size_t kMostPteExtents = 64;

// Tags of the unions.
constexpr std::int64_t kTensorValue = 5;
constexpr std::int64_t kTensorList = 10;
constexpr std::int64_t kOptionalTensorList = 11;
constexpr std::int64_t kKernelCall = 1;
constexpr std::int64_t kDelegateCall = 2;
constexpr std::int64_t kFreeCall = 5;

/// An element type of PyTorch.
struct PteType {
  std::int64_t bytes = 0;
  std::string_view dtype;
};

/// By number; those of 0 bytes have no size of their own.
constexpr std::array<PteType, 30> kPteTypes = {{
    {1, "u8"},  {1, "i8"},  {2, "i16"}, {4, "i32"},  {8, "i64"},   {2, "f16"},
    {4, "f32"}, {8, "f64"}, {4, ""},    {8, "c64"},  {16, "c128"}, {1, "bool"},
    {1, "i8"},  {1, "u8"},  {4, "i32"}, {2, "bf16"}, {},           {},
    {},         {},         {},         {1, ""},     {2, ""},      {1, "f8"},
    {1, "f8"},  {1, "f8"},  {1, "f8"},  {2, "u16"},  {4, "u32"},   {8, "u64"},
}};

std::int64_t u64_at(std::string_view text, std::size_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, text.data() + at, sizeof(value));
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  return std::in_range<std::int64_t>(value) ? static_cast<std::int64_t>(value) : kMost;
}

class ProgramReader {
 public:
  ProgramReader(std::string_view text, std::string_view file) : file_(text, file) {}

  Result<PteMethod> read() {
    const FlatTable root = file_.root();
    read_segments(root);
    const std::vector<FlatTable> methods = root.tables(1, "execution_plan");
    if (file_.errors().empty() && methods.empty()) {
      file_.fail("import.unknown", "the program has no method", "/execution_plan");
    }
    if (!file_.errors().empty()) return file_.errors();
    method_.methods = methods.size();
    method_.file_bytes = static_cast<std::int64_t>(file_.bytes().size());
    read_method(methods.front());
    if (!file_.errors().empty()) return file_.errors();
    return std::move(method_);
  }

 private:
  /// Where the data of constant `n` is.
  void read_segments(const FlatTable& root) {
    const std::string_view text = file_.bytes();
    const bool header =
        text.size() >= kHeaderAt + kHeaderBytes && text.substr(kHeaderAt, 4) == "eh00";
    const std::int64_t base = header ? u64_at(text, kHeaderAt + 16) : 0;
    const FlatTable constants = root.table(5, "constant_segment");
    const std::vector<std::int64_t> offsets =
        constants.present() ? constants.i64s(1, "offsets") : std::vector<std::int64_t>{};
    if (offsets.empty()) {  // An older file: the data are in the FlatBuffer.
      for (const FlatTable& buffer : root.tables(2, "constant_buffer")) {
        const std::string_view data = buffer.data(0, "storage");
        data_at_.push_back(data.empty() ? 0 : data.data() - text.data());
      }
      return;
    }
    const std::vector<FlatTable> segments = root.tables(4, "segments");
    const auto which = static_cast<std::size_t>(constants.u32(0));
    if (which >= segments.size()) {
      return constants.fail("import.unknown", "there is no segment " + std::to_string(which));
    }
    const std::int64_t start = segments[which].u64(0);
    for (const std::int64_t offset : offsets) {
      if (offset < 0 || offset > kMostPteBytes || start > kMostPteBytes || base > kMostPteBytes) {
        return constants.fail("import.range", "a constant lies after the end of the file");
      }
      data_at_.push_back(base + start + offset);
    }
  }

  void read_method(const FlatTable& from) {
    method_.name = short_name(from.text(0, "name"));
    method_.memories = from.i64s(8, "non_const_buffer_sizes");
    for (const FlatTable& value : from.tables(2, "values")) {
      method_.values.emplace_back();
      read_value(value, method_.values.back());
    }
    check_lists(from);
    method_.inputs = values(from, 3, "inputs");
    method_.outputs = values(from, 4, "outputs");
    for (const FlatTable& op : from.tables(6, "operators")) {
      operators_.emplace_back(short_name(op.text(0, "name")), short_name(op.text(1, "overload")));
    }
    for (const FlatTable& delegate : from.tables(7, "delegates")) {
      delegates_.push_back(short_name(delegate.text(0, "id")));
    }
    for (const FlatTable& chain : from.tables(5, "chains")) {
      for (const FlatTable& call : chain.tables(2, "instructions")) read_call(call);
    }
  }

  void read_value(const FlatTable& from, PteValue& value) {
    const std::int64_t tag = from.u8(0);
    if (tag == kTensorValue) return read_tensor(from.table(1, "val"), value);
    if (tag != kTensorList && tag != kOptionalTensorList) return;
    value.kind = PteValue::Kind::kList;
    for (const std::int32_t item : from.table(1, "val").i32s(0, "items")) {
      if (item != -1) value.items.push_back(static_cast<std::size_t>(item));
    }
  }

  /// Values may stand after the lists that name them.
  void check_lists(const FlatTable& from) {
    for (const PteValue& value : method_.values) {
      for (const std::size_t item : value.items) {
        if (item < method_.values.size() && method_.values[item].kind == PteValue::Kind::kTensor) {
          continue;
        }
        return from.fail("import.unknown", "a list names value " +
                                               std::to_string(static_cast<std::int64_t>(item)) +
                                               ", which is no tensor");
      }
    }
  }

  void read_tensor(const FlatTable& from, PteValue& value) {
    value.kind = PteValue::Kind::kTensor;
    if (from.i32(1) != 0) {
      return from.fail("import.unsupported", "a tensor that starts inside its storage");
    }
    read_size(from, value);
    if (const FlatTable extra = from.table(9, "extra_tensor_info"); extra.present()) {
      value.name = short_name(extra.text(1, "fully_qualified_name"));
      value.external = extra.i8(2) == 1;
    }
    if (const FlatTable place = from.table(6, "allocation_info"); place.present()) {
      const std::int64_t high = place.u32(2);
      if (high >= 1 << 16) return place.fail("import.range", "an offset beyond 2^48");
      value.place = {.memory = place.u32(0), .offset = (high << 32U) + place.u32(1)};
      if (value.place->memory >= std::ssize(method_.memories)) {
        return place.fail("import.contradiction",
                          "the method has no memory " + std::to_string(value.place->memory) +
                              ": `non_const_buffer_sizes` has " +
                              counted(std::ssize(method_.memories), "size"));
      }
    }
    const std::int64_t data = from.u32(5);
    value.has_data = data > 0 || value.external;
    if (value.place || !value.has_data || value.external) return;
    if (data >= std::ssize(data_at_)) {
      return from.fail("import.unknown", "there is no constant " + std::to_string(data));
    }
    value.file_offset = data_at_[static_cast<std::size_t>(data)];
    const auto size = static_cast<std::int64_t>(file_.bytes().size());
    if (value.file_offset > size || value.bytes > size - value.file_offset) {
      from.fail("import.range", "the data of this constant end after the file");
    }
  }

  void read_size(const FlatTable& from, PteValue& value) {
    value.scalar_type = from.i8(0);
    if (value.scalar_type < 0 || value.scalar_type >= std::ssize(kPteTypes) ||
        kPteTypes[static_cast<std::size_t>(value.scalar_type)].bytes == 0) {
      return from.fail("import.unsupported", "elements of type " +
                                                 std::to_string(value.scalar_type) +
                                                 " have no size that is known here");
    }
    const PteType& type = kPteTypes[static_cast<std::size_t>(value.scalar_type)];
    const std::vector<std::int32_t> sizes = from.i32s(2, "sizes");
    const std::string_view order = from.data(3, "dim_order");
    if (sizes.size() > kMostPteExtents) {
      return from.fail("import.unsupported", "a tensor with more than 64 extents");
    }
    const bool permuted = order.size() == sizes.size();
    value.bytes = type.bytes;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::size_t which = permuted ? static_cast<std::uint8_t>(order[i]) : i;
      const std::int64_t extent = which < sizes.size() ? sizes[which] : -1;
      if (extent < 0) return from.fail("import.range", "an extent below 0, or an odd dim_order");
      if (extent > 0 && value.bytes > kMostPteBytes / extent) {
        return from.fail("import.range", "a tensor of more than 2^48 bytes");
      }
      value.bytes *= extent;
      value.shape.push_back(extent);
    }
    value.dtype = type.dtype;
    value.dynamic = from.i8(8) != 0;
  }

  std::vector<std::size_t> values(const FlatTable& from, int field, std::string_view name) {
    std::vector<std::size_t> list;
    for (const std::int32_t index : from.i32s(field, name)) {
      if (index < 0 || static_cast<std::size_t>(index) >= method_.values.size()) {
        from.fail("import.unknown", "there is no value " + std::to_string(index));
        break;
      }
      list.push_back(static_cast<std::size_t>(index));
    }
    return list;
  }

  std::vector<std::size_t> freed_by(const FlatTable& call) {
    const std::int64_t index = call.i32(0);
    if (index < 0 || index >= std::ssize(method_.values)) {
      call.fail("import.unknown", "there is no value " + std::to_string(index));
      return {};
    }
    return {static_cast<std::size_t>(index)};
  }

  void read_call(const FlatTable& from) {
    const FlatTable what = from.table(1, "instr_args");
    PteCall call;
    switch (const std::int64_t tag = from.u8(0)) {
      case kKernelCall:
      case kDelegateCall: {
        const bool kernel = tag == kKernelCall;
        const std::size_t count = kernel ? operators_.size() : delegates_.size();
        const std::int64_t index = what.i32(0);
        if (index < 0 || index >= static_cast<std::int64_t>(count)) {
          return what.fail("import.unknown",
                           "there is no operator or delegate " + std::to_string(index));
        }
        const auto which = static_cast<std::size_t>(index);
        call.kind = kernel ? PteCall::Kind::kKernel : PteCall::Kind::kDelegate;
        call.name = kernel ? operators_[which].first : delegates_[which];
        if (kernel) call.overload = operators_[which].second;
        call.args = values(what, 1, "args");
        break;
      }
      case kFreeCall:
        call.kind = PteCall::Kind::kFree;
        call.args = freed_by(what);
        break;
      default:
        return from.fail("import.unsupported",
                         "moves and jumps of the program are not read: only a method that is "
                         "one straight list of calls");
    }
    method_.calls.push_back(std::move(call));
  }

  FlatFile file_;
  PteMethod method_;
  std::vector<std::int64_t> data_at_;
  std::vector<std::pair<std::string, std::string>> operators_;
  std::vector<std::string> delegates_;
};

}  // namespace

bool is_executorch(std::string_view text) {
  return text.size() >= kPteIdentifierAt + kPteIdentifier.size() &&
         text.substr(kPteIdentifierAt, kPteIdentifier.size()) == kPteIdentifier;
}

Result<PteMethod> read_executorch(std::string_view text, std::string_view file) {
  if (!is_executorch(text)) {
    return Diagnostic{.id = "import.format",
                      .message = "not an ExecuTorch program: bytes 4 to 7 are not \"ET12\"",
                      .file = std::string(file)};
  }
  return ProgramReader(text, file).read();
}

}  // namespace memverify
