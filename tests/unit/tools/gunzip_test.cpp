#include "tools/gunzip.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <string>

namespace memverify::testing {
namespace {

std::string gzipped(const std::string& text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

TEST(Gunzip, RefusesWhatInflatesTooFar) {
  const std::string spaces(std::size_t{8} << 20, ' ');
  const std::string packed = gzipped(spaces);
  const Result<std::string> small = gunzip(packed);
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(small.value(), spaces);
  const Result<std::string> large = gunzip(packed, std::size_t{2} << 20);
  ASSERT_FALSE(large.ok());
  EXPECT_EQ(large.errors().front().id, "gzip.format");
  EXPECT_NE(large.errors().front().message.find("200 times"), std::string::npos);
}

}  // namespace
}  // namespace memverify::testing
