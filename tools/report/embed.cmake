# cmake -DPAGE=page.html -DOUT=page.cpp -P embed.cmake: the built page as bytes in C++.
file(READ ${PAGE} bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "(................................................................)" "\\1\n" bytes "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
file(WRITE ${OUT} "// Made of tools/report/page.html by tools/report/embed.cmake.
#include <cstddef>
namespace memverify {
extern const unsigned char kReportPage[];
extern const std::size_t kReportPageBytes;
const unsigned char kReportPage[] = {
${bytes}};
const std::size_t kReportPageBytes = ${size};
}  // namespace memverify
")
