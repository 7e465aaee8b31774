#include "tools/flat_table.h"

#include <flatbuffers/flatbuffers.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace memverify {

namespace {

constexpr std::size_t kLargest = (std::size_t{1} << 31U) - 2;  ///< Offsets have 31 bits.
constexpr std::size_t kAtLeast = 4096;  ///< Elements allowed of even the smallest file.

flatbuffers::voffset_t slot(int field) {
  return static_cast<flatbuffers::voffset_t>(4 + 2 * field);  // After two sizes.
}

const flatbuffers::Table* as_table(const std::uint8_t* at) {
  return reinterpret_cast<const flatbuffers::Table*>(at);
}

}  // namespace

struct FlatFile::Checker {
  flatbuffers::Verifier verifier;

  bool starts_table(const std::uint8_t* at) {
    const bool good = verifier.VerifyTableStart(at);
    verifier.EndTable();
    return good;
  }
  bool good(const flatbuffers::String* text) const { return verifier.VerifyString(text); }
  template <typename T>
  bool good(const flatbuffers::Vector<T>* vector) const {
    return verifier.VerifyVector(vector);
  }
};

FlatFile::FlatFile(std::string_view bytes, std::string_view file)
    : bytes_(bytes), file_(file), left_(std::max(bytes.size(), kAtLeast)) {
  if (bytes.size() > kLargest) {
    fail("import.unsupported", "files of 2 GiB and more are not read", "");
    return;
  }
  checker_ = std::make_unique<Checker>(Checker{
      flatbuffers::Verifier(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size())});
}

FlatFile::~FlatFile() = default;

FlatTable FlatFile::root() {
  FlatTable table;
  table.file_ = this;
  if (checker_ == nullptr) return table;
  const std::uint32_t offset = checker_->verifier.VerifyOffset(std::size_t{0});
  const auto* at = reinterpret_cast<const std::uint8_t*>(bytes_.data()) + offset;
  if (offset != 0 && checker_->starts_table(at)) {
    table.table_ = at;
  } else {
    damaged("");
  }
  return table;
}

void FlatFile::fail(std::string_view id, std::string message, std::string path) {
  errors_.push_back({.id = std::string(id),
                     .message = std::move(message),
                     .pointer = std::move(path),
                     .file = std::string(file_)});
}

void FlatFile::damaged(const std::string& path) {
  if (!std::exchange(damaged_, true)) {
    fail("import.damaged",
         "the file is cut off or damaged: this points outside it, or between its words", path);
  }
}

bool FlatFile::spend(std::size_t elements, const std::string& path) {
  if (damaged_) return false;
  if (elements <= left_) {
    left_ -= elements;
    return true;
  }
  damaged_ = true;
  fail("import.damaged", "the file repeats itself: it lists more than it has bytes", path);
  return false;
}

bool FlatTable::has(int field) const {
  return table_ != nullptr && as_table(table_)->CheckField(slot(field));
}

template <typename T>
std::int64_t FlatTable::number(int field, std::int64_t absent) const {
  if (!has(field)) return absent;
  if (!as_table(table_)->VerifyField<T>(file_->checker_->verifier, slot(field), sizeof(T))) {
    file_->damaged(path_);
    return absent;
  }
  const T value = as_table(table_)->GetField<T>(slot(field), T{});
  constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
  return std::in_range<std::int64_t>(value) ? static_cast<std::int64_t>(value) : kMost;
}

std::int64_t FlatTable::i8(int field, std::int64_t absent) const {
  return number<std::int8_t>(field, absent);
}
std::int64_t FlatTable::u8(int field, std::int64_t absent) const {
  return number<std::uint8_t>(field, absent);
}
std::int64_t FlatTable::i32(int field, std::int64_t absent) const {
  return number<std::int32_t>(field, absent);
}
std::int64_t FlatTable::u32(int field, std::int64_t absent) const {
  return number<std::uint32_t>(field, absent);
}
std::int64_t FlatTable::u64(int field, std::int64_t absent) const {
  return number<std::uint64_t>(field, absent);
}

/// The checked vector or string of a field; nullptr when it is absent or damaged.
template <typename T>
const T* FlatTable::pointer(int field, std::string_view name) const {
  if (!has(field) || file_->damaged_) return nullptr;
  const flatbuffers::Table* table = as_table(table_);
  if (table->VerifyOffset(file_->checker_->verifier, slot(field))) {
    const T* found = table->GetPointer<const T*>(slot(field));
    if (file_->checker_->good(found)) return found;
  }
  file_->damaged(path_ + "/" + std::string(name));
  return nullptr;
}

std::string_view FlatTable::text(int field, std::string_view name) const {
  const auto* found = pointer<flatbuffers::String>(field, name);
  if (found == nullptr || !file_->spend(found->size(), path_)) return {};
  return {found->c_str(), found->size()};
}

std::string_view FlatTable::data(int field, std::string_view name) const {
  const auto* found = pointer<flatbuffers::Vector<std::uint8_t>>(field, name);
  if (found == nullptr) return {};
  return {reinterpret_cast<const char*>(found->data()), found->size()};
}

template <typename T>
std::vector<T> FlatTable::integers(int field, std::string_view name) const {
  std::vector<T> values;
  const auto* found = pointer<flatbuffers::Vector<T>>(field, name);
  if (found == nullptr || !file_->spend(found->size(), path_)) return values;
  values.reserve(found->size());
  for (flatbuffers::uoffset_t i = 0; i < found->size(); ++i) values.push_back(found->Get(i));
  return values;
}

std::vector<std::int32_t> FlatTable::i32s(int field, std::string_view name) const {
  return integers<std::int32_t>(field, name);
}
std::vector<std::int64_t> FlatTable::i64s(int field, std::string_view name) const {
  return integers<std::int64_t>(field, name);
}

/// The table that the offset at `offset` points to; none when it is damaged.
FlatTable FlatTable::child(const std::uint8_t* offset, std::string path) const {
  FlatTable table;
  table.file_ = file_;
  table.path_ = std::move(path);
  const auto* begin = reinterpret_cast<const std::uint8_t*>(file_->bytes_.data());
  const std::uint32_t distance =
      file_->checker_->verifier.VerifyOffset(static_cast<std::size_t>(offset - begin));
  if (distance != 0 && file_->checker_->starts_table(offset + distance)) {
    table.table_ = offset + distance;
  } else {
    file_->damaged(table.path_);
  }
  return table;
}

FlatTable FlatTable::table(int field, std::string_view name) const {
  std::string path = path_ + "/" + std::string(name);
  if (has(field) && !file_->damaged_ && file_->spend(1, path)) {
    return child(as_table(table_)->GetAddressOf(slot(field)), std::move(path));
  }
  FlatTable none;
  none.file_ = file_;
  none.path_ = std::move(path);
  return none;
}

std::vector<FlatTable> FlatTable::tables(int field, std::string_view name) const {
  std::vector<FlatTable> tables;
  const auto* found = pointer<flatbuffers::Vector<flatbuffers::uoffset_t>>(field, name);
  if (found == nullptr || !file_->spend(found->size(), path_)) return tables;
  tables.reserve(found->size());
  for (std::size_t i = 0; i < found->size() && !file_->damaged_; ++i) {
    tables.push_back(child(found->Data() + i * sizeof(flatbuffers::uoffset_t),
                           path_ + "/" + std::string(name) + "/" + std::to_string(i)));
  }
  return tables;
}

void FlatTable::fail(std::string_view id, std::string message) const {
  file_->fail(id, std::move(message), path_);
}

}  // namespace memverify
