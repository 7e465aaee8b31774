// tools/device_options.h -- what `memverify device` takes on its command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cuda_check/check.h"
#include "cuda_check/cuda_device.h"
#include "tools/command.h"
#include "tools/console.h"

namespace memverify {

struct DeviceArguments {
  std::string file;
  std::string witness;  ///< A witness file; "": none.
  bool on_gpu = false;
  bool json = false;
  bool quiet = false;
  bool check_fit = false;
  device::Launch launch = device::Launch::kStreams;
  unsigned workers = 2;  ///< Of the threads device.
  ColorMode color = ColorMode::kAuto;
  device::CheckOptions options;
  std::vector<std::string> symbols;  ///< "n=64"
  std::vector<std::string> when;     ///< "training=true"
};

/// The exit code when that is the end of it, as of parse().
std::optional<ExitCode> parse_device(const Arguments& given, DeviceArguments& arguments);

}  // namespace memverify
