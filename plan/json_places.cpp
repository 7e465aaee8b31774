#include "plan/json_places.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <memory>

#include "plan/json_events.h"

namespace memverify {
namespace {

/// The wanted pointers as a tree: a node for each value that one of them leads through.
struct Node {
  std::map<std::string, std::unique_ptr<Node>, std::less<>> children;
  bool found = false;
  std::size_t offset = 0;
};

/// The first token of `pointer` ("/a~1b/c" -> "a/b"), which is taken off.
std::string next_token(std::string_view& pointer) {
  pointer.remove_prefix(1);
  const std::string_view raw = pointer.substr(0, pointer.find('/'));
  pointer.remove_prefix(raw.size());
  std::string token;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] == '~' && i + 1 < raw.size()) {
      token += raw[++i] == '1' ? '/' : '~';
    } else {
      token += raw[i];
    }
  }
  return token;
}

class PlaceFinder final : public JsonHandler {
 public:
  void want(std::string_view pointer) {
    Node* node = &root_;
    while (!pointer.empty()) {
      std::unique_ptr<Node>& child = node->children[next_token(pointer)];
      if (child == nullptr) {
        child = std::make_unique<Node>();
        ++missing_;
      }
      node = child.get();
    }
  }

  std::size_t offset(std::string_view pointer) const {
    const Node* node = &root_;
    std::size_t offset = node->offset;
    while (!pointer.empty()) {
      node = node->children.find(next_token(pointer))->second.get();
      if (!node->found) break;
      offset = node->offset;
    }
    return offset;
  }

  bool on_null(JsonSpan span) override { return scalar(span); }
  bool on_bool(bool /*value*/, JsonSpan span) override { return scalar(span); }
  bool on_integer(std::int64_t /*value*/, JsonSpan span) override { return scalar(span); }
  bool on_other_number(std::string_view /*text*/, JsonSpan span) override { return scalar(span); }
  bool on_string(std::string_view /*value*/, JsonSpan span) override { return scalar(span); }
  bool on_key(std::string_view key, JsonSpan /*span*/) override {
    if (ignored_ != 0) return true;
    const auto child = open_.back().node->children.find(key);
    next_ = child == open_.back().node->children.end() ? nullptr : child->second.get();
    return true;
  }
  bool on_object_begin(std::size_t begin) override { return open(begin, false); }
  bool on_object_end(std::size_t /*end*/) override { return close(); }
  bool on_array_begin(std::size_t begin) override { return open(begin, true); }
  bool on_array_end(std::size_t /*end*/) override { return close(); }

 private:
  struct Open {
    Node* node = nullptr;
    bool is_array = false;
    std::size_t index = 0;
  };

  /// The node of the value that begins, if it is wanted.
  Node* begin_value(std::size_t begin) {
    if (ignored_ != 0) return nullptr;
    Node* node = next_;
    if (open_.empty()) {
      node = &root_;
    } else if (Open& parent = open_.back(); parent.is_array) {
      const auto child = parent.node->children.find(std::to_string(parent.index++));
      node = child == parent.node->children.end() ? nullptr : child->second.get();
    }
    if (node != nullptr && !node->found) {  // A repeated key: the first one.
      node->found = true;
      node->offset = begin;
      if (node != &root_) --missing_;
    }
    return node;
  }
  bool scalar(JsonSpan span) {
    begin_value(span.begin);
    return missing_ != 0;
  }
  bool open(std::size_t begin, bool is_array) {
    Node* const node = begin_value(begin);
    if (node == nullptr) {
      ++ignored_;
    } else {
      open_.push_back({node, is_array, 0});
    }
    return missing_ != 0;
  }
  bool close() {
    if (ignored_ != 0) {
      --ignored_;
    } else {
      open_.pop_back();
    }
    return true;
  }

  Node root_;
  std::size_t missing_ = 0;  ///< Nodes not found yet.
  std::vector<Open> open_;
  Node* next_ = nullptr;     ///< Of the key just seen.
  std::size_t ignored_ = 0;  ///< Open brackets of a value that is not wanted.
};

}  // namespace

std::vector<std::size_t> find_places(std::string_view text,
                                     const std::vector<std::string>& pointers) {
  PlaceFinder finder;
  for (const std::string& pointer : pointers) finder.want(pointer);
  static_cast<void>(scan_json(text, finder));
  std::vector<std::size_t> offsets;
  for (const std::string& pointer : pointers) offsets.push_back(finder.offset(pointer));
  return offsets;
}

std::vector<LineColumn> find_lines(std::string_view text, const std::vector<std::size_t>& offsets) {
  std::vector<LineColumn> places;
  std::size_t line = 1;
  std::size_t line_begin = byte_order_mark(text);
  for (const std::size_t offset : offsets) {
    while (line_begin < offset) {
      const std::size_t newline = text.substr(0, offset).find('\n', line_begin);
      if (newline == std::string_view::npos) break;
      line_begin = newline + 1;
      ++line;
    }
    places.push_back({line, offset - std::min(offset, line_begin) + 1});
  }
  return places;
}

}  // namespace memverify
