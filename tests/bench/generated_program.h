// tests/bench/generated_program.h -- what plan_generator makes before it is written down as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/bench/plan_generator.h"

namespace memverify::bench {

constexpr std::int64_t kSlotBytes = 65'536;

using Id = std::int64_t;

constexpr Id kInputs = 4;  ///< Values 0 to 3, in slots of their own behind the ring.

enum class Sync : std::uint8_t { kEvent, kAfter, kRecord, kTimeline, kCounting };

struct Read {
  Id value;
  bool view;
};

struct Edge {
  Sync sync;
  Id source;  ///< The op waited for.
};

struct Command {
  enum class Kind : std::uint8_t { kOp, kRecord, kWait, kConflict };
  Kind kind = Kind::kOp;
  Id queue = 0;
  Id value = 0;           ///< Written; for kConflict the number of the pair, for kWait the record.
  char half = 0;          ///< 'l' or 'r': only those columns.
  bool in_place = false;  ///< Takes the slot of reads[0].
  bool signals_event = false;
  bool signals_timeline = false;
  bool counts = false;        ///< Signals the counting semaphore of its queue.
  std::int64_t count = 0;     ///< Which of those signals it is, from 1.
  std::int64_t position = 0;  ///< In its queue.
  std::vector<Read> reads = {};
  std::vector<Edge> edges = {};
};

struct Value {
  Id slot = 0;
  bool input = false;
  bool strided = false;
  bool has_view = false;
  bool alive = true;               ///< Not overwritten.
  std::vector<Id> accessors = {};  ///< Ops that write it, then ops that read it. None of an input.

  std::size_t writers() const { return input ? 0 : strided ? 2 : 1; }
};

struct Program {
  GeneratorOptions options;
  std::vector<Command> commands;
  std::vector<Value> values;
  std::vector<std::int64_t> length;  ///< Commands of each queue.
  std::vector<std::int64_t> counts;  ///< Signals of each queue's counting semaphore.
  std::int64_t races = 0;
};

inline std::size_t at(Id id) { return static_cast<std::size_t>(id); }

inline std::string_view order_of(const GeneratorOptions& options, Id queue) {
  if (options.order != "mixed") return options.order;
  constexpr std::string_view kOrders[] = {"serial", "issue", "none"};
  return kOrders[queue % 3];
}

/// The program as the text of a plan.
std::string plan_text(const Program& program);

}  // namespace memverify::bench
