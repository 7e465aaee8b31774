#include "tools/planner_process.h"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "plan/reader.h"
#include "plan/words.h"
#include "plan/writer.h"
#include "planner/placed_plan.h"
#include "tools/child_process.h"
#include "tools/shrink.h"

namespace memverify {
namespace {

using State = ChildProcess::State;

std::string replaced(std::string text, std::string_view what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

/// A folder that is gone when the target is.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "memverify-fuzz-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), "mkdtemp");
    }
    path_ = name;
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path path(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

Answer garbage(std::string detail) {
  return {.outcome = Outcome::kGarbage, .detail = std::move(detail)};
}

Answer read_answer(const Plan& graph, const std::string& text) {
  const PlanJson json = PlanJson::parse(text, nullptr, false);
  if (json.is_object() && json.contains("refused")) {
    const PlanJson& why = json["refused"];
    return {.outcome = Outcome::kRefused,
            .detail = printable(why.is_string() ? why.get<std::string>() : why.dump())};
  }
  Result<Plan> plan = read_plan(text, "the answer");
  if (!plan.ok()) {
    return garbage(text.empty() ? std::string("it wrote nothing")
                                : printable(to_string(plan.errors().front())));
  }
  if (const std::vector<TensorId> left = unplaced_roots(plan.value()); !left.empty()) {
    return garbage("tensor " + memverify::quoted(plan.value().tensors[left.front()].name) +
                   " has no place");
  }
  if (std::string changed = what_changed(graph, plan.value()); !changed.empty()) {
    return {.outcome = Outcome::kChanged, .detail = std::move(changed)};
  }
  return {.plan = std::move(plan).value()};
}

class ProcessTarget : public FuzzTarget {
 public:
  explicit ProcessTarget(const ProcessOptions& options) : options_(options) {
    reads_file_ = options.command.find("{in}") != std::string::npos;
    writes_file_ = options.command.find("{out}") != std::string::npos;
    command_ = replaced(options.command, "{in}", folder_.path("graph.json").string());
    command_ = replaced(command_, "{out}", folder_.path("plan.json").string());
  }

  Answer plan(const Plan& graph, const ApartPlan& /*apart*/) override {
    const auto deadline = std::chrono::steady_clock::now() +
                          std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                              std::chrono::duration<double>(options_.timeout));
    return options_.persistent ? ask(graph, deadline) : run(graph, deadline);
  }

 private:
  Answer timed_out() const {
    std::ostringstream text;
    text << "no answer within " << options_.timeout << " s";
    return {.outcome = Outcome::kTimedOut, .detail = text.str()};
  }

  Answer run(const Plan& graph, ChildProcess::Time deadline) {
    const std::string text = write_plan(graph);
    std::error_code ignored;
    std::filesystem::remove(folder_.path("plan.json"), ignored);
    if (reads_file_) std::ofstream(folder_.path("graph.json"), std::ios::binary) << text;
    ChildProcess child(command_);
    // A child that does not read its input may be right all the same.
    if (!reads_file_ && child.send(text, deadline) == State::kTimedOut) return timed_out();
    child.close_input();
    std::string answer;
    std::string how;
    if (child.read_all(answer, deadline) == State::kTimedOut) return timed_out();
    if (child.wait(how, deadline) == State::kTimedOut) return timed_out();
    if (!how.empty()) return {.outcome = Outcome::kCrashed, .detail = how};
    if (writes_file_) {
      std::ostringstream file;
      file << std::ifstream(folder_.path("plan.json"), std::ios::binary).rdbuf();
      answer = file.str();
    }
    return read_answer(graph, answer);
  }

  Answer ask(const Plan& graph, ChildProcess::Time deadline) {
    if (!child_) child_ = std::make_unique<ChildProcess>(command_);
    std::string answer;
    State state = child_->send(PlanJson::parse(write_plan(graph)).dump() + "\n", deadline);
    if (state == State::kDone) state = child_->read_line(answer, deadline);
    if (state == State::kDone) return read_answer(graph, answer);
    if (state == State::kTimedOut) {
      child_.reset();
      return timed_out();
    }
    std::string how;
    if (child_->wait(how, deadline) == State::kTimedOut) how = "a closed output";
    child_.reset();
    if (how.empty()) how = "exit code 0 before it answered";
    return {.outcome = Outcome::kCrashed, .detail = how};
  }

  ProcessOptions options_;
  ScratchFolder folder_;
  std::string command_;
  bool reads_file_ = false;
  bool writes_file_ = false;
  std::unique_ptr<ChildProcess> child_;
};

// ---- comparing a plan with its graph ------------------------------------------------------------

PlanJson by_id(const PlanJson& document, const char* list) {
  PlanJson result = PlanJson::object();
  for (const PlanJson& entry : document.value(list, PlanJson::array())) {
    if (entry.is_object() && entry.contains("id")) result[entry["id"].get<std::string>()] = entry;
  }
  return result;
}

bool is_sync(const PlanJson& op) {
  const std::string kind = op.value("kind", "op");
  return kind == "record" || kind == "wait" || kind == "barrier" || kind == "host_wait";
}

/// All entries of `few` are in `many`, in their order.
bool holds_all(const PlanJson& many, const PlanJson& few) {
  std::size_t next = 0;
  for (const PlanJson& entry : many) {
    if (next < few.size() && entry == few[next]) ++next;
  }
  return next == few.size();
}

std::string changed_tensors(const PlanJson& graph, const PlanJson& plan) {
  const PlanJson before = by_id(graph, "tensors");
  const PlanJson after = by_id(plan, "tensors");
  for (const auto& [id, tensor] : before.items()) {
    if (!after.contains(id)) return "it lost tensor " + memverify::quoted(id);
    PlanJson left = tensor;
    PlanJson right = after[id];
    if (!tensor.contains("storage") && !tensor.contains("view_of")) {
      for (const char* free : {"storage", "offset", "pool", "slots"}) {
        left.erase(free);
        right.erase(free);
      }
    }
    if (left != right) return "it altered tensor " + memverify::quoted(id);
  }
  return before.size() == after.size() ? "" : "it added a tensor";
}

std::string changed_ops(const PlanJson& graph, const PlanJson& plan) {
  const PlanJson before = graph.value("ops", PlanJson::array());
  std::size_t next = 0;
  for (PlanJson op : plan.value("ops", PlanJson::array())) {
    const bool is_next = next < before.size() && op["id"] == before[next]["id"];
    if (!is_next) {
      if (!is_sync(op))
        return "op " + memverify::quoted(op.value("id", "")) + " is new, or out of order";
      continue;
    }
    PlanJson old = before[next++];
    for (const char* list : {"waits", "signals", "after"}) {
      const PlanJson had = old.value(list, PlanJson::array());
      if (!holds_all(op.value(list, PlanJson::array()), had)) {
        return "op " + memverify::quoted(op.value("id", "")) + " lost one of its `" + list + "`";
      }
      old.erase(list);
      op.erase(list);
    }
    if (old != op) return "it altered op " + memverify::quoted(op.value("id", ""));
  }
  if (next < before.size()) return "it lost op " + memverify::quoted(before[next].value("id", ""));
  return "";
}

}  // namespace

std::string what_changed(const Plan& graph, const Plan& plan) {
  const PlanJson before = PlanJson::parse(write_plan(graph));
  const PlanJson after = PlanJson::parse(write_plan(plan));
  for (const char* key : {"iterations", "symbols", "conditions", "pools", "queues", "inputs",
                          "constants", "donated", "outputs"}) {
    if (before.value(key, PlanJson()) != after.value(key, PlanJson())) {
      return std::string("it altered `") + key + "`";
    }
  }
  for (const char* list : {"storages", "semaphores"}) {
    const PlanJson had = by_id(before, list);
    const PlanJson has = by_id(after, list);
    for (const auto& [id, entry] : had.items()) {
      if (has.value(id, PlanJson()) == entry) continue;
      return "it altered " + memverify::quoted(id) + " of `" + list + "`";
    }
  }
  const std::string tensors = changed_tensors(before, after);
  return tensors.empty() ? changed_ops(before, after) : tensors;
}

std::unique_ptr<FuzzTarget> process_target(const ProcessOptions& options) {
  return std::make_unique<ProcessTarget>(options);
}

}  // namespace memverify
