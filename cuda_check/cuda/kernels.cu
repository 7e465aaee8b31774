#include <cuda_runtime.h>

#include "cuda_check/cuda/kernels.h"

namespace memverify::device {
namespace {

constexpr int kThreads = 256;
constexpr std::uint32_t kMostBlocks = 132 * 8;
constexpr std::int64_t kLineBytes = 16;

// --- Accesses that bypass what an SM caches ---

__device__ ulonglong2 load_line(const std::uint8_t* at) {
  ulonglong2 line;
  asm volatile("ld.global.cv.v2.u64 {%0, %1}, [%2];"
               : "=l"(line.x), "=l"(line.y)
               : "l"(at)
               : "memory");
  return line;
}

__device__ void store_line(std::uint8_t* at, ulonglong2 line) {
  asm volatile("st.global.wt.v2.u64 [%0], {%1, %2};" ::"l"(at), "l"(line.x), "l"(line.y)
               : "memory");
}

__device__ void store_byte(std::uint8_t* at, std::uint32_t value) {
  asm volatile("st.global.wt.u8 [%0], %1;" ::"l"(at), "r"(value) : "memory");
}

// --- Words ---

/// hash_of() of stamp.h, on the device.
__device__ std::uint64_t device_hash(std::uint64_t pool, std::int64_t address) {
  std::uint64_t h = static_cast<std::uint64_t>(address) / 8 + (pool + 1) * 0x9E3779B97F4A7C15ULL;
  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9ULL;
  h = (h ^ (h >> 27)) * 0x94D049BB133111EBULL;
  return h ^ (h >> 31);
}

/// The bits of [begin, end) in the word at `address`.
__device__ std::uint64_t device_mask(std::int64_t begin, std::int64_t end, std::int64_t address) {
  const std::int64_t first = begin > address ? begin - address : 0;
  const std::int64_t last = end < address + 8 ? end - address : 8;
  if (first >= last) return 0;
  const std::uint64_t below = last == 8 ? ~0ULL : (1ULL << (8 * last)) - 1;
  return below & (~0ULL << (8 * first));
}

/// Calls `visit(line pointer, line address)` for the lines of the chunk that this thread has.
template <typename Visit>
__device__ void for_each_line(const Chunk& chunk, Visit visit) {
  const std::int64_t first = chunk.begin & ~(kLineBytes - 1);
  for (std::int64_t at = first + threadIdx.x * kLineBytes; at < chunk.end;
       at += std::int64_t{kThreads} * kLineBytes) {
    visit(chunk.line + (at - first), at);
  }
}

__device__ void report(WrongList* list, const WrongWord& word) {
  const std::uint32_t at = atomicAdd_system(&list->count, 1U);
  if (at < WrongList::kMost) list->words[at] = word;
}

__global__ void fill_kernel(const Chunk* chunks, std::uint32_t count) {
  for (std::uint32_t i = blockIdx.x; i < count; i += gridDim.x) {
    const Chunk chunk = chunks[i];
    for_each_line(chunk, [&](std::uint8_t* line, std::int64_t at) {
      const ulonglong2 wanted = {chunk.code ^ device_hash(chunk.pool, at),
                                 chunk.code ^ device_hash(chunk.pool, at + 8)};
      if (chunk.begin <= at && at + kLineBytes <= chunk.end) {
        store_line(line, wanted);
        return;
      }
      for (int j = 0; j < kLineBytes; ++j) {
        const std::uint64_t word = j < 8 ? wanted.x : wanted.y;
        if (chunk.begin <= at + j && at + j < chunk.end) {
          store_byte(line + j, static_cast<std::uint32_t>(word >> (8 * (j % 8))) & 0xFFU);
        }
      }
    });
  }
}

__global__ void check_kernel(const Chunk* chunks, std::uint32_t count, std::uint32_t command,
                             std::uint32_t look, WrongList* list) {
  for (std::uint32_t i = blockIdx.x; i < count; i += gridDim.x) {
    const Chunk chunk = chunks[i];
    for_each_line(chunk, [&](std::uint8_t* line, std::int64_t at) {
      const ulonglong2 found = load_line(line);
      for (int half = 0; half < 2; ++half) {
        const std::int64_t address = at + 8 * half;
        const std::uint64_t word = half == 0 ? found.x : found.y;
        const std::uint64_t wrong = (word ^ chunk.code ^ device_hash(chunk.pool, address)) &
                                    device_mask(chunk.begin, chunk.end, address);
        if (wrong != 0) report(list, {address, word, wrong, chunk.piece, command, look});
      }
    });
  }
}

/// Words of updates are changed by atomic operations and may be shared with other pieces.
__global__ void add_kernel(const Chunk* chunks, std::uint32_t count) {
  for (std::uint32_t i = blockIdx.x; i < count; i += gridDim.x) {
    const Chunk chunk = chunks[i];
    const std::int64_t first_word = chunk.begin & ~std::int64_t{7};
    for_each_line(chunk, [&](std::uint8_t* line, std::int64_t at) {
      for (int half = 0; half < 2; ++half) {
        const std::int64_t address = at + 8 * half;
        const std::uint64_t mask = device_mask(chunk.begin, chunk.end, address);
        if (mask == 0) continue;
        auto* word = reinterpret_cast<unsigned long long*>(line + 8 * half);
        const std::uint64_t old = atomicXor_system(word, chunk.code & mask);
        if (chunk.before != nullptr) chunk.before[(address - first_word) / 8] = old;
      }
    });
  }
}

__global__ void check_since_kernel(const Chunk* chunks, std::uint32_t count,
                                   std::uint64_t may_change, std::uint32_t command,
                                   std::uint32_t look, WrongList* list) {
  for (std::uint32_t i = blockIdx.x; i < count; i += gridDim.x) {
    const Chunk chunk = chunks[i];
    const std::int64_t first_word = chunk.begin & ~std::int64_t{7};
    for_each_line(chunk, [&](std::uint8_t* line, std::int64_t at) {
      const ulonglong2 found = load_line(line);
      for (int half = 0; half < 2; ++half) {
        const std::int64_t address = at + 8 * half;
        const std::uint64_t mask = device_mask(chunk.begin, chunk.end, address);
        if (mask == 0) continue;
        const std::uint64_t word = half == 0 ? found.x : found.y;
        const std::uint64_t before = chunk.before[(address - first_word) / 8];
        const std::uint64_t wrong = (word ^ before ^ chunk.code) & mask & ~may_change;
        if (wrong != 0) report(list, {address, word, wrong, chunk.piece, command, look});
      }
    });
  }
}

__global__ void clear_kernel(std::uint8_t* at, std::int64_t begin, std::int64_t end,
                             std::uint64_t pool, std::uint64_t code) {
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x * kLineBytes;
  std::int64_t address = begin + (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * kLineBytes;
  for (; address < end; address += step) {
    store_line(at + (address - begin),
               {code ^ device_hash(pool, address), code ^ device_hash(pool, address + 8)});
  }
}

// --- One thread each: flags, semaphores, time ---

__global__ void set_kernel(volatile std::uint32_t* flag) {
  __threadfence_system();
  *flag = 1;
}

__global__ void wait_kernel(volatile const std::uint32_t* flags, std::uint32_t count,
                            std::uint32_t least, volatile const std::uint32_t* abort) {
  for (std::uint32_t set = 0; set < least && *abort == 0;) {
    set = 0;
    for (std::uint32_t i = 0; i < count; ++i) set += flags[i] != 0 ? 1 : 0;
    if (set < least) __nanosleep(200);
  }
  __threadfence_system();
}

__device__ bool lock(std::uint32_t* word, volatile const std::uint32_t* abort) {
  while (atomicCAS_system(word, 0U, 1U) != 0) {
    if (abort != nullptr && *abort != 0) return false;
    __nanosleep(100);
  }
  __threadfence_system();
  return true;
}

__device__ void unlock(std::uint32_t* word) {
  __threadfence_system();
  atomicExch_system(word, 0U);
}

__device__ bool take_all(const DeviceTake* takes, std::uint32_t count,
                         volatile long long* semaphores) {
  for (std::uint32_t i = 0; i < count; ++i) {
    long long wanted = takes[i].value;
    for (std::uint32_t k = 0; k < i; ++k) {
      if (takes[k].consume != 0 && takes[k].semaphore == takes[i].semaphore) {
        wanted += takes[k].value;
      }
    }
    if (semaphores[takes[i].semaphore] < wanted) return false;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    if (takes[i].consume != 0) {
      semaphores[takes[i].semaphore] = semaphores[takes[i].semaphore] - takes[i].value;
    }
  }
  return true;
}

__global__ void take_kernel(const DeviceTake* takes, std::uint32_t count, long long* semaphores,
                            std::uint32_t* word, volatile const std::uint32_t* abort) {
  while (*abort == 0) {
    if (!lock(word, abort)) return;
    const bool taken = take_all(takes, count, semaphores);
    unlock(word);
    if (taken) return;
    __nanosleep(500);
  }
}

__global__ void give_kernel(const DeviceTake* gives, std::uint32_t count, long long* semaphores,
                            std::uint32_t* word) {
  lock(word, nullptr);
  volatile long long* counts = semaphores;
  for (std::uint32_t i = 0; i < count; ++i) {
    const long long now = counts[gives[i].semaphore];
    if (gives[i].consume != 0) {
      counts[gives[i].semaphore] = now > gives[i].value ? now : gives[i].value;
    } else {
      counts[gives[i].semaphore] = now + gives[i].value;
    }
  }
  unlock(word);
}

__device__ std::uint64_t now_ns() {
  std::uint64_t time;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(time));
  return time;
}

__global__ void pause_kernel(volatile const std::uint64_t* nanoseconds,
                             volatile const std::uint32_t* abort) {
  const std::uint64_t end = now_ns() + *nanoseconds;
  while (now_ns() < end && *abort == 0) __nanosleep(200);
}

std::uint32_t blocks_for(std::uint32_t chunks) {
  return chunks < kMostBlocks ? chunks : kMostBlocks;
}

}  // namespace

void launch_fill(const Chunk* chunks, std::uint32_t count, cudaStream_t stream) {
  if (count > 0) fill_kernel<<<blocks_for(count), kThreads, 0, stream>>>(chunks, count);
}

void launch_check(const Chunk* chunks, std::uint32_t count, std::uint32_t command,
                  std::uint32_t look, WrongList* wrong, cudaStream_t stream) {
  if (count == 0) return;
  check_kernel<<<blocks_for(count), kThreads, 0, stream>>>(chunks, count, command, look, wrong);
}

void launch_add(const Chunk* chunks, std::uint32_t count, cudaStream_t stream) {
  if (count > 0) add_kernel<<<blocks_for(count), kThreads, 0, stream>>>(chunks, count);
}

void launch_check_since(const Chunk* chunks, std::uint32_t count, std::uint64_t may_change,
                        std::uint32_t command, WrongList* wrong, cudaStream_t stream) {
  if (count == 0) return;
  constexpr std::uint32_t kOwnUpdate = 3;  // Look::kOwnUpdate; asserted in device.cpp.
  check_since_kernel<<<blocks_for(count), kThreads, 0, stream>>>(chunks, count, may_change, command,
                                                                 kOwnUpdate, wrong);
}

void launch_clear(std::uint8_t* at, std::int64_t begin, std::int64_t end, std::uint64_t pool,
                  cudaStream_t stream) {
  if (begin >= end) return;
  clear_kernel<<<kMostBlocks, kThreads, 0, stream>>>(at, begin, end, pool,
                                                     code_of(Author::kNobody));
}

void launch_set(volatile std::uint32_t* flag, cudaStream_t stream) {
  set_kernel<<<1, 1, 0, stream>>>(flag);
}

void launch_wait(volatile const std::uint32_t* flags, std::uint32_t count, std::uint32_t least,
                 volatile const std::uint32_t* abort, cudaStream_t stream) {
  wait_kernel<<<1, 1, 0, stream>>>(flags, count, least, abort);
}

void launch_take(const DeviceTake* takes, std::uint32_t count, long long* semaphores,
                 std::uint32_t* word, volatile const std::uint32_t* abort, cudaStream_t stream) {
  if (count > 0) take_kernel<<<1, 1, 0, stream>>>(takes, count, semaphores, word, abort);
}

void launch_give(const DeviceTake* gives, std::uint32_t count, long long* semaphores,
                 std::uint32_t* word, cudaStream_t stream) {
  if (count > 0) give_kernel<<<1, 1, 0, stream>>>(gives, count, semaphores, word);
}

void launch_pause(volatile const std::uint64_t* nanoseconds, volatile const std::uint32_t* abort,
                  cudaStream_t stream) {
  pause_kernel<<<1, 1, 0, stream>>>(nanoseconds, abort);
}

}  // namespace memverify::device
