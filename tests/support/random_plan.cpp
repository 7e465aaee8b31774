#include "tests/support/random_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "plan/reader.h"
#include "tests/support/random_patterns.h"

namespace memverify::testing {
namespace {

using Address = std::pair<std::size_t, std::int64_t>;  // Pool and byte.

struct StorageDraft {
  std::string id;
  std::size_t pool = 0;
  std::vector<std::int64_t> slots;
  std::int64_t bytes = 0;
  bool allocated = false;
};

struct TensorDraft {
  std::string id;
  std::size_t storage = 0;
  int root = 0;
  bool broadcast = false;           // Two elements share a byte: never written.
  std::vector<std::int64_t> bytes;  // From the start of the slot.
};

/// A command as far as its order matters.
struct CommandDraft {
  std::string id;
  std::string queue;
  std::set<Address> reads;   // In every slot.
  std::set<Address> writes;  // alloc and free count as writes.
};

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : draw_(seed) {}

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
  std::string fresh(const std::string& stem) { return stem + std::to_string(next_[stem]++); }

  // ---- declarations -----------------------------------------------------------------------------

  void symbols_and_conditions() {
    if (draw_.percent(15)) {
      PlanJson symbol = {{"max", 3}};
      if (draw_.percent(70)) symbol["min"] = 1;
      if (draw_.percent(30)) symbol["multiple_of"] = draw_.between(1, 2);
      plan_["symbols"]["n"] = symbol;
    }
    if (draw_.percent(25)) {
      plan_["conditions"] = PlanJson::array();
      if (draw_.percent(70)) plan_["conditions"].push_back("c");
      if (draw_.percent(60)) plan_["conditions"].push_back({{"id", "d"}, {"per", "run"}});
      if (draw_.percent(10)) plan_["conditions"].push_back({{"id", "e"}, {"per", "iteration"}});
    }
  }

  /// `value`, now and then as an expression that comes to it, or to less for small symbol values.
  PlanJson number(std::int64_t value) {
    const std::string v = std::to_string(value);
    if (!plan_.contains("symbols") || !draw_.percent(30)) return value;
    switch (draw_.below(9)) {
      case 0:
        return v + " + n - n";
      case 1:
        return v + " + n * 0";
      case 2:
        return "max(" + v + ", n / 4)";
      case 3:
        return "min(n * 8 + 8, " + v + ")";
      case 4:
        return "align(" + v + ", 1) + n % 1";
      case 5:
        return "(" + v + ")";
      case 6:
        return "max(0, " + v + " - 3 + n)";
      case 7:
        return "-(-" + v + ") * 1";
      default:
        return "min(" + v + ", n + 1)";
    }
  }

  void pools() {
    const std::int64_t count = draw_.percent(80) ? 1 : 2;
    for (std::int64_t p = 0; p < count; ++p) {
      PlanJson pool = {{"id", fresh("p")}};
      if (draw_.percent(40)) pool["bytes"] = number(64);
      alignment_.push_back(draw_.percent(75) ? 1 : draw_.between(1, 2) * 2);
      if (alignment_.back() != 1 || draw_.percent(20)) pool["alignment"] = alignment_.back();
      if (draw_.percent(30)) pool["kind"] = "device";
      plan_["pools"].push_back(pool);
      end_.push_back(0);
    }
  }

  void queues() {
    const std::int64_t count = draw_.between(1, 3);
    for (std::int64_t q = 0; q < count; ++q) {
      PlanJson queue = {{"id", fresh("q")}};
      const std::size_t kind = draw_.below(100);
      if (kind >= 50) queue["order"] = kind < 67 ? "issue" : kind < 80 ? "none" : "host";
      if (kind < 5) queue["order"] = "serial";
      if (draw_.percent(15)) queue["depth"] = draw_.between(1, 3);
      if (draw_.percent(10)) queue["delay"] = {draw_.between(0, 1), draw_.between(1, 2)};
      if (queue.value("order", "") == "host" && draw_.percent(30)) queue["thread"] = "worker";
      plan_["queues"].push_back(queue);
    }
  }

  std::string some_queue() { return draw_.of(plan_["queues"].get<std::vector<PlanJson>>())["id"]; }

  const PlanJson& queue(const std::string& id) const {
    for (const PlanJson& q : plan_["queues"]) {
      if (q["id"] == id) return q;
    }
    return plan_["queues"][0];
  }
  bool serial(const std::string& id) const {
    const std::string order = queue(id).value("order", "serial");
    return order == "serial" || order == "host";
  }

