// What must hold of every importer for any bytes whatever; shared by the fuzzer and the mutation
// test.
#pragma once

#include <string>
#include <string_view>

namespace memverify {

/// Gives `bytes` to each importer and checks that
/// - what is refused has at least one error, each complete;
/// - what is accepted has not many more ops than the file has bytes, is written to a text that
///   reads back, and is then written the same.
/// `accepted` counts the importers that made a plan. Returns "" or what does not hold.
std::string check_importers(std::string_view bytes, int& accepted);

}  // namespace memverify
