// plan/builder_feed.h -- specs on their way from the reader to a PlanBuilder.
//
// Problem: reading a large plan is half scanning of text and half work of the builder.
// Idea: the reader fills batches of specs, and another thread hands them to the builder, in the
//   order of the text. Emptied batches come back, so that the memory of their lists is used again.
// Cost: a few batches of kBatch specs; a thread, if there is one.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#include "plan/builder.h"

namespace memverify {

class BuilderFeed {
 public:
  /// `threaded`: the builder works beside the reader; until `builder()` nobody else may use it.
  explicit BuilderFeed(PlanBuilder& builder, bool threaded = false);
  ~BuilderFeed();
  BuilderFeed(const BuilderFeed&) = delete;
  BuilderFeed& operator=(const BuilderFeed&) = delete;

  /// The spec to fill next, with what an earlier one of its kind left in it.
  template <typename Spec>
  Spec& next() {
    AnySpec& spec = open_->specs[open_->count];
    if (!std::holds_alternative<Spec>(spec)) spec.emplace<Spec>();
    return std::get<Spec>(spec);
  }
  /// The spec that `next` gave is complete.
  void add() {
    if (++open_->count == kBatch) flush();
  }
  /// A copy that lives until `end_item`, and while specs that were added before it wait.
  std::string_view keep(std::string_view text) { return open_->kept.emplace_back(text); }
  void end_item() {
    if (open_->count == 0 && !open_->kept.empty()) open_->kept.clear();
  }
  /// Specs of another section follow, or none.
  void end_section() {
    if (open_->count != 0) flush();
  }
  /// The builder, with everything that was added. Throws what it threw.
  PlanBuilder& builder();

 private:
  static constexpr std::size_t kBatch = 128;
  using AnySpec = std::variant<StorageSpec, TensorSpec, OpSpec>;
  struct Batch {
    std::vector<AnySpec> specs;
    std::size_t count = 0;         ///< Of them, complete.
    std::deque<std::string> kept;  ///< Strings that they refer to.
  };

  void flush();
  void hand_on(Batch& batch);
  void work();

  PlanBuilder& builder_;
  std::array<Batch, 8> batches_;
  Batch* open_ = nullptr;  ///< Is being filled.

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Batch*> full_;  ///< The first is being handed on.
  std::vector<Batch*> free_;
  bool closed_ = false;
  std::exception_ptr failure_;  ///< Of the builder. Guarded by `full_` being empty.
  std::thread worker_;
};

}  // namespace memverify
