#include "tests/support/random_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "plan/reader.h"
#include "tests/support/random_draft.h"
#include "tests/support/random_patterns.h"

namespace memverify::testing {
namespace {

class Generator : Sync {
 public:
  explicit Generator(std::uint64_t seed) : Sync(seed) {}

  PlanJson make() {
    plan_ = {{"memverify", 1}, {"ops", PlanJson::array()}};
    careful_ = draw_.percent(75) ? 100 : 70;
    iterations_ = draw_.percent(60) ? 1 : draw_.between(2, 3);
    if (iterations_ > 1 || draw_.percent(10)) plan_["iterations"] = iterations_;
    if (draw_.percent(20)) plan_["name"] = "seeded";
    if (draw_.percent(15)) plan_["x-note"] = {{"any", "thing"}};
    symbols_and_conditions();
    pools();
    queues();
    storages();
    tensors();
    boundary();
    const std::int64_t ops = draw_.between(2, iterations_ == 1 ? 6 : 3);
    begin_lifetimes();
    for (std::int64_t k = 0; k < ops; ++k) op();
    end_lifetimes();
    if (draw_.percent(iterations_ > 1 ? 40 : 5)) add_random_pattern(plan_, draw_);
    seams();
    outputs();
    peaks();
    return plan_;
  }

 private:
  /// Each kept input and constant is protected from writes of careful plans.
  void boundary() {
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      const TensorDraft& tensor = tensors_[t];
      const std::size_t chance =
          tensor.root == static_cast<int>(t) ? 35U : 5U;  // Some views are given, too.
      if (!draw_.percent(chance)) continue;
      bool shares = false;
      for (const Address& a : addresses(tensor, true)) shares = shares || owner_.contains(a);
      if (shares && draw_.percent(85)) continue;
      if (draw_.percent(25)) {
        plan_["constants"].push_back(tensor.id);
      } else {
        plan_["inputs"].push_back(tensor.id);
        if (draw_.percent(50)) plan_["donated"].push_back(tensor.id);
        if (draw_.percent(15)) plan_["outputs"].push_back(tensor.id);
      }
      const auto donated = plan_.value("donated", PlanJson::array());
      const auto outputs = plan_.value("outputs", PlanJson::array());
      const bool free = std::ranges::count(donated, PlanJson(tensor.id)) > 0 ||
                        std::ranges::count(outputs, PlanJson(tensor.id)) > 0;
      for (const Address& a : addresses(tensor, true)) {
        owner_[a] = tensor.root;
        if (!free) protected_.insert(a);
      }
    }
  }

  std::set<Address> addresses(const TensorDraft& tensor, bool every_slot) const {
    const StorageDraft& storage = storages_[tensor.storage];
    std::set<Address> result;
    for (std::size_t k = 0; k < (every_slot ? storage.slots.size() : 1); ++k) {
      for (const std::int64_t b : tensor.bytes) result.insert({storage.pool, storage.slots[k] + b});
    }
    return result;
  }

  // ---- commands ---------------------------------------------------------------------------------

  bool careless() { return draw_.below(100) >= careful_; }

  bool holds_value(const TensorDraft& tensor) const {
    return std::ranges::all_of(addresses(tensor, false), [&](const Address& a) {
      const auto found = owner_.find(a);
      return found != owner_.end() && found->second == tensor.root;
    });
  }
  bool may_write(const TensorDraft& tensor) const {
    return !tensor.broadcast &&
           std::ranges::none_of(addresses(tensor, true),
                                [&](const Address& a) { return protected_.contains(a); });
  }

  template <typename Wanted>
  const TensorDraft& some_tensor(const Wanted& wanted) {
    std::vector<const TensorDraft*> fit;
    for (const TensorDraft& tensor : tensors_) {
      if (wanted(tensor)) fit.push_back(&tensor);
    }
    return fit.empty() || careless() ? draw_.of(tensors_) : *draw_.of(fit);
  }

  static bool meet(const std::set<Address>& a, const std::set<Address>& b) {
    return std::ranges::any_of(a, [&](const Address& x) { return b.contains(x); });
  }

  PlanJson access(const TensorDraft& tensor) {
    if (!draw_.percent(12)) return tensor.id;
    PlanJson json = {{"tensor", tensor.id}};
    if (draw_.percent(60)) json["offset"] = number(0);
    if (draw_.percent(50)) json["bytes"] = std::int64_t{1};
    if (draw_.percent(20)) json["distance"] = 0;
    return json;
  }

  /// All of the tensor, now and then as a part that covers it.
  PlanJson whole(const TensorDraft& tensor) {
    if (!draw_.percent(12)) return tensor.id;
    PlanJson json = {{"tensor", tensor.id}};
    if (draw_.percent(50)) json["offset"] = 0;
    if (draw_.percent(50)) json["bytes"] = tensor.bytes.back() - tensor.bytes.front() + 1;
    if (draw_.percent(40)) json["distance"] = 0;
    return json;
  }

