#include "tools/onnx_symbols.h"

#include <algorithm>
#include <optional>

#include "plan/words.h"

namespace memverify {
namespace {

constexpr std::size_t kMostSymbolName = 60;
constexpr std::size_t kMostFormula = 200;  ///< Characters; longer ones are names.

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::string symbol_name(const std::string& name) {
  std::string out = name.substr(0, kMostSymbolName);
  std::ranges::replace_if(
      out, [](char c) { return !is_word(c); }, '_');
  const bool reserved = out == "min" || out == "max" || out == "align" || out == "iteration";
  const bool starts = !out.empty() && (out[0] < '0' || out[0] > '9');
  return starts && !reserved ? out : "n_" + out;
}

}  // namespace

OnnxExtent OnnxSymbols::named(const std::string& name) {
  if (const auto found = extents_.find(name); found != extents_.end()) return found->second;
  OnnxExtent out = given(name);
  if (!out.is_known()) out = formula(name);
  extents_[name] = out;
  return out;
}

OnnxExtent OnnxSymbols::given(const std::string& name) {
  auto option = std::ranges::find(options_, name, &DimOption::name);
  if (option == options_.end()) {
    option = std::ranges::find(options_, symbol_name(name), &DimOption::name);
  }
  if (option == options_.end()) return {};
  used_.insert(option->name);
  return option->min == option->max ? OnnxExtent(option->min) : new_symbol(name, &*option);
}

OnnxExtent OnnxSymbols::formula(const std::string& name) {
  std::vector<std::string> names;
  const auto symbol = [&](std::string_view one) -> std::optional<SymbolId> {
    auto found = std::ranges::find(names, one);
    if (found == names.end()) found = names.emplace(names.end(), one);
    return static_cast<SymbolId>(found - names.begin());
  };
  if (name.size() > kMostFormula) return new_symbol(name, nullptr);
  std::optional<ExprPool::ParseError> error;
  ExprPool pool;
  const Expr expr = pool.parse(name, false, symbol, error);
  const bool is_one_name = names.size() == 1 && names[0] == name;
  if (error || names.empty() || is_one_name) return new_symbol(name, nullptr);
  return substituted(pool, expr, name, names);
}

OnnxExtent OnnxSymbols::substituted(const ExprPool& pool, Expr expr, const std::string& text,
                                    const std::vector<std::string>& names) {
  Valuation valuation;
  bool has_symbol = false;
  for (const std::string& name : names) {
    const OnnxExtent inner = named(name);
    has_symbol = has_symbol || !inner.number();
    valuation.symbols.push_back(inner.number().value_or(0));
  }
  if (!has_symbol) {
    const std::optional<std::int64_t> value = pool.eval(expr, valuation);
    return value && *value >= 0 ? OnnxExtent(*value) : OnnxExtent();
  }
  std::string out = "(";
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at + 1;
    while (is_word(text[at]) && end < text.size() && is_word(text[end])) ++end;
    const std::string word = text.substr(at, end - at);
    const bool is_name = std::ranges::find(names, word) != names.end();
    if (word[0] > ' ') out += is_name ? named(word).text() : word;
    at = end;
  }
  return OnnxExtent::symbol(out + ")");
}

OnnxExtent OnnxSymbols::new_symbol(const std::string& name, const DimOption* bounds) {
  const std::string wanted = symbol_name(name);
  std::string id = wanted;
  for (std::size_t k = taken_.size(); !taken_.insert(id).second; ++k) {
    id = wanted + "_" + std::to_string(k);
  }
  symbols_.push_back({.id = id, .bounds = bounds});
  names_.push_back(name);
  return OnnxExtent::symbol(id);
}

std::string OnnxSymbols::unused() const {
  for (const DimOption& option : options_) {
    if (used_.contains(option.name)) continue;
    std::string message = "--dim " + quoted(option.name) + ": the model has no such extent";
    constexpr std::size_t kMostNamed = 8;
    for (std::size_t k = 0; k < std::min(names_.size(), kMostNamed); ++k) {
      message += (k == 0 ? "; it has " : ", ") + quoted(names_[k]);
    }
    return message + (names_.size() > kMostNamed ? ", …" : "");
  }
  return "";
}

}  // namespace memverify
