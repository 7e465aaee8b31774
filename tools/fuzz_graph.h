// tools/fuzz_graph.h -- makes graphs that are safe as long as their tensors lie apart.
//
// Problem: a graph in which anything may happen is unsafe wherever its tensors lie, and says
// nothing
//   of a planner.
// Idea: ops say what they touch, and each comes after the earlier ones of the same bytes that it
//   conflicts with, by a way to wait that is drawn; what is already ordered gets no sync. With
//   iterations, the first of two comes after the last one of the iterations before, too. So all
//   that a planner can do wrong is to let *different* tensors meet.
// Cost: ops² in words of 64 bits; a graph has at most 64 ops that touch bytes.
// Tested by tests/unit/tools/fuzz_graph_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "plan/builder.h"
#include "tools/draw.h"
#include "tools/fuzz_features.h"

namespace memverify {

/// A tensor of a graph in the making: rows of elements, or some of those of another tensor.
using Made = std::size_t;
/// Its access in an iteration before this one.
struct Earlier {
  Made tensor;
  std::int64_t distance;
};

class GraphMaker {
 public:
  static constexpr std::size_t kMostOps = 64;

  GraphMaker(std::uint64_t seed, const Wish& wish);

  Draw& draw() { return draw_; }
  const Wish& wish() const { return wish_; }
  bool has_loop() const { return iterations_ > 1; }
  bool is_full() const { return done_.size() + 12 > kMostOps; }

  /// A queue, more often than not one with the order that is wished for.
  std::size_t some_queue();
  std::size_t new_queue(QueueOrder order);

  /// A new root of `rows` x `columns` elements, of a drawn type.
  Made root(std::int64_t rows, std::int64_t columns, std::int64_t slots = 1);
  /// Of drawn size, or of that of another tensor.
  Made root();
  Made root_like(Made other);
  /// Rows [first, first + rows) of a tensor without strides.
  Made rows_of(Made base, std::int64_t first, std::int64_t rows);
  /// The same elements in another shape.
  Made reshaped(Made base);
  /// Columns [first, first + columns), with the strides of the base.
  Made columns_of(Made base, std::int64_t first, std::int64_t columns);
  Made transposed(Made base);
  std::int64_t rows(Made tensor) const { return tensors_[tensor].rows; }
  std::int64_t columns(Made tensor) const { return tensors_[tensor].columns; }

  void input(Made tensor, bool is_donated);
  void constant(Made tensor);
  void output(Made tensor);

  struct Does {
    std::string_view label;
    std::vector<Made> reads = {};
    std::vector<Made> writes = {};
    std::vector<Made> accumulates = {};
    std::vector<Earlier> earlier = {};  ///< Reads.
    std::vector<std::pair<Made, Made>> in_place = {};
    int condition = -1;     ///< Runs only under this one, ...
    bool value = true;      ///< ... with this value.
    bool in_parts = false;  ///< Reads by halves.
  };
  /// Adds an op on that queue, with the syncs that it needs before it.
  void op(std::size_t queue, const Does& does);
  void op(const Does& does) { op(some_queue(), does); }
  int new_condition();
  /// Makes the next iteration of `later` take a credit that `earlier` gives back.
  Plan build();

 private:
  struct Shape {
    std::size_t spec = 0;  ///< In tensor_specs_.
    Made root = 0;
    std::int64_t rows = 0, columns = 0, element = 4;
    std::int64_t row_bytes = 0;       ///< From a row to the next.
    std::int64_t begin = 0, end = 0;  ///< Bytes of the root that hold it.
    std::int64_t slots = 1;
    bool is_strided = false;
  };
  struct Use {
    std::size_t op;  ///< In done_.
    Made tensor;
    AccessKind kind;
    std::int64_t distance;
  };
  struct Done {
    std::size_t spec;  ///< In ops_.
    std::size_t queue;
    std::uint64_t before = 0;  ///< The ops that have completed when it starts.
    int condition = -1;
    bool value = true;
  };

  std::string_view fresh(std::string_view stem);
  Made add_view(Made base, Shape shape, std::int64_t offset);
  bool is_in_order(std::size_t queue) const;
  /// What has completed before `later` where `earlier` has.
  std::uint64_t known_from(std::size_t earlier, const Done& later) const;
  bool conflict(const Use& a, const Use& b) const;
  void join(std::size_t earlier, const Done& later, OpSpec& spec);
  SyncWay way_to_join(std::size_t earlier, const Done& later);
  void join_by_count(OpSpec& before, OpSpec& spec, SyncWay way);
  void join_by_command(std::size_t earlier, const Done& later, OpSpec& spec, SyncWay way);
  void join_iterations();
  void join_back(const Use& first, const Use& last, std::int64_t distance);
  std::int64_t submitted_since(std::size_t op) const;
  std::uint64_t before_start(const Done& op) const;

  Draw draw_;
  Wish wish_;
  std::deque<std::string> names_;
  std::vector<std::uint32_t> name_counts_;
  std::int64_t iterations_ = 1;
  std::int64_t alignment_ = 1;
  std::vector<QueueSpec> queues_;
  std::vector<SemaphoreSpec> semaphores_;
  std::vector<TensorSpec> tensor_specs_;
  std::vector<std::string_view> conditions_;
  std::vector<OpSpec> ops_;
  std::vector<std::string_view> inputs_, constants_, donated_, outputs_;
  std::vector<Shape> tensors_;
  std::vector<std::vector<Use>> uses_;  ///< By root.
  std::vector<Done> done_;
};

}  // namespace memverify