  void storages() {
    const std::int64_t count = draw_.between(2, 4);
    for (std::int64_t s = 0; s < count; ++s) {
      StorageDraft storage;
      storage.id = fresh("s");
      storage.pool = draw_.below(end_.size());
      storage.bytes = draw_.between(1, 3) * 2;
      const std::size_t slots = draw_.percent(iterations_ > 1 ? 30 : 5) ? 2 + draw_.below(2) : 1;
      const std::int64_t alignment = alignment_[storage.pool];
      const bool reuse = s > 0 && slots == 1 && draw_.percent(30);
      for (std::size_t k = 0; k < slots; ++k) {
        std::int64_t begin = (end_[storage.pool] + alignment - 1) / alignment * alignment;
        const StorageDraft& other = storages_.empty() ? storage : draw_.of(storages_);
        if (reuse && other.pool == storage.pool) begin = other.slots[0];
        storage.slots.push_back(begin);
        end_[storage.pool] = std::max(end_[storage.pool], begin + storage.bytes);
      }
      PlanJson json = {{"id", storage.id},
                       {"pool", plan_["pools"][storage.pool]["id"]},
                       {"bytes", number(storage.bytes)}};
      json["offset"] = number(storage.slots[0]);
      if (slots > 1) json["offset"] = storage.slots;
      // Symbolic sizes must not shrink a storage below its tensors.
      if (json["bytes"].is_string()) json["bytes"] = std::to_string(storage.bytes) + " + n - n";
      plan_["storages"].push_back(json);
      storages_.push_back(storage);
    }
  }

  void tensors() {
    for (std::size_t s = 0; s < storages_.size(); ++s) {
      add_root(s);
      if (draw_.percent(15)) add_root(s);
    }
  }

  void add_root(std::size_t s) {
    const std::int64_t bytes = storages_[s].bytes;
    TensorDraft root{fresh("t"), s, static_cast<int>(tensors_.size()), false, {}};
    for (std::int64_t b = 0; b < bytes; ++b) root.bytes.push_back(b);
    PlanJson json = {{"id", root.id}, {"storage", storages_[s].id}};
    if (draw_.percent(50)) json["offset"] = 0;
    switch (draw_.below(6)) {
      case 0:
        json["dtype"] = "u8", json["shape"] = {bytes};
        break;
      case 1:
        json["dtype"] = "f16", json["shape"] = {bytes / 2};
        break;
      case 2:
        json["dtype"] = "i4", json["shape"] = {2, bytes};
        break;
      case 3:
        json["dtype"] = "i8", json["shape"] = {2, bytes / 2};
        break;
      default:
        json["bytes"] = number(bytes);
        break;
    }
    if (draw_.percent(10)) json["alignment"] = 1;
    plan_["tensors"].push_back(json);
    tensors_.push_back(root);
    const std::size_t base = tensors_.size() - 1;
    while (draw_.percent(35)) add_view(draw_.percent(70) ? base : tensors_.size() - 1);
  }

  void add_view(std::size_t base_index) {
    const TensorDraft base = tensors_[base_index];
    const auto size = static_cast<std::int64_t>(base.bytes.size());
    const std::int64_t zero = base.bytes.front();
    const bool dense = base.bytes.back() - zero + 1 == size;
    if (!dense || size == 0) return;
    TensorDraft view{fresh("v"), base.storage, base.root, false, {}};
    PlanJson json = {{"id", view.id}, {"view_of", base.id}};
    std::int64_t offset = draw_.between(0, size - 1);
    const std::int64_t room = size - offset;
    switch (draw_.below(5)) {
      case 0: {  // Every other byte.
        const std::int64_t count = (room + 1) / 2;
        json["dtype"] = "u8", json["shape"] = {count}, json["strides"] = {2};
        for (std::int64_t k = 0; k < count; ++k) view.bytes.push_back(zero + offset + 2 * k);
        break;
      }
      case 1: {  // Transposed.
        offset = 0;
        json["dtype"] = "u8", json["shape"] = {size / 2, 2}, json["strides"] = {1, size / 2};
        for (std::int64_t k = 0; k < size / 2 * 2; ++k) view.bytes.push_back(zero + k);
        break;
      }
      case 2: {  // The same element again and again.
        json["dtype"] = "bool", json["shape"] = {2, 2}, json["strides"] = {0, 0};
        view.bytes.push_back(zero + offset);
        view.broadcast = true;
        break;
      }
      default: {
        const std::int64_t count = draw_.between(1, room);
        json["bytes"] = count;
        for (std::int64_t k = 0; k < count; ++k) view.bytes.push_back(zero + offset + k);
      }
    }
    if (view.bytes.empty()) return;
    if (offset != 0 || draw_.percent(20)) json["offset"] = offset;
    if (draw_.percent(10)) json["alignment"] = 1;
    plan_["tensors"].push_back(json);
    tensors_.push_back(view);
  }

