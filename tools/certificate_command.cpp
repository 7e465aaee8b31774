// `memverify check-certificate`, and the writing of certificates for `memverify verify`.
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

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
namespace {

struct LoadedCertificate {
  std::optional<cert::Certificate> certificate;
  std::vector<InputError> errors;
};

LoadedCertificate load_certificate(const std::string& path) {
  const Result<InputFile> file = InputFile::open(path);
  if (!file.ok()) return {.errors = with_excerpts(file.errors(), "", path)};
  const std::string_view text = file.value().text();
  Result<cert::Certificate> certificate = cert::read_certificate(text, path);
  if (!certificate.ok() && text.find("\"memverify_certificate\"") == std::string_view::npos) {
    return {.errors = with_excerpts(
                std::vector{Diagnostic{
                    .id = "certificate.none",
                    .message = "this is not a certificate; the order is PLAN CERTIFICATE",
                    .file = path}},
                "", path)};
  }
  if (!certificate.ok()) return {.errors = with_excerpts(certificate.errors(), text, path)};
  return {.certificate = std::move(certificate).value()};
}

}  // namespace

ExitCode check_certificate_command(const Arguments& arguments) {
  std::vector<std::string> files;
  ColorMode color = ColorMode::kAuto;
  CLI::App app("Checks the proof of a verdict, by code that shares nothing with who made it.",
               "memverify check-certificate");
  app.add_option("PLAN CERTIFICATE", files, "The plan and its certificate; - is standard input")
      ->type_name("")
      ->expected(0, 2);
  add_color_option(app, color);
  app.footer(
      "Exit code: 0 the certificate proves the verdict it names, 1 it does not, 2 bad input, also\n"
      "a certificate of another plan.\n"
      "\n"
      "Example:\n"
      "  memverify verify plan.json --certificate proof.json\n"
      "  memverify check-certificate plan.json proof.json");
  if (const auto code = parse(app, arguments)) return *code;
  if (files.size() < 2) {
    return usage_error("check-certificate", files.empty() ? "PLAN and CERTIFICATE are required"
                                                          : "CERTIFICATE is required");
  }
  const Style error_style = Style::of(color, stderr);
  if (files[0] == "-" && files[1] == "-") {
    return usage_error("check-certificate", "standard input is either the plan or the certificate");
  }
  auto beside = std::async(std::launch::async, [&] { return load_certificate(files[1]); });
  const Loaded loaded = load_plan(files[0], cannot_be_verified);
  if (!loaded.plan) {
    write_error(text_errors(loaded.errors, error_style));
    return ExitCode::kBadInput;
  }
  const LoadedCertificate read = beside.get();
  if (!read.certificate) {
    write_error(text_errors(read.errors, error_style));
    return ExitCode::kBadInput;
  }
  const cert::CheckResult result = check_certificate(*loaded.plan, *read.certificate);
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
  output.write("memverify: certificate accepted: " + read.certificate->verdict + ", " +
               result.summary + "\n");
  return output.finish(ExitCode::kSafe);
}

CertificateOutcome write_certificate_of(const Report& report, const std::string& path) {
  EngineResult result;
  result.verdict = report.verdict;
  result.findings = report.findings;
  const CertificateResult made = certify(report.plan, result);
  if (!made.refused.empty()) return {.none = made.refused};
  return {.failed = replace_file(path, made.text)};
}

}  // namespace memverify
