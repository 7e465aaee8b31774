#include "verify/passes.h"

#include <utility>

#include "plan/beside.h"

namespace memverify {

Passes::Passes(const Program& program, std::uint64_t gather_from)
    : program_(program), policy_(beside(program.instances.size())) {
  listed_ = std::async(policy_, [this, gather_from] {
    footprints_ = Footprints::gather(program_, kMaxRuns, gather_from);
  });
}

const Walk& Passes::start_reads(Walk walk, bool keep_expected) {
  walk_ = std::move(walk);
  keep_expected_ = keep_expected;
  read_ = std::async(policy_, [this, listed = listed_] {
    listed.get();
    if (footprints_) reads_.emplace(program_, walk_, *footprints_, keep_expected_);
  });
  return walk_;
}

bool Passes::finish(const Order& order) {
  listed_.get();
  if (footprints_) swept_ = sweep(walk_, order, *footprints_);
  read_.get();
  if (footprints_ && footprints_->gathered() && sees_fault()) {
    // Which bytes those are: byte by byte.
    reads_.reset();
    footprints_ = Footprints::make(program_, kMaxRuns);
    if (footprints_) {
      swept_ = sweep(walk_, order, *footprints_);
      reads_.emplace(program_, walk_, *footprints_, keep_expected_);
    }
  }
  if (footprints_) leave_out_unknowns(*footprints_, *reads_, *swept_);
  return footprints_.has_value();
}

bool Passes::sees_fault() const {
  return swept_->has_race || !swept_->unknowns.empty() || !reads_->suspects.empty() ||
         !reads_->amiss.empty();
}

}  // namespace memverify
