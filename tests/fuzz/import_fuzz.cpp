// libFuzzer on the importers:
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/tests/import_fuzz -max_len=200000 FOLDER corpus/imports/*
// with FOLDER an empty folder for what it finds.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/import_property.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  int accepted = 0;
  const std::string wrong =
      memverify::check_importers({reinterpret_cast<const char*>(data), size}, accepted);
  if (!wrong.empty()) {
    std::fprintf(stderr, "%s\n", wrong.c_str());
    std::abort();
  }
  return 0;
}
