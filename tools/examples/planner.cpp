// A planner for `memverify fuzz` to try: every tensor gets bytes of its own.
//
//   c++ -std=c++20 planner.cpp -o planner      (Debian: nlohmann-json3-dev)
//   memverify fuzz --planner ./planner --persistent --cases 200
//
// One line of JSON in, a graph; one line out, the plan, or {"refused": "why"}. Put your own planner
// in the place of `place`.
#include <cstdint>
#include <exception>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>

using Json = nlohmann::json;

namespace {

std::int64_t bytes_of(const Json& tensor) {
  static const std::map<std::string, std::int64_t> kBytes = {
      {"i8", 1},  {"u8", 1},   {"bool", 1}, {"f8", 1},   {"i16", 2}, {"u16", 2},
      {"f16", 2}, {"bf16", 2}, {"i32", 4},  {"u32", 4},  {"f32", 4}, {"i64", 8},
      {"u64", 8}, {"f64", 8},  {"c64", 8},  {"c128", 16}};
  if (tensor.contains("bytes")) return tensor.at("bytes");
  std::int64_t bytes = kBytes.at(tensor.at("dtype"));
  for (const Json& size : tensor.at("shape")) bytes *= size.get<std::int64_t>();
  return bytes;
}

/// The next multiple of what everybody asks for, so that each view is aligned, too.
std::int64_t common_alignment(const Json& graph) {
  std::int64_t all = 1;
  for (const char* list : {"pools", "tensors"}) {
    for (const Json& entry : graph.at(list)) {
      all = std::lcm(all, entry.value("alignment", std::int64_t{1}));
    }
  }
  return all;
}

void place(Json& graph) {
  const std::int64_t alignment = common_alignment(graph);
  std::int64_t next = 0;
  const auto pass = [&](std::int64_t end) {
    next = std::max(next, (end + alignment - 1) / alignment * alignment);
  };
  std::set<std::string> names;
  if (!graph.contains("storages")) graph["storages"] = Json::array();
  for (const Json& storage : graph["storages"]) {
    names.insert(storage.at("id"));
    pass(storage.at("offset").get<std::int64_t>() + storage.at("bytes").get<std::int64_t>());
  }
  for (Json& tensor : graph.at("tensors")) {
    if (tensor.contains("storage") || tensor.contains("view_of")) continue;
    const Json pool = tensor.value("pool", graph.at("pools").at(0).at("id"));
    Json storage = {{"id", tensor.at("id")},
                    {"pool", pool.is_array() ? pool.at(0) : pool},
                    {"bytes", bytes_of(tensor)}};
    while (!names.insert(storage["id"]).second)
      storage["id"] = storage["id"].get<std::string>() + "'";
    for (std::int64_t slot = tensor.value("slots", std::int64_t{1}); slot > 0; --slot) {
      storage["offset"].push_back(next);
      pass(next + bytes_of(tensor));
    }
    tensor["storage"] = storage["id"];
    tensor.erase("pool");
    tensor.erase("slots");
    graph["storages"].push_back(storage);
  }
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    Json answer;
    try {
      answer = Json::parse(line);
      place(answer);
    } catch (const std::exception& error) {
      answer = {{"refused", error.what()}};
    }
    std::cout << answer.dump() << std::endl;
  }
}
