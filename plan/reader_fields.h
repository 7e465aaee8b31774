// plan/reader_fields.h -- the keys of a plan file, and where the value of each goes.
//
// One table per kind of object. The reader (plan/plan_events.h) walks them; it knows no key itself.
// To add a key: one line in its table, one in docs/plan.schema.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plan/builder_feed.h"

namespace memverify {

/// An entry of `waits`, `signals` or `for` as written, before it is known which form it has.
struct SyncFields {
  std::string_view event;
  std::string_view semaphore;
  std::string_view queue;
  std::optional<ExprSpec> value;
  std::optional<std::int64_t> pending;
  std::optional<std::int64_t> outstanding;
  std::optional<bool> consume;
};

/// What is being read: one of everything, used again and again. Pointers point to the current item
/// of a long list, which lies in `feed`, and into its current list.
struct PlanFields {
  explicit PlanFields(PlanBuilder& target, bool threaded = false) : feed(target, threaded) {}

  BuilderFeed feed;
  std::string fault;  ///< Set by a hook: what is wrong with the value just read.

  std::optional<std::int64_t> version;
  std::string_view string;  ///< A word or id that is dealt with as soon as it is read.
  std::int64_t integer = 0;
  ExprSpec expr;
  SymbolSpec symbol;
  ConditionSpec condition;
  PoolSpec pool;
  QueueSpec queue;
  SemaphoreSpec semaphore;
  StorageSpec* storage = nullptr;
  TensorSpec* tensor = nullptr;
  OpSpec* op = nullptr;
  OutputSpec output;
  SyncFields sync;
  WaitSpec wait;
  SignalSpec signal;
  AccessSpec* access = nullptr;
  AfterSpec* after = nullptr;
  InPlaceSpec* in_place = nullptr;
  std::vector<ExprSpec>* exprs = nullptr;
  std::vector<std::string_view>* strings = nullptr;
  std::vector<AccessSpec>* accesses = nullptr;
  std::vector<ExprSpec> spare_shape;  ///< Memory of an earlier tensor's shape.
  std::vector<ExprSpec> spare_strides;
};

struct ObjectFields;
struct ListFields;

/// Reads a plain value (plan/plain_item.h) that begins at `at`. Returns the place behind it, or
/// nullptr where it is not plain. Text goes on for kPlainRoom bytes from `limit` on.
using PlainReader = const char* (*)(const char* at, const char* limit, PlanFields& fields);
inline constexpr std::size_t kPlainRoom = 64;

/// What the next value may be: every pointer that is set is a type that it may have.
struct Slot {
  const char* expected = "";  ///< For messages: "a string".
  std::string_view* string = nullptr;
  std::int64_t* integer = nullptr;
  ExprSpec* expr = nullptr;  ///< An integer or a string.
  bool* boolean = nullptr;
  const ObjectFields* object = nullptr;
  const ListFields* list = nullptr;
  bool may_be_empty = false;           ///< The string; ids and words may not.
  PlainReader plain_object = nullptr;  ///< Reads `object`,
  PlainReader plain_list = nullptr;    ///< reads `list`, where that is part of an item of a feed.
};

using Hook = void (*)(PlanFields&);

struct Field {
  std::string_view key;
  Slot (*slot)(PlanFields&);
  Hook after = nullptr;  ///< Runs when the value has been read, even if it was wrong.
  bool required = false;
};

/// Bit k: field k is required.
constexpr std::uint32_t required_of(std::span<const Field> fields) {
  std::uint32_t required = 0;
  for (std::size_t k = 0; k < fields.size(); ++k) required |= (fields[k].required ? 1U : 0U) << k;
  return required;
}

/// An object with known keys, or (`entry` set) a map from ids.
struct ObjectFields {
  const char* what;  ///< "a pool"
  std::span<const Field> fields = {};
  Hook end = nullptr;  ///< Runs at the closing brace.
  Slot (*entry)(PlanFields&, std::string_view key) = nullptr;
  Hook after_entry = nullptr;
  std::uint32_t required = required_of(fields);
};

inline constexpr std::size_t kNoLimit = static_cast<std::size_t>(-1);

struct ListFields {
  const char* expected;  ///< "two integers"
  Slot (*element)(PlanFields&, std::size_t index);
  Hook after = nullptr;  ///< Runs after each element, even if it was wrong.
  std::size_t min = 0;
  std::size_t max = kNoLimit;
  bool feeds = false;  ///< Items go through the feed, and reading one changes nothing else.
};

// Slots by the type of the value.

inline Slot id_slot(std::string_view& target) {
  return {.expected = "a string", .string = &target};
}
inline Slot text_slot(std::string_view& target) {
  return {.expected = "a string", .string = &target, .may_be_empty = true};
}
inline Slot integer_slot(std::int64_t& target) {
  return {.expected = "an integer", .integer = &target};
}
inline Slot boolean_slot(bool& target) { return {.expected = "true or false", .boolean = &target}; }
inline Slot expr_slot(ExprSpec& target) {
  return {.expected = "an integer or an expression string", .expr = &target};
}
inline Slot list_slot(const ListFields& list) { return {.expected = list.expected, .list = &list}; }
inline Slot object_slot(const ObjectFields& object) {
  return {.expected = "an object", .object = &object};
}
inline Slot id_or_object_slot(std::string_view& target, const ObjectFields& object) {
  return {.expected = "a string or an object", .string = &target, .object = &object};
}

// The same for what is read straight from the text where it is plain.

template <const ListFields& kList>
const char* plain_list(const char* at, const char* limit, PlanFields& fields);
template <const ObjectFields& kObject>
const char* plain_object(const char* at, const char* limit, PlanFields& fields);
template <const ObjectFields& kMap>
const char* plain_map(const char* at, const char* limit, PlanFields& fields);

template <const ListFields& kList>
Slot list_slot() {
  return {.expected = kList.expected, .list = &kList, .plain_list = plain_list<kList>};
}
template <const ObjectFields& kObject>
Slot object_slot() {
  return {.expected = "an object", .object = &kObject, .plain_object = plain_object<kObject>};
}
template <const ObjectFields& kMap>
Slot map_slot() {
  return {.expected = "an object", .object = &kMap, .plain_object = plain_map<kMap>};
}
template <const ObjectFields& kObject>
Slot id_or_object_slot(std::string_view& target) {
  return {.expected = "a string or an object",
          .string = &target,
          .object = &kObject,
          .plain_object = plain_object<kObject>};
}

extern const ObjectFields kPlanFields;  ///< The document.
extern const ListFields kOps;           ///< Its ops (plan/reader_op_fields.cpp).
/// Non-empty strings, into `PlanFields::strings`.
inline constexpr ListFields kStrings = {"an array of strings", [](PlanFields& f, std::size_t) {
                                          return id_slot(f.strings->emplace_back());
                                        }};

}  // namespace memverify
