// `memverify check-certificate`, and the writing of certificates for `memverify verify`.
#include <string>

#include "plan/input_file.h"
#include "plan/words.h"
#include "plan/writer.h"
#include "tools/certificate_file.h"
#include "tools/command.h"
#include "tools/load.h"
#include "tools/parse.h"
#include "tools/verify_file.h"
#include "verify/certificate.h"
#include "verify/certificate_check.h"
#include "verify/certificate_write.h"

namespace memverify {
ExitCode check_certificate_command(const Arguments& arguments) {
  std::vector<std::string> files;
  ColorMode color = ColorMode::kAuto;
  CLI::App app("Checks the proof of a verdict, by code that shares nothing with who made it.",
               "memverify check-certificate");
  app.add_option("PLAN CERTIFICATE", files, "The plan and its certificate; - is standard input")
      ->required()
      ->type_name("")
      ->expected(2);
  add_color_option(app, color);
  app.footer(
      "Exit code: 0 the certificate proves the verdict it names, 1 it does not, 2 bad input, also\n"
      "a certificate of another plan.\n"
      "\n"
      "Example:\n"
      "  memverify verify plan.json --certificate proof.json\n"
      "  memverify check-certificate plan.json proof.json");
  if (const auto code = parse(app, arguments)) return *code;
  const Style error_style = Style::of(color, stderr);
  const Loaded loaded = load_plan(files[0], cannot_be_verified);
  if (!loaded.plan) {
    write_error(text_errors(loaded.errors, error_style));
    return ExitCode::kBadInput;
  }
  const Result<InputFile> file = InputFile::open(files[1]);
  if (!file.ok()) {
    write_error(text_errors(with_excerpts(file.errors(), "", files[1]), error_style));
    return ExitCode::kBadInput;
  }
  const std::string_view text = file.value().text();
  const Result<cert::Certificate> certificate = cert::read_certificate(text, files[1]);
  if (!certificate.ok()) {
    write_error(text_errors(with_excerpts(certificate.errors(), text, files[1]), error_style));
    return ExitCode::kBadInput;
  }
  const cert::CheckResult result = check_certificate(*loaded.plan, certificate.value());
  StandardOutput output;
  switch (result.kind) {
    case cert::CheckResult::Kind::kOtherPlan:
      write_error(error_style.error("error") + ": " + printable(files[1]) + ": " + result.message +
                  "\n");
      return ExitCode::kBadInput;
    case cert::CheckResult::Kind::kRefused:
      output.write(printable(files[1]) + ": " + result.message +
                   "\nmemverify: certificate refused\n");
      return output.finish(ExitCode::kUnsafe);
    case cert::CheckResult::Kind::kAccepted:
      break;
  }
  output.write("memverify: certificate accepted: " + certificate.value().verdict + ", " +
               result.summary + "\n");
  return output.finish(ExitCode::kSafe);
}

CertificateOutcome write_certificate_of(const Report& report, const std::string& path) {
  EngineResult result;
  result.verdict = report.verdict;
  result.findings = report.findings;
  const CertificateResult made = certify(report.plan, result);
  if (!made.refused.empty()) return {.none = made.refused};
  return {.failed = replace_file(path, cert::write_certificate(made.certificate))};
}

}  // namespace memverify
