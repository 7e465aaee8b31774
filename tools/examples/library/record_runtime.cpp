// A shim between a program and its runtime: it hands out memory, starts kernels and lets streams
// wait as before, and writes a plan of what it saw. With --free-early the program below frees a
// buffer on the stream that made it while another stream may still read it.
#include <memverify/check.h>
#include <memverify/plan/builder.h>

#include <cstdint>
#include <iostream>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace {

/// The runtime's own calls would stand where the comments say so.
class Shim {
 public:
  Shim() { plan_.add_pool({.name = "heap"}); }

  void make_stream(const std::string& stream) { plan_.add_queue({.name = stream}); }

  /// Bytes that are there for what `stream` is given from now on; the first free ones.
  std::int64_t alloc(std::int64_t bytes, const std::string& stream) {
    std::int64_t address = 0;
    for (const auto& [begin, block] : live_) {
      if (address + bytes <= begin) break;
      address = begin + block.bytes;
    }
    const std::string name = "block " + std::to_string(++blocks_);
    plan_.add_storage({.name = name, .pool = "heap", .slots = {address}, .bytes = bytes});
    plan_.add_tensor({.name = name, .storage = name, .bytes = bytes});
    command({.name = "", .kind = "alloc", .queue = stream, .storage = name}, "alloc " + name);
    live_[address] = {.name = name, .bytes = bytes};
    return address;  // cudaMallocAsync
  }

  void free(std::int64_t address, const std::string& stream) {
    const std::string name = live_.at(address).name;
    command({.name = "", .kind = "free", .queue = stream, .storage = name}, "free " + name);
    live_.erase(address);  // cudaFreeAsync
  }

  void launch(const std::string& kernel, const std::string& stream,
              std::span<const std::int64_t> reads, std::span<const std::int64_t> writes) {
    memverify::OpSpec op{.name = "", .label = kernel, .queue = stream};
    for (const std::int64_t address : reads) op.reads.push_back({.tensor = live_.at(address).name});
    for (const std::int64_t address : writes) {
      op.writes.push_back({.tensor = live_.at(address).name});
    }
    command(op, kernel);  // cudaLaunchKernel
  }

  /// `later` goes on once all that `earlier` was given so far is complete.
  void wait(const std::string& later, const std::string& earlier) {
    const std::string event = "event " + std::to_string(commands_);
    command({.name = "", .kind = "record", .queue = earlier, .event = event}, "record");
    command({.name = "", .kind = "wait", .queue = later, .event = event}, "wait");
    // cudaEventRecord, cudaStreamWaitEvent
  }

  memverify::Result<memverify::Plan> plan() && { return std::move(plan_).build(); }

 private:
  struct Block {
    std::string name;
    std::int64_t bytes = 0;
  };

  void command(memverify::OpSpec op, const std::string& words) {
    const std::string name = words + " #" + std::to_string(++commands_);
    op.name = name;
    plan_.add_op(op);
  }

  memverify::PlanBuilder plan_;
  std::map<std::int64_t, Block> live_;  ///< By address.
  int blocks_ = 0;
  int commands_ = 0;
};

void program(Shim& runtime, bool waits_before_free) {
  runtime.make_stream("compute");
  runtime.make_stream("copy");
  const std::int64_t result = runtime.alloc(4096, "compute");
  runtime.launch("matmul", "compute", {}, std::vector{result});
  runtime.wait("copy", "compute");
  runtime.launch("download", "copy", std::vector{result}, {});
  if (waits_before_free) runtime.wait("compute", "copy");
  runtime.free(result, "compute");
  const std::int64_t next = runtime.alloc(4096, "compute");
  runtime.launch("matmul", "compute", {}, std::vector{next});
}

}  // namespace

int main(int argc, char** argv) {
  const bool frees_early = argc == 2 && argv[1] == std::string("--free-early");
  if (argc > 1 && !frees_early) {
    std::cerr << "usage: record_runtime [--free-early]\n";
    return 2;
  }
  Shim runtime;
  program(runtime, !frees_early);
  const memverify::Result<memverify::Plan> plan = std::move(runtime).plan();
  if (!plan.ok()) {
    std::cerr << to_string(plan.errors().front()) << "\n";
    return 2;
  }
  const auto verified = memverify::verify(plan.value());
  if (!verified.ok()) {
    std::cerr << to_string(verified.errors().front()) << "\n";
    return 2;
  }
  std::cout << verified.value().text();
  return verified.value().exit_code();
}
