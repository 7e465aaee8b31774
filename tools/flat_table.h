// tools/flat_table.h -- reading a FlatBuffer that need not be what it should be. The one owner of
// the flatbuffers library.
//
// There is no schema: a table is asked for the field of a number, and what it says is checked
// before it is followed. The first damage is reported, with the path to it; everything after it
// then reads as empty. What is read is counted, for tables and vectors may be pointed at from
// anywhere: a file gives no more elements than it has bytes, whatever it says.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "plan/result.h"

namespace memverify {

class FlatTable;

/// The bytes of a FlatBuffer, which must outlive it and start at a multiple of 8 in memory, and
/// what was found wrong with them.
class FlatFile {
 public:
  FlatFile(std::string_view bytes, std::string_view file);
  ~FlatFile();
  FlatFile(const FlatFile&) = delete;
  FlatFile& operator=(const FlatFile&) = delete;

  FlatTable root();
  std::string_view bytes() const noexcept { return bytes_; }
  /// Reports a fault at a path such as "/subgraphs/0/tensors/3".
  void fail(std::string_view id, std::string message, std::string path);
  const std::vector<Diagnostic>& errors() const noexcept { return errors_; }

 private:
  friend class FlatTable;
  struct Checker;
  bool spend(std::size_t elements, const std::string& path);
  void damaged(const std::string& path);

  std::string_view bytes_;
  std::string_view file_;
  std::size_t left_;  ///< Elements that may still be read.
  bool damaged_ = false;
  std::unique_ptr<Checker> checker_;  ///< None for a file too large for the format.
  std::vector<Diagnostic> errors_;
};

/// One table, or none, of which every field is absent. Fields are numbered from 0, as in a schema.
/// `name` is the field's name for the path. Cheap to copy.
class FlatTable {
 public:
  bool present() const noexcept { return table_ != nullptr; }
  const std::string& path() const noexcept { return path_; }
  bool has(int field) const;

  std::int64_t i8(int field, std::int64_t absent = 0) const;
  std::int64_t u8(int field, std::int64_t absent = 0) const;
  std::int64_t i32(int field, std::int64_t absent = 0) const;
  std::int64_t u32(int field, std::int64_t absent = 0) const;
  /// What does not fit reads as 2^63 - 1.
  std::int64_t u64(int field, std::int64_t absent = 0) const;
  /// Bytes of the file; "" when absent.
  std::string_view text(int field, std::string_view name) const;
  /// A vector of bytes; costs nothing.
  std::string_view data(int field, std::string_view name) const;
  std::vector<std::int32_t> i32s(int field, std::string_view name) const;
  /// Also for unsigned ones: those of 2^63 and more read as negative.
  std::vector<std::int64_t> i64s(int field, std::string_view name) const;
  FlatTable table(int field, std::string_view name) const;
  std::vector<FlatTable> tables(int field, std::string_view name) const;

  /// Reports a fault of this table.
  void fail(std::string_view id, std::string message) const;

 private:
  friend class FlatFile;
  FlatTable child(const std::uint8_t* offset, std::string path) const;
  template <typename T>
  std::int64_t number(int field, std::int64_t absent) const;
  template <typename T>
  std::vector<T> integers(int field, std::string_view name) const;
  template <typename T>
  const T* pointer(int field, std::string_view name) const;

  FlatFile* file_ = nullptr;
  const std::uint8_t* table_ = nullptr;
  std::string path_;
};

}  // namespace memverify