  /// Each kept input and constant is protected from writes of careful plans.
  void boundary() {
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      const TensorDraft& tensor = tensors_[t];
      if (tensor.root != static_cast<int>(t) || !draw_.percent(35)) continue;
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

  PlanJson& op_named(const std::string& id) {
    for (PlanJson& json : plan_["ops"]) {
      if (json["id"] == id) return json;
    }
    return plan_["ops"][0];
  }

  PlanJson command(const std::string& kind) { return {{"id", fresh(kind)}, {"kind", kind}}; }

  /// Lets `later`, whose op is `json`, wait for `earlier` in one of the format's ways.
  void join(const CommandDraft& earlier, const CommandDraft& later, PlanJson& json) {
    PlanJson& before = op_named(earlier.id);
    const std::string event = fresh("e");
    switch (draw_.below(12)) {
      case 0:
      case 1:
      case 2:
        json["after"].push_back(draw_.percent(80) ? PlanJson(earlier.id)
                                                  : PlanJson{{"op", earlier.id}});
        break;
      case 3:
      case 4:
        before["signals"].push_back({{"event", event}});
        json["waits"].push_back({{"event", event}});
        break;
      case 5: {
        PlanJson record = command("record");
        record["queue"] = earlier.queue, record["event"] = event;
        PlanJson wait = command("wait");
        wait["queue"] = later.queue, wait["event"] = event;
        plan_["ops"].push_back(record);
        plan_["ops"].push_back(wait);
        break;
      }
      case 6:
        join_by_count(before, json, draw_.percent(30));
        break;
      case 7:
        join_by_timeline(before, json);
        break;
      case 8: {
        const PlanJson entry = by_queue(earlier, draw_.percent(60) ? "pending" : "outstanding");
        json["waits"].push_back(entry);
        break;
      }
      case 9:
      case 10:
        host_wait(earlier, before, json);
        break;
      default: {
        PlanJson barrier = command("barrier");
        barrier["queues"] = {earlier.queue};
        if (later.queue != earlier.queue) barrier["queues"].push_back(later.queue);
        plan_["ops"].push_back(barrier);
      }
    }
  }

  void join_by_count(PlanJson& before, PlanJson& json, bool consume) {
    const std::string id = fresh("n");
    PlanJson semaphore = {{"id", id}};
    if (draw_.percent(50)) semaphore["kind"] = "counting";
    const std::int64_t initial = draw_.percent(30) ? 1 : 0;
    if (initial != 0) semaphore["initial"] = number(initial);
    plan_["semaphores"].push_back(semaphore);
    const std::int64_t value = draw_.between(1, 2);
    PlanJson signal = {{"semaphore", id}};
    if (value != 1) signal["value"] = value;
    before["signals"].push_back(signal);
    PlanJson wait = {{"semaphore", id}, {"value", value + initial}};
    if (consume) wait["consume"] = true;
    if (!consume && iterations_ > 1) {
      wait["value"] = std::to_string(value) + " * (iteration + 1) + " + std::to_string(initial);
    }
    json["waits"].push_back(wait);
  }

  void join_by_timeline(PlanJson& before, PlanJson& json) {
    const std::string id = fresh("n");
    plan_["semaphores"].push_back({{"id", id}, {"kind", "timeline"}});
    const PlanJson value = iterations_ > 1 ? PlanJson("iteration + 1") : PlanJson(1);
    before["signals"].push_back({{"semaphore", id}, {"value", value}});
    json["waits"].push_back({{"semaphore", id}, {"value", value}});
  }

  /// All of the queue's ops up to `earlier`: what was submitted after it may be under way.
  PlanJson by_queue(const CommandDraft& earlier, const std::string& how) {
    std::int64_t since = 0;
    bool seen = false;
    for (const PlanJson& json : plan_["ops"]) {
      const std::string kind = json.value("kind", "op");
      seen = seen || json["id"] == earlier.id;
      if (json["id"] == earlier.id || json.value("queue", "") != earlier.queue) continue;
      if (seen && (kind == "op" || kind == "unknown")) ++since;
    }
    if (how == "outstanding" && !serial(earlier.queue)) since = 0;
    return {{"queue", earlier.queue}, {how, since}};
  }

  void host_wait(const CommandDraft& earlier, PlanJson& before, const PlanJson& json) {
    PlanJson wait = command("host_wait");
    if (json.contains("thread"))
      wait["thread"] = json["thread"];
    else if (queue(json["queue"]).contains("thread"))
      wait["thread"] = queue(json["queue"])["thread"];
    switch (draw_.below(5)) {
      case 0:
        wait["for"] = {{"queue", earlier.queue}};
        break;
      case 1:
        wait["for"] = "all";
        break;
      case 2: {
        const std::string event = fresh("e");
        before["signals"].push_back({{"event", event}});
        wait["for"] = {{"event", event}};
        break;
      }
      case 3: {
        PlanJson holder;
        join_by_count(before, holder, false);
        wait["for"] = holder["waits"][0];
        break;
      }
      default:
        wait["for"] = by_queue(earlier, draw_.percent(50) ? "pending" : "outstanding");
    }
    plan_["ops"].push_back(wait);
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
  Draw draw_;
  PlanJson plan_;
  std::size_t careful_ = 100;  ///< Percent of the rules that are kept.
  std::int64_t iterations_ = 1;
  std::map<std::string, int> next_;
  std::vector<std::int64_t> alignment_;  ///< Per pool.
  std::vector<std::int64_t> end_;        ///< Per pool, the highest storage end.
  std::vector<StorageDraft> storages_;
  std::vector<TensorDraft> tensors_;
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
