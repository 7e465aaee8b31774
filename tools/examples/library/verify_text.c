/* Verifies the plan in the file that is named, by the C functions. */
#include <memverify.h>
#include <stdio.h>
#include <stdlib.h>

static char* read_file(const char* path, size_t* bytes) {
  FILE* file = fopen(path, "rb");
  char* text = NULL;
  size_t room = 0;
  *bytes = 0;
  if (file == NULL) return NULL;
  do {
    room = 2 * room + 4096;
    text = realloc(text, room);
    if (text == NULL) exit(4);
    *bytes += fread(text + *bytes, 1, room - *bytes, file);
  } while (*bytes == room);
  fclose(file);
  return text;
}

int main(int argc, char** argv) {
  memverify_result* result = NULL;
  size_t bytes = 0;
  char* text = argc == 2 ? read_file(argv[1], &bytes) : NULL;
  if (text == NULL || !memverify_is_compatible(MEMVERIFY_VERSION_MAJOR, MEMVERIFY_VERSION_MINOR)) {
    fprintf(stderr, "usage: verify_text PLAN (with memverify %s)\n", MEMVERIFY_VERSION);
    free(text);
    return 2;
  }
  memverify_plan* plan = memverify_plan_read(text, bytes, argv[1], &result);
  if (plan != NULL) result = memverify_verify(plan, NULL);
  const int status = result == NULL ? MEMVERIFY_INTERNAL : (int)memverify_result_status(result);
  if (result != NULL) fputs(memverify_result_text(result), stdout);
  memverify_result_free(result);
  memverify_plan_free(plan);
  free(text);
  return status;
}
