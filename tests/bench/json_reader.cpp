// How fast a plan is read, and which JSON library reads it faster: the same text through RapidJSON
// (what plan/json_events.cpp uses) and nlohmann/json, both into the same handler.
//
//   generate_plan --ops 1000000 > plan.json && json_reader plan.json
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

#include "plan/builder.h"
#include "plan/input_file.h"
#include "plan/json_events.h"
#include "plan/plan_events.h"
#include "plan/reader.h"

namespace memverify {
namespace {

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

void scan_with(bool rapid, std::string_view text, JsonHandler& handler) {
  if (rapid) {
    require(!scan_json(text, handler), "RapidJSON failed");
  } else {
    NlohmannAdapter adapter(handler);
    require(nlohmann::json::sax_parse(text, &adapter), "nlohmann/json failed");
  }
}

int run(const char* path) {
  const Result<InputFile> file = InputFile::open(path);
  require(file.ok(), "cannot read the file");
  const std::string_view text = file.value().text();
  std::printf("%.1f MB; best of 3, ms of processor time\n", static_cast<double>(text.size()) / 1e6);
  for (const bool rapid : {true, false}) {
    Counter counter;
    const double scan = milliseconds([&] {
      counter.events = 0;
      scan_with(rapid, text, counter);
    });
    const double add = milliseconds([&] {
      PlanBuilder builder;
      PlanEvents plan_events(text, builder);
      scan_with(rapid, text, plan_events);
      require(plan_events.errors().empty(), "errors in the plan");
    });
    std::printf("%-9s %zu events: scan %8.1f, scan and add %8.1f\n",
                rapid ? "RapidJSON" : "nlohmann", counter.events, scan, add);
  }
  const double whole = milliseconds([&] { require(read_plan(text, "").ok(), "not a plan"); });
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("read_plan %8.1f, peak memory %.0f MB, the text included\n", whole,
              static_cast<double>(usage.ru_maxrss) / 1024);
  return 0;
}

}  // namespace
}  // namespace memverify

int main(int argc, char** argv) {
  if (argc == 2) return memverify::run(argv[1]);
  std::fprintf(stderr, "usage: json_reader PLAN\n");
  return 2;
}
