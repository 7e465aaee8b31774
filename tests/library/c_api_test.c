/* The C functions, as a C11 program sees them. Exits 1 at the first thing that is not as promised;
 * prints nothing else, so that whatever appears on its outputs came from the library. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memverify.h"

#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) {                                              \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                       \
    }                                                                \
  } while (0)

/* `use` reads what `fill` writes; `spoil` may write over it meanwhile unless it waits. */
#define PLAN(wait)                                                                           \
  "{\"memverify\": 1, \"pools\": [{\"id\": \"hbm\"}],\n"                                     \
  " \"queues\": [{\"id\": \"one\"}, {\"id\": \"two\"}],\n"                                   \
  " \"storages\": [{\"id\": \"s\", \"pool\": \"hbm\", \"offset\": 0, \"bytes\": 64}],\n"     \
  " \"tensors\": [{\"id\": \"x\", \"storage\": \"s\", \"bytes\": 64},\n"                     \
  "  {\"id\": \"y\", \"storage\": \"s\", \"bytes\": 64}],\n"                                 \
  " \"ops\": [{\"id\": \"fill\", \"queue\": \"one\", \"writes\": [\"x\"]},\n"                \
  "  {\"id\": \"use\", \"queue\": \"one\", \"reads\": [\"x\"]},\n"                           \
  "  {\"id\": \"spoil\", \"queue\": \"two\", \"writes\": [\"y\"]" wait "}]}\n"
static const char kSafe[] = PLAN(", \"after\": [\"use\"]");
static const char kUnsafe[] = PLAN(", \"after\": [\"fill\"]");
static const char kGraph[] =
    "{\"memverify\": 1, \"pools\": [{\"id\": \"hbm\"}], \"queues\": [{\"id\": \"q\"}],\n"
    " \"tensors\": [{\"id\": \"a\", \"bytes\": 64}, {\"id\": \"b\", \"bytes\": 64}],\n"
    " \"ops\": [{\"id\": \"1\", \"queue\": \"q\", \"writes\": [\"a\"]},\n"
    "  {\"id\": \"2\", \"queue\": \"q\", \"reads\": [\"a\"]},\n"
    "  {\"id\": \"3\", \"queue\": \"q\", \"writes\": [\"b\"]},\n"
    "  {\"id\": \"4\", \"queue\": \"q\", \"reads\": [\"b\"]}]}\n";

static memverify_plan* read_plan(const char* text) {
  memverify_result* wrong = (memverify_result*)text; /* must be overwritten */
  memverify_plan* plan = memverify_plan_read(text, strlen(text), "a.json", &wrong);
  CHECK(plan != NULL && wrong == NULL);
  return plan;
}

/* 1 if `words` stand in `json`, spaces aside. */
static int holds(const char* json, const char* words) {
  char* dense = malloc(strlen(json) + 1);
  char* end = dense;
  CHECK(dense != NULL);
  for (; *json != '\0'; ++json) {
    if (*json != ' ' && *json != '\n') *end++ = *json;
  }
  *end = '\0';
  const int found = strstr(dense, words) != NULL;
  free(dense);
  return found;
}

/* The status, after a look for words in the text and, without spaces, in the JSON. */
static memverify_status ended(memverify_result* result, const char* in_text, const char* in_json) {
  CHECK(result != NULL);
  const memverify_status status = memverify_result_status(result);
  if (strstr(memverify_result_text(result), in_text) == NULL ||
      !holds(memverify_result_json(result), in_json)) {
    fprintf(stderr, "no `%s` or no `%s` in\n%s%s", in_text, in_json, memverify_result_text(result),
            memverify_result_json(result));
    exit(1);
  }
  CHECK((memverify_result_errors(result) > 0) == (status == MEMVERIFY_BAD_INPUT));
  memverify_result_free(result);
  return status;
}

static void check_version(void) {
  CHECK(strcmp(memverify_version(), MEMVERIFY_VERSION) == 0);
  CHECK(memverify_is_compatible(MEMVERIFY_VERSION_MAJOR, MEMVERIFY_VERSION_MINOR) == 1);
  CHECK(memverify_is_compatible(MEMVERIFY_VERSION_MAJOR, MEMVERIFY_VERSION_MINOR + 1) == 0);
  CHECK(memverify_is_compatible(MEMVERIFY_VERSION_MAJOR + 1, 0) == 0);
}

static void check_verdicts(void) {
  memverify_plan* safe = read_plan(kSafe);
  memverify_plan* unsafe = read_plan(kUnsafe);
  CHECK(ended(memverify_verify(safe, NULL), "memverify: safe", "\"safe\"") == MEMVERIFY_SAFE);
  CHECK(ended(memverify_verify(unsafe, "{\"engine\": \"all\"}"),
              "error[MV101]: `spoil` may write `y` while `use` still reads `x`",
              "\"smt\":\"unsafe\"") == MEMVERIFY_UNSAFE);
  CHECK(ended(memverify_simulate(unsafe, "{\"count\": true}"), "fails in",
              "\"exhaustive\":true") == MEMVERIFY_UNSAFE);
  CHECK(ended(memverify_simulate(safe, "{\"reduction\": \"classes\"}"), "up to reordering",
              "\"reduction\":\"classes\"") == MEMVERIFY_SAFE);
  memverify_result* result = memverify_verify(safe, NULL);
  CHECK(memverify_result_plan(result) == NULL);
  CHECK(memverify_result_error(result, 0).line == 0);
  memverify_result_free(result);
  memverify_plan_free(safe);
  memverify_plan_free(unsafe);
}

