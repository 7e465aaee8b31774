#include "plan/builder_feed.h"

#include <system_error>
#include <utility>

namespace memverify {

BuilderFeed::BuilderFeed(PlanBuilder& builder, bool threaded) : builder_(builder) {
  for (Batch& batch : batches_) free_.push_back(&batch);
  open_ = free_.back();
  free_.pop_back();
  open_->specs.resize(kBatch);
  if (!threaded) return;
  try {
    worker_ = std::thread([this] { work(); });
  } catch (const std::system_error&) {
    // No thread to be had: the reader's own does it.
  }
}

BuilderFeed::~BuilderFeed() {
  if (!worker_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
  worker_.join();
}

PlanBuilder& BuilderFeed::builder() {
  end_section();
  if (worker_.joinable()) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return full_.empty(); });
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }
  return builder_;
}

void BuilderFeed::flush() {
  if (!worker_.joinable()) {
    hand_on(*open_);
  } else {
    std::unique_lock lock(mutex_);
    full_.push_back(open_);
    changed_.notify_all();
    changed_.wait(lock, [this] { return !free_.empty(); });
    open_ = free_.back();
    free_.pop_back();
  }
  open_->specs.resize(kBatch);
  open_->count = 0;
  open_->kept.clear();
}

void BuilderFeed::hand_on(Batch& batch) {
  for (std::size_t k = 0; k < batch.count; ++k) {
    const AnySpec& spec = batch.specs[k];
    if (const auto* op = std::get_if<OpSpec>(&spec)) {
      builder_.add_op(*op);
    } else if (const auto* tensor = std::get_if<TensorSpec>(&spec)) {
      builder_.add_tensor(*tensor);
    } else {
      builder_.add_storage(std::get<StorageSpec>(spec));
    }
  }
}

void BuilderFeed::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return closed_ || !full_.empty(); });
    if (closed_) return;
    Batch* const batch = full_.front();
    lock.unlock();
    try {
      if (!failure_) hand_on(*batch);
    } catch (...) {
      failure_ = std::current_exception();
    }
    lock.lock();
    full_.pop_front();
    free_.push_back(batch);
    // A reader that waits has filled all; to wake it for each that is emptied costs more.
    if (full_.empty() || free_.size() == batches_.size() / 2) changed_.notify_all();
  }
}

}  // namespace memverify
