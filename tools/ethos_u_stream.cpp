// Driver actions, then commands of one word (bits 0 to 9 what, 16 to 31 a parameter) or, with bit
// 14 set, of two (the second word is the value, the parameter its bits from 32 on).
//
// Tested by tests/unit/tools/import_ethos_u_test.cpp.
#include "tools/ethos_u_stream.h"

#include <algorithm>
#include <array>
#include <string>

namespace memverify {
namespace {

// Commands of one word that start or wait.
enum : unsigned {
  kStop = 0x000,
  kIrq = 0x001,
  kConv = 0x002,
  kDepthwise = 0x003,
  kPool = 0x005,
  kElementwise = 0x006,
  kDmaStart = 0x010,
  kDmaWait = 0x011,
  kKernelWait = 0x012,
  kPmuMask = 0x013,
  kFirstRegister = 0x100,
};

// Registers of one word. Those of IFM2 are 0x80 above those of IFM.
enum : unsigned {
  kPadTop = 0x100,
  kPadLeft = 0x101,
  kPadRight = 0x102,
  kPadBottom = 0x103,
  kIfmDepth = 0x104,  // Extents and heights of tiles are stored less one.
  kIfmPrecision = 0x105,
  kUpscale = 0x107,
  kIfmWidth0 = 0x10A,
  kIfmHeight0 = 0x10B,
  kIfmHeight1 = 0x10C,
  kIfmRegion = 0x10F,
  kOfmWidth = 0x111,
  kOfmHeight = 0x112,
  kOfmDepth = 0x113,
  kOfmPrecision = 0x114,
  kOfmWidth0 = 0x11A,
  kOfmHeight0 = 0x11B,
  kOfmHeight1 = 0x11C,
  kOfmRegion = 0x11F,
  kKernelWidth = 0x120,
  kKernelHeight = 0x121,
  kKernelStride = 0x122,
  kParallelMode = 0x123,
  kActivation = 0x125,
  kWeightRegion = 0x128,
  kScaleRegion = 0x129,
  kDmaSourceRegion = 0x130,
  kDmaTargetRegion = 0x131,
  kDmaSize0 = 0x132,
  kDmaSize1 = 0x133,
  kIfm2Broadcast = 0x180,
  kIfm2 = 0x080,
};

// Registers of two words: four bases of tiles, then strides in x, y and c.
enum : unsigned {
  kIfmBase = 0x000,
  kOfmBase = 0x010,
  kWeightBase = 0x020,
  kWeightLength = 0x021,
  kScaleBase = 0x022,
  kScaleLength = 0x023,
  kDmaSource = 0x030,
  kDmaTarget = 0x031,
  kDmaLength = 0x032,
  kDmaSkip0 = 0x033,
  kDmaSkip1 = 0x034,
  kIfm2Base = 0x080,
  kWeight1Base = 0x090,
  kWeight1Length = 0x091,
  kScale1Base = 0x092,
  kScale1Length = 0x093,
};

constexpr std::int64_t kBrick = 16;          ///< Channels that lie together in the format NHCWB16.
constexpr std::int64_t kTablesBytes = 2048;  ///< For tables, at the end of the internal memory.
constexpr std::int64_t kFarAway = std::int64_t{1} << 46U;  ///< More than any region has.

struct Extent {
  std::int64_t height = 1;
  std::int64_t width = 1;
  std::int64_t depth = 1;
};

std::uint32_t word_of(std::string_view bytes, std::size_t index) {
  std::uint32_t word = 0;
  for (std::size_t k = 4; k-- > 0;) {
    word = (word << 8U) | static_cast<unsigned char>(bytes[4 * index + k]);
  }
  return word;
}

class NpuRegisters {
 public:
  explicit NpuRegisters(std::int64_t internal_bytes) : tables_(internal_bytes - kTablesBytes) {}

  void set(unsigned command, std::uint32_t parameter) { short_[command] = parameter; }
  void set_long(unsigned command, std::uint32_t parameter, std::uint32_t value) {
    long_[command] = (std::int64_t{parameter & 0xFFU} << 32U) | value;
  }

