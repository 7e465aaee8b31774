#include "plan/writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "plan/pointer.h"

namespace memverify {
namespace {

void append_integer(std::string& out, std::int64_t value) {
  char digits[24];
  const auto [end, code] = std::to_chars(digits, digits + sizeof digits, value);
  static_cast<void>(code);  // 24 bytes hold every 64-bit integer.
  out.append(digits, end);
}

void append_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20) {
      constexpr char kDigits[] = "0123456789abcdef";
      out += "\\u00";
      out += kDigits[byte >> 4U];
      out += kDigits[byte & 15U];
    } else {
      out += c;
    }
  }
  out += '"';
}

/// Puts the parts of a plan into one string. An object or array begins with `open`; the separators
/// come by themselves.
class PlanWriter {
 public:
  explicit PlanWriter(const Plan& plan) : plan_(plan) {
    for (const Extra& extra : plan.extras) extras_[extra.owner].push_back(&extra);
  }

  std::string write() {
    open('{');
    field("memverify", std::int64_t{1});
    if (!plan_.name.empty()) field("name", plan_.name);
    symbols();
    conditions();
    if (!plan_.iterations) {
      field("iterations", std::string_view("unbounded"));
    } else if (*plan_.iterations != 1) {
      field("iterations", *plan_.iterations);
    }
    section("pools", plan_.pools, &PlanWriter::pool);
    section("queues", plan_.queues, &PlanWriter::queue);
    section("semaphores", plan_.semaphores, &PlanWriter::semaphore);
    section("storages", plan_.storages, &PlanWriter::storage);
    section("tensors", plan_.tensors, &PlanWriter::tensor);
    section("ops", plan_.ops, &PlanWriter::op);
    tensor_ids("inputs", plan_.inputs);
    tensor_ids("constants", plan_.constants);
    tensor_ids("donated", plan_.donated);
    outputs();
    peak_bytes();
    extras("");
    out_ += "\n}\n";
    return std::move(out_);
  }

 private:
  // JSON.

  void open(char bracket) {
    out_ += bracket;
    first_ = true;
    ++depth_;
  }
  void close(char bracket) {
    out_ += bracket;
    first_ = false;
    --depth_;
  }
  /// Begins a value of an array or a member of an object.
  void next() {
    if (depth_ == 1) {
      out_ += first_ ? "\n  " : ",\n  ";
    } else if (!first_) {
      out_ += ", ";
    }
    first_ = false;
  }
  void key(std::string_view name) {
    next();
    append_string(out_, name);
    out_ += ": ";
  }
  void value(std::int64_t integer) { append_integer(out_, integer); }
  void value(std::string_view text) { append_string(out_, text); }
  void value(Expr expr) {
    if (expr.is_constant()) {
      append_integer(out_, expr.constant);
    } else {
      append_string(out_, plan_.formulas.to_string(expr));
    }
  }
  template <typename T>
  void field(std::string_view name, const T& content) {
    key(name);
    value(content);
  }
  void flag(std::string_view name, bool content) {
    key(name);
    out_ += content ? "true" : "false";
  }
  void pair(std::string_view name, std::int64_t low, std::int64_t high) {
    key(name);
    open('[');
    next();
    value(low);
    next();
    value(high);
    close(']');
  }
  void exprs(std::string_view name, Range range) {
    key(name);
    open('[');
    for (const Expr expr : Plan::slice(plan_.exprs, range)) {
      next();
      value(expr);
    }
    close(']');
  }

  // Extras. Pointers are built only when there are any.

  bool has_extras(std::initializer_list<PointerStep> owner) const {
    return !extras_.empty() && extras_.contains(json_pointer(owner));
  }
  void extras(const std::string& owner) {
    const auto found = extras_.find(owner);
    if (found == extras_.end()) return;
    for (const Extra* extra : found->second) {
      key(extra->key);
      out_ += extra->json;
    }
  }
  void extras_of(std::initializer_list<PointerStep> owner) {
    if (!extras_.empty()) extras(json_pointer(owner));
  }

  // Sections.

  template <typename Id, typename T>
  void section(std::string_view name, const Table<Id, T>& items,
               void (PlanWriter::*write_item)(Id, const T&)) {
    if (items.empty()) return;
    key(name);
    out_ += "[";
    depth_ += 1;
    for (const Id id : ids(items)) {
      out_ += index(id) == 0 ? "\n    " : ",\n    ";
      open('{');
      (this->*write_item)(id, items[id]);
      extras_of({name, index(id)});
      close('}');
    }
    depth_ -= 1;
    out_ += "\n  ]";
  }

