// Explanations and example plans of what a run can show. Tests verify that each failing plan has
// exactly its finding and that each mended one has none.
#include <array>

#include "tools/explain_tables.h"

namespace memverify {

std::span<const ExplainText> explain_texts_of_runs() {
  static constexpr std::array<ExplainText, 8> kTexts = {{
      {Rule::kWar,
       "Bytes are given to a new value while an earlier op may still read the old one: in "
       "program order the reader comes first, but nothing makes the writer wait for the "
       "reader to complete (write after read).",
       "The reader gets a mix of old and new bytes, only when the timing is unlucky. Typical "
       "causes: the last reader goes through a view and the planner counted only direct "
       "uses; the reader runs on another queue than the one the memory was given back on; an "
       "event is recorded before the reader instead of after it.",
       "Make the writer wait for the reader: record an event after the reader and wait for "
       "it before the writer, or name the reader in \"after\". Or give the new value other "
       "bytes.",
       R"json({
  "memverify": 1,
  "pools": [{"id": "hbm"}],
  "queues": [{"id": "compute"}, {"id": "dma"}],
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
    {"id": "use_x", "queue": "compute", "reads": ["x"]},
    {"id": "load_y", "queue": "dma", "writes": ["y"], "after": ["make_x"]}
  ]
}
)json",
       R"json("after": ["make_x"])json", R"json("after": ["use_x"])json"},
      {Rule::kRaw,
       "An op may read bytes before the op that writes them, earlier in program order, has "
       "completed (read after write).",
       "The reader gets bytes from before. On one queue the program order protects you; "
       "across queues, and on queues that only start their commands in order, nothing does "
       "unless the plan says so.",
       "Make the reader wait for the writer: record an event after the writer and wait for "
       "it in the reader, or name the writer in \"after\".",
       R"json({
  "memverify": 1,
  "pools": [{"id": "hbm"}],
  "queues": [{"id": "compute"}, {"id": "dma"}],
  "storages": [
    {"id": "s", "pool": "hbm", "offset": 0, "bytes": 64}
  ],
  "tensors": [
    {"id": "x", "storage": "s", "offset": 0, "bytes": 64}
  ],
  "ops": [
    {"id": "make_x", "queue": "compute", "writes": ["x"]},
    {"id": "send_x", "queue": "dma", "reads": ["x"]}
  ]
}
)json",
       R"json("reads": ["x"]})json", R"json("reads": ["x"], "after": ["make_x"]})json"},
      {Rule::kWaw,
       "Two ops write the same bytes and nothing orders them (write after write). "
       "Accumulates and clobbers count as writes; accumulates with the same operator and "
       "type do not clash with each other.",
       "Which value stays is a matter of luck, and whoever reads later may get either, or a "
       "mix.",
       "Order the two writers, by an event or \"after\", or give one of them other bytes.",
       R"json({
  "memverify": 1,
  "pools": [{"id": "hbm"}],
  "queues": [{"id": "compute"}, {"id": "dma"}],
  "storages": [
    {"id": "s", "pool": "hbm", "offset": 0, "bytes": 64}
  ],
  "tensors": [
    {"id": "x", "storage": "s", "offset": 0, "bytes": 64}
  ],
  "ops": [
    {"id": "clear_x", "queue": "compute", "writes": ["x"]},
    {"id": "load_x", "queue": "dma", "writes": ["x"]}
  ]
}
)json",
       R"json("writes": ["x"]}
)json",
       R"json("writes": ["x"], "after": ["clear_x"]}
)json"},
      {Rule::kWrongVersion,
       "Everything is ordered, and the order is wrong: a read finds bytes last written by "
       "another op than the one whose value it means. The value meant is that of the last op "
       "before the reader, in program order, that wrote those bytes of the same tensor or of "
       "a view of it.",
       "The result is wrong on every run under the values of conditions and symbols that the "
       "finding "
       "names, not only on unlucky ones. Typical causes: a value "
       "that is still needed was given away; two storages overlap that the planner took for "
       "disjoint; a writer that should have run first runs later.",
       "Move the value that overwrites to other bytes, or to a place in the order after the "
       "last reader. If the read means another version, say so with \"from\".",
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
    {"id": "load_y", "queue": "compute", "writes": ["y"]},
    {"id": "use_x", "queue": "compute", "reads": ["x"]}
  ]
}
)json",
       R"json("id": "t", "pool": "hbm", "offset": 0)json",
       R"json("id": "t", "pool": "hbm", "offset": 64)json"},
      {Rule::kUnwritten,
       "An op reads bytes that no earlier op wrote through the same tensor or a view of it, "
       "and that are no input or constant either. What other tensors wrote to the same "
       "addresses does not count.",
       "The reader gets whatever lay there. Typical causes: a view with the wrong offset, a "
       "first iteration without the op that prepares it, a tensor that should be an input.",
       "Write the bytes first, correct the view, or list the tensor in \"inputs\" or "
       "\"constants\".",
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
    {"id": "use_x", "queue": "compute", "reads": ["x"]}
  ],
  "inputs": []
}
)json",
       R"json("inputs": [])json", R"json("inputs": ["x"])json"},
      {Rule::kDeadlock,
       "A run exists that gets stuck: some command can never start, because it waits for "
       "something that will not come any more, or for something that waits for it in turn.",
       "The program hangs, perhaps only under some timing or for some values of the "
       "conditions.",
       "Signal the semaphore as often as it is waited for, in every branch; or break the "
       "cycle of waits.",
       R"json({
  "memverify": 1,
  "pools": [{"id": "hbm"}],
  "queues": [{"id": "compute"}, {"id": "dma"}],
  "semaphores": [{"id": "ready"}],
  "storages": [
    {"id": "s", "pool": "hbm", "offset": 0, "bytes": 64}
  ],
  "tensors": [
    {"id": "x", "storage": "s", "offset": 0, "bytes": 64}
  ],
  "ops": [
    {"id": "make_x", "queue": "compute", "writes": ["x"], "signals": [{"semaphore": "ready"}]},
    {"id": "use_x", "queue": "dma", "reads": ["x"], "waits": [{"semaphore": "ready", "value": 2}]}
  ]
}
)json",
       R"json("value": 2)json", R"json("value": 1)json"},
      {Rule::kLifetime,
       "A storage that the plan allocates and frees is accessed while it may not be allocated, "
       "or is allocated or freed twice. An access must come after its alloc completes, and "
       "complete before the next free starts; outputs, and inputs and constants that are "
       "kept, are accessed at the very end.",
       "Use after free: the allocator may have given the memory to somebody else.",
       "Free after the last access, and make the free wait for it if it is on another queue.",
       R"json({
  "memverify": 1,
  "pools": [{"id": "hbm"}],
  "queues": [{"id": "compute"}, {"id": "dma"}],
  "storages": [
    {"id": "s", "pool": "hbm", "offset": 0, "bytes": 64}
  ],
  "tensors": [
    {"id": "x", "storage": "s", "offset": 0, "bytes": 64}
  ],
  "ops": [
    {"id": "alloc_s", "kind": "alloc", "queue": "compute", "storage": "s"},
    {"id": "make_x", "queue": "compute", "writes": ["x"]},
    {"id": "use_x", "queue": "dma", "reads": ["x"], "after": ["make_x"]},
    {"id": "free_s", "kind": "free", "queue": "compute", "storage": "s"}
  ]
}
)json",
       R"json("kind": "free", "queue": "compute", "storage": "s"})json",
       R"json("kind": "free", "queue": "compute", "storage": "s", "after": ["use_x"]})json"},
      {Rule::kNotProven,
       "Neither safe nor shown unsafe: the plan has an op whose effects are not modelled, or "
       "uses something that this engine does not decide exactly, or a limit was reached. The "
       "message says which.",
       "Nothing is wrong as far as is known, and nothing is proven. memverify never guesses.",
       "List what the unknown op reads and writes and give it the kind \"op\"; or simplify or "
       "bound what the message names.",
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
    {"id": "call", "kind": "unknown", "queue": "compute"},
    {"id": "use_x", "queue": "compute", "reads": ["x"]}
  ]
}
)json",
       R"json("kind": "unknown", "queue": "compute")json",
       R"json("queue": "compute", "reads": ["x"])json"},
  }};
  return kTexts;
}

}  // namespace memverify
