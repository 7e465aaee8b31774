#include <string>
#include <string_view>
#include <vector>

#include "tests/bench/generated_program.h"

namespace memverify::bench {
namespace {

constexpr std::int64_t kRowBytes = 1024;  // Of a strided value.

class Writer {
 public:
  explicit Writer(const Program& program) : program_(program), options_(program.options) {}

  std::string run() && {
    text_.reserve(program_.commands.size() * 220);
    put("{\n\"memverify\": 1,\n\"iterations\": ", options_.iterations, ",\n");
    const Id slots = options_.slots + kInputs;
    put("\"pools\": [{\"id\":\"hbm\",\"alignment\":256}],\n");
    queues();
    semaphores();
    open("storages");
    for (Id i = 0; i < (options_.placed ? slots : 0); ++i) {
      item("{\"id\":\"s", i, "\",\"pool\":\"hbm\",\"offset\":", i * kSlotBytes,
           ",\"bytes\":", kSlotBytes, "}");
    }
    for (Id i = 0; i < program_.races; ++i) {
      item("{\"id\":\"c", i, "\",\"pool\":\"hbm\",\"offset\":", slots * kSlotBytes + 256 * i,
           ",\"bytes\":256}");
    }
    close();
    tensors();
    open("ops");
    for (Id i = 0; i < static_cast<Id>(program_.commands.size()); ++i) command(i);
    if (options_.iterations > 1) barrier();
    close();
    boundary();
    const std::int64_t peak = slots * kSlotBytes + 256 * program_.races;
    if (options_.placed) put(",\n\"peak_bytes\": {\"hbm\":", peak, "}");
    put("\n}\n");
    return std::move(text_);
  }

 private:
  void put_one(std::string_view text) { text_ += text; }
  void put_one(std::int64_t number) { text_ += std::to_string(number); }
  void put_one(char character) { text_ += character; }
  template <typename... Parts>
  void put(const Parts&... parts) {
    (put_one(parts), ...);
  }

  void open(std::string_view list) {
    put("\"", list, "\": [");
    empty_ = true;
  }
  template <typename... Parts>
  void item(const Parts&... parts) {
    put(empty_ ? "\n" : ",\n", parts...);
    empty_ = false;
  }
  void close() { put("\n],\n"); }

  void queues() {
    open("queues");
    for (Id i = 0; i < options_.queues; ++i) {
      item("{\"id\":\"q", i, "\",\"order\":\"", order_of(options_, i), "\"}");
    }
    close();
  }

  void semaphores() {
    std::vector<char> timeline(at(options_.queues));
    for (const Command& command : program_.commands) {
      if (command.signals_timeline) timeline[at(command.queue)] = 1;
    }
    open("semaphores");
    for (Id i = 0; i < options_.queues; ++i) {
      if (timeline[at(i)] != 0) item("{\"id\":\"t", i, "\",\"kind\":\"timeline\"}");
      if (program_.counts[at(i)] != 0) item("{\"id\":\"n", i, "\",\"kind\":\"counting\"}");
    }
    close();
  }

  /// Rows of 1 KiB.
  std::int64_t rows_of(const Value& value) const {
    constexpr std::int64_t kRows = kSlotBytes / kRowBytes;
    return options_.placed ? kRows : 1 + value.slot * 37 % kRows;
  }

  void tensors() {
    constexpr std::int64_t kColumns = kRowBytes / 4;
    open("tensors");
    for (Id i = 0; i < static_cast<Id>(program_.values.size()); ++i) {
      const Value& value = program_.values[at(i)];
      const std::int64_t rows = rows_of(value);
      item("{\"id\":\"t", i, "\",");
      if (options_.placed) put("\"storage\":\"s", value.slot, "\",\"offset\":0,");
      if (value.strided) {
        put("\"dtype\":\"f32\",\"shape\":[", rows, ",", kColumns, "]}");
        for (const char half : {'l', 'r'}) {
          item("{\"id\":\"t", i, half, "\",\"view_of\":\"t", i,
               "\",\"offset\":", half == 'l' ? Id{0} : kColumns * 2,
               ",\"dtype\":\"f32\",\"shape\":[", rows, ",", kColumns / 2, "],\"strides\":[",
               kColumns, ",1]}");
        }
      } else {
        put("\"bytes\":", rows * kRowBytes, "}");
      }
      if (value.has_view) {
        item("{\"id\":\"t", i, "v\",\"view_of\":\"t", i,
             "\",\"offset\":0,\"bytes\":", rows * kRowBytes / 2, "}");
      }
    }
    for (Id i = 0; i < program_.races; ++i) {
      item("{\"id\":\"c", i, "\",\"storage\":\"c", i, "\",\"offset\":0,\"bytes\":256}");
    }
    close();
  }

