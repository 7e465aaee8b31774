// plan/builder_impl.h -- the state of a PlanBuilder; private to the files that implement it:
// builder.cpp and builder_op.cpp (adding), resolve.cpp (names to ids), coherence.cpp (what fields
// say of each other), builder_impl.cpp (errors).
//
// While things are added, every id field of the growing plan holds the StringId of the name that
// was given, and every expression that is a text holds the StringId of its text as `formula`.
// `build` replaces them in place, so that a plan exists only once in memory. kNone stays kNone: the
// field was not given. A field that cannot be resolved becomes kNone after its error was recorded,
// and the later checks pass over it.
#pragma once

#include <array>
#include <cassert>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "plan/builder.h"
#include "plan/name_table.h"
#include "plan/pointer.h"

namespace memverify {

/// The name spaces of a plan.
enum class NameKind : std::uint8_t {
  kSymbol,
  kCondition,
  kPool,
  kQueue,
  kThread,
  kEvent,
  kSemaphore,
  kStorage,
  kTensor,
  kOp
};
inline constexpr std::size_t kNameKinds = 10;
std::string_view name(NameKind kind);     ///< "symbol", …
std::string with_article(NameKind kind);  ///< "a symbol", "an op".

/// "unknown order `seriel`; did you mean `serial`?", or the list of what is known.
std::string unknown_word(std::string_view what, std::string_view word,
                         std::span<const std::string_view> words);

struct PlanBuilder::Impl {
  static constexpr std::uint32_t kNoId = 0xFFFFFFFFU;

  Plan plan;
  NameTable names;
  std::array<std::vector<std::uint32_t>, kNameKinds> by_string;  ///< StringId -> id, or kNoId.
  std::unordered_map<std::uint32_t, UpdateId> updates;           ///< By StringId.
  std::vector<std::pair<StringId, Expr>> peaks;                  ///< Pool, claimed bytes.
  std::vector<bool> slots_are_array;                             ///< By StorageId.
  /// Text -> its parsed form, without and with `iteration`.
  std::array<std::unordered_map<std::uint32_t, Expr>, 2> parsed;
  bool is_utf8 = false;  ///< Whatever is added.
  bool has_formulas = false;
  bool names_writers = false;  ///< Some read or output has `from`.
  /// What is wrong, in the order in which it is found.
  struct Faults {
    std::vector<Diagnostic> errors;
    std::size_t suggestions_left = 1'000'000;  ///< Candidates still looked at, over all errors.
  };
  Faults faults;
  Faults op_faults;  ///< Of resolve_ops, which works beside the rest.

  /// Hints of `expect_text`. A list gets the room when it has kMany things: what is reserved and
  /// not used costs the rest of a huge page.
  std::size_t things_to_come = 0;
  std::size_t names_to_come = 0;
  static constexpr std::size_t kMany = 1024;

  Impl();

  // --- Adding (builder.cpp, builder_op.cpp) ---
  std::string_view keep(std::string_view text) { return names.text(names.intern(text)); }
  /// The name as an unresolved id field; kNone for "".
  template <typename Id>
  Id refer(std::string_view name) {
    return name.empty() ? kNone<Id> : static_cast<Id>(names.intern(name));
  }
  /// The same where a name must be given: "" is a name that nothing has.
  template <typename Id>
  Id refer_always(std::string_view name) {
    return static_cast<Id>(names.intern(name));
  }
  Expr expr(const ExprSpec& spec);
  Range exprs(const std::vector<ExprSpec>& specs);
  /// Declares `name` as the `next`-th of its kind and returns the stored text. Errors "id.empty",
  /// "id.duplicate" at `/section/next/id`.
  std::string_view declare(NameKind kind, std::string_view name, std::size_t next,
                           std::string_view section) {
    return declare(kind, name, names.intern(name), next, section);
  }
  /// The same, where `string` stands for `name`.
  std::string_view declare(NameKind kind, std::string_view name, StringId string, std::size_t next,
                           std::string_view section) {
    assert(next < kNoId);
    std::vector<std::uint32_t>& ids = by_string[static_cast<std::size_t>(kind)];
    if (index(string) >= ids.size()) make_room(ids, string);
    std::uint32_t& id = ids[index(string)];
    if (id != kNoId || name.empty() || !is_utf8) check_id(kind, name, id, next, section);
    if (id == kNoId && !name.empty()) id = static_cast<std::uint32_t>(next);
    return names.text(string);
  }
  /// Room for the id of `string` and of some names behind it.
  void make_room(std::vector<std::uint32_t>& ids, StringId string);
  void check_id(NameKind kind, std::string_view name, std::uint32_t known, std::size_t next,
                std::string_view section);
  ThreadId thread(std::string_view name);  ///< Declares it at its first mention, as below.
  EventId event(std::string_view name);
  UpdateId update(std::string_view name);
  void check_tensor_form(const TensorSpec& spec, std::size_t next);
  void add_op(const OpSpec& spec);
  class OpAdder;

  // --- build() ---
  void resolve_declarations();  ///< Pools, semaphores, storages, tensors.
  void resolve_tensor(TensorId id);
  void check_four_bit(TensorId id);
  void resolve_ops();  ///< May run while declarations are resolved, if there are no formulas.
  void resolve_accesses(OpId id);
  void resolve_sync(OpId id);
  void resolve_wait(OpId id, std::uint32_t wait);
  void resolve_boundary();
  void find_roots();  ///< Needs resolved tensors. Error "view.cycle".
  void report_cycle(const std::vector<TensorId>& cycle);
  void check_in_place();       ///< Needs resolved ops, as the others below.
  void check_named_writers();  ///< `from`.
  struct NamedWriter;
  std::string named_at(const NamedWriter& one) const;  ///< Pointer to the read or output.

  /// The id that `name` has among its kind, or kNoId.
  std::uint32_t find(NameKind kind, std::uint32_t name) const {
    const std::vector<std::uint32_t>& ids = by_string[static_cast<std::size_t>(kind)];
    return name < ids.size() ? ids[name] : kNoId;
  }
  /// Replaces the StringId in `field` by the id; `pointer()` is the place of an error.
  template <typename Id, typename Pointer>
  void resolve(Faults& found, Id& field, NameKind kind, Pointer pointer) {
    if (field == kNone<Id>) return;
    const std::uint32_t name = index(field);
    field = static_cast<Id>(find(kind, name));
    if (field == kNone<Id>) unknown_name(found, kind, static_cast<StringId>(name), pointer());
  }
  template <typename Pointer>
  void resolve(Faults& found, Expr& field, bool allow_iteration, Pointer pointer) {
    if (!field.is_constant()) parse(found, field, allow_iteration, pointer);
  }
  template <typename Field, typename How, typename Pointer>
  void resolve(Field& field, How how, Pointer pointer) {
    resolve(faults, field, how, pointer);
  }
  void parse(Faults& found, Expr& field, bool allow_iteration,
             const std::function<std::string()>& pointer);

  // --- Errors (builder_impl.cpp) ---
  /// Records an error, unless there are very many already.
  static void fail(Faults& found, std::string_view id, std::string message, std::string pointer);
  void fail(std::string_view id, std::string message, std::string pointer) {
    fail(faults, id, std::move(message), std::move(pointer));
  }
  void unknown_name(Faults& found, NameKind kind, StringId name, std::string pointer);
  /// "; did you mean `…`?", or "".
  std::string nearest(Faults& found, NameKind kind, std::string_view name) const;
  /// All, in a stable order by section and index.
  std::vector<Diagnostic> sorted_errors();
};

}  // namespace memverify
