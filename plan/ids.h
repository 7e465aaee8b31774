// plan/ids.h -- strong index types, and tables indexed by them.
//
// Everything in a plan is named by a dense index into one table of `Plan`. The types differ so that
// a queue can never be used where an op is meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace memverify {

enum class SymbolId : std::uint32_t {};
enum class ConditionId : std::uint32_t {};
enum class PoolId : std::uint32_t {};
enum class QueueId : std::uint32_t {};
enum class ThreadId : std::uint32_t {};
enum class EventId : std::uint32_t {};
enum class SemaphoreId : std::uint32_t {};
enum class StorageId : std::uint32_t {};
enum class TensorId : std::uint32_t {};
enum class OpId : std::uint32_t {};
enum class UpdateId : std::uint32_t {};

/// The "no such thing" value of every id type.
template <typename Id>
inline constexpr Id kNone = static_cast<Id>(0xFFFFFFFFU);

template <typename Id>
constexpr std::uint32_t index(Id id) noexcept {
  return static_cast<std::uint32_t>(id);
}

/// A vector whose subscript is an id type.
template <typename Id, typename T>
class Table {
 public:
  const T& operator[](Id id) const noexcept { return items_[index(id)]; }
  T& operator[](Id id) noexcept { return items_[index(id)]; }
  std::size_t size() const noexcept { return items_.size(); }
  bool empty() const noexcept { return items_.empty(); }
  Id next_id() const noexcept { return static_cast<Id>(items_.size()); }
  Id push_back(T item) {
    const Id id = next_id();
    items_.push_back(std::move(item));
    return id;
  }
  void resize(std::size_t size, const T& value = T()) { items_.resize(size, value); }
  void reserve(std::size_t size) { items_.reserve(size); }
  auto begin() const noexcept { return items_.begin(); }
  auto end() const noexcept { return items_.end(); }
  auto begin() noexcept { return items_.begin(); }
  auto end() noexcept { return items_.end(); }

 private:
  std::vector<T> items_;
};

/// The ids `[0, size)`, for range-for loops: `for (OpId op : ids<OpId>(plan.ops.size()))`.
template <typename Id>
class IdRange {
 public:
  /// Goes through the ids in order.
  class Iterator {
   public:
    explicit Iterator(std::uint32_t at) noexcept : at_(at) {}
    Id operator*() const noexcept { return static_cast<Id>(at_); }
    Iterator& operator++() noexcept {
      ++at_;
      return *this;
    }
    bool operator==(const Iterator&) const noexcept = default;

   private:
    std::uint32_t at_;
  };
  explicit IdRange(std::size_t size) noexcept : size_(static_cast<std::uint32_t>(size)) {}
  Iterator begin() const noexcept { return Iterator(0); }
  Iterator end() const noexcept { return Iterator(size_); }

 private:
  std::uint32_t size_;
};

template <typename Id>
IdRange<Id> ids(std::size_t size) noexcept {
  return IdRange<Id>(size);
}
template <typename Id, typename T>
IdRange<Id> ids(const Table<Id, T>& table) noexcept {
  return IdRange<Id>(table.size());
}

}  // namespace memverify
