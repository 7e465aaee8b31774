#include "plan/words.h"
#include "verify/storage_view.h"

namespace memverify {
namespace {

void add_next(JsonText& json, const Plan& plan, const NextUse& next) {
  json.next();
  json.open('{');
  if (next.op == kNone<OpId>) {
    json.flag("end", true);
  } else {
    json.field("op", plan.ops[next.op].name);
    json.field("iteration", next.iteration);
    json.flag("frees", next.frees);
    if (next.is_earlier) json.flag("earlier", true);
  }
  if (next.tensor != kNone<TensorId>) json.field("tensor", plan.tensors[next.tensor].name);
  if (!next.bytes.empty()) json.pair("bytes", next.bytes.begin, next.bytes.end);
  json.flag("waits", next.waits);
  json.key("through");
  json.open('[');
  for (const Step& step : next.through) {
    json.next();
    json.value(plan.ops[step.op].name);
  }
  json.close(']');
  json.close('}');
}

void add_use(JsonText& json, const Plan& plan, const UseView& use) {
  json.next();
  json.open('{');
  json.field("op", plan.ops[use.op].name);
  json.field("iteration", use.iteration);
  json.field("access", name(use.kind));
  json.field("tensor", plan.tensors[use.tensor].name);
  json.names("alias_chain", plan.tensors, alias_chain(plan, use.tensor));
  json.pair("bytes", use.bytes.begin, use.bytes.end);
  json.field("touched", use.touched);
  if (use.starts) json.pair("ticks", use.start, use.complete);
  if (!use.starts) json.flag("starts", false);
  json.key("next");
  json.open('[');
  for (const NextUse& next : use.next) add_next(json, plan, next);
  json.close(']');
  json.close('}');
}

}  // namespace

void add_storage_view(JsonText& json, const Plan& plan, const StorageView& view) {
  json.field("storage", plan.storages[view.storage].name);
  json.field("iteration", view.iteration);
  json.field("pool", plan.pools[view.pool].name);
  json.pair("bytes", view.bytes.begin, view.bytes.end);
  json.flag("from_start", view.from_start);
  json.flag("to_end", view.to_end);
  json.pair("held", view.held_from, view.held_until);
  json.key("aliases");
  json.open('[');
  for (const AliasView& alias : view.aliases) {
    json.next();
    json.open('{');
    json.field("tensor", plan.tensors[alias.tensor].name);
    const TensorId base = plan.tensors[alias.tensor].base;
    if (base != kNone<TensorId>) json.field("view_of", plan.tensors[base].name);
    json.pair("bytes", alias.bytes.begin, alias.bytes.end);
    json.key("uses");
    json.open('[');
    for (const std::uint32_t use : alias.uses) {
      json.next();
      json.value(std::int64_t{use});
    }
    json.close(']');
    json.close('}');
  }
  json.close(']');
  json.key("uses");
  json.open('[');
  for (const UseView& use : view.uses) add_use(json, plan, use);
  json.close(']');
  if (view.blocker) json.field("blocker", std::int64_t{*view.blocker});
  json.key("causes");
  json.open('[');
  for (const HoldCause& cause : view.causes) {
    json.next();
    json.open('{');
    json.field("kind", name(cause.kind));
    json.field("amount", cause.amount);
    json.close('}');
  }
  json.close(']');
}

}  // namespace memverify
