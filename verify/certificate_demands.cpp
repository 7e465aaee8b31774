#include "verify/certificate_demands.h"

#include <future>

#include "plan/beside.h"
#include "verify/certificate_groups.h"
#include "verify/certificate_lifetimes.h"
#include "verify/certificate_touches.h"
#include "verify/certificate_versions.h"

namespace memverify::cert {

Demands find_demands(const Model& model, std::span<const Node> run) {
  Demands demands;
  Touches touches(model);
  const Lifetimes lifetimes(touches, demands);
  auto found = std::async(beside(touches.size()), [&] {
    Versions versions(touches, lifetimes, demands);
    versions.expect();
    versions.find(run);
  });
  Groups(touches, demands).go(run);
  found.get();
  demands.pairs += static_cast<std::int64_t>(demands.orders.size());
  return demands;
}

}  // namespace memverify::cert
