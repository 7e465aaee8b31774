// Shapes of operators of com.microsoft, which exporters for ONNX Runtime write.
#include <algorithm>

#include "tools/onnx_type_rules.h"

namespace memverify {
namespace {

/// Normalisation with a sum that is passed on: the first and the last result are like the input.
Types skip_normalization(const TypeContext& at) {
  Types out(4);
  out[0] = at.type(0);
  out[3] = at.type(0);
  return out;
}

/// Weights in blocks of few bits: attribute N is the number of columns.
Types mat_mul_bits(const TypeContext& at) {
  if (at.shape(0) == nullptr || at.shape(0)->empty() || at.node.number("N", 0) <= 0) return {};
  OnnxExtents out = *at.shape(0);
  out.back() = at.node.number("N", 0);
  return {at.with(out)};
}

/// Attention of com.microsoft: weights of [hidden, q + k + v].
Types attention(const TypeContext& at) {
  const OnnxExtents* from = at.shape(0);
  const OnnxExtents* weights = at.shape(1);
  if (from == nullptr || weights == nullptr || from->size() != 3 || weights->size() != 2) return {};
  const std::vector<std::int64_t> sizes = at.node.numbers("qkv_hidden_sizes");
  const OnnxExtent hidden = sizes.size() == 3 ? OnnxExtent(sizes[2]) : floor_div((*weights)[1], 3);
  Types out = {at.with(OnnxExtents{(*from)[0], (*from)[1], hidden})};
  const OnnxExtents* past = at.shape(4);
  if (past == nullptr || past->size() != 5) return out;
  OnnxExtents present = *past;
  if (at.node.number("past_present_share_buffer", 0) == 0) present[3] = present[3] + (*from)[1];
  out.push_back(at.with(present));
  return out;
}

/// Queries alone, or packed with keys and values: heads that share keys.
Types grouped_attention(const TypeContext& at) {
  const OnnxExtents* query = at.shape(0);
  if (query == nullptr || query->size() != 3) return {};
  OnnxExtents out = *query;
  if (at.node.input(1) == kNoIndex) {
    const std::int64_t heads = at.node.number("num_heads", 0);
    const std::int64_t all = heads + 2 * (at.node.number("kv_num_heads", 0) & 0xFFFFFF);
    if (heads <= 0 || heads > (1 << 24) || all <= 0) return {};
    out[2] = floor_div(out[2], all) * heads;
  }
  return {at.with(out)};
}

/// Token numbers [batch, sequence] and a table [tokens, hidden].
Types embedding(const TypeContext& at) {
  const OnnxExtents* ids = at.shape(0);
  const OnnxExtents* table = at.shape(2);
  if (ids == nullptr || table == nullptr || ids->size() != 2 || table->size() != 2) return {};
  OnnxType out = at.with(OnnxExtents{(*ids)[0], (*ids)[1], (*table)[1]});
  out.element = at.type(2).element;
  const OnnxType mask = at.with(OnnxExtents{(*ids)[0]});
  return {out, mask, out};
}

constexpr TypeRule kContribRules[] = {
    {"Attention", attention},
    {"BiasGelu", same_as_first},
    {"EmbedLayerNormalization", embedding},
    {"FastGelu", same_as_first},
    {"FusedMatMul", mat_mul},
    {"Gelu", same_as_first},
    {"GroupQueryAttention", grouped_attention},
    {"MatMulNBits", mat_mul_bits},
    {"QuickGelu", same_as_first},
    {"RotaryEmbedding", same_as_first},
    {"SimplifiedLayerNormalization", same_as_first},
    {"SkipLayerNormalization", skip_normalization},
    {"SkipSimplifiedLayerNormalization", skip_normalization},
};

}  // namespace

Types contrib_types(const TypeContext& at) {
  const auto* rule = std::ranges::find(kContribRules, at.node.op, &TypeRule::op);
  return rule == std::end(kContribRules) ? Types() : rule->apply(at);
}

}  // namespace memverify
