#include "plan/result.h"

namespace memverify {

std::string to_string(const Diagnostic& diagnostic) {
  std::string text;
  if (!diagnostic.file.empty()) text += diagnostic.file + ":";
  if (diagnostic.line != 0) {
    text += std::to_string(diagnostic.line) + ":";
    if (diagnostic.column != 0) text += std::to_string(diagnostic.column) + ":";
  }
  if (!text.empty()) text += " ";
  text += "error: " + diagnostic.message + " [" + diagnostic.id + "]";
  if (!diagnostic.pointer.empty()) text += " (at " + diagnostic.pointer + ")";
  return text;
}

}  // namespace memverify