static void check_place(void) {
  memverify_plan* graph = read_plan(kGraph);
  memverify_result* placed = memverify_place(graph, "{\"max_seconds\": 5}");
  CHECK(placed != NULL && memverify_result_status(placed) == MEMVERIFY_SAFE);
  CHECK(holds(memverify_result_json(placed), "\"peak_bytes\":64,"));
  memverify_plan* plan = read_plan(memverify_result_plan(placed));
  memverify_result_free(placed);
  CHECK(ended(memverify_verify(plan, "{}"), "memverify: safe", "\"safe\"") == MEMVERIFY_SAFE);
  CHECK(ended(memverify_place(plan, NULL), "error[graph.placed]", "/tensors") == MEMVERIFY_BAD_INPUT);
  CHECK(ended(memverify_place(graph, "{\"capacity\": 63}"), "is too small", "\"missing_bytes\":1") ==
        MEMVERIFY_UNSAFE);
  CHECK(ended(memverify_verify(graph, NULL), "--> a.json:2:14, at /tensors/0",
              "\"pointer\":\"/tensors/0\"") == MEMVERIFY_BAD_INPUT);
  memverify_plan_free(plan);
  memverify_plan_free(graph);
}

static void check_errors(void) {
  static const char kWrong[] = "{\"memverify\": 1,\n \"pools\": [{\"id\": 7}]}";
  memverify_result* wrong = NULL;
  CHECK(memverify_plan_read(kWrong, strlen(kWrong), "b.json", &wrong) == NULL);
  CHECK(wrong != NULL && memverify_result_status(wrong) == MEMVERIFY_BAD_INPUT);
  CHECK(memverify_result_errors(wrong) == 1);
  const memverify_error error = memverify_result_error(wrong, 0);
  CHECK(strcmp(error.file, "b.json") == 0 && strcmp(error.pointer, "/pools/0/id") == 0);
  CHECK(error.line == 2 && error.column == 19 && strlen(error.id) > 0);
  CHECK(strstr(memverify_result_text(wrong), error.message) != NULL);
  CHECK(strcmp(memverify_result_error(wrong, 1).id, "") == 0);
  memverify_result_free(wrong);
  CHECK(memverify_plan_read("", 0, NULL, NULL) == NULL);
  CHECK(memverify_plan_read("\xff{", 2, NULL, NULL) == NULL);

  static const char* const kOptions[] = {
      "", "[]", "{", "{\"engin\": \"hb\"}", "{\"engine\": 1}", "{\"engine\": \"none\"}",
      "{\"max_findings\": 0}", "{\"max_findings\": 18446744073709551615}", "{\"max_seconds\": -1}",
      "{\"max_seconds\": \"1\"}"};
  memverify_plan* plan = read_plan(kSafe);
  for (size_t k = 0; k < sizeof kOptions / sizeof *kOptions; ++k) {
    CHECK(ended(memverify_verify(plan, kOptions[k]), "error[option.", "\"option.") == MEMVERIFY_BAD_INPUT);
  }
  CHECK(ended(memverify_verify(plan, kOptions[3]), "did you mean `engine`?", "") ==
        MEMVERIFY_BAD_INPUT);
  memverify_result* none = memverify_verify(plan, kOptions[5]);
  CHECK(strcmp(memverify_result_error(none, 0).file, "") == 0);
  CHECK(strstr(memverify_result_text(none), "only `auto`, `all`, `hb`, `smt` and `sim`") != NULL);
  memverify_result_free(none);
  CHECK(ended(memverify_simulate(plan, "{\"reduction\": \"some\"}"), "", "") == MEMVERIFY_BAD_INPUT);
  CHECK(ended(memverify_place(plan, "{\"strategy\": \"unsafe-direct-users\"}"), "no safe strategy",
              "") == MEMVERIFY_BAD_INPUT);
  memverify_plan_free(plan);
  memverify_plan_free(NULL);
  memverify_result_free(NULL);
}

static void* verify_often(void* plan) {
  for (int k = 0; k < 5; ++k) {
    CHECK(ended(memverify_verify(plan, "{\"engine\": \"all\"}"), "MV101", "MV101") ==
          MEMVERIFY_UNSAFE);
  }
  return NULL;
}

static void check_threads(void) {
  memverify_plan* plan = read_plan(kUnsafe);
  pthread_t threads[2];
  for (int k = 0; k < 2; ++k) CHECK(pthread_create(&threads[k], NULL, verify_often, plan) == 0);
  for (int k = 0; k < 2; ++k) CHECK(pthread_join(threads[k], NULL) == 0);
  memverify_plan_free(plan);
}

int main(void) {
  check_version();
  check_verdicts();
  check_place();
  check_errors();
  check_threads();
  return 0;
}