  void op() {
    CommandDraft command{fresh("op"), some_queue(), {}, {}};
    PlanJson json = {{"id", command.id}, {"queue", command.queue}};
    if (draw_.percent(10)) json["kind"] = draw_.percent(75) ? "op" : "unknown";
    if (draw_.percent(15)) json["label"] = "MatMul";
    if (draw_.percent(10)) json["loc"] = {{"file", "model.py"}, {"line", 3}};
    if (draw_.percent(15)) json["duration"] = {1, draw_.between(1, 3)};
    if (draw_.percent(10)) json["thread"] = "worker";
    choose_reads(json, command);
    choose_write(json, command);
    if (draw_.percent(12)) choose_clobber(json, command);
    if (plan_.contains("conditions") && !plan_["conditions"].empty() && draw_.percent(25)) {
      const PlanJson& condition = plan_["conditions"][draw_.below(plan_["conditions"].size())];
      json["when"][condition.is_string() ? condition : condition["id"]] = draw_.percent(50);
      if (draw_.percent(40)) json["skipped"] = draw_.percent(70) ? "pass" : "drop";
    }
    submit(json, command);
    if (draw_.percent(8)) view_op();
  }

  void choose_reads(PlanJson& json, CommandDraft& command) {
    const std::int64_t count = draw_.between(0, 2);
    for (std::int64_t k = 0; k < count; ++k) {
      const TensorDraft& tensor = some_tensor([&](const TensorDraft& t) { return holds_value(t); });
      if (!holds_value(tensor) && !careless()) continue;
      PlanJson entry = access(tensor);
      if (last_writer_.contains(tensor.id) && entry.is_string() && draw_.percent(10)) {
        entry = {{"tensor", tensor.id}, {"from", last_writer_[tensor.id]}};
      } else if (draw_.percent(2)) {
        entry = {{"tensor", tensor.id}, {"from", "initial"}};
      }
      json["reads"].push_back(entry);
      const std::set<Address> every = addresses(tensor, true);
      command.reads.insert(every.begin(), every.end());
    }
  }

  void choose_write(PlanJson& json, CommandDraft& command) {
    if (draw_.percent(10)) return;
    const TensorDraft& tensor = some_tensor([&](const TensorDraft& t) { return may_write(t); });
    if (!may_write(tensor) && !careless()) return;
    const std::set<Address> every = addresses(tensor, true);
    const bool accumulates = draw_.percent(20) && (holds_value(tensor) || careless());
    if (meet(every, command.reads)) {
      const bool same = !accumulates && json["reads"] == PlanJson{tensor.id};
      for (const PlanJson& read : json["reads"]) {
        if (same || careless()) continue;
        PlanJson pair = PlanJson::array({read.is_string() ? read : read["tensor"], tensor.id});
        if (draw_.percent(80)) pair.push_back("any");
        json["in_place"].push_back(pair);
      }
    }
    if (accumulates) {
      PlanJson entry = whole(tensor);
      if (draw_.percent(40)) {
        if (entry.is_string()) entry = {{"tensor", tensor.id}};
        entry["op"] = draw_.of(updates_);
      }
      json["accumulates"].push_back(entry);
    } else {
      json["writes"].push_back(whole(tensor));
      for (const Address& a : every) owner_[a] = tensor.root;
      last_writer_[tensor.id] = command.id;
    }
    command.writes.insert(every.begin(), every.end());
  }

  void choose_clobber(PlanJson& json, CommandDraft& command) {
    if (draw_.percent(40)) {  // Bytes of the pool, behind everything.
      const std::int64_t begin = draw_.percent(70) ? end_[0] : draw_.between(0, end_[0]);
      const PlanJson pool = plan_["pools"][0]["id"];
      json["clobbers"].push_back({{"pool", pool}, {"offset", begin}, {"bytes", 1}});
      command.writes.insert({0, begin});
      owner_.erase({0, begin});
      return;
    }
    const TensorDraft& tensor = draw_.of(tensors_);
    const std::set<Address> every = addresses(tensor, true);
    const bool in_use = holds_value(tensor) || meet(every, command.writes) ||
                        meet(every, command.reads) || !may_write(tensor);
    if (in_use && !careless()) return;
    json["clobbers"].push_back(whole(tensor));
    command.writes.insert(every.begin(), every.end());
    for (const Address& a : every) owner_.erase(a);
  }

  void view_op() {
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      const TensorDraft& base = tensors_[static_cast<std::size_t>(tensors_[t].root)];
      if (base.id == tensors_[t].id) continue;
      PlanJson json = {{"id", fresh("view")}, {"kind", "view"}};
      json["reads"] = {base.id};
      json["writes"] = {careless() ? draw_.of(tensors_).id : tensors_[t].id};
      plan_["ops"].push_back(json);
      return;
    }
  }

