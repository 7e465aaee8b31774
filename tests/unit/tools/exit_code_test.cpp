#include "tools/exit_code.h"

#include <gtest/gtest.h>

namespace memverify {
namespace {

TEST(ExitCode, WorstIsUnsafeThenInternalThenBadInputThenUnknown) {
  const std::vector<ExitCode> worst_first = {ExitCode::kUnsafe, ExitCode::kInternal,
                                             ExitCode::kBadInput, ExitCode::kUnknown,
                                             ExitCode::kSafe};
  for (std::size_t i = 0; i < worst_first.size(); ++i) {
    for (std::size_t j = i; j < worst_first.size(); ++j) {
      EXPECT_EQ(worse(worst_first[i], worst_first[j]), worst_first[i]);
      EXPECT_EQ(worse(worst_first[j], worst_first[i]), worst_first[i]);
    }
  }
}

}  // namespace
}  // namespace memverify
