// tools/certificate_file.h -- writes the certificate of a report.
#pragma once

#include <string>

#include "tools/report.h"

namespace memverify {

struct CertificateOutcome {
  std::string none;    ///< Why the verdict has no certificate; then nothing is written.
  std::string failed;  ///< Why it could not be written.
};

/// Writes beside `path` and renames. Precondition: the report has no errors.
CertificateOutcome write_certificate_of(const Report& report, const std::string& path);

}  // namespace memverify
