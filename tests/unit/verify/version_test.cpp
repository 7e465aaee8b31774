#include "verify/version.h"

#include <gtest/gtest.h>

namespace memverify {
namespace {

TEST(Versions, AccumulatesInAnyOrderMakeTheSameVersion) {
  Versions versions(10);
  const Version written = Versions::written(3);
  const Version one = versions.accumulated(versions.accumulated(written, 5), 9);
  const Version other = versions.accumulated(versions.accumulated(written, 9), 5);
  EXPECT_EQ(one, other);
  EXPECT_EQ(versions.base(one), written);
  EXPECT_TRUE(versions.contains(one, 5));
  EXPECT_TRUE(versions.contains(one, 3));
  EXPECT_FALSE(versions.contains(one, 4));
}

TEST(Versions, AMissingAccumulateMakesAnotherVersion) {
  Versions versions(10);
  const Version written = Versions::written(3);
  EXPECT_NE(versions.accumulated(written, 5),
            versions.accumulated(versions.accumulated(written, 5), 6));
  EXPECT_NE(versions.accumulated(written, 5), versions.accumulated(kInitialVersion, 5));
}

}  // namespace
}  // namespace memverify