  NpuCommand start(unsigned command, std::uint32_t parameter) const {
    NpuCommand out;
    if (command == kDmaStart) {
      out = {.kind = NpuCommand::Kind::kDma, .label = "dma"};
      add_transfer(out.reads, "source", kDmaSourceRegion, kDmaSource);
      add_transfer(out.writes, "destination", kDmaTargetRegion, kDmaTarget);
      return out;
    }
    out.kind = NpuCommand::Kind::kKernel;
    out.in_place = command == kElementwise;
    add_map(out.reads, "ifm", 0, kIfmBase, ifm_extent(command));
    if (command == kElementwise) {
      out.label = "elementwise";
      if (has_ifm2(parameter)) add_map(out.reads, "ifm2", kIfm2, kIfm2Base, ifm2_extent());
    } else if (command == kPool) {
      out.label = "pool";
    } else {
      out.label = command == kConv ? "conv" : "depthwise";
      add_weights(out.reads);
    }
    add_table(out.reads);
    add_map(out.writes, "ofm", kOfm, kOfmBase, ofm_extent());
    return out;
  }

 private:
  static constexpr unsigned kOfm = 0x010;  ///< From registers of the IFM to those of the OFM.

  std::int64_t at(unsigned command) const { return short_[command]; }
  std::int64_t extent_at(unsigned command) const { return at(command) + 1; }
  bool bit(unsigned command, unsigned bit) const { return ((short_[command] >> bit) & 1U) != 0; }
  int region(unsigned command) const { return static_cast<int>(short_[command] & 7U); }

  Extent ofm_extent() const {
    return {extent_at(kOfmHeight), extent_at(kOfmWidth), extent_at(kOfmDepth)};
  }

  /// What the window reaches of the IFM, whose extents the stream does not give.
  Extent ifm_extent(unsigned command) const {
    Extent out = ofm_extent();
    out.depth = extent_at(kIfmDepth);
    if (command == kElementwise) return out;
    const std::uint32_t strides = short_[kKernelStride];  // A bit each, then three more each.
    const std::int64_t stride_x = 1 + ((strides & 1U) | ((strides >> 5U) & 0xEU));
    const std::int64_t stride_y = 1 + (((strides >> 1U) & 1U) | ((strides >> 8U) & 0xEU));
    out.height =
        (out.height - 1) * stride_y + extent_at(kKernelHeight) - at(kPadTop) - at(kPadBottom);
    out.width = (out.width - 1) * stride_x + extent_at(kKernelWidth) - at(kPadLeft) - at(kPadRight);
    if (at(kUpscale) != 0) {
      out.height = (out.height + 1) / 2;
      out.width = (out.width + 1) / 2;
    }
    out.height = std::max<std::int64_t>(out.height, 1);
    out.width = std::max<std::int64_t>(out.width, 1);
    return out;
  }

  Extent ifm2_extent() const {
    Extent out = ofm_extent();
    if (bit(kIfm2Broadcast, 0)) out.height = 1;
    if (bit(kIfm2Broadcast, 1)) out.width = 1;
    if (bit(kIfm2Broadcast, 2)) out.depth = 1;
    return out;
  }

  /// Not for a constant in a register, nor for the operations of one operand (leaky ReLU, absolute
  /// value, leading zeros).
  bool has_ifm2(std::uint32_t operation) const {
    return !bit(kIfm2Broadcast, 7) && (operation < 5 || operation > 7);
  }

  std::int64_t element_bytes(unsigned offset) const {
    const unsigned shift = offset == kOfm ? 1U : 2U;
    const unsigned precision = offset == kOfm ? unsigned{kOfmPrecision} : kIfmPrecision + offset;
    return std::int64_t{1} << ((short_[precision] >> shift) & 3U);
  }

  /// A feature map: up to four tiles, those to the right and below with bases of their own.
  void add_map(std::vector<NpuBytes>& out, std::string_view what, unsigned offset, unsigned base,
               const Extent& extent) const {
    const bool is_ofm = offset == kOfm;
    const std::int64_t left = extent_at(kIfmWidth0 + offset);
    for (unsigned tile = 0; tile < 4; ++tile) {
      const bool right = (tile & 1U) != 0;
      const bool below = (tile & 2U) != 0;
      const std::int64_t upper = extent_at((right ? kIfmHeight1 : kIfmHeight0) + offset);
      const Extent part{.height = below ? extent.height - upper : std::min(extent.height, upper),
                        .width = right ? extent.width - left : std::min(extent.width, left),
                        .depth = extent.depth};
      if (part.height > 0 && part.width > 0) {
        const unsigned precision = is_ofm ? unsigned{kOfmPrecision} : kIfmPrecision + offset;
        add_tile(
            out,
            {.what = what, .region = region(kIfmRegion + offset), .offset = long_[base + tile]},
            part, base + 4, element_bytes(offset), bit(precision, 6), is_ofm);
      }
    }
  }