  void symbols() {
    if (plan_.symbols.empty()) return;
    key("symbols");
    open('{');
    for (const Symbol& symbol : plan_.symbols) {
      key(symbol.name);
      open('{');
      if (symbol.min != 0) field("min", symbol.min);
      if (symbol.max) field("max", *symbol.max);
      if (symbol.multiple_of != 1) field("multiple_of", symbol.multiple_of);
      extras_of({"symbols", symbol.name});
      close('}');
    }
    close('}');
  }

  void conditions() {
    if (plan_.conditions.empty()) return;
    key("conditions");
    open('[');
    for (const ConditionId id : ids(plan_.conditions)) {
      const Condition& condition = plan_.conditions[id];
      next();
      if (!condition.per_run && !has_extras({"conditions", index(id)})) {
        value(condition.name);
        continue;
      }
      open('{');
      field("id", condition.name);
      if (condition.per_run) field("per", std::string_view("run"));
      extras_of({"conditions", index(id)});
      close('}');
    }
    close(']');
  }

  void pool(PoolId /*id*/, const Pool& pool) {
    field("id", pool.name);
    if (pool.bytes) field("bytes", *pool.bytes);
    if (pool.alignment != 1) field("alignment", pool.alignment);
    if (!pool.kind.empty()) field("kind", pool.kind);
  }

  void queue(QueueId /*id*/, const Queue& queue) {
    field("id", queue.name);
    if (queue.order != QueueOrder::kSerial) field("order", name(queue.order));
    if (queue.depth) field("depth", *queue.depth);
    if (queue.delay_min != 0 || queue.delay_max != 0) {
      pair("delay", queue.delay_min, queue.delay_max);
    }
    if (queue.thread != ThreadId{0}) field("thread", plan_.threads[queue.thread]);
  }

  void semaphore(SemaphoreId /*id*/, const Semaphore& semaphore) {
    field("id", semaphore.name);
    if (semaphore.timeline) field("kind", std::string_view("timeline"));
    if (!is(semaphore.initial, 0)) field("initial", semaphore.initial);
  }

  void storage(StorageId /*id*/, const Storage& storage) {
    field("id", storage.name);
    field("pool", plan_.pools[storage.pool].name);
    if (storage.slots.size() == 1) {
      field("offset", plan_.exprs[storage.slots.begin]);
    } else {
      exprs("offset", storage.slots);
    }
    field("bytes", storage.bytes);
  }

  void tensor(TensorId /*id*/, const Tensor& tensor) {
    field("id", tensor.name);
    switch (tensor.placement) {
      case Placement::kRoot:
        field("storage", plan_.storages[tensor.storage].name);
        field("offset", tensor.offset);
        break;
      case Placement::kView:
        field("view_of", plan_.tensors[tensor.base].name);
        field("offset", tensor.offset);
        break;
      case Placement::kUnplaced:
        break;
    }
    if (tensor.dtype == DType::kNone) {
      field("bytes", tensor.bytes);
    } else {
      field("dtype", name(tensor.dtype));
      exprs("shape", tensor.shape);
      if (tensor.has_strides) exprs("strides", tensor.strides);
    }
    if (tensor.alignment != 0) field("alignment", tensor.alignment);
    const std::span<const PoolId> pools = Plan::slice(plan_.pool_lists, tensor.pools);
    if (pools.size() == 1) {
      field("pool", plan_.pools[pools.front()].name);
    } else if (!pools.empty()) {
      names("pool", pools, plan_.pools);
    }
    if (tensor.slots != 1) field("slots", tensor.slots);
  }

  // Ops.

  void op(OpId id, const Op& op) {
    field("id", op.name);
    if (op.kind != OpKind::kOp) field("kind", name(op.kind));
    if (!op.label.empty()) field("label", op.label);
    location(id, op);
    ThreadId default_thread{0};
    if (op.queue != kNone<QueueId>) {
      field("queue", plan_.queues[op.queue].name);
      default_thread = plan_.queues[op.queue].thread;
    }
    if (!op.queues.empty()) names("queues", plan_.queues_of(op), plan_.queues);
    if (op.thread != default_thread) field("thread", plan_.threads[op.thread]);
    if (op.event != kNone<EventId>) field("event", plan_.events[op.event]);
    if (op.storage != kNone<StorageId>) field("storage", plan_.storages[op.storage].name);
    accesses(id, op, AccessKind::kRead, "reads");
    accesses(id, op, AccessKind::kWrite, "writes");
    accesses(id, op, AccessKind::kAccumulate, "accumulates");
    accesses(id, op, AccessKind::kClobber, "clobbers");
    in_place(op);
    after(id, op);
    waits(id, op);
    signals(id, op);
    when(op);
    if (op.skipped_pass) field("skipped", std::string_view("pass"));
    if (op.runs != Runs::kAlways) {
      field("runs", std::string_view(op.runs == Runs::kFirst ? "first" : "last"));
    }
    if (op.duration != Op::kAbsent) {
      pair("duration", plan_.durations[op.duration].min, plan_.durations[op.duration].max);
    }
  }

