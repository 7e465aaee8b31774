/* plan/version.h -- the version of memverify, the one place where it is written. Readable by C. */
#ifndef MEMVERIFY_PLAN_VERSION_H
#define MEMVERIFY_PLAN_VERSION_H

#define MEMVERIFY_VERSION_MAJOR 0
#define MEMVERIFY_VERSION_MINOR 1
#define MEMVERIFY_VERSION_PATCH 0
#define MEMVERIFY_VERSION "0.1.0"

#endif