  void add_tile(std::vector<NpuBytes>& out, NpuBytes tile, const Extent& extent, unsigned strides,
                std::int64_t element, bool bricks, bool whole_bricks) const {
    const std::int64_t x = long_[strides];
    const std::int64_t y = long_[strides + 1];
    const std::int64_t c = long_[strides + 2];
    if (!bricks) {
      tile.shape = {extent.height, extent.width, extent.depth * element};
      tile.strides = {y, x, 1};
      out.push_back(std::move(tile));
      return;
    }
    const std::int64_t rest = whole_bricks ? 0 : extent.depth % kBrick;
    const std::int64_t full = (extent.depth + (whole_bricks ? kBrick - 1 : 0)) / kBrick;
    if (rest > 0) {
      NpuBytes last = tile;
      last.offset += full * c;
      last.shape = {extent.height, extent.width, rest * element};
      last.strides = {y, kBrick * element, 1};
      out.push_back(std::move(last));
    }
    if (full == 0) return;
    tile.shape = {extent.height, full, extent.width, kBrick * element};
    tile.strides = {y, c, kBrick * element, 1};
    out.push_back(std::move(tile));
  }

  void add_bytes(std::vector<NpuBytes>& out, std::string_view what, unsigned region_at,
                 unsigned base, unsigned length) const {
    if (long_[length] == 0) return;
    out.push_back({.what = what,
                   .region = region(region_at),
                   .offset = long_[base],
                   .shape = {long_[length]},
                   .strides = {1}});
  }

  void add_weights(std::vector<NpuBytes>& out) const {
    add_bytes(out, "weights", kWeightRegion, kWeightBase, kWeightLength);
    add_bytes(out, "scales", kScaleRegion, kScaleBase, kScaleLength);
    if (at(kParallelMode) == 0) return;  // Or each of two cores has its own.
    add_bytes(out, "weights", kWeightRegion, kWeight1Base, kWeight1Length);
    add_bytes(out, "scales", kScaleRegion, kScale1Base, kScale1Length);
  }

  /// A table of an activation, by its number among tables of its size.
  void add_table(std::vector<NpuBytes>& out) const {
    const std::int64_t function = at(kActivation) & 0x1F;
    if (function < 16 || function > 23) return;
    std::int64_t bytes = 256;
    if (element_bytes(kOfm) == 4) bytes = 1024;
    if (element_bytes(0) == 2) bytes = 2048;
    out.push_back({.what = "table",
                   .region = kNpuInternal,
                   .offset = tables_ + bytes * (function - 16),
                   .shape = {bytes},
                   .strides = {1}});
  }

  /// One row, or rows of rows that are apart by what is skipped between them.
  void add_transfer(std::vector<NpuBytes>& out, std::string_view what, unsigned region_at,
                    unsigned base) const {
    NpuBytes bytes{.what = what, .region = region(region_at), .offset = long_[base]};
    if (bit(region_at, 8)) bytes.region = kNpuInternal;
    const std::int64_t length = long_[kDmaLength];
    const std::int64_t rows = at(kDmaSize0);
    const std::int64_t planes = at(kDmaSize1);
    const std::int64_t row = length + long_[kDmaSkip0];
    const std::uint32_t mode = (short_[region_at] >> 9U) & 3U;
    const std::uint32_t modes = std::max(mode, (short_[kDmaTargetRegion] >> 9U) & 3U);
    const std::int64_t plane = length * (modes > 0 ? rows : 1);
    const std::int64_t total = modes < 2 ? plane : plane < kFarAway ? plane * planes : kFarAway;
    if (mode == 0) {
      bytes.shape = {total};
      bytes.strides = {1};
    } else {
      bytes.shape = {mode > 1 ? planes : 1, rows, length};
      bytes.strides = {rows * row + long_[kDmaSkip1], row, 1};
    }
    if (total > 0) out.push_back(std::move(bytes));
  }

  std::array<std::uint32_t, 1024> short_ = {};
  std::array<std::int64_t, 1024> long_ = {};
  std::int64_t tables_;  ///< Where tables start in the internal memory.
};

bool starts_something(unsigned command) {
  return command == kConv || command == kDepthwise || command == kPool || command == kElementwise ||
         command == kDmaStart;
}

class ActionReader {
 public:
  ActionReader(std::string_view bytes, const std::function<void(const NpuCommand&)>& visit)
      : bytes_(bytes), words_(bytes.size() / 4), visit_(visit) {}