  void location(OpId id, const Op& op) {
    if (op.location == Op::kAbsent) return;
    const SourceLocation& location = plan_.locations[op.location];
    key("loc");
    open('{');
    field("file", location.file);
    if (location.line != 0) field("line", location.line);
    extras_of({"ops", index(id), "loc"});
    close('}');
  }

  void accesses(OpId id, const Op& op, AccessKind kind, std::string_view list) {
    std::uint32_t count = 0;
    for (const Access& access : plan_.accesses_of(op)) {
      if (access.kind != kind) continue;
      if (count == 0) {
        key(list);
        open('[');
      }
      next();
      if (is_plain(access) && !has_extras({"ops", index(id), list, count})) {
        value(plan_.tensors[access.tensor].name);
      } else {
        open('{');
        access_fields(access);
        extras_of({"ops", index(id), list, count});
        close('}');
      }
      ++count;
    }
    if (count != 0) close(']');
  }

  static bool is_plain(const Access& access) {
    return access.pool == kNone<PoolId> && access.part == Access::kWhole && access.distance == 0 &&
           access.from == kNone<OpId> && !access.from_initial && is_default_update(access);
  }
  static bool is_default_update(const Access& access) {
    return access.update.empty() || access.update == "add";
  }

  void access_fields(const Access& access) {
    if (access.pool != kNone<PoolId>) {
      field("pool", plan_.pools[access.pool].name);
    } else {
      field("tensor", plan_.tensors[access.tensor].name);
    }
    if (access.part != Access::kWhole) {
      const Part& part = plan_.parts[access.part];
      field("offset", part.offset);
      if (part.bytes) field("bytes", *part.bytes);
    }
    if (access.distance != 0) field("distance", std::int64_t{access.distance});
    version(access.from, access.from_initial);
    if (!is_default_update(access)) field("op", access.update);
  }

  void version(OpId from, bool from_initial) {
    if (from_initial) {
      field("from", std::string_view("initial"));
    } else if (from != kNone<OpId>) {
      field("from", plan_.ops[from].name);
    }
  }

  void in_place(const Op& op) {
    if (op.in_place.empty()) return;
    key("in_place");
    open('[');
    for (const InPlace& entry : plan_.in_place_of(op)) {
      next();
      open('[');
      next();
      value(plan_.tensors[entry.read].name);
      next();
      value(plan_.tensors[entry.written].name);
      if (entry.any) {
        next();
        value(std::string_view("any"));
      }
      close(']');
    }
    close(']');
  }

  void after(OpId id, const Op& op) {
    if (op.after.empty()) return;
    key("after");
    open('[');
    std::uint32_t entry = 0;
    for (const After& after : plan_.after_of(op)) {
      next();
      if (after.distance == 0 && !has_extras({"ops", index(id), "after", entry})) {
        value(plan_.ops[after.op].name);
      } else {
        open('{');
        field("op", plan_.ops[after.op].name);
        if (after.distance != 0) field("distance", std::int64_t{after.distance});
        extras_of({"ops", index(id), "after", entry});
        close('}');
      }
      ++entry;
    }
    close(']');
  }

  void waits(OpId id, const Op& op) {
    if (op.waits.empty()) return;
    if (op.kind == OpKind::kHostWait) {
      key("for");
      const Wait& wait = plan_.waits[op.waits.begin];
      if (wait.kind == WaitKind::kAll) {
        value(std::string_view("all"));
      } else {
        open('{');
        wait_fields(wait);
        extras_of({"ops", index(id), "for"});
        close('}');
      }
      return;
    }
    key("waits");
    open('[');
    std::uint32_t entry = 0;
    for (const Wait& wait : plan_.waits_of(op)) {
      next();
      open('{');
      wait_fields(wait);
      extras_of({"ops", index(id), "waits", entry++});
      close('}');
    }
    close(']');
  }

  void wait_fields(const Wait& wait) {
    switch (wait.kind) {
      case WaitKind::kEvent:
        field("event", plan_.events[wait.event]);
        break;
      case WaitKind::kSemaphore:
        field("semaphore", plan_.semaphores[wait.semaphore].name);
        if (!is(wait.value, 1)) field("value", wait.value);
        if (wait.consume) flag("consume", true);
        break;
      case WaitKind::kPending:
      case WaitKind::kOutstanding:
        field("queue", plan_.queues[wait.queue].name);
        field(value_key(wait.kind), wait.value);
        break;
      case WaitKind::kQueue:
        field("queue", plan_.queues[wait.queue].name);
        break;
      case WaitKind::kAll:
        break;
    }
  }

