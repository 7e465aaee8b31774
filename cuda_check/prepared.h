// cuda_check/prepared.h -- one case of a plan, lowered, with its device. Private to check.cpp and
// check_witness.cpp.
#pragma once

#include <memory>

#include "cuda_check/blame.h"
#include "cuda_check/check.h"
#include "cuda_check/settled.h"

namespace memverify::device {

/// Everything a job refers to; does not move.
struct Prepared {
  Prepared(const Plan& plan, Settled settled_case, Layout where)
      : settled(std::move(settled_case)),
        layout(std::move(where)),
        job{plan, layout, calls, work} {}
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  Settled settled;
  Layout layout;
  Calls calls;
  Work work;
  std::int64_t unscaled_bytes = 0;
  Job job;
  std::unique_ptr<Blame> blame;
  std::unique_ptr<Device> device;
};

/// Without a device.
Result<std::unique_ptr<Prepared>> prepare(const Plan& plan, const Settled& settled,
                                          const CheckOptions& options);

/// Takes over what the run `number` showed.
void add_report(Prepared& prepared, const RunReport& report, std::uint64_t number,
                CheckResult& result);

/// What is the same for all runs.
void describe_case(const Prepared& prepared, CheckResult& result);

void sort_shown(CheckResult& result);

}  // namespace memverify::device
