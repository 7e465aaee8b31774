// tools/onnx_symbols.h -- the extents that an ONNX model gives a name instead of a number.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "plan/expr.h"
#include "tools/importers.h"
#include "tools/onnx_extent.h"

namespace memverify {

class OnnxSymbols {
 public:
  /// `options`: those of `--dim`; must outlive this.
  explicit OnnxSymbols(std::span<const DimOption> options) : options_(options) {}

  /// The number, symbol or expression that "batch" or "past + 1" stands for. What is not written as
  /// arithmetic is a symbol, under a name like it that an expression can use.
  OnnxExtent named(const std::string& name);
  /// What `--dim NAME=…` says, by the name or else by that of a symbol like it; not known if there
  /// is no such option.
  OnnxExtent given(const std::string& name);
  /// What to say of options for names that were never asked for; "" if there are none.
  std::string unused() const;

  struct Symbol {
    std::string id;
    const DimOption* bounds = nullptr;
  };
  const std::vector<Symbol>& symbols() const { return symbols_; }

 private:
  OnnxExtent formula(const std::string& name);
  OnnxExtent substituted(const ExprPool& pool, Expr expr, const std::string& text,
                         const std::vector<std::string>& names);
  OnnxExtent new_symbol(const std::string& name, const DimOption* bounds);

  std::span<const DimOption> options_;
  std::unordered_map<std::string, OnnxExtent> extents_;  ///< By name.
  std::vector<Symbol> symbols_;
  std::vector<std::string> names_;  ///< By symbol, as the model writes it.
  std::unordered_set<std::string> taken_;
  std::unordered_set<std::string> used_;
};

}  // namespace memverify