  Result<NpuTarget> read() {
    if (words_ == 0 || bytes_.substr(0, 4) != "COP1") {
      return error("import.format", 0, "the stream does not start with \"COP1\"");
    }
    std::size_t at = 1;
    while (at < words_ && !error_) at = read_action(at);
    if (error_) return *error_;
    return target_;
  }

 private:
  enum : std::uint32_t { kConfig = 1, kStream = 2, kNothing = 5 };

  std::size_t read_action(std::size_t at) {
    const std::uint32_t action = word_of(bytes_, at);
    switch (action & 0xFFU) {
      case kNothing:
        return at + 1;
      case kConfig:
        if (at + 2 < words_) read_config(at);
        return at + 3;
      case kStream:
        break;
      default:
        return fail("import.unknown", at,
                    "the driver's action " + std::to_string(action & 0xFFU) + " is not known");
    }
    const std::size_t length = (action >> 16U) | ((action & 0xFF00U) << 8U);
    if (length > words_ - at - 1) {
      return fail(
          "import.damaged", at,
          "the command stream of " + std::to_string(length) + " words ends after its buffer");
    }
    read_commands(at + 1, at + 1 + length);
    return at + 1 + length;
  }

  void read_config(std::size_t at) {
    const std::uint32_t config = word_of(bytes_, at + 1);
    target_.internal_bytes = std::int64_t{1024} * ((config >> 8U) & 0xFFU);
    target_.product = static_cast<int>(config >> 28U);
    if (target_.product > 1) {
      fail("import.unsupported", at,
           "only streams for Ethos-U55 and U65 are read; this is for product " +
               std::to_string(target_.product));
    }
  }

  void read_commands(std::size_t at, std::size_t end) {
    NpuRegisters registers(std::max(target_.internal_bytes, kTablesBytes));
    while (at < end && !error_) {
      const std::size_t here = at++;
      const std::uint32_t word = word_of(bytes_, here);
      const std::uint32_t command = word & 0x3FFU;
      const std::uint32_t parameter = word >> 16U;
      const std::uint32_t payload = (word >> 14U) & 3U;
      if (payload > 1 || (payload == 1 && at == end)) {
        fail("import.damaged", here,
             "a command with " + std::to_string(payload) + " more words, which are not there");
      } else if (payload == 1) {
        registers.set_long(command, parameter, word_of(bytes_, at++));
      } else if (command >= kFirstRegister) {
        registers.set(command, parameter);
      } else if (starts_something(command)) {
        NpuCommand start = registers.start(command, parameter);
        start.word = here;
        visit_(start);
      } else if (!wait_or_ignore(command, parameter, here)) {
        return;  // STOP
      }
    }
    if (!error_) visit_({.kind = NpuCommand::Kind::kStop, .label = "stop", .word = end});
  }

  /// False at the end of the stream.
  bool wait_or_ignore(std::uint32_t command, std::uint32_t parameter, std::size_t here) {
    using Kind = NpuCommand::Kind;
    switch (command) {
      case kStop:
        visit_({.kind = Kind::kStop, .label = "stop", .word = here});
        return false;
      case kDmaWait:
        visit_({.kind = Kind::kDmaWait, .label = "dma_wait", .word = here, .count = parameter});
        return true;
      case kKernelWait:
        visit_(
            {.kind = Kind::kKernelWait, .label = "kernel_wait", .word = here, .count = parameter});
        return true;
      case kIrq:
      case kPmuMask:
        return true;
      default:
        fail("import.unknown", here, "the command " + std::to_string(command) + " is not known");
        return true;
    }
  }

  static Diagnostic error(std::string_view id, std::size_t word, const std::string& message) {
    return {.id = std::string(id), .message = "word " + std::to_string(word) + ": " + message};
  }

  std::size_t fail(std::string_view id, std::size_t word, const std::string& message) {
    if (!error_) error_ = error(id, word, message);
    return words_;
  }

  std::string_view bytes_;
  std::size_t words_;
  const std::function<void(const NpuCommand&)>& visit_;
  NpuTarget target_;
  std::optional<Diagnostic> error_;
};

}  // namespace

Result<NpuTarget> read_ethos_u(std::string_view bytes,
                               const std::function<void(const NpuCommand&)>& visit) {
  return ActionReader(bytes, visit).read();
}

}  // namespace memverify
