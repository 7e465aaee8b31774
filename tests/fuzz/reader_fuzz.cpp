// libFuzzer on the reader:
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/tests/reader_fuzz -dict=tests/fuzz/plan.dict FOLDER corpus/format
// with FOLDER an empty folder for what it finds.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/reader_property.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string wrong = memverify::check_reader({reinterpret_cast<const char*>(data), size});
  if (!wrong.empty()) {
    std::fprintf(stderr, "%s\n", wrong.c_str());
    std::abort();
  }
  return 0;
}
