#include "tools/report_page.h"

#include <string_view>

namespace memverify {

/// The built page, made of tools/report/page.html by CMake.
extern const unsigned char kReportPage[];
extern const std::size_t kReportPageBytes;

std::string html_page(std::span<const Drawing> drawings) {
  constexpr std::string_view kPlace =
      "{\"plans\":[]}";  // tools/report/build.mjs has it there once.
  const std::string_view page(reinterpret_cast<const char*>(kReportPage), kReportPageBytes);
  const std::size_t place = page.find(kPlace);
  std::string out(page.substr(0, place));
  out += "{\"plans\":[";
  for (const Drawing& drawing : drawings) {
    if (&drawing != &drawings.front()) out += ",";
    out += drawing_json(drawing);
  }
  out += "]}";
  out += page.substr(place + kPlace.size());
  return out;
}

}  // namespace memverify
