// What must hold of the reader for any bytes whatever; shared by the fuzzer and the mutation test.
#pragma once

#include <string>
#include <string_view>

namespace memverify {

/// Reads `text` and checks that
/// - what is refused has 1 to 100 errors, each complete, with a place in the text, in order of
/// place;
/// - what is accepted is written to a text that reads back, and is then written the same.
/// Returns "" or what does not hold.
std::string check_reader(std::string_view text);

}  // namespace memverify
