// tests/bench/plan_generator.h -- synthetic plans of any size that are safe by construction.
//
// A ring of equal slots of one pool, and four inputs beside it. Each op reads a few recent values
// and writes a new one into the next slot of the ring. For every slot it takes, the op waits for
// the writers and readers of the value that lies there; for every value it reads, for its writers.
// These direct edges are left out only where two serial queues have an earlier edge that implies
// them, so the plan is safe whatever the orders of its queues are. Each conflict is one pair of
// writers of fresh bytes with nothing between them.
//
// Deterministic: equal options give equal text on every machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace memverify::bench {

struct GeneratorOptions {
  std::int64_t ops = 1000;       ///< Commands that touch memory, or a few more; >= 1.
  std::int64_t queues = 16;      ///< >= 1; >= 2 with conflicts.
  std::string order = "serial";  ///< Of the queues: "serial", "issue", "none" or "mixed".
  std::string sync =
      "events";              ///< "events", "after", "records", "timeline", "counting" or "mixed".
                             ///< Semaphores serve serial queues; others use events there.
  std::int64_t slots = 256;  ///< Of the ring; >= 8.
  std::int64_t iterations = 1;  ///< With more than one a barrier ends each.
  int reads = 2;                ///< Values read by an op, at most; >= 1.
  int views = 10;               ///< Percent of the reads that go through a view of half the value.
  int strided = 0;              ///< Percent of values that two ops write as interleaved columns.
  int in_place = 0;             ///< Percent of ops that take the slot of a value they read.
  int conflicts = 0;            ///< Percent of ops followed by a racing pair (MV103).
  bool placed = true;           ///< Else a graph: tensors of several sizes, without storages.
  std::uint64_t seed = 1;
};

struct GeneratedPlan {
  std::string json;
  std::int64_t ops = 0;    ///< Entries of `ops`.
  std::int64_t races = 0;  ///< Racing pairs, all of them MV103; 0: the plan is safe.
};

/// Why the options make no sense, "" if they do.
std::string problem_with(const GeneratorOptions& options);

/// A plan for options without a problem. Linear in the ops: about 200 bytes and a microsecond each.
GeneratedPlan generate_plan(const GeneratorOptions& options);

}  // namespace memverify::bench
