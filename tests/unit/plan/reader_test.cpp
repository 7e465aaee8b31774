// What the reader says about every kind of broken text, and where.
#include "plan/reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan_events.h"

namespace memverify {
namespace {

/// Each error as "line:column id pointer".
std::vector<std::string> places(std::string_view text) {
  const Result<Plan> plan = read_plan(text, "p.json");
  std::vector<std::string> all;
  if (plan.ok()) return all;
  for (const Diagnostic& error : plan.errors()) {
    EXPECT_EQ(error.file, "p.json");
    all.push_back(std::to_string(error.line) + ":" + std::to_string(error.column) + " " + error.id +
                  " " + error.pointer);
  }
  return all;
}

/// The message of the only error.
std::string message(std::string_view text) {
  const Result<Plan> plan = read_plan(text, "p.json");
  if (plan.ok()) return "no error";
  std::string all;
  for (const Diagnostic& error : plan.errors()) all += (all.empty() ? "" : "\n") + error.message;
  return all;
}

using Places = std::vector<std::string>;

/// A plan with `ops` as its ops.
std::string with_ops(const std::string& ops) {
  return R"({"memverify":1,"pools":[{"id":"p"}],"queues":[{"id":"q"}],)"
         R"("semaphores":[{"id":"m"}],"conditions":["c"],)"
         R"("storages":[{"id":"s","pool":"p","offset":0,"bytes":64}],)"
         R"("tensors":[{"id":"x","storage":"s","bytes":64}],"ops":[)" +
         ops + "]}";
}

TEST(Reader, ReadsAMinimalPlan) {
  const Result<Plan> plan = read_plan(R"({"memverify":1})", "");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan.value().ops.size(), 0U);
}

TEST(Reader, ReadsEveryField) {
  const std::string text = R"({
    "ops": [
      {"reads": ["x", {"tensor": "y", "offset": "4*n", "bytes": 8, "distance": 2, "from": "w"}],
       "signals": [{"event": "e"}, {"semaphore": "m", "value": "iteration+1"}],
       "in_place": [["x", "z"], ["y", "z", "any"]], "writes": ["z"], "queue": "q", "thread": "t",
       "label": "L", "loc": {"file": "f.py", "line": 7}, "runs": "last", "skipped": "pass",
       "when": {"c": true, "d": false}, "duration": [2, 3], "id": "op",
       "after": ["w", {"op": "w", "distance": 1}],
       "accumulates": [{"tensor": "y", "op": "max"}], "clobbers": [{"pool": "p", "bytes": 4}, "v"],
       "waits": [{"event": "e"}, {"semaphore": "m", "value": 2, "consume": true},
                 {"queue": "h", "pending": 1}, {"queue": "q", "outstanding": 0}]},
      {"id": "w", "queue": "q", "writes": ["y"], "runs": "first"},
      {"id": "b", "kind": "barrier", "queues": ["q", "h"]},
      {"id": "h1", "kind": "host_wait", "for": "all"},
      {"id": "h2", "kind": "host_wait", "for": {"queue": "q"}},
      {"id": "h3", "kind": "host_wait", "for": {"queue": "q", "pending": 2}},
      {"id": "r", "kind": "record", "queue": "q", "event": "e"},
      {"id": "a", "kind": "alloc", "queue": "q", "storage": "s2"}],
    "outputs": ["x", {"tensor": "y", "from": "initial"}], "inputs": ["x"], "donated": ["x"],
    "constants": ["v"], "peak_bytes": {"p": "64*n"}, "iterations": "unbounded", "name": "all",
    "tensors": [{"id": "x", "storage": "s", "offset": 8, "dtype": "f32", "shape": [2, "n"], "strides": ["n", 1], "alignment": 4},
                {"id": "y", "storage": "s", "bytes": "n"}, {"id": "z", "view_of": "x", "bytes": 1},
                {"id": "v", "pool": "p", "slots": 2, "bytes": 1}, {"id": "u", "pool": ["p"], "bytes": 1}],
    "storages": [{"id": "s", "pool": "p", "offset": [0, "n*8"], "bytes": 128},
                 {"id": "s2", "pool": "p", "offset": 4096, "bytes": 8}],
    "semaphores": [{"id": "m", "kind": "counting", "initial": 3}],
    "queues": [{"id": "q", "order": "issue", "delay": [1, 4], "depth": 5},
               {"id": "h", "order": "host", "thread": "loader"}],
    "pools": [{"id": "p", "bytes": "n*1024", "alignment": 2, "kind": "device"}],
    "conditions": ["c", {"id": "d", "per": "run"}],
    "symbols": {"n": {"min": 8, "max": 64, "multiple_of": 8}},
    "memverify": 1})";
  const Result<Plan> read = read_plan(text, "p.json");
  ASSERT_TRUE(read.ok()) << to_string(read.errors()[0]);
  const Plan& plan = read.value();
  EXPECT_EQ(plan.name, "all");
  EXPECT_FALSE(plan.iterations.has_value());
  EXPECT_EQ(plan.symbols[SymbolId{0}].max, 64);
  EXPECT_EQ(plan.symbols[SymbolId{0}].multiple_of, 8);
  EXPECT_TRUE(plan.conditions[ConditionId{1}].per_run);
  EXPECT_EQ(plan.pools[PoolId{0}].kind, "device");
  EXPECT_EQ(plan.formulas.to_string(*plan.pools[PoolId{0}].bytes), "n*1024");
  EXPECT_EQ(plan.formulas.to_string(*plan.pools[PoolId{0}].peak_bytes), "64*n");
  EXPECT_EQ(plan.queues[QueueId{0}].order, QueueOrder::kIssue);
  EXPECT_EQ(plan.queues[QueueId{0}].delay_min, 1);
  EXPECT_EQ(plan.queues[QueueId{0}].delay_max, 4);
  EXPECT_EQ(plan.queues[QueueId{0}].depth, 5);
  EXPECT_EQ(plan.threads[plan.queues[QueueId{1}].thread], "loader");
  EXPECT_EQ(plan.semaphores[SemaphoreId{0}].initial.constant, 3);
  EXPECT_EQ(plan.storages[StorageId{0}].slots.size(), 2U);
  const Tensor& x = plan.tensors[TensorId{0}];
  EXPECT_EQ(x.offset.constant, 8);
  EXPECT_EQ(x.alignment, 4);
  EXPECT_TRUE(x.has_strides);
  EXPECT_EQ(plan.exprs[x.shape.begin].constant, 2);
  EXPECT_EQ(plan.tensors[TensorId{3}].slots, 2);
  EXPECT_EQ(plan.tensors[TensorId{4}].pools.size(), 1U);
  EXPECT_EQ(plan.inputs.size() + plan.constants.size() + plan.donated.size(), 3U);
  EXPECT_TRUE(plan.outputs[1].from_initial);

  const Op& op = plan.ops[OpId{0}];
  EXPECT_EQ(plan.details_of(op).label, "L");
  EXPECT_EQ(plan.threads[op.thread], "t");
  EXPECT_EQ(plan.locations[plan.details_of(op).location].line, 7);
  EXPECT_EQ(op.runs, Runs::kLast);
  EXPECT_TRUE(op.skipped_pass);
  EXPECT_EQ(plan.durations[plan.details_of(op).duration].max, 3);
  ASSERT_EQ(op.accesses.size(), 6U);
  const Access& read_y = plan.accesses_of(op)[1];
  EXPECT_EQ(read_y.distance, 2U);
  EXPECT_EQ(read_y.from, OpId{1});
  EXPECT_EQ(plan.formulas.to_string(plan.parts[read_y.part].offset), "4*n");
  EXPECT_EQ(plan.updates[plan.accesses_of(op)[3].update], "max");
  EXPECT_EQ(plan.accesses_of(op)[4].pool, PoolId{0});
  EXPECT_TRUE(plan.in_place_of(op)[1].any);
  EXPECT_EQ(plan.after_of(op)[1].distance, 1U);
  EXPECT_FALSE(plan.when_of(op)[1].value);
  const auto waits = plan.waits_of(op);
  ASSERT_EQ(waits.size(), 4U);
  EXPECT_TRUE(waits[1].consume);
  EXPECT_EQ(waits[1].value.constant, 2);
  EXPECT_EQ(waits[2].kind, WaitKind::kPending);
  EXPECT_EQ(waits[3].kind, WaitKind::kOutstanding);
  EXPECT_EQ(plan.formulas.to_string(plan.signals_of(op)[1].value), "iteration+1");
  EXPECT_EQ(plan.queues_of(plan.ops[OpId{2}]).size(), 2U);
  EXPECT_EQ(plan.waits_of(plan.ops[OpId{3}])[0].kind, WaitKind::kAll);
  EXPECT_EQ(plan.waits_of(plan.ops[OpId{4}])[0].kind, WaitKind::kQueue);
  EXPECT_EQ(plan.waits_of(plan.ops[OpId{5}])[0].kind, WaitKind::kPending);
}

