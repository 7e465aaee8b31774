// tools/proto_message.h -- reading a protocol buffer that need not be what it should be.
//
// There is no schema: a message is asked for the field of a number, as flat_table.h does for
// FlatBuffers. The first damage is reported, with the path to it; what is damaged reads as empty.
// Fields of other wire types than asked for are skipped, as protocol buffers do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/result.h"

namespace memverify {

/// What is wrong with one file.
class ProtoErrors {
 public:
  explicit ProtoErrors(std::string_view file) : file_(file) {}
  void fail(std::string_view id, std::string message, std::string path);
  const std::vector<Diagnostic>& list() const noexcept { return errors_; }
  bool empty() const noexcept { return errors_.empty(); }

 private:
  std::string_view file_;
  std::vector<Diagnostic> errors_;
};

class ProtoMessage {
 public:
  /// Cuts the bytes into fields; they and `errors` must outlive the message. Linear in the bytes.
  ProtoMessage(std::string_view bytes, std::string path, ProtoErrors& errors);

  const std::string& path() const noexcept { return path_; }
  bool has(std::uint32_t field) const;
  /// The last number of the field. Unsigned ones of 2^63 and more read as negative.
  std::int64_t number(std::uint32_t field, std::int64_t absent = 0) const;
  std::vector<std::int64_t> numbers(std::uint32_t field) const;  ///< Packed or one by one.
  std::string_view text(std::uint32_t field) const;              ///< The last; "" when absent.
  /// Empty when absent. `name` is the field's name for the path.
  ProtoMessage message(std::uint32_t field, std::string_view name) const;
  std::vector<ProtoMessage> messages(std::uint32_t field, std::string_view name) const;

  void fail(std::string_view id, std::string message) const;

 private:
  struct Field {
    std::uint32_t number = 0;
    bool is_text = false;
    std::uint64_t value = 0;
    std::string_view text;
  };

  std::string path_;
  ProtoErrors* errors_;
  std::vector<Field> fields_;
};

}  // namespace memverify
