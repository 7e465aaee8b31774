// Deadlocks in words: the circle of waits, or the wait for what cannot come (MV111).
#include <algorithm>
#include <string>
#include <vector>

#include "plan/describe.h"
#include "plan/stuck.h"
#include "plan/tell.h"
#include "plan/words.h"

namespace memverify {
namespace {

constexpr std::size_t kMostLinks = 6;  ///< Told in one message.

std::string circle_names(const Tell& tell, const StuckChain& chain) {
  std::vector<std::string> names;
  for (std::size_t i = chain.cycle; i < chain.links.size(); ++i) {
    if (names.size() == kMostLinks) {
      names.emplace_back("others");
      break;
    }
    names.push_back(op_name(tell.plan, chain.links[i].who.op, chain.links[i].who.iteration));
  }
  return listed(names);
}

std::string chain_text(const Tell& tell, const StuckChain& chain) {
  std::string out = "it " + chain.links[0].why;
  const std::size_t most = std::min(chain.links.size(), kMostLinks);
  for (std::size_t i = 1; i < most; ++i) {
    out += "; " + op_name(tell.plan, chain.links[i].who.op, chain.links[i].who.iteration) + " " +
           chain.links[i].why;
  }
  return chain.links.size() > most ? out + "; …" : out;
}

}  // namespace

Words describe_deadlock(const Tell& tell) {
  if (tell.finding.ops.empty()) {
    return {"A state is reachable in which something waits for ever.", "break the cycle of waits"};
  }
  const std::string op = tell.op(0) + " can wait for ever";
  const StuckChain chain = stuck_chain(tell.plan, tell.finding);
  if (chain.links.empty()) {
    const std::string now = what_holds_back(tell.plan, tell.finding.ops[0], tell.iteration(0));
    return {op + (now.empty() ? "." : ": it waits for " + now + "."),
            "take away a wait for what waits for " + tell.short_op(0) + " in turn, or never comes"};
  }
  const StuckLink& last = chain.links.back();
  if (chain.cycle == chain.links.size()) {
    const std::string name = op_name(tell.plan, last.who.op, last.who.iteration);
    const bool known = last.semaphore != kNone<SemaphoreId>;
    const std::string what = known
                                 ? "semaphore " + quoted(tell.plan.semaphores[last.semaphore].name)
                                 : "what " + name + " waits for";
    const bool timeline = known && tell.plan.semaphores[last.semaphore].timeline;
    return {op + ": " + chain_text(tell, chain) + ".",
            "signal " + what + (timeline ? " to a value as high" : " often enough") + " before " +
                name + " needs it, or let it wait for less"};
  }
  if (chain.cycle > 0) {
    const std::string circle = circle_names(tell, chain);
    return {op + ", held back by the circle of " + circle + ": " + chain_text(tell, chain) + ".",
            "break the circle of " + circle};
  }
  return {op + ": " + chain_text(tell, chain) + ".",
          chain.links.size() == 1
              ? "take that wait away, or let another op signal"
              : "take one of these waits away, or let an op that runs earlier signal"};
}

}  // namespace memverify