TEST(Reader, AcceptsAByteOrderMarkAndAnyLineEnds) {
  EXPECT_TRUE(read_plan("\xEF\xBB\xBF{\r\n\"memverify\":\t1\r}\r\n", "").ok());
}

TEST(Reader, UnescapesStrings) {
  const Result<Plan> plan = read_plan(
      R"({"\u006demverify":1,"pools":[{"id":"a\"\\\/\n\u00e9\ud83d\ude00"},{"id":"\u0000"}],)"
      R"("storages":[{"id":"s","pool":"a\"\\/\u000Aé😀","offset":0,"bytes":1}]})",
      "");
  ASSERT_TRUE(plan.ok()) << plan.errors()[0].message;
  EXPECT_EQ(plan.value().pools[PoolId{0}].name, "a\"\\/\né😀");
  EXPECT_EQ(plan.value().pools[PoolId{1}].name, std::string_view("\0", 1));
}

TEST(Reader, KeepsKeysWithXAsWritten) {
  const Result<Plan> plan = read_plan(
      R"({"memverify":1,"x-a":{"b" : [1.50, null, "\u0041"]},"pools":[{"x-n":1e5,"id":"p"}]})", "");
  ASSERT_TRUE(plan.ok());
  ASSERT_EQ(plan.value().extras.size(), 2U);
  EXPECT_EQ(plan.value().extras[0].owner, "");
  EXPECT_EQ(plan.value().extras[0].key, "x-a");
  EXPECT_EQ(plan.value().extras[0].json, R"({"b" : [1.50, null, "\u0041"]})");
  EXPECT_EQ(plan.value().extras[1].owner, "/pools/0");
  EXPECT_EQ(plan.value().extras[1].json, "1e5");
}

