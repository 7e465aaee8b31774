// docs/plan.schema.json says what the reader does: the same keys in every object, and what it
// forbids the reader refuses. (That it accepts the corpus: tests/schema/plan_schema.py.)
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "plan/reader.h"
#include "plan/reader_fields.h"

namespace memverify {
namespace {

using nlohmann::json;

json load(const std::string& path) {
  std::ifstream file(std::string(MEMVERIFY_SOURCE "/") + path);
  return json::parse(file);
}

/// Compares the reader's tables with the schema, object by object.
class Comparison {
 public:
  explicit Comparison(const json& schema) : schema_(schema) {}

  void compare(const ObjectFields& object, const json& node, const std::string& place) {
    ++objects_;
    if (object.entry != nullptr) {
      const json& entry = node.at("additionalProperties");
      compare(object.entry(fields_, "key"), entry, place + "/*");
      return;
    }
    std::set<std::string> read;
    for (const Field& field : object.fields) {
      read.emplace(field.key);
      const std::string key(field.key);
      const Slot slot = field.slot(fields_);
      for (const json* form : objects_in(node)) {
        const auto needed = form->value("required", std::vector<std::string>());
        const bool required = std::ranges::find(needed, key) != needed.end();
        EXPECT_TRUE(required || !field.required) << place << "/" << key;
        if (form->at("properties").contains(key)) {
          compare(slot, form->at("properties").at(key), place + "/" + key);
        }
      }
    }
    std::set<std::string> described;
    for (const json* form : objects_in(node)) {
      for (const auto& property : form->at("properties").items()) described.insert(property.key());
      EXPECT_EQ(form->at("additionalProperties"), json(false)) << place;
      EXPECT_TRUE(form->at("patternProperties").contains("^x-")) << place;
    }
    EXPECT_EQ(read, described) << place;
  }

  std::size_t objects() const { return objects_; }

 private:
  void compare(const Slot& slot, const json& node, const std::string& place) {
    EXPECT_EQ(slot.object != nullptr, !objects_in(node).empty()) << place;
    EXPECT_EQ(slot.list != nullptr, !arrays_in(node).empty()) << place;
    if (slot.object != nullptr) compare(*slot.object, node, place);
    if (slot.list == nullptr) return;
    for (const json* array : arrays_in(node)) {
      if (array->contains("prefixItems")) continue;
      compare(slot.list->element(fields_, 0), array->at("items"), place + "/0");
    }
  }

  /// The alternatives of `node` that have `type`.
  void collect(const json& node, const char* type, std::vector<const json*>& found) const {
    if (node.contains("$ref")) {
      collect(schema_.at(json::json_pointer(node.at("$ref").get<std::string>().substr(1))), type,
              found);
    }
    if (node.contains("type") && node.at("type") == type) found.push_back(&node);
    for (const char* key : {"anyOf", "oneOf"}) {
      if (!node.contains(key)) continue;
      for (const json& one : node.at(key)) collect(one, type, found);
    }
  }
  std::vector<const json*> objects_in(const json& node) const {
    std::vector<const json*> found;
    collect(node, "object", found);
    return found;
  }
  std::vector<const json*> arrays_in(const json& node) const {
    std::vector<const json*> found;
    collect(node, "array", found);
    return found;
  }

  const json& schema_;
  PlanBuilder builder_;
  PlanFields fields_{builder_};
  std::size_t objects_ = 0;
};

TEST(Schema, HasTheReadersKeys) {
  const json schema = load("docs/plan.schema.json");
  Comparison comparison(schema);
  comparison.compare(kPlanFields, schema, "");
  EXPECT_GT(comparison.objects(), 15U);
}

TEST(Schema, WhatItForbidsTheReaderRefuses) {
  const json cases = load("tests/schema/broken.json");
  ASSERT_GT(cases.size(), 50U);
  for (const json& broken : cases) {
    const std::string text = broken.at("plan").dump();
    const Result<Plan> plan = read_plan(text, "");
    EXPECT_FALSE(plan.ok()) << broken.at("why");
  }
}

}  // namespace
}  // namespace memverify
