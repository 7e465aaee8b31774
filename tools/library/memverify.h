/* memverify.h -- memverify for C, and for every language that can call C.
 *
 *   memverify_result* result = NULL;
 *   memverify_plan* plan = memverify_plan_read(text, strlen(text), "plan.json", &result);
 *   if (plan != NULL) result = memverify_verify(plan, NULL);
 *   if (result == NULL) exit(4);  // no memory
 *   if (memverify_result_status(result) != MEMVERIFY_SAFE) {
 *     fputs(memverify_result_text(result), stderr);  // findings, or what is wrong with the plan
 *   }
 *   memverify_result_free(result);
 *   memverify_plan_free(plan);
 *
 * Plans and results are JSON text (docs/format.md). Text is UTF-8.
 *
 * Memory: what a function returns as a plan or a result is the caller's, to be given back by
 * memverify_plan_free or memverify_result_free, once; NULL may be given back. A plan may go before
 * the results that were made from it. Every `const char*` that a function returns belongs to the
 * object it was asked of and lives as long as that; it is never NULL unless said so.
 *
 * Errors: no function prints, exits or throws. Where memory runs out, functions that return a
 * pointer to an object return NULL. Objects that are asked must not be NULL.
 *
 * Threads: there is no global state. A plan may be used by several threads at once; so may a
 * result. Free them when no other thread uses them.
 *
 * Options are the text of a JSON object; NULL is for none. A key that is not known, or a value that
 * is out of range, is bad input (MEMVERIFY_BAD_INPUT).
 */
#ifndef MEMVERIFY_H
#define MEMVERIFY_H

#include <stddef.h>

#include "plan/version.h"

#define MEMVERIFY_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

/** A plan, or a graph that is yet to be placed. Does not change once it is read. */
typedef struct memverify_plan memverify_plan;

/** What came of a call. Does not change. */
typedef struct memverify_result memverify_result;

/** How a call ended: the exit codes of the command. */
typedef enum memverify_status {
  MEMVERIFY_SAFE = 0,      /**< Safe in every run; of a graph: placed, and then safe. */
  MEMVERIFY_UNSAFE = 1,    /**< There are findings; or a graph does not fit its pools. */
  MEMVERIFY_BAD_INPUT = 2, /**< The plan or the options are wrong: see the errors. */
  MEMVERIFY_UNKNOWN = 3,   /**< Not proven; the findings say why. */
  MEMVERIFY_INTERNAL = 4   /**< A bug in memverify; the text says what happened. */
} memverify_status;

/** The version of the library that runs, such as "0.1.0"; MEMVERIFY_VERSION is that of this file.
 */
MEMVERIFY_API const char* memverify_version(void);

/** 1 if the library does all that a header of that version promises, else 0. */
MEMVERIFY_API int memverify_is_compatible(int major, int minor);

/** Reads a plan from its JSON text, `bytes` long, which may be freed then. `file` is what messages
 *  call it; NULL: "". On success returns the plan and sets `*result` to NULL; else returns NULL,
 *  and `*result` holds the errors. `result` may be NULL. Cost: linear. */
MEMVERIFY_API memverify_plan* memverify_plan_read(const char* text, size_t bytes, const char* file,
                                                  memverify_result** result);

/** Gives a plan back. */
MEMVERIFY_API void memverify_plan_free(memverify_plan* plan);

/** Decides whether the plan is safe. Options: "engine" ("auto", the default, "all", "hb", "smt",
 *  "sim"), "max_findings" (>= 1, default 100), "max_seconds" (for each engine that searches,
 *  default 60; 0: no limit). Cost: that of the engines, and a copy of the plan. */
MEMVERIFY_API memverify_result* memverify_verify(const memverify_plan* plan, const char* options);

/** Executes every order that the plan allows, of which there can be very many: set "max_seconds"
 *  unless the plan is small. Nothing interrupts a call but its limits, after which the plan is
 *  not proven. Options: "reduction" ("none", the default, "sleep", "classes"), "count" (true: how
 *  many interleavings there are, and how many of them fail; default false), "max_findings" (>= 1,
 *  default 100), "max_states" (>= 1, default 10^9), "max_seconds" (default 0: no limit),
 *  "threads" (default 0: all cores), "random_runs" (> 0: that many random runs instead; default
 *  0), "seed" (of what is drawn, default 0). States take 4 GiB at most. */
MEMVERIFY_API memverify_result* memverify_simulate(const memverify_plan* plan, const char* options);

/** Places the tensors of a graph and verifies the plan, which memverify_result_plan then gives.
 *  Options: "strategy" (default "auto"), "max_seconds" (of searching, besides proofs; > 0, default
 *  10), "max_nodes" (of searches, default 0: no limit), "capacity" (bytes of every pool, if less
 *  than its own), "slots" (>= 1; for tensors that ask for more than one). */
MEMVERIFY_API memverify_result* memverify_place(const memverify_plan* graph, const char* options);

/** How the call ended. */
MEMVERIFY_API memverify_status memverify_result_status(const memverify_result* result);

/** The report for people, as the command prints it, without colours. */
MEMVERIFY_API const char* memverify_result_text(const memverify_result* result);

/** The report as one JSON object (docs/format.md, "Verdicts and exit codes"). */
MEMVERIFY_API const char* memverify_result_json(const memverify_result* result);

/** The text of the plan that memverify_place made; NULL of any other result. */
MEMVERIFY_API const char* memverify_result_plan(const memverify_result* result);

/** How many errors there are: 0 unless the status is MEMVERIFY_BAD_INPUT. */
MEMVERIFY_API size_t memverify_result_errors(const memverify_result* result);

/** Something that is wrong with the input. */
typedef struct memverify_error {
  const char* id;      /**< Stable, such as "tensor.unknown". */
  const char* message; /**< For people. */
  const char* file;    /**< As it was given to memverify_plan_read. */
  const char* pointer; /**< JSON pointer to the value at fault; "" for the whole. */
  size_t line;         /**< From 1; 0: not known. */
  size_t column;       /**< From 1, in bytes; 0: not known. */
} memverify_error;

/** The error at `index` < memverify_result_errors, in the order of the text; all empty beyond. The
 *  strings belong to the result. */
MEMVERIFY_API memverify_error memverify_result_error(const memverify_result* result, size_t index);

/** Gives a result back, and with it all its strings. */
MEMVERIFY_API void memverify_result_free(memverify_result* result);

#ifdef __cplusplus
}
#endif

#endif
