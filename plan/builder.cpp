#include "plan/builder.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "plan/builder_impl.h"
#include "plan/json_events.h"
#include "plan/words.h"

namespace memverify {
namespace {

constexpr std::array<std::string_view, 4> kOrders = {"serial", "issue", "none", "host"};

bool is_identifier(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (name.empty() || is_digit(name.front())) return false;
  return std::ranges::all_of(name, [&](char c) { return is_letter(c) || is_digit(c); });
}

bool is_reserved(std::string_view name) {
  return name == "iteration" || name == "min" || name == "max" || name == "align";
}

// What a symbol can be at most; without `max`, values are still 64-bit integers.
std::int64_t greatest(const Symbol& symbol) {
  return symbol.max.value_or(std::numeric_limits<std::int64_t>::max());
}

// True iff a multiple of `multiple_of` >= 1 lies in [min, greatest].
bool has_value(const Symbol& symbol) {
  const std::int64_t rest = greatest(symbol) % symbol.multiple_of;  // Sign of the greatest.
  const std::int64_t down = rest < 0 ? rest + symbol.multiple_of : rest;
  std::int64_t last = 0;
  return !__builtin_sub_overflow(greatest(symbol), down, &last) && last >= symbol.min;
}

std::vector<std::string_view> dtype_names() {
  std::vector<std::string_view> names;
  for (int i = 1; i <= static_cast<int>(DType::kF4); ++i) {
    names.push_back(name(static_cast<DType>(i)));
  }
  return names;
}

}  // namespace

Expr PlanBuilder::Impl::expr(const ExprSpec& spec) {
  if (const auto* value = std::get_if<std::int64_t>(&spec)) return *value;
  has_formulas = true;
  Expr unresolved;
  unresolved.formula = static_cast<std::uint32_t>(names.intern(std::get<std::string_view>(spec)));
  return unresolved;
}

Range PlanBuilder::Impl::exprs(const std::vector<ExprSpec>& specs) {
  const auto begin = static_cast<std::uint32_t>(plan.exprs.size());
  for (const ExprSpec& spec : specs) plan.exprs.push_back(expr(spec));
  return {begin, static_cast<std::uint32_t>(plan.exprs.size())};
}

void PlanBuilder::Impl::make_room(std::vector<std::uint32_t>& ids, StringId string) {
  constexpr std::size_t kAtOnce = 1024;  // One by one costs 2 % of what verifying does.
  if (!ids.empty()) ids.reserve(names_to_come);
  ids.resize(index(string) + kAtOnce, kNoId);
}

void PlanBuilder::Impl::check_id(NameKind kind, std::string_view name, std::uint32_t known,
                                 std::size_t next, std::string_view section) {
  const auto bad = [&](std::string_view id, std::string message) {
    fail(id, std::move(message), json_pointer({section, next, "id"}));
  };
  const std::string word(memverify::name(kind));
  if (name.empty()) return bad("id.empty", "every " + word + " needs an id that is not empty");
  if (!is_utf8 && find_invalid_utf8(name) != std::string_view::npos) {
    bad("json.encoding", "the id of this " + word + " is not valid UTF-8");
  }
  if (known != kNoId) {
    bad("id.duplicate", with_article(kind) + " with the id " + quoted(name) +
                            " exists already, at " + json_pointer({section, known}));
  }
}

ThreadId PlanBuilder::Impl::thread(std::string_view name) {
  const StringId string = names.intern(name);
  const std::uint32_t known = find(NameKind::kThread, index(string));
  if (known != kNoId) return static_cast<ThreadId>(known);
  return plan.threads.push_back(
      declare(NameKind::kThread, name, string, plan.threads.size(), "threads"));
}

EventId PlanBuilder::Impl::event(std::string_view name) {
  if (name.empty()) return kNone<EventId>;
  const StringId string = names.intern(name);
  const std::uint32_t known = find(NameKind::kEvent, index(string));
  if (known != kNoId) return static_cast<EventId>(known);
  return plan.events.push_back(
      declare(NameKind::kEvent, name, string, plan.events.size(), "events"));
}

UpdateId PlanBuilder::Impl::update(std::string_view name) {
  const StringId string = names.intern(name);
  const auto [entry, is_new] = updates.try_emplace(index(string), plan.updates.next_id());
  if (is_new) plan.updates.push_back(names.text(string));
  return entry->second;
}

PlanBuilder::PlanBuilder() : impl_(std::make_unique<Impl>()) {}
PlanBuilder::PlanBuilder(PlanBuilder&&) noexcept = default;
PlanBuilder& PlanBuilder::operator=(PlanBuilder&&) noexcept = default;
PlanBuilder::~PlanBuilder() = default;

void PlanBuilder::expect_text(std::size_t bytes) {
  impl_->is_utf8 = true;
  constexpr std::size_t kWorthIt = std::size_t{1} << 20;
  constexpr std::size_t kBytesPerThing = 64;
  constexpr std::size_t kBytesPerName = 48;
  if (bytes < kWorthIt) return;
  impl_->things_to_come = bytes / kBytesPerThing;
  impl_->names_to_come = bytes / kBytesPerName;
  impl_->names.reserve(impl_->names_to_come);
}

void PlanBuilder::set_name(std::string_view name) { impl_->plan.name = impl_->keep(name); }

void PlanBuilder::set_iterations(std::int64_t iterations) {
  impl_->plan.iterations = iterations;
  if (iterations < 1) {
    impl_->fail("iterations.range", "iterations must be at least 1 or \"unbounded\"",
                "/iterations");
  }
}

void PlanBuilder::set_unbounded() { impl_->plan.iterations.reset(); }

void PlanBuilder::add_symbol(const SymbolSpec& spec) {
  Table<SymbolId, Symbol>& symbols = impl_->plan.symbols;
  const std::string at = json_pointer({"symbols", spec.name});
  Symbol symbol{.min = spec.min, .max = spec.max, .multiple_of = spec.multiple_of};
  if (!is_identifier(spec.name) || is_reserved(spec.name)) {
    impl_->fail("symbol.name",
                quoted(spec.name) +
                    " cannot name a symbol: a symbol is a letter or _, then letters, "
                    "digits or _, and none of iteration, min, max, align",
                at);
    return;
  }
  if (symbol.multiple_of < 1) {
    impl_->fail("symbol.range", "multiple_of must be at least 1", at + "/multiple_of");
  } else if (!has_value(symbol)) {
    impl_->fail("symbol.range",
                "no multiple of " + std::to_string(symbol.multiple_of) + " lies between min " +
                    std::to_string(symbol.min) + " and max " + std::to_string(greatest(symbol)),
                at + (symbol.max ? "/max" : "/min"));
  }
  const std::uint32_t known = impl_->find(NameKind::kSymbol, index(impl_->names.intern(spec.name)));
  if (known != Impl::kNoId) {
    impl_->fail("id.duplicate", "the symbol " + quoted(spec.name) + " exists already", at);
    return;
  }
  symbol.name = impl_->declare(NameKind::kSymbol, spec.name, symbols.size(), "symbols");
  symbols.push_back(symbol);
}

void PlanBuilder::add_condition(const ConditionSpec& spec) {
  Table<ConditionId, Condition>& conditions = impl_->plan.conditions;
  const std::size_t next = conditions.size();
  constexpr std::array<std::string_view, 2> kPer = {"run", "iteration"};
  if (!spec.per.empty() && std::ranges::find(kPer, spec.per) == kPer.end()) {
    impl_->fail("condition.per", unknown_word("period", spec.per, kPer),
                json_pointer({"conditions", next, "per"}));
  }
  conditions.push_back(
      {impl_->declare(NameKind::kCondition, spec.name, next, "conditions"), spec.per == "run"});
}

void PlanBuilder::add_pool(const PoolSpec& spec) {
  Table<PoolId, Pool>& pools = impl_->plan.pools;
  const std::size_t next = pools.size();
  Pool pool{.alignment = spec.alignment, .kind = impl_->keep(spec.kind)};
  pool.name = impl_->declare(NameKind::kPool, spec.name, next, "pools");
  if (spec.bytes) pool.bytes = impl_->expr(*spec.bytes);
  if (spec.alignment < 1) {
    impl_->fail("alignment.range", "alignment must be at least 1 byte",
                json_pointer({"pools", next, "alignment"}));
  }
  pools.push_back(pool);
}

void PlanBuilder::add_queue(const QueueSpec& spec) {
  Table<QueueId, Queue>& queues = impl_->plan.queues;
  const std::size_t next = queues.size();
  const auto fail = [&](std::string_view id, std::string message, std::string_view field) {
    impl_->fail(id, std::move(message), json_pointer({"queues", next, field}));
  };
  Queue queue{.depth = spec.depth, .delay_min = spec.delay_min, .delay_max = spec.delay_max};
  queue.name = impl_->declare(NameKind::kQueue, spec.name, next, "queues");
  if (!spec.thread.empty()) queue.thread = impl_->thread(spec.thread);
  const auto order = std::ranges::find(kOrders, spec.order);
  if (order == kOrders.end()) {
    fail("queue.order", unknown_word("order", spec.order, kOrders), "order");
  } else {
    queue.order = static_cast<QueueOrder>(order - kOrders.begin());
  }
  if (spec.depth && *spec.depth < 1) fail("queue.depth", "depth must be at least 1", "depth");
  if (spec.delay_min < 0 || spec.delay_max < spec.delay_min) {
    fail("queue.delay", "a delay is [lo, hi] with 0 <= lo <= hi", "delay");
  }
  queues.push_back(queue);
}

void PlanBuilder::add_semaphore(const SemaphoreSpec& spec) {
  Table<SemaphoreId, Semaphore>& semaphores = impl_->plan.semaphores;
  const std::size_t next = semaphores.size();
  constexpr std::array<std::string_view, 2> kKinds = {"counting", "timeline"};
  if (std::ranges::find(kKinds, spec.kind) == kKinds.end()) {
    impl_->fail("semaphore.kind", unknown_word("kind", spec.kind, kKinds),
                json_pointer({"semaphores", next, "kind"}));
  }
  semaphores.push_back({.name = impl_->declare(NameKind::kSemaphore, spec.name, next, "semaphores"),
                        .timeline = spec.kind == "timeline",
                        .initial = impl_->expr(spec.initial)});
}

void PlanBuilder::add_storage(const StorageSpec& spec) {
  Table<StorageId, Storage>& storages = impl_->plan.storages;
  const std::size_t next = storages.size();
  Storage storage{.pool = impl_->refer<PoolId>(spec.pool)};
  storage.name = impl_->declare(NameKind::kStorage, spec.name, next, "storages");
  if (spec.pool.empty()) {
    impl_->fail("field.missing", "a storage needs a `pool`", json_pointer({"storages", next}));
  }
  if (spec.slots.empty()) {
    impl_->fail("field.missing", "a storage needs at least one offset",
                json_pointer({"storages", next}));
  }
  storage.slots = impl_->exprs(spec.slots);
  storage.bytes = impl_->expr(spec.bytes);
  storages.push_back(storage);
  if (storages.size() == Impl::kMany) storages.reserve(impl_->things_to_come);
  impl_->slots_are_array.push_back(spec.slots_are_array);
}

void PlanBuilder::Impl::check_tensor_form(const TensorSpec& spec, std::size_t next) {
  const auto bad = [&](std::string_view id, std::string message, std::string_view field = {}) {
    fail(id, std::move(message),
         field.empty() ? json_pointer({"tensors", next}) : json_pointer({"tensors", next, field}));
  };
  const bool typed = !spec.dtype.empty() || spec.shape || spec.strides;
  if (!spec.storage.empty() && !spec.view_of.empty()) {
    bad("tensor.place", "a tensor is in a `storage` or a `view_of` another, not both", "view_of");
  }
  if (typed && spec.bytes) {
    bad("tensor.form", "a tensor has `bytes`, or `dtype` and `shape`, not both", "bytes");
  } else if (!typed && !spec.bytes) {
    bad("tensor.form", "a tensor needs `bytes`, or `dtype` and `shape`");
  } else if (typed && spec.dtype.empty()) {
    bad("tensor.form", "a tensor with a `shape` needs a `dtype`");
  } else if (typed && !spec.shape) {
    bad("tensor.form", "a tensor with a `dtype` needs a `shape`");
  }
  if (spec.shape && spec.strides && spec.shape->size() != spec.strides->size()) {
    bad("tensor.strides",
        std::to_string(spec.strides->size()) + " strides for " +
            std::to_string(spec.shape->size()) + " dimensions",
        "strides");
  }
  if (!spec.dtype.empty() && !parse_dtype(spec.dtype)) {
    bad("tensor.dtype", unknown_word("dtype", spec.dtype, dtype_names()), "dtype");
  }
  if (spec.alignment && *spec.alignment < 1) {
    bad("alignment.range", "alignment must be at least 1 byte", "alignment");
  }
  if (spec.slots && *spec.slots < 1) bad("tensor.slots", "slots must be at least 1", "slots");
  const bool placed = !spec.storage.empty() || !spec.view_of.empty();
  if (placed && !spec.pools.empty()) {
    bad("field.unexpected", "`pool` is for a tensor without a `storage` or `view_of`", "pool");
  }
  if (placed && spec.slots) {
    bad("field.unexpected", "`slots` is for a tensor without a `storage` or `view_of`", "slots");
  }
  if (!placed && spec.offset != ExprSpec(std::int64_t{0})) {
    bad("field.unexpected", "`offset` needs a `storage` or `view_of`", "offset");
  }
}

void PlanBuilder::add_tensor(const TensorSpec& spec) {
  Table<TensorId, Tensor>& tensors = impl_->plan.tensors;
  impl_->check_tensor_form(spec, tensors.size());
  Tensor tensor;
  tensor.name = impl_->declare(NameKind::kTensor, spec.name, tensors.size(), "tensors");
  tensor.storage = impl_->refer<StorageId>(spec.storage);
  tensor.base = impl_->refer<TensorId>(spec.view_of);
  tensor.placement = !spec.view_of.empty()   ? TensorKind::kView
                     : !spec.storage.empty() ? TensorKind::kRoot
                                             : TensorKind::kUnplaced;
  tensor.dtype = parse_dtype(spec.dtype).value_or(DType::kNone);
  tensor.offset = impl_->expr(spec.offset);
  if (spec.bytes) tensor.bytes = impl_->expr(*spec.bytes);
  if (spec.shape) tensor.shape = impl_->exprs(*spec.shape);
  tensor.has_strides = spec.strides.has_value();
  if (spec.strides) tensor.strides = impl_->exprs(*spec.strides);
  tensor.alignment = spec.alignment.value_or(0);
  tensor.pools.begin = static_cast<std::uint32_t>(impl_->plan.pool_lists.size());
  for (const std::string_view pool : spec.pools) {
    impl_->plan.pool_lists.push_back(impl_->refer<PoolId>(pool));
  }
  tensor.pools.end = static_cast<std::uint32_t>(impl_->plan.pool_lists.size());
  tensor.slots = spec.slots.value_or(1);
  tensors.push_back(tensor);
  if (tensors.size() == Impl::kMany) tensors.reserve(impl_->things_to_come);
}

void PlanBuilder::add_op(const OpSpec& spec) { impl_->add_op(spec); }

void PlanBuilder::add_input(std::string_view tensor) {
  impl_->plan.inputs.push_back(impl_->refer_always<TensorId>(tensor));
}

void PlanBuilder::add_constant(std::string_view tensor) {
  impl_->plan.constants.push_back(impl_->refer_always<TensorId>(tensor));
}

void PlanBuilder::add_donated(std::string_view tensor) {
  impl_->plan.donated.push_back(impl_->refer_always<TensorId>(tensor));
}

void PlanBuilder::add_output(const OutputSpec& spec) {
  Output output{.tensor = impl_->refer_always<TensorId>(spec.tensor)};
  output.from_initial = spec.from == "initial";
  if (!output.from_initial) output.from = impl_->refer<OpId>(spec.from);
  if (output.from != kNone<OpId>) impl_->names_writers = true;
  impl_->plan.outputs.push_back(output);
}

void PlanBuilder::set_peak_bytes(std::string_view pool, ExprSpec bytes) {
  impl_->peaks.emplace_back(impl_->names.intern(pool), impl_->expr(bytes));
}

void PlanBuilder::add_extra(std::string_view owner, std::string_view key, std::string_view json) {
  const auto wrong = [&](std::string_view id, std::string message) {
    impl_->fail(id, std::move(message), std::string(owner) + json_pointer({key}));
  };
  if (!key.starts_with("x-")) wrong("json.key", "a key of yours starts with `x-`");
  if (find_invalid_utf8(key) != std::string_view::npos) wrong("json.encoding", "not valid UTF-8");
  if (const auto error = check_json(json)) wrong(error->id, error->message);
  impl_->plan.extras.push_back({std::string(owner), std::string(key), std::string(json)});
}

}  // namespace memverify