TEST(Reader, NamesTheNearestKey) {
  EXPECT_EQ(message(R"({"memverify":1,"tensors":[{"id":"a","dtype":"u8","shpae":[],"shape":[]}]})"),
            R"(unknown key `shpae`; did you mean `shape`?)");
  EXPECT_EQ(message(R"({"memverify":1,"symbols":{"n":{"smallest":1}}})"),
            R"(unknown key `smallest`; a symbol has `min`, `max`, `multiple_of`)");
}

TEST(Reader, AMisspeltRequiredKeyIsSaidOnce) {
  EXPECT_EQ(message(R"({"memverify":1,"pools":[{"ide":"p"}]})"),
            R"(unknown key `ide`; did you mean `id`?)");
}

TEST(Reader, ReportsEveryErrorInOrderOfTheText) {
  EXPECT_EQ(places("{\"memverify\": 1,\n"
                   " \"tensors\": [{\"id\": \"a\", \"storage\": \"none\", \"bytes\": 1},\n"
                   "  {\"id\": 5, \"bytes\": 1},\n"
                   "  {\"id\": \"b\", \"bytes\": 1.5, \"colour\": []}, 7,\n"
                   "  {\"id\": \"a\", \"bytes\": 1}],\n"
                   " \"ops\": {}, \"pools\": [{}]}"),
            (Places{"2:37 storage.unknown /tensors/0/storage", "3:10 json.type /tensors/1/id",
                    "4:24 json.type /tensors/2/bytes", "4:29 json.key /tensors/2/colour",
                    "4:44 json.type /tensors/3", "5:10 id.duplicate /tensors/4/id",
                    "6:9 json.type /ops", "6:23 json.missing /pools/0"}));
}

TEST(Reader, ALostIdIsNotAlsoReportedWhereItIsNamed) {
  const std::string rest = R"("storages":[{"id":"s","pool":"p","offset":0,"bytes":1}])";
  EXPECT_EQ(places(R"({"memverify":1,"pools":{},)" + rest + "}"),
            (Places{"1:24 json.type /pools"}));
  EXPECT_EQ(places(R"({"memverify":1,"pools":[1],)" + rest + "}"),
            (Places{"1:25 json.type /pools/0"}));
  EXPECT_EQ(places(R"({"memverify":1,"pools":[{"id":1}],)" + rest + "}"),
            (Places{"1:31 json.type /pools/0/id"}));
  EXPECT_EQ(places(R"({"memverify":1,"pools":[{"id":"r","bytes":null}],)" + rest + "}"),
            (Places{"1:43 json.type /pools/0/bytes", "1:79 pool.unknown /storages/0/pool"}));
}

