// Values in words: what a read or the end of the plan finds in place of what it should (MV104,
// MV106).
#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "plan/advice.h"
#include "plan/describe.h"
#include "plan/tell.h"
#include "plan/words.h"

namespace memverify {
namespace {

/// Of the two ops of an MV104, which is the reader: the one that takes the last step of the run.
std::size_t reader_of(const Tell& tell) {
  if (!tell.finding.witness.empty()) {
    const Step& last = tell.finding.witness.back();
    for (std::size_t i = 0; i < tell.finding.ops.size(); ++i) {
      if (tell.finding.ops[i] == last.op && tell.iteration(i) == last.iteration) return i;
    }
  }
  for (std::size_t i = tell.finding.ops.size(); i > 0; --i) {
    if (tell.accesses(tell.finding.ops[i - 1], tell.tensor(i - 1), AccessKind::kRead)) {
      return i - 1;
    }
  }
  return tell.finding.ops.size() - 1;
}

/// How the read may ask for the value that it finds; "" where it cannot.
std::string ask_for_found(const Tell& tell, std::size_t reader, std::size_t writer) {
  const Plan& plan = tell.plan;
  const TensorId tensor = tell.tensor(reader);
  const OpId op = tell.finding.ops[writer];
  const Access* read = find_access(plan, tell.finding.ops[reader], tensor, AccessKind::kRead);
  const Access* write = find_access(plan, op, tell.tensor(writer), AccessKind::kWrite);
  const bool holds_all = tell.tensor(writer) == tensor ||
                         (is_family(plan, tensor, tell.tensor(writer)) &&
                          plan.tensors[tell.tensor(writer)].placement == TensorKind::kRoot);
  const auto all = plan.accesses_of(plan.ops[tell.finding.ops[reader]]);
  const bool is_only = std::ranges::count_if(all, [&](const Access& access) {
                         return access.kind == AccessKind::kRead && access.tensor == tensor;
                       }) == 1;
  if (!is_only || read == nullptr || write == nullptr || write->part != Access::kWhole ||
      !holds_all)
    return "";
  const std::int64_t distance = tell.iteration(reader) - tell.iteration(writer);
  const std::string from = "\"from\": \"" + printable(plan.ops[op].name) + "\"";
  const std::string where = " in the read of " + tell.name(reader);
  const bool names_one = read->from != kNone<OpId> || read->from_initial;
  if (distance == read->distance) {
    return names_one ? "change \"from\" to \"" + printable(plan.ops[op].name) + "\"" + where
                     : "say " + from + where;
  }
  if (distance != 0 || names_one || op > tell.finding.ops[reader]) return "";
  return "leave \"distance\" out" + where;
}

/// Another place for what `writer` overwrites `reader`'s bytes with.
std::string other_place(const Tell& tell, std::size_t reader, std::size_t writer) {
  if (tell.tensor(writer) == kNone<TensorId>) {
    return "let " + tell.name(writer) + " clobber bytes that " + tell.short_thing(reader) +
           " does not use";
  }
  const bool named = tell.tensor(reader) != kNone<TensorId>;
  return "give " + tell.short_thing(writer) + " bytes that " +
         (named ? tell.short_thing(reader) + " does not use" : tell.name(reader) + " leaves alone");
}

bool takes_turns(const Plan& plan) { return std::ranges::any_of(plan.waits, &Wait::consume); }

/// MV104: the writer comes later in program order and yet first.
void add_later_writer(const Tell& tell, std::size_t reader, std::size_t writer,
                      std::vector<std::string>& advices) {
  const Plan& plan = tell.plan;
  const OpId read = tell.finding.ops[reader];
  const OpId write = tell.finding.ops[writer];
  const std::int64_t distance = tell.iteration(writer) - tell.iteration(reader);
  if (takes_turns(plan)) {
    advices.push_back(make_wait(plan, write, read, distance));
    return;
  }
  if (!is_family(plan, tell.tensor(reader), tell.tensor(writer))) {
    advices.push_back(other_place(tell, reader, writer));
  } else if (distance == 0 && tell.write_verb(writer) != "clobber" &&
             may_list_before(plan, write, read)) {
    advices.push_back("list " + tell.name(writer) + " before " + tell.name(reader) +
                      " in \"ops\" if that value is meant");
  }
  const auto after = plan.after_of(plan.ops[read]);
  const bool direct = std::ranges::any_of(
      after, [&](const After& one) { return one.op == write && one.distance == 0; });
  if (direct && distance == 0) {
    advices.push_back("if not, drop " + after_json(plan, write, 0) + " from " + tell.name(reader) +
                      " and " + make_wait(plan, write, read, 0));
  }
}

std::vector<std::string> version_advices(const Tell& tell, std::size_t reader, std::size_t writer) {
  std::vector<std::string> advices;
  const bool family = is_family(tell.plan, tell.tensor(reader), tell.tensor(writer));
  if (writer > reader) {
    add_later_writer(tell, reader, writer, advices);
  } else {
    if (!family) advices.push_back(other_place(tell, reader, writer));
    const OpId read = tell.finding.ops[reader];
    const OpId write = tell.finding.ops[writer];
    const TensorId victim = tell.tensor(reader);
    if (victim != kNone<TensorId> && tell.iteration(reader) == tell.iteration(writer) &&
        may_run_after(tell.plan, write, read, victim)) {
      advices.push_back("list " + tell.name(writer) + " after " + tell.name(reader) +
                        " in \"ops\"" +
                        (is_same_serial_queue(tell.plan, read, write)
                             ? ""
                             : " and " + make_wait(tell.plan, write, read, 0)));
    }
  }
  if (family) {
    if (std::string ask = ask_for_found(tell, reader, writer); !ask.empty()) {
      advices.push_back(std::move(ask));
    }
  }
  if (advices.empty()) {
    advices.push_back("let " + tell.name(writer) + " " + std::string(tell.write_verb(writer)) +
                      " other bytes than " + tell.name(reader) + " reads");
  }
  return advices;
}

/// How `reader` may come after `wanted`, which has not run by then.
std::string wait_for_wanted(const Tell& tell, std::size_t reader) {
  const Plan& plan = tell.plan;
  const OpId op = tell.finding.ops[reader];
  const OpId wanted = tell.finding.expected;
  const std::int64_t distance = tell.iteration(reader) - tell.finding.expected_iteration;
  const std::string name = quoted(plan.ops[wanted].name);
  if (distance > 0 || (distance == 0 && wanted < op)) return make_wait(plan, op, wanted, distance);
  if (distance < 0) return "correct which version " + tell.name(reader) + " reads";
  const bool same = is_same_serial_queue(plan, op, wanted);
  const std::string wait = make_wait(plan, op, wanted, 0);
  if (may_list_before(plan, wanted, op)) {
    return "list " + name + " before " + tell.name(reader) + " in \"ops\"" +
           (same ? "" : " and " + wait);
  }
  const QueueId queue = plan.ops[op].queue;
  const bool blocks = queue != kNone<QueueId> && plan.queues[queue].order == QueueOrder::kHost;
  return same || blocks ? "correct \"from\" in the read of " + tell.name(reader) : wait;
}

/// MV104: nothing has written there yet.
Words too_early(const Tell& tell, std::size_t reader) {
  const OpId wanted = tell.finding.expected;
  const std::string writer = op_name(tell.plan, wanted, tell.finding.expected_iteration);
  const bool adds =
      std::ranges::none_of(tell.plan.accesses_of(tell.plan.ops[wanted]),
                           [](const Access& access) { return access.kind == AccessKind::kWrite; });
  return {tell.op(reader) + " may read " + tell.thing(reader) + " before " + writer +
              (adds ? " has changed it" : " has written it") + tell.end(),
          wait_for_wanted(tell, reader)};
}

/// MV104: what is found is older in program order than what is expected.
Words stale_words(const Tell& tell, std::size_t reader, std::size_t writer) {
  const Plan& plan = tell.plan;
  const OpId wanted = tell.finding.expected;
  const std::int64_t iteration = tell.finding.expected_iteration;
  const std::string expected = op_name(plan, wanted, iteration);
  const std::string found = tell.op(reader) + " reads " + tell.thing(reader) +
                            " but finds the bytes that " + tell.op(writer) + " wrote to " +
                            tell.thing(writer) + ", not " + tell.expected("the value it should") +
                            tell.end();
  if (!has_completed(tell.finding, wanted, iteration)) {
    return {found + " " + expected + " has not run by then.", wait_for_wanted(tell, reader)};
  }
  std::vector<std::string> advices;
  const OpId write = tell.finding.ops[writer];
  const std::string name = tell.name(writer);
  if (iteration == tell.iteration(writer) && may_list_before(plan, wanted, write)) {
    advices.push_back("list " + quoted(plan.ops[wanted].name) + " before " + name + " in \"ops\"");
  }
  if (std::string ask = ask_for_found(tell, reader, writer); !ask.empty()) {
    advices.push_back(std::move(ask));
  }
  return {found + " " + expected + " ran, but " + name + " has overwritten it (" + name +
              " comes first in program order and runs last).",
          either(advices,
                 "let " + name + " run before " + expected + ": drop what makes it wait for it")};
}

bool writes_family(const Plan& plan, OpId op, TensorId tensor) {
  return std::ranges::any_of(plan.accesses_of(plan.ops[op]), [&](const Access& access) {
    return access.kind != AccessKind::kRead && is_family(plan, access.tensor, tensor);
  });
}

/// True iff no op after `op` in program order writes the tensor's family.
bool is_last_writer(const Plan& plan, OpId op, TensorId tensor) {
  for (std::uint32_t at = index(op) + 1; at < plan.ops.size(); ++at) {
    if (writes_family(plan, static_cast<OpId>(at), tensor)) return false;
  }
  return true;
}

std::string output_advice(const Tell& tell) {
  const Plan& plan = tell.plan;
  const std::string x = tell.short_thing(0);
  if (tell.finding.ops.empty()) return "give " + x + " bytes that nothing else writes";
  const OpId op = tell.finding.ops[0];
  const std::string name = tell.name(0);
  const TensorId tensor = tell.tensor(0);
  if (!writes_family(plan, op, tensor))
    return "give " + x + " bytes that " + name + " does not write";
  std::vector<std::string> advices{"let " + name + " write another tensor"};
  const bool says_initial = std::ranges::any_of(plan.outputs, [&](const Output& output) {
    return output.tensor == tensor && output.from_initial;
  });
  if (tell.finding.expected_initial) {
    if (says_initial && is_last_writer(plan, op, tensor)) {
      advices.emplace_back("drop \"from\": \"initial\" from the output");
    }
    return either(advices, "");
  }
  const Access* write = find_access(plan, op, tensor, AccessKind::kWrite);
  if (write != nullptr && write->part == Access::kWhole && write->distance == 0) {
    advices.push_back("say \"from\": \"" + printable(plan.ops[op].name) + "\" in the output");
  }
  const OpId wanted = tell.finding.expected;
  if (wanted != kNone<OpId> && may_run_before(plan, op, wanted) &&
      is_same_serial_queue(plan, op, wanted)) {
    advices.push_back("list " + name + " before " + quoted(plan.ops[wanted].name) + " in \"ops\"");
  }
  return either(advices, "");
}

std::string input_advice(const Tell& tell, const std::string& role) {
  const std::string x = tell.short_thing(0);
  std::string first = "write somewhere else";
  if (!tell.finding.ops.empty()) {
    const bool own = writes_family(tell.plan, tell.finding.ops[0], tell.tensor(0));
    first = "let " + tell.name(0) +
            (own ? " write another tensor" : " write bytes that " + x + " does not use");
  }
  if (role != "input") return first;
  return first + "; or list " + x + " in \"donated\" if its value is not needed afterwards";
}

}  // namespace

Words describe_wrong_version(const Tell& tell) {
  if (tell.finding.ops.empty()) return {};
  const std::size_t reader = reader_of(tell);
  const bool known = tell.finding.expected != kNone<OpId>;
  if (tell.finding.ops.size() < 2) {
    return known ? too_early(tell, reader)
                 : Words{tell.op(reader) + " reads " + tell.thing(reader) +
                             " but finds other bytes than " + tell.expected("the value it should") +
                             tell.end(),
                         "keep those bytes until the read"};
  }
  const std::size_t writer = 1 - reader;
  const auto when = [&](OpId op, std::int64_t iteration) { return std::pair(iteration, op); };
  const bool stale = known && when(tell.finding.expected, tell.finding.expected_iteration) >
                                  when(tell.finding.ops[writer], tell.iteration(writer));
  if (stale) return stale_words(tell, reader, writer);
  std::string found = "the bytes that " + tell.op(writer) + " wrote to " + tell.thing(writer);
  found += ", not " + tell.expected("the value it should");
  if (tell.write_verb(writer) == "accumulate into") {
    found = tell.expected("the value it should") + " with what " + tell.op(writer) +
            " accumulated into " + tell.thing(writer);
  } else if (tell.write_verb(writer) == "clobber") {
    found = "what " + tell.op(writer) + " left when it clobbered " + tell.thing(writer) + ", not " +
            tell.expected("the value it should");
  }
  return {tell.op(reader) + " reads " + tell.thing(reader) + " but finds " + found + tell.end(),
          either(version_advices(tell, reader, writer), "")};
}

Words describe_boundary(const Tell& tell) {
  const TensorId tensor = tell.tensor(0);
  const std::string role = tensor == kNone<TensorId> ? "tensor" : tell.role(tensor);
  const std::string subject = role + " " + tell.thing(0);
  const std::string end = tell.end();
  if (tell.finding.ops.empty() && tell.finding.tensors.size() > 1) {
    return {subject + " shares bytes with " + tell.thing(1) +
                ", and one of the two may be overwritten" + end,
            "give each its own bytes"};
  }
  const std::string by =
      tell.finding.ops.empty() ? "it is overwritten" : tell.op(0) + " overwrites it";
  if (role == "output") {
    const std::string wanted = tell.expected("its value");
    const std::string found =
        tell.finding.ops.empty() ? "it was overwritten" : "it holds what " + tell.op(0) + " wrote";
    return {subject + " does not hold " + wanted + " at the end: " + found + end,
            output_advice(tell)};
  }
  return {subject + " must keep its value to the end, but " + by + end, input_advice(tell, role)};
}

}  // namespace memverify
