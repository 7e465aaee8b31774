// How fast a plan is read, and which JSON library reads it faster: the same text through RapidJSON
// (what plan/json_events.cpp uses) and nlohmann/json, both into the same handler.
//
//   json_reader [OPS = 100000] [FILE]    writes the generated plan to FILE, if given
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "plan/builder.h"
#include "plan/json_events.h"
#include "plan/plan_events.h"
#include "plan/reader.h"

namespace memverify {
namespace {

/// A plan of `ops` ops on four queues in a ring of tensors, some 175 bytes an op.
std::string generate(std::size_t ops) {
  constexpr std::size_t kQueues = 4;
  std::string text =
      R"({"memverify": 1, "name": "generated", "pools": [{"id": "hbm"}], "queues": [)";
  for (std::size_t q = 0; q < kQueues; ++q) {
    text += (q == 0 ? "{\"id\": \"queue" : ", {\"id\": \"queue") + std::to_string(q) + "\"}";
  }
  const std::size_t tensors = ops / 10 + 2;
  text += "],\n\"storages\": [\n";
  for (std::size_t t = 0; t < tensors; ++t) {
    text += (t == 0 ? "" : ",\n") + std::string("{\"id\": \"s") + std::to_string(t) +
            R"(", "pool": "hbm", "offset": )" + std::to_string(4096 * t) + ", \"bytes\": 4096}";
  }
  text += "],\n\"tensors\": [\n";
  for (std::size_t t = 0; t < tensors; ++t) {
    const std::string number = std::to_string(t);
    text += (t == 0 ? "" : ",\n") + std::string("{\"id\": \"tensor_") + number +
            R"(", "storage": "s)" + number + R"(", "dtype": "f32", "shape": [16, 64]})";
  }
  text += "],\n\"ops\": [\n";
  for (std::size_t i = 0; i < ops; ++i) {
    const std::string number = std::to_string(i);
    text += (i == 0 ? "" : ",\n") + std::string("{\"id\": \"layer_") + number +
            R"(/matmul", "label": "MatMul", "queue": "queue)" + std::to_string(i % kQueues) +
            R"(", "reads": ["tensor_)" + std::to_string(i % tensors) +
            R"("], "writes": ["tensor_)" + std::to_string((i + 1) % tensors) + R"("])";
    if (i > 0) text += R"(, "waits": [{"event": "e)" + std::to_string(i - 1) + R"("}])";
    text += R"(, "signals": [{"event": "e)" + number + R"("}]})";
  }
  return text + "]}\n";
}

/// nlohmann's events, passed on. They carry no places.
class NlohmannAdapter : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit NlohmannAdapter(JsonHandler& handler) : handler_(handler) {}
  bool null() override { return handler_.on_null({}); }
  bool boolean(bool value) override { return handler_.on_bool(value, {}); }
  bool number_integer(number_integer_t value) override { return handler_.on_integer(value, {}); }
  bool number_unsigned(number_unsigned_t value) override {
    return handler_.on_integer(static_cast<std::int64_t>(value), {});
  }
  bool number_float(number_float_t /*value*/, const string_t& text) override {
    return handler_.on_other_number(text, {});
  }
  bool string(string_t& value) override { return handler_.on_string(value, {}); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return handler_.on_object_begin(0); }
  bool key(string_t& value) override { return handler_.on_key(value, {}); }
  bool end_object() override { return handler_.on_object_end(0); }
  bool start_array(std::size_t /*size*/) override { return handler_.on_array_begin(0); }
  bool end_array() override { return handler_.on_array_end(0); }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  JsonHandler& handler_;
};

/// Looks at nothing: what is left is the scan.
class Counter final : public JsonHandler {
 public:
  std::size_t events = 0;
  bool on_null(JsonSpan) override { return count(); }
  bool on_bool(bool, JsonSpan) override { return count(); }
  bool on_integer(std::int64_t, JsonSpan) override { return count(); }
  bool on_other_number(std::string_view, JsonSpan) override { return count(); }
  bool on_string(std::string_view, JsonSpan) override { return count(); }
  bool on_key(std::string_view, JsonSpan) override { return count(); }
  bool on_object_begin(std::size_t) override { return count(); }
  bool on_object_end(std::size_t) override { return count(); }
  bool on_array_begin(std::size_t) override { return count(); }
  bool on_array_end(std::size_t) override { return count(); }

 private:
  bool count() {
    ++events;
    return true;
  }
};

/// Of processor time, which other processes disturb less than the clock on the wall.
double milliseconds(const std::function<void()>& work) {
  double best = 0;
  for (int round = 0; round < 3; ++round) {
    const std::clock_t begin = std::clock();
    work();
    const double time = 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    if (round == 0 || time < best) best = time;
  }
  return best;
}

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", what);
  std::exit(1);
}

void scan_with(bool rapid, const std::string& text, JsonHandler& handler) {
  if (rapid) {
    require(!scan_json(text, handler), "RapidJSON failed");
  } else {
    NlohmannAdapter adapter(handler);
    require(nlohmann::json::sax_parse(text, &adapter), "nlohmann/json failed");
  }
}

int run(std::size_t ops, const char* file) {
  const std::string text = generate(ops);
  if (file != nullptr) std::ofstream(file) << text;
  std::printf("%zu ops, %.1f MB; best of 3, ms\n", ops, static_cast<double>(text.size()) / 1e6);
  for (const bool rapid : {true, false}) {
    const double scan = milliseconds([&] {
      Counter counter;
      scan_with(rapid, text, counter);
      require(counter.events > ops, "too few events");
    });
    const double events = milliseconds([&] {
      PlanBuilder builder;
      PlanEvents plan_events(text, builder);
      scan_with(rapid, text, plan_events);
      require(plan_events.errors().empty(), "errors in the plan");
    });
    std::printf("%-9s scan %8.1f   scan + add %8.1f\n", rapid ? "RapidJSON" : "nlohmann", scan,
                events);
  }
  const double whole = milliseconds([&] { require(read_plan(text, "").ok(), "not a plan"); });
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("read_plan %8.1f   (peak memory %.0f MB, the text included)\n", whole,
              static_cast<double>(usage.ru_maxrss) / 1024);
  return 0;
}

}  // namespace
}  // namespace memverify

int main(int argc, char** argv) {
  const std::size_t ops = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 100'000;
  return memverify::run(ops, argc > 2 ? argv[2] : nullptr);
}