TEST(Reader, TheReadersErrorsComeBeforeALimitedNumberOfTheBuilders) {
  std::string text = R"({"memverify":1,"ops":[)";
  for (int i = 0; i < 300; ++i) {
    text += R"({"id":"o)" + std::to_string(i) + R"(","queue":"none"},)";
  }
  const Places all = places(text + R"({"id":"last","queue":"none","labl":"x"}]})");
  EXPECT_EQ(all.size(), kMaxReadErrors);
  EXPECT_TRUE(all.back().ends_with("json.key /ops/300/labl")) << all.back();
}

TEST(Reader, SaysWhichTypeIsExpectedAndFound) {
  const auto check = [](const std::string& members, const std::string& expected) {
    EXPECT_EQ(message("{\"memverify\":1," + members + "}"), expected) << members;
  };
  check(R"("name":1)", "expected a string, found an integer");
  check(R"("name":null)", "expected a string, found null");
  check(R"("pools":"p")", "expected an array of pools, found a string");
  check(R"("pools":[["p"]])", "expected an object, found an array");
  check(R"("symbols":[])", "expected an object, found an array");
  check(R"("symbols":{"n":{"min":"1"}})", "expected an integer, found a string");
  check(R"("conditions":[true])", "expected a string or an object, found true");
  check(R"("iterations":false)", "expected an integer or \"unbounded\", found false");
  check(R"("iterations":"often")", "expected an integer or \"unbounded\", found \"often\"");
  check(R"("pools":[{"id":"p","bytes":[]}])",
        "expected an integer or an expression string, found an array");
  check(R"("queues":[{"id":"q","delay":[1]}])",
        "expected an array of two integers, found an array of 1");
  check(R"("queues":[{"id":"q","delay":[1,2,3,4]}])",
        "expected an array of two integers, found one entry more");
  check(R"("pools":[{"id":""}])", "the string must not be empty");
}

TEST(Reader, IntegersAreWrittenAsIntegers) {
  const auto check = [](const std::string& number, const std::string& expected) {
    EXPECT_EQ(message(R"({"memverify":1,"pools":[{"id":"p","alignment":)" + number + "}]}"),
              expected);
  };
  const std::string hint = " (write integers without fraction and exponent)";
  check("1.0", "expected an integer, found the number 1.0" + hint);
  check("1e3", "expected an integer, found the number 1e3" + hint);
  check("9223372036854775808",
        "the integer 9223372036854775808 is outside -9223372036854775808 ... 9223372036854775807");
  check("9223372036854775807", "no error");
  check("-9223372036854775809",
        "the integer -9223372036854775809 is outside -9223372036854775808 ... "
        "9223372036854775807");
}

TEST(Reader, RepeatedKeysAreErrors) {
  EXPECT_EQ(places(R"({"memverify":1,"name":"a","name":"b"})"),
            (Places{"1:27 json.repeated /name"}));
  EXPECT_EQ(places(R"({"memverify":1,"symbols":{"n":{},"n":{}}})"),
            (Places{"1:34 json.repeated /symbols/n"}));
  EXPECT_EQ(places(R"({"memverify":1,"x-a":1,"x-a":2})"), (Places{"1:24 json.repeated /x-a"}));
  EXPECT_EQ(places(with_ops(R"({"id":"o","queue":"q","when":{"c":true,"c":false}})")).size(), 1U);
  // The same key in different objects is none.
  EXPECT_TRUE(
      read_plan(R"({"memverify":1,"x-a":1,"pools":[{"id":"p","x-a":1},{"id":"r","x-a":2}]})", "")
          .ok());
}

TEST(Reader, TheVersionIsCheckedFirst) {
  EXPECT_EQ(places(R"({"what":1})"), (Places{"1:2 json.key /what"}));
  EXPECT_EQ(places("{}"), (Places{"1:1 json.missing "}));
  EXPECT_EQ(message("{}"), "a plan needs `memverify`");
  EXPECT_EQ(places(R"({"new_key":[],"memverify":2})"), (Places{"1:27 plan.version /memverify"}));
  EXPECT_EQ(message(R"({"memverify":2})"),
            "this is version 2 of the plan format; this memverify reads version 1");
  EXPECT_EQ(places(R"({"memverify":"1"})"), (Places{"1:14 json.type /memverify"}));
}

