// The numbers of real files were counted by a decoder in Python, not by the importer: pairs of a
// kernel and a later DMA transfer that overwrites bytes the kernel touches, of which no wait makes
// the transfer wait, for at most so many kernels in flight.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "support/process.h"
#include "support/tflite_file.h"
#include "tools/ethos_u_stream.h"
#include "tools/importers.h"
#include "verify/verify.h"

namespace memverify::testing {
namespace {

const std::string kPerson = "person_detect_vela.tflite";
const std::string kWords = "kws_micronet_m_vela_H128.tflite";

Plan vela_plan(const std::string& bytes, const ImportOptions& options = {}) {
  Result<Imported> imported = import_ethos_u(bytes, "f.tflite", options);
  if (imported.ok()) return std::move(imported).value().plan;
  ADD_FAILURE() << to_string(imported.errors().front());
  return {};
}

std::string vela_file(const std::string& name) {
  return read_text(MEMVERIFY_CORPUS "/imports/ethos-u/" + name);
}

std::map<std::string, std::size_t> commands(const Plan& plan) {
  std::map<std::string, std::size_t> counts;
  for (const Op& op : plan.ops) ++counts[std::string(op.name.substr(0, op.name.find('@')))];
  return counts;
}

TEST(ImportEthosU, ReadsEveryCommand) {
  EXPECT_EQ(commands(vela_plan(vela_file(kPerson))),
            (std::map<std::string, std::size_t>{{"start", 1},
                                                {"dma", 55},
                                                {"dma_wait", 55},
                                                {"kernel_wait", 38},
                                                {"conv", 32},
                                                {"depthwise", 23},
                                                {"pool", 3},
                                                {"elementwise", 29},
                                                {"stop", 1},
                                                {"finish", 1}}));
  EXPECT_EQ(commands(vela_plan(vela_file(kWords))),
            (std::map<std::string, std::size_t>{{"start", 1},
                                                {"dma", 16},
                                                {"dma_wait", 16},
                                                {"kernel_wait", 9},
                                                {"conv", 12},
                                                {"depthwise", 5},
                                                {"pool", 1},
                                                {"stop", 1},
                                                {"finish", 1}}));
}

std::size_t faults_of(const std::string& file, std::int64_t depth, bool ignore_kernel_waits) {
  const Plan plan = vela_plan(vela_file(file),
                              {.kernel_depth = depth, .ignore_kernel_waits = ignore_kernel_waits});
  const EngineResult result = verify_happens_before(plan, {.max_findings = 1000});
  for (const Finding& finding : result.findings) {
    EXPECT_TRUE(plan.ops[finding.ops.at(1)].name.starts_with("dma@")) << result.findings.size();
  }
  return result.findings.size();
}

TEST(ImportEthosU, ShippedStreamsAreSafeAtTheirDepthAndNeedTheirWaits) {
  EXPECT_EQ(faults_of(kPerson, 2, false), 0U);
  EXPECT_EQ(faults_of(kPerson, 2, true), 38U);
  EXPECT_EQ(faults_of(kPerson, 3, false), 2U);  // Made for NPUs with at most two kernels in flight.
  EXPECT_EQ(faults_of(kPerson, 3, true), 62U);
  EXPECT_EQ(faults_of(kWords, 2, false), 0U);
  EXPECT_EQ(faults_of(kWords, 2, true), 2U);
  EXPECT_EQ(faults_of(kWords, 3, false), 0U);
  EXPECT_EQ(faults_of(kWords, 3, true), 10U);
}

TEST(ImportEthosU, WithoutItsWaitsForTransfersNothingIsLoadedInTime) {
  const Plan plan = vela_plan(vela_file(kWords), {.ignore_dma_waits = true});
  const EngineResult result = verify_happens_before(plan, {.max_findings = 1000});
  ASSERT_EQ(result.findings.size(), 16U);  // Each transfer against the kernel that needs it.
  for (const Finding& finding : result.findings) EXPECT_EQ(finding.rule, Rule::kRaw);
}

TEST(ImportEthosU, NamesTheTransferThatComesTooEarly) {
  const Plan plan = vela_plan(vela_file(kPerson), {.kernel_depth = 3});
  const EngineResult result = verify_happens_before(plan, {});
  ASSERT_EQ(result.findings.size(), 2U);
  const Finding& finding = result.findings.front();
  EXPECT_EQ(finding.rule, Rule::kWar);
  EXPECT_EQ(plan.ops[finding.ops.at(0)].name, "conv@754");
  EXPECT_EQ(plan.ops[finding.ops.at(1)].name, "dma@813");
  EXPECT_EQ(finding.bytes, (ByteRange{0x2400, 0x2400 + 480}));  // The weights and scales.
}

TEST(ImportEthosU, AnInputInTheWrongPlaceIsFound) {
  std::string bytes = vela_file(kWords);
  // Offsets in the arena: of the result, of the input, …
  const std::string offsets = words({0, 1, 6, 208, 70560});
  const std::size_t at = bytes.find(offsets);
  ASSERT_NE(at, std::string::npos);
  bytes.replace(at, offsets.size(), words({0, 1, 6, 208, 70576}));
  const EngineResult result = verify_happens_before(vela_plan(bytes), {});
  EXPECT_EQ(result.verdict, Verdict::kUnsafe);
  ASSERT_FALSE(result.findings.empty());
  EXPECT_EQ(result.findings.front().rule, Rule::kUnwritten);  // The first 16 bytes of the IFM.
}

// Streams put together by hand.

constexpr std::uint32_t kMagic = 0x31504F43;  // "COP1"

std::uint32_t set(std::uint32_t command, std::uint32_t parameter) {
  return command | (parameter << 16U);
}

/// Actions: which NPU, then the commands.
std::string stream(std::vector<std::uint32_t> commands, std::uint32_t product = 0) {
  std::vector<std::uint32_t> all = {kMagic, 1, 0x3008 | (product << 28U), 0, 5};
  all.push_back(2 | (static_cast<std::uint32_t>(commands.size()) << 16U));
  all.insert(all.end(), commands.begin(), commands.end());
  return words(all);
}

void add_long(std::vector<std::uint32_t>& out, std::uint32_t command, std::uint32_t value,
              std::uint32_t high = 0) {
  out.push_back(set(command | 0x4000U, high));
  out.push_back(value);
}

std::vector<NpuCommand> read_commands(const std::string& bytes) {
  std::vector<NpuCommand> out;
  const Result<NpuTarget> target =
      read_ethos_u(bytes, [&](const NpuCommand& command) { out.push_back(command); });
  EXPECT_TRUE(target.ok()) << to_string(target.errors().front());
  return out;
}

std::string stream_error(const std::string& bytes) {
  const Result<NpuTarget> target = read_ethos_u(bytes, [](const NpuCommand&) {});
  return target.ok() ? "none" : target.errors().front().id + " " + target.errors().front().message;
}

using Extents = std::vector<std::int64_t>;

TEST(EthosUStream, AConvolutionReachesAsFarAsItsWindow) {
  std::vector<std::uint32_t> list = {
      set(0x10F, 1),  set(0x10A, 47), set(0x10B, 95), set(0x10C, 95),  // IFM: region, first tile
      set(0x104, 1),  set(0x105, 1),                                   // two channels of 8 bits
      set(0x103, 1),  set(0x102, 1),                                   // padding below, right
      set(0x11F, 2),  set(0x11A, 47), set(0x11B, 47), set(0x11C, 47),  // OFM
      set(0x112, 47), set(0x111, 47), set(0x113, 7),  set(0x114, 65),  // bricks of 16 channels
      set(0x121, 2),  set(0x120, 1),  set(0x122, 6),                   // 3 by 2, steps 2 and 1
      set(0x128, 1),  set(0x129, 3)};
  for (const auto& [command, value] : std::map<std::uint32_t, std::uint32_t>{{0x04, 2},
                                                                             {0x05, 0x60},
                                                                             {0x10, 0x9000},
                                                                             {0x14, 0x10},
                                                                             {0x15, 0x300},
                                                                             {0x16, 0x300},
                                                                             {0x20, 0x2450},
                                                                             {0x21, 0x90},
                                                                             {0x23, 0x50}}) {
    add_long(list, command, value);
  }
  add_long(list, 0x22, 0x2400, 1);  // Bit 32 of the address is in the first word.
  list.push_back(2);
  const std::vector<NpuCommand> commands = read_commands(stream(list));
  ASSERT_EQ(commands.size(), 2U);  // The stream ends by itself.
  EXPECT_EQ(commands[1].kind, NpuCommand::Kind::kStop);
  const NpuCommand& conv = commands[0];
  EXPECT_EQ(conv.label, "conv");
  ASSERT_EQ(conv.reads.size(), 3U);
  EXPECT_EQ(conv.reads[0].region, 1);
  EXPECT_EQ(conv.reads[0].shape, (Extents{47 * 2 + 3 - 1, 47 + 2 - 1, 2}));
  EXPECT_EQ(conv.reads[0].strides, (Extents{0x60, 2, 1}));
  EXPECT_EQ(conv.reads[1].offset, 0x2450);
  EXPECT_EQ(conv.reads[1].shape, (Extents{0x90}));
  EXPECT_EQ(conv.reads[2].region, 3);
  EXPECT_EQ(conv.reads[2].offset, 0x1'0000'2400);
  ASSERT_EQ(conv.writes.size(), 1U);
  EXPECT_EQ(conv.writes[0].offset, 0x9000);
  EXPECT_EQ(conv.writes[0].shape, (Extents{48, 1, 48, 16}));  // A whole brick.
  EXPECT_EQ(conv.writes[0].strides, (Extents{0x300, 0x300, 16, 1}));
}

TEST(EthosUStream, AFeatureMapMayLieInFourTiles) {
  std::vector<std::uint32_t> list = {set(0x10A, 3), set(0x10B, 1),  set(0x10C, 2), set(0x112, 4),
                                     set(0x111, 5), set(0x180, 128)};  // 5 rows of 6, a constant
  for (std::uint32_t tile = 0; tile < 4; ++tile) add_long(list, tile, 1000 * tile);
  list.push_back(set(6, 1));  // ADD
  const std::vector<NpuCommand> commands = read_commands(stream(list));
  ASSERT_EQ(commands[0].reads.size(), 4U);
  const std::vector<Extents> shapes = {{2, 4, 1}, {3, 2, 1}, {3, 4, 1}, {2, 2, 1}};
  for (std::size_t tile = 0; tile < 4; ++tile) {
    EXPECT_EQ(commands[0].reads[tile].offset, 1000 * static_cast<std::int64_t>(tile));
    EXPECT_EQ(commands[0].reads[tile].shape, shapes[tile]);
  }
}

TEST(EthosUStream, ElementwiseOperationsReadOneOrTwoMapsAndATable) {
  const auto reads = [](std::uint32_t operation, std::uint32_t broadcast,
                        std::uint32_t activation) {
    std::vector<std::string> names;
    const std::vector<NpuCommand> commands =
        read_commands(stream({set(0x180, broadcast), set(0x125, activation), set(6, operation)}));
    for (const NpuBytes& bytes : commands[0].reads) names.emplace_back(bytes.what);
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(reads(1, 0, 0), (Names{"ifm", "ifm2"}));
  EXPECT_EQ(reads(1, 128, 0), (Names{"ifm"}));
  EXPECT_EQ(reads(6, 0, 0), (Names{"ifm"}));  // ABS
  EXPECT_EQ(reads(6, 0, 0x3011), (Names{"ifm", "table"}));
  EXPECT_EQ(reads(6, 0, 3), (Names{"ifm"}));  // TANH is built in.
}

TEST(EthosUStream, ATransferMayHaveRows) {
  std::vector<std::uint32_t> list = {set(0x130, 0), set(0x131, 1 | (1U << 9U)), set(0x132, 3)};
  add_long(list, 0x32, 10);  // 3 rows of 10 bytes, 6 apart
  add_long(list, 0x33, 6);
  list.push_back(0x10);
  const std::vector<NpuCommand> commands = read_commands(stream(list, 1));
  ASSERT_EQ(commands[0].reads.size(), 1U);
  EXPECT_EQ(commands[0].reads[0].shape, (Extents{30}));
  EXPECT_EQ(commands[0].writes[0].shape, (Extents{1, 3, 10}));
  EXPECT_EQ(commands[0].writes[0].strides, (Extents{48, 16, 1}));
}

TEST(EthosUStream, SaysWhatItCannotRead) {
  EXPECT_EQ(stream_error(stream({0})), "none");
  EXPECT_TRUE(stream_error("COP2").starts_with("import.format word 0"));
  EXPECT_TRUE(stream_error(words({kMagic, 9})).starts_with("import.unknown word 1"));
  EXPECT_TRUE(stream_error(words({kMagic, 2 | (1U << 16U)})).starts_with("import.damaged word 1"));
  EXPECT_TRUE(stream_error(stream({0}, 2)).starts_with("import.unsupported word 1"));
  EXPECT_TRUE(stream_error(stream({7})).starts_with("import.unknown word 6"));
  EXPECT_TRUE(stream_error(stream({0x4000})).starts_with("import.damaged word 6"));
  EXPECT_TRUE(stream_error(stream({0x8000, 0, 0})).starts_with("import.damaged word 6"));
}

// Models around streams put together by hand.

/// An operator with regions 0 to 2 of 64 bytes and an input and a result of 4 in the last two.
TfliteFile vela_model(const std::string& commands) {
  return {.codes = {{32, "ethos-u"}},
          .graphs = {{.tensors = {{.name = "stream", .shape = {}, .buffer = 1},
                                  {.name = "weights", .shape = {64}, .buffer = 2},
                                  {.name = "scratch", .shape = {64}},
                                  {.name = "fast", .shape = {64}},
                                  {.name = "in"},
                                  {.name = "out"}},
                      .inputs = {4},
                      .outputs = {5},
                      .ops = {{.code = 0, .inputs = {0, 1, 2, 3, 4}, .outputs = {5}}}}},
          .buffers = {"", commands, std::string(64, 'w'),
                      words({0, 1, 6, static_cast<std::uint32_t>(-1),
                             static_cast<std::uint32_t>(-1), 0, 0, 0, 16})},
          .metadata = {{"OfflineMemoryAllocation", 3}}};
}

std::string vela_error(TfliteFile file) {
  file.graphs[0].tensors[0].shape = {static_cast<std::int32_t>(file.buffers[1].size())};
  const Result<Imported> imported = import_ethos_u(tflite_bytes(file), "f.tflite");
  return imported.ok() ? "none"
                       : imported.errors().front().id + " " + imported.errors().front().pointer;
}

TEST(ImportEthosU, ValuesAreHandedOverInTheScratchRegions) {
  // A kernel reads the input at [0, 4) and writes the result at [16, 20).
  std::vector<std::uint32_t> list = {set(0x10F, 1), set(0x11F, 2), set(0x104, 3), set(0x113, 3),
                                     set(0x180, 128)};
  add_long(list, 0x10, 16);
  list.push_back(set(6, 1));
  TfliteFile file = vela_model(stream(list));
  file.graphs[0].tensors[0].shape = {static_cast<std::int32_t>(file.buffers[1].size())};
  EXPECT_EQ(verify_happens_before(vela_plan(tflite_bytes(file)), {}).verdict, Verdict::kSafe);
  list[list.size() - 2] = 17;  // One byte too far.
  file.buffers[1] = stream(list);
  EXPECT_EQ(verify_happens_before(vela_plan(tflite_bytes(file)), {}).verdict, Verdict::kUnsafe);
}

TEST(ImportEthosU, SaysWhatItCannotRead) {
  const std::string op = "/subgraphs/0/operators/0";
  EXPECT_EQ(vela_error(vela_model(stream({0}))), "none");
  EXPECT_EQ(vela_error(vela_model(stream({7}))), "import.unknown " + op);
  EXPECT_EQ(vela_error(vela_model("COP2")), "import.format " + op);
  EXPECT_EQ(vela_error(vela_model(stream({set(0x10F, 7), 6}))), "import.unknown " + op);
  TfliteFile without = vela_model(stream({0}));
  without.metadata.clear();
  EXPECT_EQ(vela_error(without), "import.unsupported " + op);
  TfliteFile often = vela_model(stream(std::vector<std::uint32_t>(1000, set(0x13, 0))));
  often.graphs[0].ops.resize(3, often.graphs[0].ops[0]);
  EXPECT_EQ(vela_error(often), "import.damaged /subgraphs/0/operators/1");
  TfliteFile few = vela_model(stream({0}));
  few.graphs[0].ops[0].inputs = {0, 1, 2};
  EXPECT_EQ(vela_error(few), "import.contradiction " + op);
  TfliteFile plain = vela_model(stream({0}));
  plain.codes[0] = {0, ""};
  EXPECT_EQ(vela_error(plain), "import.format ");
}

TEST(ImportEthosU, EveryTruncatedFileIsRefused) {
  const std::string bytes = vela_file(kWords);
  for (std::size_t size = 0; size < bytes.size(); size += 997) {
    EXPECT_FALSE(import_ethos_u(bytes.substr(0, size), "f").ok()) << size;
  }
}

}  // namespace
}  // namespace memverify::testing
