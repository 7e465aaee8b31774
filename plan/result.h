// plan/result.h -- a value, or what is wrong with the input (C++20 has no std::expected).
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace memverify {

/// Something wrong with the *input*. Bugs in memverify are asserts, never Diagnostics.
struct Diagnostic {
  std::string id;        ///< Stable and greppable, e.g. "tensor.unknown"; tests match on this.
  std::string message;   ///< For people: what was found, what was expected, the nearest known name.
  std::string pointer;   ///< JSON pointer of the value at fault, "" for the whole document.
  std::string file;      ///< As the user wrote it; "" when the plan was not read from a file.
  std::size_t line = 0;  ///< 1-based; 0 = unknown.
  std::size_t column = 0;  ///< 1-based, in bytes; 0 = unknown.
};

/// `file:line:column: error: message [id] (at pointer)`, without the parts that are unknown.
std::string to_string(const Diagnostic& diagnostic);

/// A value, or at least one Diagnostic in the order of the document.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(std::vector<Diagnostic> errors) : state_(std::move(errors)) {}
  Result(Diagnostic error) : state_(std::vector<Diagnostic>{std::move(error)}) {}

  /// True iff there is a value.
  bool ok() const noexcept { return state_.index() == 0; }
  /// The value. Only if `ok()`, as the next two.
  const T& value() const& { return std::get<0>(state_); }
  T& value() & { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  /// The errors, at least one. Only if not `ok()`.
  const std::vector<Diagnostic>& errors() const { return std::get<1>(state_); }

 private:
  std::variant<T, std::vector<Diagnostic>> state_;
};

}  // namespace memverify