TEST(Reader, TheDocumentIsAnObject) {
  EXPECT_EQ(message(""), "expected a JSON object, found the end of the text");
  EXPECT_EQ(message(" \n"), "expected a JSON object, found the end of the text");
  EXPECT_EQ(message("[]"), "expected a JSON object, found an array");
  EXPECT_EQ(message("17"), "expected a JSON object, found an integer");
  EXPECT_EQ(message("null"), "expected a JSON object, found null");
}

TEST(Reader, SyntaxErrorsHaveAPlace) {
  EXPECT_EQ(places("{\"memverify\": 1,\n \"pools\": [}"), (Places{"2:12 json.syntax "}));
  const auto check = [](std::string_view text, const std::string& expected) {
    EXPECT_EQ(message(text), expected) << text;
  };
  check("{\"memverify\":1,}", "expected a key in double quotes, found '}'");
  check("{memverify:1}", "expected a key in double quotes, found 'm'");
  check("{\"memverify\" 1}", "expected ':' after the key, found '1'");
  check("{\"memverify\":1 \"a\"", "expected ',' or '}', found '\"'");
  check("{\"memverify\":1} x", "expected the end of the text after the document, found 'x'");
  check("{\"x-a\":[1 2]}", "expected ',' or ']', found '2'");
  check("{\"x-a\":NaN}", "expected a value, found 'N'");
  check("{\"x-a\":-Infinity}", "expected a value, found 'I'");
  check("{\"x-a\":tru}", "expected a value, found '}'");
  check("{\"x-a\":01}", "expected ',' or '}', found '1'");
  check("{\"x-a\":1.}", "expected a digit after the decimal point, found '}'");
  check("{\"x-a\":1e}", "expected a digit in the exponent, found '}'");
  check("{\"x-a\":\"\\q\"}", "unknown escape sequence");
  check("{\"x-a\":\"\n\"}", "a control character must be escaped, found byte 0x0A");
  check("{\"x-a\":\"\\u12\"}", "expected four hexadecimal digits after \\u");
  check("// a\n{}", "expected a value, found '/'");
}

TEST(Reader, ASyntaxErrorKeepsTheErrorsBeforeIt) {
  EXPECT_EQ(places(R"({"memverify":1,"name":5,"pools":[})"),
            (Places{"1:23 json.type /name", "1:34 json.syntax "}));
}

