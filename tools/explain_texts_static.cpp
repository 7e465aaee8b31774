// Explanations and example plans of what the plan alone shows. Tests verify that each failing plan
// has exactly its finding and that each mended one has none.
#include <array>

#include "tools/explain_tables.h"

namespace memverify {

std::span<const ExplainText> explain_texts_of_plans() {
  static constexpr std::array<ExplainText, 7> kTexts = {{
      {Rule::kBoundary,
       "What the plan promises to the world outside is broken: an input that is not donated, "
       "or a constant, does not hold its value at the end, or an output does not hold the "
       "value last written to it.",
       "The caller finds a parameter changed after the first call, or a result overwritten "
       "by something that reused its bytes.",
       "Give the value bytes that nothing else writes. An input that may be overwritten "
       "belongs in \"donated\".",
       R"json({
  "memverify": 1,
  "pools": [{"id": "hbm"}],
  "queues": [{"id": "compute"}],
  "storages": [
    {"id": "s", "pool": "hbm", "offset": 0, "bytes": 64},
    {"id": "t", "pool": "hbm", "offset": 0, "bytes": 64}
  ],
  "tensors": [
    {"id": "x", "storage": "s", "offset": 0, "bytes": 64},
    {"id": "y", "storage": "t", "offset": 0, "bytes": 64}
  ],
  "ops": [
    {"id": "make_y", "queue": "compute", "writes": ["y"]}
  ],
  "constants": ["x"]
}
)json",
       R"json("id": "t", "pool": "hbm", "offset": 0)json",
       R"json("id": "t", "pool": "hbm", "offset": 64)json"},
      {Rule::kInPlace,
       "One op reads and writes the same bytes although it does not say that it can, or "
       "writes a byte twice. Allowed are the same tensor read and written whole, and pairs "
       "declared in \"in_place\" whose elements lie at the same addresses in the same order, "
       "or any overlap with [read, written, \"any\"].",
       "Most kernels read their operands in tiles while they write: an element may be "
       "overwritten before it is read. A transpose in place is the classic.",
       "Give the result other bytes. If the kernel really works in place, declare the pair.",
       R"json({
  "memverify": 1,
  "pools": [{"id": "hbm"}],
  "queues": [{"id": "compute"}],
  "storages": [
    {"id": "s", "pool": "hbm", "offset": 0, "bytes": 64},
    {"id": "t", "pool": "hbm", "offset": 0, "bytes": 64}
  ],
  "tensors": [
    {"id": "x", "storage": "s", "offset": 0, "bytes": 64},
    {"id": "y", "storage": "t", "offset": 0, "bytes": 64}
  ],
  "ops": [
    {"id": "make_x", "queue": "compute", "writes": ["x"]},
    {"id": "relu", "queue": "compute", "reads": ["x"], "writes": ["y"]}
  ]
}
)json",
       R"json("writes": ["y"]})json", R"json("writes": ["y"], "in_place": [["x", "y"]]})json"},
      {Rule::kOutOfBounds,
       "Something reaches outside of what holds it: a part outside its tensor, a view "
       "outside its base, an access through a tensor that leaves its storage, or a negative "
       "address.",
       "The access touches its neighbour's bytes. Typical causes: an offset in elements "
       "where bytes are meant, a size computed for another type, a bound taken for the size.",
       "Correct the offset, the shape or the strides; or make the holder larger.",
       R"json({
  "memverify": 1,
  "pools": [{"id": "hbm"}],
  "queues": [{"id": "compute"}],
  "storages": [
    {"id": "s", "pool": "hbm", "offset": 0, "bytes": 64}
  ],
  "tensors": [
    {"id": "x", "storage": "s", "offset": 0, "bytes": 64}
  ],
  "ops": [
    {"id": "make_x", "queue": "compute", "writes": ["x"]},
    {"id": "use_tail", "queue": "compute", "reads": [{"tensor": "x", "offset": 48, "bytes": 32}]}
  ]
}
)json",
       R"json("bytes": 32)json", R"json("bytes": 16)json"},
      {Rule::kMisaligned,
       "A storage or tensor does not start at a multiple of its pool's alignment, or of its "
       "own.",
       "The device faults, or silently takes a slow path.",
       "Move it to a multiple of the alignment.",
       R"json({
  "memverify": 1,
  "pools": [{"id": "hbm", "alignment": 256}],
  "queues": [{"id": "compute"}],
  "storages": [
    {"id": "s", "pool": "hbm", "offset": 100, "bytes": 64}
  ],
  "tensors": [
    {"id": "x", "storage": "s", "offset": 0, "bytes": 64}
  ],
  "ops": [
    {"id": "make_x", "queue": "compute", "writes": ["x"]}
  ]
}
)json",
       R"json("offset": 100)json", R"json("offset": 256)json"},
      {Rule::kCapacity,
       "A storage ends past the end of its pool, or the plan uses more bytes of the pool (up "
       "to the highest end of a storage) than \"peak_bytes\" claims.",
       "The allocation fails at run time, or a neighbour's memory is overwritten.",
       "Place the storages lower, reuse more, or make the pool as large as it really is. "
       "Correct the claim if it is wrong.",
       R"json({
  "memverify": 1,
  "pools": [{"id": "hbm", "bytes": 48}],
  "queues": [{"id": "compute"}],
  "storages": [
    {"id": "s", "pool": "hbm", "offset": 0, "bytes": 64}
  ],
  "tensors": [
    {"id": "x", "storage": "s", "offset": 0, "bytes": 32}
  ],
  "ops": [
    {"id": "make_x", "queue": "compute", "writes": ["x"]}
  ]
}
)json",
       R"json("bytes": 48)json", R"json("bytes": 4096)json"},
      {Rule::kIncoherent,
       "An op of kind \"view\" says that its results alias its operands, but the tensors do "
       "not: they are not all views of one root.",
       "The plan contradicts itself. Whoever made it thinks no bytes move here, yet the "
       "result lies elsewhere and nobody writes it.",
       "State the alias with \"view_of\", or make the op one that copies.",
       R"json({
  "memverify": 1,
  "pools": [{"id": "hbm"}],
  "queues": [{"id": "compute"}],
  "storages": [
    {"id": "s", "pool": "hbm", "offset": 0, "bytes": 64}
  ],
  "tensors": [
    {"id": "x", "storage": "s", "offset": 0, "bytes": 64},
    {"id": "y", "storage": "s", "offset": 0, "bytes": 64}
  ],
  "ops": [
    {"id": "make_x", "queue": "compute", "writes": ["x"]},
    {"id": "reshape", "kind": "view", "reads": ["x"], "writes": ["y"]}
  ]
}
)json",
       R"json("id": "y", "storage": "s")json", R"json("id": "y", "view_of": "x")json"},
      {Rule::kWarning,
       "Nothing is wrong, but something is probably not meant: a wait for an event that nothing "
       "records before it, a recorded event that nothing waits for, inputs that share bytes, a "
       "claimed peak above the real one. memverify audit finds the other syncs that do nothing.",
       "A wait without effect often means that the event has another name where it is "
       "recorded, or that it is recorded later in program order.",
       "Remove what has no effect, or connect it to what it was meant for. Warnings leave "
       "the verdict safe.",
       R"json({
  "memverify": 1,
  "pools": [{"id": "hbm"}],
  "queues": [{"id": "compute"}],
  "storages": [
    {"id": "s", "pool": "hbm", "offset": 0, "bytes": 64}
  ],
  "tensors": [
    {"id": "x", "storage": "s", "offset": 0, "bytes": 64}
  ],
  "ops": [
    {"id": "wait_ready", "kind": "wait", "queue": "compute", "event": "ready"},
    {"id": "make_x", "queue": "compute", "writes": ["x"]}
  ]
}
)json",
       R"json(    {"id": "wait_ready", "kind": "wait", "queue": "compute", "event": "ready"},
)json",
       R"json()json"},
  }};
  return kTexts;
}

}  // namespace memverify
