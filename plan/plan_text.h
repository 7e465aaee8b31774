// plan/plan_text.h -- the JSON text of a plan while it is written; private to the writer.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plan/json_text.h"
#include "plan/plan.h"
#include "plan/pointer.h"

namespace memverify {

/// JSON text that knows a plan: its expressions, its names, and its extras.
class PlanText : public JsonText {
 public:
  explicit PlanText(const Plan& plan) : plan_(plan) {
    for (const Extra& extra : plan.extras) {
      std::vector<const Extra*>& own = extras_[extra.owner];
      std::erase_if(own, [&](const Extra* other) { return other->key == extra.key; });
      own.push_back(&extra);
    }
  }
  const Plan& plan() const { return plan_; }

  using JsonText::value;
  void value(Expr expr);
  template <typename T>
  void field(std::string_view name, const T& content) {
    key(name);
    value(content);
  }
  void exprs(std::string_view name, Range range);
  /// The names of `items`, an array.
  template <typename Id, typename T>
  void names(std::string_view name, std::span<const Id> items, const Table<Id, T>& table) {
    key(name);
    open('[');
    for (const Id id : items) {
      next();
      value(table[id].name);
    }
    close(']');
  }
  /// `from` of a read or an output.
  void version(OpId from, bool from_initial);

  // The `x-` keys of an object, named by its pointer. Nothing is built when the plan has none.
  bool has_extras(std::initializer_list<PointerStep> owner) const;
  void extras(std::initializer_list<PointerStep> owner);

 private:
  const Plan& plan_;
  std::unordered_map<std::string, std::vector<const Extra*>> extras_;  ///< By owner.
};

inline bool is_constant(Expr expr, std::int64_t value) {
  return expr.is_constant() && expr.constant == value;
}

/// The members of an op's object, extras left out (plan/writer_op.cpp).
void write_op(PlanText& text, OpId id);

}  // namespace memverify
