// The operators of TensorFlow Lite by their number.
#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <vector>

#include "tools/tflite_model.h"

namespace memverify {
namespace {

constexpr std::string_view kOperatorNames =
    "ADD AVERAGE_POOL_2D CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE "
    "EMBEDDING_LOOKUP FLOOR FULLY_CONNECTED HASHTABLE_LOOKUP L2_NORMALIZATION L2_POOL_2D "
    "LOCAL_RESPONSE_NORMALIZATION LOGISTIC LSH_PROJECTION LSTM MAX_POOL_2D MUL RELU RELU_N1_TO_1 "
    "RELU6 RESHAPE RESIZE_BILINEAR RNN SOFTMAX SPACE_TO_DEPTH SVDF TANH CONCAT_EMBEDDINGS "
    "SKIP_GRAM CALL CUSTOM EMBEDDING_LOOKUP_SPARSE PAD UNIDIRECTIONAL_SEQUENCE_RNN GATHER "
    "BATCH_TO_SPACE_ND SPACE_TO_BATCH_ND TRANSPOSE MEAN SUB DIV SQUEEZE "
    "UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE BIDIRECTIONAL_SEQUENCE_RNN EXP TOPK_V2 SPLIT "
    "LOG_SOFTMAX DELEGATE BIDIRECTIONAL_SEQUENCE_LSTM CAST PRELU MAXIMUM ARG_MAX MINIMUM LESS NEG "
    "PADV2 GREATER GREATER_EQUAL LESS_EQUAL SELECT SLICE SIN TRANSPOSE_CONV SPARSE_TO_DENSE TILE "
    "EXPAND_DIMS EQUAL NOT_EQUAL LOG SUM SQRT RSQRT SHAPE POW ARG_MIN FAKE_QUANT REDUCE_PROD "
    "REDUCE_MAX PACK LOGICAL_OR ONE_HOT LOGICAL_AND LOGICAL_NOT UNPACK REDUCE_MIN FLOOR_DIV "
    "REDUCE_ANY SQUARE ZEROS_LIKE FILL FLOOR_MOD RANGE RESIZE_NEAREST_NEIGHBOR LEAKY_RELU "
    "SQUARED_DIFFERENCE MIRROR_PAD ABS SPLIT_V UNIQUE CEIL REVERSE_V2 ADD_N GATHER_ND COS WHERE "
    "RANK ELU REVERSE_SEQUENCE MATRIX_DIAG QUANTIZE MATRIX_SET_DIAG ROUND HARD_SWISH IF WHILE "
    "NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 SCATTER_ND SELECT_V2 DENSIFY SEGMENT_SUM "
    "BATCH_MATMUL PLACEHOLDER_FOR_GREATER_OP_CODES CUMSUM CALL_ONCE BROADCAST_TO RFFT2D CONV_3D "
    "IMAG REAL COMPLEX_ABS HASHTABLE HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_SIZE REDUCE_ALL "
    "CONV_3D_TRANSPOSE VAR_HANDLE READ_VARIABLE ASSIGN_VARIABLE BROADCAST_ARGS "
    "RANDOM_STANDARD_NORMAL BUCKETIZE RANDOM_UNIFORM MULTINOMIAL GELU DYNAMIC_UPDATE_SLICE "
    "RELU_0_TO_1 UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_SUM ATAN2 "
    "UNSORTED_SEGMENT_MIN SIGN BITCAST BITWISE_XOR RIGHT_SHIFT";

constexpr std::string_view kElementwiseOperators[] = {
    "ADD",        "DEQUANTIZE",   "FLOOR",       "LOGISTIC",    "MUL",        "RELU",
    "RELU6",      "RELU_N1_TO_1", "RESHAPE",     "TANH",        "SUB",        "DIV",
    "SQUEEZE",    "EXP",          "CAST",        "PRELU",       "MAXIMUM",    "MINIMUM",
    "NEG",        "SIN",          "EXPAND_DIMS", "LOG",         "SQRT",       "RSQRT",
    "POW",        "FLOOR_DIV",    "SQUARE",      "FLOOR_MOD",   "LEAKY_RELU", "SQUARED_DIFFERENCE",
    "ABS",        "CEIL",         "COS",         "ELU",         "QUANTIZE",   "ROUND",
    "HARD_SWISH", "LOGICAL_OR",   "LOGICAL_AND", "LOGICAL_NOT", "GELU",       "RELU_0_TO_1",
    "ATAN2",      "SIGN",         "BITCAST",     "BITWISE_XOR", "RIGHT_SHIFT"};

const std::vector<std::string>& operator_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    std::istringstream words{std::string(kOperatorNames)};
    for (std::string word; words >> word;) names.push_back(word);
    return names;
  }();
  return kNames;
}

}  // namespace

std::string tflite_operator_name(std::int32_t builtin) {
  const std::vector<std::string>& names = operator_names();
  const auto index = static_cast<std::size_t>(builtin);
  return builtin >= 0 && index < names.size() ? names[index] : "BUILTIN_" + std::to_string(builtin);
}

bool tflite_is_elementwise(std::int32_t builtin) {
  return std::ranges::find(kElementwiseOperators, tflite_operator_name(builtin)) !=
         std::end(kElementwiseOperators);
}

}  // namespace memverify
