#include "plan/plan.h"

#include <cstdlib>

namespace memverify {

bool admits(const Symbol& symbol, std::int64_t value) {
  return value >= symbol.min && (!symbol.max || value <= *symbol.max) &&
         value % symbol.multiple_of == 0;
}

const OpDetails Plan::kNothing;

OpDetails& Plan::add_details(Op& op) {
  if (op.details == Op::kNoDetails) {
    op.details = static_cast<std::uint32_t>(details.size());
    details.emplace_back();
  }
  return details[op.details];
}

Duration duration_of(const Plan& plan, const Op& op) {
  const std::uint32_t own = plan.details_of(op).duration;
  if (own != OpDetails::kAbsent) return plan.durations[own];
  const bool works = op.kind == OpKind::kOp || op.kind == OpKind::kUnknown;
  return works ? Duration{1, 1} : Duration{0, 0};
}

std::string_view name(OpKind kind) {
  switch (kind) {
    case OpKind::kOp:
      return "op";
    case OpKind::kView:
      return "view";
    case OpKind::kRecord:
      return "record";
    case OpKind::kWait:
      return "wait";
    case OpKind::kBarrier:
      return "barrier";
    case OpKind::kHostWait:
      return "host_wait";
    case OpKind::kAlloc:
      return "alloc";
    case OpKind::kFree:
      return "free";
    case OpKind::kUnknown:
      return "unknown";
  }
  std::abort();
}

std::int64_t least_value(const Symbol& symbol) {
  const std::int64_t rest = symbol.min % symbol.multiple_of;
  const std::int64_t up = rest > 0 ? symbol.multiple_of - rest : -rest;
  std::int64_t least = 0;
  return __builtin_add_overflow(symbol.min, up, &least) ? symbol.min : least;
}

std::string_view name(QueueOrder order) {
  switch (order) {
    case QueueOrder::kSerial:
      return "serial";
    case QueueOrder::kIssue:
      return "issue";
    case QueueOrder::kNone:
      return "none";
    case QueueOrder::kHost:
      return "host";
  }
  std::abort();
}

std::string_view name(AccessKind kind) {
  switch (kind) {
    case AccessKind::kRead:
      return "read";
    case AccessKind::kWrite:
      return "write";
    case AccessKind::kAccumulate:
      return "accumulate";
    case AccessKind::kClobber:
      return "clobber";
  }
  std::abort();
}

}  // namespace memverify
