#!/usr/bin/env bash
# tests/gpu/run.sh: builds on a machine with a GPU, runs the corpus there and the bench. Every finding
# with a run must show by directed replay, every safe plan must stay clean. Under five minutes on 16
# cores. Last line: `N passed, M failed`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
runs=${MEMVERIFY_GPU_RUNS:-1000}
nvidia-smi -L
tools/setup
[ -e build/cuda/build.ninja ] || cmake --preset cuda >/dev/null
cmake --build --preset cuda --target memverify device_bench >/dev/null
memverify=build/cuda/memverify
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

# expect CODE WHAT COMMAND…: counts, and shows the output of what went otherwise.
expect() {
  local code=$1 what=$2 got=0
  shift 2
  "$@" >"$work/out" 2>&1 || got=$?
  if [ "$got" -eq "$code" ]; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED $what: exit $got, not $code"
    tail -5 "$work/out"
  fi
}

for plan in corpus/{bugs,format,peers,readme}/*.unsafe.json; do
  "$memverify" simulate "$plan" --reduction classes --witness "$work/run.json" -q >/dev/null 2>&1 || true
  [ -s "$work/run.json" ] || continue
  for launch in streams graph; do
    # A plan whose thread blocks cannot be a graph: bad input, not a failure.
    code=0
    "$memverify" device "$plan" --device cuda --launch "$launch" --runs 1 -q >/dev/null 2>&1 || code=$?
    if [ "$launch" = graph ] && [ "$code" -eq 2 ]; then continue; fi
    expect 1 "$plan, directed, $launch" "$memverify" device "$plan" --device cuda --launch "$launch" \
      --witness "$work/run.json" --runs 10 -q
  done
  rm -f "$work/run.json"
done
for plan in corpus/{bugs,format,peers,readme}/*.safe.json; do
  expect 0 "$plan" "$memverify" device "$plan" --device cuda --runs "$runs" --delay-us 5 -q
done
build/cuda/tests/device_bench
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
