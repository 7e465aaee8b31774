// plan/faults_impl.h -- private to faults*.cpp: what the searches share.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "plan/faults.h"
#include "plan/sweep.h"

namespace memverify {

/// What exactly is wrong; decides the words.
enum class FaultKind : std::uint8_t {
  kReadWrite,     ///< MV107: tensors are the one read and the one written.
  kInPlaceOrder,  ///< The same, and an in-place pair of the two does not hold.
  kTwoWrites,     ///< MV107: tensors are both written.
  kSelfOverlap,   ///< MV107
  kPartOutside,   ///< MV108; numbers: begin and end of the part, end of the tensor, from element 0.
  kClobberOutside,  ///< MV108; numbers: begin and end of the bytes, capacity of the pool.
  kStorageLeft,     ///< MV108 of an access; numbers: begin and end in the storage, bytes of it.
  kPoolLeft,        ///< MV108 of an access; numbers: begin and end in the pool, its capacity.
  kNegative,        ///< MV108 of an access or a storage; numbers: the address.
  kViewOutside,     ///< MV108; numbers: begin and end in the storage, those of the root.
  kMisaligned,      ///< MV109; numbers: the address, the alignment.
  kCapacity,        ///< MV110; numbers: end of the storage, capacity.
  kPeak,            ///< MV110; numbers: highest end, claim.
  kPeakAbove,       ///< MV301; numbers: highest end, claim.
  kIncoherent,      ///< MV113
  kOwnWrite,        ///< MV106: ops[0] writes the bytes of tensors[0] through its own family.
  kSharedWritten,   ///< MV106: tensors[0] and [1] share bytes and one of them may be written.
  kShared,          ///< MV301
  kAllocated,       ///< MV112
};

struct Fault {
  FaultKind kind = FaultKind::kReadWrite;
  Finding finding;  ///< Without its words.
  std::array<std::int64_t, 4> numbers = {};
};

/// Fills `message` and `help` of the finding, found under the symbols of `layout`.
void tell_fault(const Plan& plan, const Layout& layout, Fault& fault);

/// What every search looks at and adds to.
struct FaultSearch {
  const Plan& plan;
  const Layout& layout;
  std::vector<Fault> faults;
  std::vector<bool> negative_named;  ///< By storage: an access at a negative address was reported.

  /// A fault of `kind` for the caller to fill.
  Finding& add(FaultKind kind, Rule rule, std::array<std::int64_t, 4> numbers = {}) {
    Fault& fault = faults.emplace_back();
    fault.kind = kind;
    fault.numbers = numbers;
    fault.finding.rule = rule;
    return fault.finding;
  }
};

/// Adds `tensor` with its storage to the finding.
void add_tensor(const Plan& plan, TensorId tensor, Finding& finding);
/// `begin + bytes`, at most the largest number; for bytes >= 0.
std::int64_t end_of(std::int64_t begin, std::int64_t bytes);

/// True iff the op writes the access: everything but a read.
inline bool writes(const Access& access) { return access.kind != AccessKind::kRead; }

/// The first iteration in which the op is not dropped by `runs`; 0 for a last op without a last
/// one.
inline std::int64_t first_iteration(const Plan& plan, const Op& op) {
  return op.runs == Runs::kLast && plan.iterations ? *plan.iterations - 1 : 0;
}

// The searches, each over the whole plan.
void find_op_faults(FaultSearch& search);         ///< MV107, MV113, MV108 of accesses.
void find_placement_faults(FaultSearch& search);  ///< MV108 of views, MV109, MV110. After the ops.
void find_boundary_faults(FaultSearch& search);   ///< MV106, MV112, MV301 of inputs and constants.

}  // namespace memverify
