#include "tools/gunzip.h"

#include <zlib.h>

#include <algorithm>
#include <limits>

namespace memverify {
namespace {

constexpr int kGzipWindow = 16 + MAX_WBITS;
constexpr std::size_t kMostRatio = 200;
constexpr std::size_t kStep = std::size_t{1} << 20;

/// zlib's state; ended with the scope.
class Inflater {
 public:
  Inflater() : ok_(inflateInit2(&stream_, kGzipWindow) == Z_OK) {}
  ~Inflater() {
    if (ok_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  bool ok() const { return ok_; }
  z_stream& stream() { return stream_; }

 private:
  z_stream stream_{};
  bool ok_;
};

Diagnostic damaged(const std::string& why) {
  return {.id = "gzip.format", .message = "this gzip file is damaged: " + why};
}

}  // namespace

bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1F\x8B\x08"); }

Result<std::string> gunzip(std::string_view bytes, std::size_t any_ratio) {
  Inflater inflater;
  if (!inflater.ok()) return damaged("zlib does not start");
  z_stream& stream = inflater.stream();
  std::string out;
  std::size_t size = 0;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  std::size_t left = bytes.size();  // Not handed to zlib yet, whose counts are of 32 bits.
  int state = Z_OK;
  do {
    if (stream.avail_in == 0) {
      stream.avail_in =
          static_cast<uInt>(std::min<std::size_t>(left, std::numeric_limits<uInt>::max()));
      left -= stream.avail_in;
    }
    if (state == Z_STREAM_END && inflateReset(&stream) != Z_OK) return damaged("zlib stops");
    if (out.size() - size < kStep) out.resize(std::max(2 * out.size(), size + kStep));
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + size);
    stream.avail_out = static_cast<uInt>(kStep);
    const uInt had = stream.avail_in;
    state = inflate(&stream, Z_NO_FLUSH);
    const std::size_t made = kStep - stream.avail_out;
    size += made;
    if (size > any_ratio && size / kMostRatio > bytes.size()) {
      return Diagnostic{.id = "gzip.format",
                        .message =
                            "this gzip file holds more than 200 times its size: refused, as "
                            "no real plan or trace does; unpack it first if this one is"};
    }
    if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR) {
      return damaged(stream.msg != nullptr ? stream.msg : "zlib gives up");
    }
    if (made == 0 && stream.avail_in == had && state != Z_STREAM_END)
      return damaged("it is cut off");
  } while (state != Z_STREAM_END || stream.avail_in != 0 || left != 0);
  out.resize(size);
  return out;
}

}  // namespace memverify
