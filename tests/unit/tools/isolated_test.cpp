#include "tools/isolated.h"

#include <gtest/gtest.h>

#include <csignal>
#include <stdexcept>
#include <string>

namespace memverify {
namespace {

constexpr std::int64_t kGigabyte = std::int64_t{1} << 30U;

TEST(Isolated, ReturnsWhatTheWorkReturns) {
  const std::string long_text(1'000'000, 'x');
  EXPECT_EQ(isolated([&] { return long_text; }, 10, kGigabyte), long_text);
  EXPECT_EQ(isolated([] { return std::string(); }, 10, kGigabyte), "");
}

TEST(Isolated, WhatItChangesIsNotSeen) {
  int changed = 0;
  EXPECT_EQ(isolated([&] { return std::to_string(++changed); }, 10, kGigabyte), "1");
  EXPECT_EQ(changed, 0);
}

TEST(Isolated, CrashesAndExceptionsGiveNothing) {
  for (const int signal : {SIGSEGV, SIGFPE, SIGABRT}) {
    const auto work = [signal]() -> std::string {
      std::raise(signal);
      return "";
    };
    EXPECT_EQ(isolated(work, 10, kGigabyte), std::nullopt);
  }
  EXPECT_EQ(isolated([]() -> std::string { throw std::runtime_error("no"); }, 10, kGigabyte),
            std::nullopt);
}

TEST(Isolated, WorkWithoutEndGivesNothing) {
  const auto work = []() -> std::string {
    volatile bool goes_on = true;
    while (goes_on) {
    }
    return "";
  };
  EXPECT_EQ(isolated(work, 1, kGigabyte), std::nullopt);
}

}  // namespace
}  // namespace memverify