  void begin_lifetimes() {
    for (std::size_t s = 0; s < storages_.size(); ++s) {
      const bool holds_input = std::ranges::any_of(owner_, [&](const auto& entry) {
        return tensors_[static_cast<std::size_t>(entry.second)].storage == s;
      });
      if (holds_input || !draw_.percent(15)) continue;
      storages_[s].allocated = true;
      lifetime("alloc", s);
    }
  }
  void end_lifetimes() {
    for (std::size_t s = 0; s < storages_.size(); ++s) {
      if (!storages_[s].allocated && !draw_.percent(2)) continue;
      if (storages_[s].allocated && draw_.percent(15)) continue;
      lifetime("free", s);
      for (auto entry = owner_.begin(); entry != owner_.end();) {
        const bool gone = tensors_[static_cast<std::size_t>(entry->second)].storage == s;
        entry = gone ? owner_.erase(entry) : std::next(entry);
      }
    }
  }
  void lifetime(const std::string& kind, std::size_t s) {
    CommandDraft command{fresh(kind), some_queue(), {}, {}};
    TensorDraft whole{"", s, 0, false, {}};
    for (std::int64_t b = 0; b < storages_[s].bytes; ++b) whole.bytes.push_back(b);
    command.writes = addresses(whole, true);
    submit({{"id", command.id},
            {"kind", kind},
            {"queue", command.queue},
            {"storage", storages_[s].id}},
           command);
  }

  // ---- order ------------------------------------------------------------------------------------

  static bool conflict(const CommandDraft& a, const CommandDraft& b) {
    return meet(a.writes, b.writes) || meet(a.writes, b.reads) || meet(a.reads, b.writes);
  }

  void submit(PlanJson json, const CommandDraft& command) {
    std::set<std::string> joined;  // Serial queues whose last conflicting command is waited for.
    for (std::size_t e = commands_.size(); e-- > 0;) {
      const CommandDraft& earlier = commands_[e];
      if (!conflict(earlier, command) || joined.contains(earlier.queue)) continue;
      if (serial(earlier.queue)) joined.insert(earlier.queue);
      if (earlier.queue == command.queue && serial(command.queue)) continue;
      if (!careless()) join(earlier, command, json);
    }
    plan_["ops"].push_back(json);
    commands_.push_back(command);
  }

  /// What must be ordered from one iteration to the next.
  void seams() {
    if (iterations_ == 1) return;
    for (std::size_t c = 0; c < commands_.size(); ++c) {
      for (std::size_t e = c; e < commands_.size(); ++e) {
        const CommandDraft& first = commands_[c];
        const CommandDraft& last = commands_[e];
        if (!conflict(first, last) || (first.queue == last.queue && serial(first.queue))) continue;
        if (careless()) continue;
        op_named(first.id)["after"].push_back(
            {{"op", last.id}, {"distance", draw_.percent(90) ? 1 : 2}});
      }
    }
  }

  void outputs() {
    for (const TensorDraft& tensor : tensors_) {
      const bool listed = plan_.contains("outputs") &&
                          std::ranges::count(plan_["outputs"], PlanJson(tensor.id)) > 0;
      if (listed || !draw_.percent(30) || !(holds_value(tensor) || careless())) continue;
      if (last_writer_.contains(tensor.id) && draw_.percent(20)) {
        plan_["outputs"].push_back({{"tensor", tensor.id}, {"from", last_writer_[tensor.id]}});
      } else {
        plan_["outputs"].push_back(tensor.id);
      }
    }
  }

  void peaks() {
    for (std::size_t p = 0; p < end_.size(); ++p) {
      if (!draw_.percent(10)) continue;
      plan_["peak_bytes"][plan_["pools"][p]["id"].get<std::string>()] = number(64);
    }
  }

  const std::vector<std::string> updates_ = {"add", "add", "max"};
  std::size_t careful_ = 100;  ///< Percent of the rules that are kept.
  std::vector<CommandDraft> commands_;
  std::map<Address, int> owner_;  ///< Whose family's value a byte holds, in program order.
  std::set<Address> protected_;
  std::map<std::string, std::string> last_writer_;  ///< By tensor.
};

}  // namespace

PlanJson random_plan(std::uint64_t seed) { return Generator(seed).make(); }

PlanJson random_mutated_plan(std::uint64_t seed) {
  const PlanJson plan = random_plan(seed);
  Draw draw(seed + 1'000'000'007);
  if (draw.percent(50)) return plan;
  for (int attempt = 0; attempt < 20; ++attempt) {
    PlanJson changed = plan;
    mutate(changed, draw);
    if (draw.percent(40)) mutate(changed, draw);
    if (plan_of(changed)) return changed;
  }
  return plan;
}

std::optional<Plan> plan_of(const PlanJson& plan) {
  Result<Plan> result = read_plan(plan.dump(), "random");
  if (!result.ok()) return std::nullopt;
  for (const Tensor& tensor : result.value().tensors) {
    if (tensor.storage == kNone<StorageId>) return std::nullopt;
  }
  return std::move(result).value();
}

}  // namespace memverify::testing