TEST(Reader, EncodingErrorsHaveAPlace) {
  EXPECT_EQ(places("{\"memverify\":1,\n\"name\":\"ab\xFFyz\"}"), (Places{"2:11 json.encoding "}));
  for (const std::string_view bad : {"\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                                     "\x80", "\xC3", "\xE2\x82", "\xF0\x9F\x98"}) {
    const std::string text = "{\"memverify\":1,\"x-a\":\"12345678" + std::string(bad) + "\"}";
    EXPECT_EQ(places(text), (Places{"1:31 json.encoding "})) << text;
    EXPECT_EQ(places("{\"memverify\":1,\"" + std::string(bad) + "\":1}"),
              (Places{"1:17 json.encoding "}));
  }
  EXPECT_TRUE(
      read_plan("{\"memverify\":1,\"name\":\"\xC2\x80\xEF\xBF\xBF\xF4\x8F\xBF\xBF\"}", "").ok());
  EXPECT_EQ(message("{\"x-a\":\"\\ud800\"}"), "a \\u escape is half of a surrogate pair");
  EXPECT_EQ(message("{\"x-a\":\"\\udc00\"}"), "a \\u escape is half of a surrogate pair");
  EXPECT_EQ(message("\xFF\xFE{\0"), "the text is UTF-16 or UTF-32; save it as UTF-8");
}

TEST(Reader, NulBytesAreErrors) {
  using namespace std::string_view_literals;
  EXPECT_EQ(message("{\"memverify\":1}\0"sv),
            "expected the end of the text after the document, found a NUL byte");
  EXPECT_EQ(message("{\"memverify\"\0:1}"sv), "expected ':' after the key, found a NUL byte");
  EXPECT_EQ(message("{\"mem\0verify\":1}"sv), "expected '\"' to end the string, found a NUL byte");
  EXPECT_EQ(message("\0"sv), "expected a JSON object, found a NUL byte");
}

TEST(Reader, EntriesWhoseKeysDoNotGoTogether) {
  const auto check = [](const std::string& member, const std::string& expected) {
    EXPECT_EQ(message(with_ops(R"({"id":"o","queue":"q",)" + member + "}")), expected) << member;
  };
  check(R"("waits":[{}])", "a wait names one of `event`, `semaphore` and `queue`");
  check(R"("waits":[{"event":"e","queue":"q","pending":1}])",
        "a wait names one of `event`, `semaphore` and `queue`");
  check(R"("waits":[{"queue":"q"}])", "a wait for a queue needs `pending` or `outstanding`");
  check(R"("waits":[{"queue":"q","pending":1,"outstanding":1}])",
        "a wait has either `pending` or `outstanding`");
  check(R"("waits":[{"semaphore":"m","pending":1}])",
        "`pending` and `outstanding` go with `queue`");
  check(R"("signals":[{}])", "a signal names either an `event` or a `semaphore`");
  check(R"("signals":[{"event":"e","value":1}])", "`value` goes with `semaphore`");
  check(R"("signals":[{"semaphore":"m","consume":true}])",
        "unknown key `consume`; a signal has `event`, `semaphore`, `value`");
  check(R"("writes":["x"],"in_place":[["x","x","all"]])",
        "the third entry of an in-place pair must be \"any\"");
  check(R"("reads":[{"offset":1}])", "a read needs `tensor`");
  check(R"("clobbers":[{"offset":1}])", "a clobber names either a `tensor` or a `pool`");
  check(R"("loc":{"line":1})", "a location needs `file`");
  EXPECT_EQ(message(with_ops(R"({"id":"o","kind":"host_wait","for":"everything"})")),
            "expected \"all\" or an object, found \"everything\"");
}

TEST(Reader, DeepNestingIsNoRecursion) {
  EXPECT_EQ(message(std::string(100'000, '[')),
            "expected a JSON object, found an array\n"
            "nested deeper than 1000 levels");
  const auto nested = [](std::size_t depth) {
    return "{\"memverify\":1,\"x-a\":" + std::string(depth, '[') + std::string(depth, ']') + "}";
  };
  EXPECT_EQ(message(nested(kMaxJsonDepth - 1)), "no error");
  EXPECT_EQ(message(nested(kMaxJsonDepth)), "nested deeper than 1000 levels");
}

TEST(Reader, StopsAtAHundredErrors) {
  std::string text = R"({"memverify":1,"pools":[)";
  for (int i = 0; i < 1000; ++i) text += "1,";
  text += "1]}";
  EXPECT_EQ(places(text).size(), kMaxReadErrors);
  std::string missing = R"({"memverify":1,"storages":[)";
  for (int i = 0; i < 1000; ++i) missing += "{},";
  EXPECT_EQ(places(missing + "{}]}").size(), kMaxReadErrors);
}

TEST(Reader, EveryTruncationIsAnErrorWithAPlaceInTheText) {
  const std::string text = with_ops(
      R"({"id":"o\u00e9😀","queue":"q","x-a":[{"b":-1.5e3}],"waits":[{"semaphore":"m","consume":true}]})");
  ASSERT_TRUE(read_plan(text, "").ok());
  for (std::size_t size = 0; size < text.size(); ++size) {
    // In a buffer of its own, so that a sanitizer sees a read past the end.
    const std::vector<char> cut(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size));
    const Result<Plan> plan = read_plan({cut.data(), cut.size()}, "");
    ASSERT_FALSE(plan.ok()) << size;
    EXPECT_EQ(plan.errors().back().line, 1U);
    EXPECT_LE(plan.errors().back().column, size + 1);
  }
}

TEST(Reader, LongStringsAndManyKeysAreLinear) {
  std::string text = R"({"memverify":1,"name":")" + std::string(1'000'000, 'n') + "\",\"x-0\":[";
  for (int i = 0; i < 100'000; ++i) text += "1,";
  text += "1]";
  for (int i = 1; i < 50'000; ++i) text += ",\"x-" + std::to_string(i) + "\":" + std::to_string(i);
  const Result<Plan> plan = read_plan(text + "}", "");
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan.value().name.size(), 1'000'000U);
  EXPECT_EQ(plan.value().extras.size(), 50'000U);
}

}  // namespace
}  // namespace memverify