  void signals(OpId id, const Op& op) {
    if (op.signals.empty()) return;
    key("signals");
    open('[');
    std::uint32_t entry = 0;
    for (const Signal& signal : plan_.signals_of(op)) {
      next();
      open('{');
      if (signal.event != kNone<EventId>) {
        field("event", plan_.events[signal.event]);
      } else {
        field("semaphore", plan_.semaphores[signal.semaphore].name);
        if (!is(signal.value, 1)) field("value", signal.value);
      }
      extras_of({"ops", index(id), "signals", entry++});
      close('}');
    }
    close(']');
  }

  void when(const Op& op) {
    if (op.when.empty()) return;
    key("when");
    open('{');
    for (const WhenTerm& term : plan_.when_of(op)) {
      flag(plan_.conditions[term.condition].name, term.value);
    }
    close('}');
  }

  // Boundary.

  void tensor_ids(std::string_view list, const std::vector<TensorId>& tensors) {
    if (!tensors.empty()) names(list, std::span<const TensorId>(tensors), plan_.tensors);
  }

  template <typename Id, typename T>
  void names(std::string_view list, std::span<const Id> items, const Table<Id, T>& table) {
    key(list);
    open('[');
    for (const Id id : items) {
      next();
      value(table[id].name);
    }
    close(']');
  }

  void outputs() {
    if (plan_.outputs.empty()) return;
    key("outputs");
    open('[');
    for (std::size_t k = 0; k < plan_.outputs.size(); ++k) {
      const Output& output = plan_.outputs[k];
      next();
      if (output.from == kNone<OpId> && !output.from_initial && !has_extras({"outputs", k})) {
        value(plan_.tensors[output.tensor].name);
        continue;
      }
      open('{');
      field("tensor", plan_.tensors[output.tensor].name);
      version(output.from, output.from_initial);
      extras_of({"outputs", k});
      close('}');
    }
    close(']');
  }

  void peak_bytes() {
    bool any = false;
    for (const Pool& pool : plan_.pools) {
      if (!pool.peak_bytes) continue;
      if (!any) {
        key("peak_bytes");
        open('{');
      }
      any = true;
      field(pool.name, *pool.peak_bytes);
    }
    if (any) close('}');
  }

  static bool is(Expr expr, std::int64_t value) {
    return expr.is_constant() && expr.constant == value;
  }

  const Plan& plan_;
  std::string out_;
  bool first_ = true;  ///< Nothing stands in the innermost bracket yet.
  int depth_ = 0;      ///< Open brackets.
  std::unordered_map<std::string, std::vector<const Extra*>> extras_;  ///< By owner.
};

std::string failure(const std::string& what, const std::string& path) {
  return "cannot " + what + " " + path + ": " + std::strerror(errno);
}

/// Writes everything; false with errno set.
bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(fd, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

std::string write_plan(const Plan& plan) { return PlanWriter(plan).write(); }

std::string replace_file(const std::string& path, const std::string& text) {
  if (path == "-") {
    return write_all(STDOUT_FILENO, text) ? "" : failure("write to", "standard output");
  }
  // The file that a symbolic link names is replaced, not the link. What is no regular file (a
  // device, a pipe) cannot be replaced and is written to.
  struct stat status = {};
  const bool exists = ::stat(path.c_str(), &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    const int fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (fd < 0) return failure("open", path);
    const bool written = write_all(fd, text);
    std::string error = written ? "" : failure("write", path);
    if (::close(fd) != 0 && written) error = failure("write", path);
    return error;
  }
  std::string target = path;
  if (char* const real = ::realpath(path.c_str(), nullptr); real != nullptr) {
    target = real;
    ::free(real);
  }
  std::string beside = target + ".XXXXXX";
  const int fd = ::mkstemp(beside.data());
  if (fd < 0) return failure("create a file beside", target);
  // The rights of the old file, or those that any new file gets.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const mode_t mode = exists ? status.st_mode & 07777U : 0666U & ~mask;
  std::string error;
  if (::fchmod(fd, mode) != 0 || !write_all(fd, text) || ::fsync(fd) != 0) {
    error = failure("write", beside);
  }
  if (::close(fd) != 0 && error.empty()) error = failure("write", beside);
  if (error.empty() && ::rename(beside.c_str(), target.c_str()) != 0) {
    error = failure("replace", target);
  }
  if (!error.empty()) ::unlink(beside.c_str());
  return error;
}

}  // namespace memverify