  void command(Id id) {
    const Command& command = program_.commands[at(id)];
    item("{\"id\":\"o", id, "\",\"queue\":\"q", command.queue, "\"");
    switch (command.kind) {
      case Command::Kind::kOp:
        op(id, command);
        break;
      case Command::Kind::kRecord:
        put(",\"kind\":\"record\",\"event\":\"e", id, "\"");
        break;
      case Command::Kind::kWait:
        put(",\"kind\":\"wait\",\"event\":\"e", command.value, "\"");
        break;
      case Command::Kind::kConflict:
        put(",\"writes\":[\"c", command.value, "\"]");
        break;
    }
    put("}");
  }

  void op(Id id, const Command& op) {
    std::string_view comma;
    put(",\"reads\":[");
    for (const Read& read : op.reads) {
      put(comma, "\"t", read.value, read.view ? "v\"" : "\"");
      comma = ",";
    }
    put("],\"writes\":[\"t", op.value);
    if (op.half != 0) put(op.half);
    put("\"]");
    if (op.in_place) put(",\"in_place\":[[\"t", op.reads[0].value, "\",\"t", op.value, "\"]]");
    after(op);
    waits(op);
    signals(id, op);
  }

  void after(const Command& op) {
    std::string_view before = ",\"after\":[\"o";
    for (const Edge& edge : op.edges) {
      if (edge.sync != Sync::kAfter) continue;
      put(before, edge.source);
      before = "\",\"o";
    }
    if (before == "\",\"o") put("\"]");
  }

  void waits(const Command& op) {
    std::string_view before = ",\"waits\":[";
    for (const Edge& edge : op.edges) {
      if (edge.sync == Sync::kAfter) continue;
      put(before);
      before = ",";
      const Command& source = program_.commands[at(edge.source)];
      if (edge.sync == Sync::kEvent) put("{\"event\":\"e", edge.source, "\"}");
      if (edge.sync == Sync::kTimeline) timeline(source);
      if (edge.sync == Sync::kCounting) {
        put("{\"semaphore\":\"n", source.queue, "\",\"value\":");
        counted(source.count, program_.counts[at(source.queue)]);
        put("}");
      }
    }
    if (before == ",") put("]");
  }

  void signals(Id id, const Command& op) {
    std::string_view before = ",\"signals\":[";
    const auto next = [&] {
      put(before);
      before = ",";
    };
    if (op.signals_event) {
      next();
      put("{\"event\":\"e", id, "\"}");
    }
    if (op.signals_timeline) {
      next();
      timeline(op);
    }
    if (op.counts) {
      next();
      put("{\"semaphore\":\"n", op.queue, "\"}");
    }
    if (before == ",") put("]");
  }

  void timeline(const Command& signaller) {
    put("{\"semaphore\":\"t", signaller.queue, "\",\"value\":");
    counted(signaller.position + 1, program_.length[at(signaller.queue)]);
    put("}");
  }

  /// `number`, plus `each` for every iteration before.
  void counted(std::int64_t number, std::int64_t each) {
    if (options_.iterations == 1) return put(number);
    put("\"iteration*", each, "+", number, "\"");
  }

  void barrier() {
    item("{\"id\":\"seam\",\"kind\":\"barrier\",\"queues\":[");
    for (Id i = 0; i < options_.queues; ++i) put(i == 0 ? "\"q" : ",\"q", i, "\"");
    put("]}");
  }

  void boundary() {
    put("\"inputs\": [");
    for (Id i = 0; i < kInputs; ++i) put(i == 0 ? "\"t" : ",\"t", i, "\"");
    put("],\n\"outputs\": [");
    std::string_view before = "\"t";
    int left = 4;
    for (Id i = static_cast<Id>(program_.values.size()) - 1; i >= kInputs && left > 0; --i) {
      if (!program_.values[at(i)].alive) continue;
      put(before, i, "\"");
      before = ",\"t";
      --left;
    }
    put("]");
  }

  const Program& program_;
  const GeneratorOptions& options_;
  std::string text_;
  bool empty_ = true;
};

}  // namespace

std::string plan_text(const Program& program) { return Writer(program).run(); }

}  // namespace memverify::bench
