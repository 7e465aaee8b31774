// plan/pointer.h -- JSON pointers (RFC 6901) to the parts of a plan, as they stand in a plan file.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "plan/plan.h"

namespace memverify {

/// One step of a JSON pointer: a key or an index.
struct PointerStep {
  PointerStep(const char* literal) : key(literal) {}
  PointerStep(std::string_view text) : key(text) {}
  template <std::integral T>
  PointerStep(T at) : number(static_cast<std::uint64_t>(at)), is_number(true) {}
  std::string_view key;
  std::uint64_t number = 0;
  bool is_number = false;
};

/// "/ops/12/reads/0", with `~` and `/` in keys escaped.
std::string json_pointer(std::initializer_list<PointerStep> steps);

/// "/ops/12/reads/0": entry `access` of `Plan::accesses`, which `op` owns.
std::string access_pointer(const Plan& plan, OpId op, std::uint32_t access);
/// "/ops/12/waits/0" or "/ops/12/for": entry `wait` of `Plan::waits`, which `op` owns.
std::string wait_pointer(const Plan& plan, OpId op, std::uint32_t wait);
/// The key of a wait's number: "value", "pending" or "outstanding".
std::string_view value_key(WaitKind kind);

}  // namespace memverify
