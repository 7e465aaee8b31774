#include "tools/proto_message.h"

#include <optional>
#include <utility>

namespace memverify {
namespace {

/// Takes a number of 7 bits a byte off the front; nullopt if the bytes end within it.
std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 70 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
    if (byte < 0x80U) return value;
  }
  return std::nullopt;
}

/// Takes `count` bytes off the front; nullopt if there are not so many.
std::optional<std::string_view> take_bytes(std::string_view& bytes, std::uint64_t count) {
  if (count > bytes.size()) return std::nullopt;
  const std::string_view taken = bytes.substr(0, static_cast<std::size_t>(count));
  bytes.remove_prefix(static_cast<std::size_t>(count));
  return taken;
}

}  // namespace

void ProtoErrors::fail(std::string_view id, std::string message, std::string path) {
  errors_.push_back({.id = std::string(id),
                     .message = std::move(message),
                     .pointer = std::move(path),
                     .file = std::string(file_)});
}

ProtoMessage::ProtoMessage(std::string_view bytes, std::string path, ProtoErrors& errors)
    : path_(std::move(path)), errors_(&errors) {
  while (!bytes.empty()) {
    const std::optional<std::uint64_t> key = take_varint(bytes);
    std::optional<std::uint64_t> value = std::uint64_t{0};
    std::optional<std::string_view> text = std::string_view();
    const std::uint64_t wire = key.value_or(0) & 7U;
    if (wire == 0 || wire == 2) value = take_varint(bytes);
    if (wire == 1) text = take_bytes(bytes, 8);
    if (wire == 2) text = value ? take_bytes(bytes, *value) : std::nullopt;
    if (wire == 5) text = take_bytes(bytes, 4);
    if (!key || *key >> 3U == 0 || *key >> 3U >= 1U << 29U || !value || !text || wire == 3 ||
        wire == 4 || wire > 5) {
      if (errors.empty()) {
        fail("import.damaged", "the file is cut off or damaged: this is no protocol buffer");
      }
      fields_.clear();
      return;
    }
    if (wire == 0 || wire == 2) {
      fields_.push_back({.number = static_cast<std::uint32_t>(*key >> 3U),
                         .is_text = wire == 2,
                         .value = *value,
                         .text = *text});
    }
  }
}

bool ProtoMessage::has(std::uint32_t field) const {
  for (const Field& one : fields_) {
    if (one.number == field) return true;
  }
  return false;
}

std::int64_t ProtoMessage::number(std::uint32_t field, std::int64_t absent) const {
  for (std::size_t i = fields_.size(); i > 0; --i) {
    const Field& one = fields_[i - 1];
    if (one.number == field && !one.is_text) return static_cast<std::int64_t>(one.value);
  }
  return absent;
}

std::vector<std::int64_t> ProtoMessage::numbers(std::uint32_t field) const {
  std::vector<std::int64_t> all;
  for (const Field& one : fields_) {
    if (one.number != field) continue;
    if (!one.is_text) all.push_back(static_cast<std::int64_t>(one.value));
    for (std::string_view rest = one.text; !rest.empty();) {
      const std::optional<std::uint64_t> value = take_varint(rest);
      if (!value) {
        fail("import.damaged", "the file is damaged: a list of numbers is cut off");
        break;
      }
      all.push_back(static_cast<std::int64_t>(*value));
    }
  }
  return all;
}

std::string_view ProtoMessage::text(std::uint32_t field) const {
  for (std::size_t i = fields_.size(); i > 0; --i) {
    if (fields_[i - 1].number == field && fields_[i - 1].is_text) return fields_[i - 1].text;
  }
  return {};
}

ProtoMessage ProtoMessage::message(std::uint32_t field, std::string_view name) const {
  return {text(field), path_ + "/" + std::string(name), *errors_};
}

std::vector<ProtoMessage> ProtoMessage::messages(std::uint32_t field, std::string_view name) const {
  std::vector<ProtoMessage> all;
  for (const Field& one : fields_) {
    if (one.number != field || !one.is_text) continue;
    all.emplace_back(one.text, path_ + "/" + std::string(name) + "/" + std::to_string(all.size()),
                     *errors_);
  }
  return all;
}

void ProtoMessage::fail(std::string_view id, std::string message) const {
  errors_->fail(id, std::move(message), path_);
}

}  // namespace memverify
