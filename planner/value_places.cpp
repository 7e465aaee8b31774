#include "planner/value_places.h"

#include <algorithm>
#include <utility>

namespace memverify {
namespace {

constexpr std::size_t kMostCompared = 16;  // Arcs that may make others needless.

}  // namespace

std::uint32_t ValuePlaces::add(std::span<const Cmd> firsts) {
  Firsts sorted(firsts.begin(), firsts.end());
  std::ranges::sort(sorted, {}, [&](Cmd cmd) { return order_.chain(cmd); });
  const auto next = static_cast<std::uint32_t>(places_.size());
  const auto [at, is_new] = number_.try_emplace(std::move(sorted), next);
  if (is_new) places_.push_back(at->first);
  return at->second;
}

void ValuePlaces::make_rows() {
  number_.clear();
  struct Keyed {
    std::vector<std::uint32_t> chains, positions;
    std::uint32_t place = 0;
  };
  std::vector<Keyed> keyed(places_.size());
  for (std::uint32_t p = 0; p < places_.size(); ++p) {
    keyed[p].place = p;
    for (const Cmd cmd : places_[p]) {
      keyed[p].chains.push_back(order_.chain(cmd));
      keyed[p].positions.push_back(order_.position(cmd));
    }
  }
  std::ranges::sort(keyed, [](const Keyed& a, const Keyed& b) {
    return a.chains != b.chains ? a.chains < b.chains : a.positions < b.positions;
  });
  std::vector<const Keyed*> last_of;  // By row.
  std::size_t first_row = 0;          // Of the chains at hand.
  for (const Keyed& next : keyed) {
    if (rows_.empty() || last_of.back()->chains != next.chains) first_row = rows_.size();
    std::size_t row = first_row;
    const auto may_follow = [&](const Keyed& before) {
      return std::ranges::equal(before.positions, next.positions, std::ranges::less_equal{});
    };
    while (row < rows_.size() && !may_follow(*last_of[row])) ++row;
    if (row == rows_.size()) {
      rows_.emplace_back();
      last_of.push_back(nullptr);
    }
    rows_[row].push_back(next.place);
    last_of[row] = &next;
  }
}

bool ValuePlaces::is_after(std::uint32_t place, std::span<const Cmd> lasts) const {
  return std::ranges::all_of(places_[place], [&](Cmd first) {
    return std::ranges::all_of(lasts, [&](Cmd last) { return order_.before(last, first); });
  });
}

bool ValuePlaces::implies(std::uint32_t from, std::uint32_t to) const {
  return std::ranges::all_of(places_[to], [&](Cmd later) {
    return std::ranges::any_of(places_[from],
                               [&](Cmd sooner) { return order_.before(sooner, later); });
  });
}

/// The first place of the row, not before index `from`, that is good, as all after it are.
template <typename Good>
std::uint32_t ValuePlaces::first_good(std::size_t row, std::uint32_t from, Good good) const {
  const std::vector<std::uint32_t>& places = rows_[row];
  const auto size = static_cast<std::uint32_t>(places.size());
  std::uint32_t step = 1;
  std::uint32_t to = from;  // All before `from` are bad.
  while (to < size && !good(places[to])) {
    from = to + 1;
    to = from + step;
    step *= 2;
  }
  const auto begin = places.begin() + from;
  const auto end = places.begin() + std::min(to, size);
  return static_cast<std::uint32_t>(
      std::partition_point(begin, end, [&](std::uint32_t p) { return !good(p); }) - places.begin());
}

/// Leaves out what another one leads to.
void ValuePlaces::prune(std::vector<std::uint32_t>& places) const {
  std::size_t kept = 0;
  for (const std::uint32_t place : places) {
    const auto end = places.begin() + static_cast<std::ptrdiff_t>(std::min(kept, kMostCompared));
    const bool is_implied = std::any_of(places.begin(), end,
                                        [&](std::uint32_t other) { return implies(other, place); });
    if (!is_implied) places[kept++] = place;
  }
  places.resize(kept);
}

void ValuePlaces::for_each_arc(const std::function<void(std::uint32_t, std::uint32_t)>& arc) const {
  std::vector<std::uint32_t> now(rows_.size());  // By row: the first place that this one implies.
  std::vector<std::uint32_t> next(rows_.size());
  std::vector<std::uint32_t> found;
  for (std::size_t own = 0; own < rows_.size(); ++own) {
    const auto find_all = [&](std::uint32_t place, std::vector<std::uint32_t>& first) {
      for (std::size_t row = 0; row < rows_.size(); ++row) {
        first[row] =
            first_good(row, first[row], [&](std::uint32_t other) { return implies(place, other); });
      }
    };
    std::ranges::fill(now, 0);
    find_all(rows_[own].front(), now);
    for (std::size_t i = 0; i < rows_[own].size(); ++i) {
      const bool has_next = i + 1 < rows_[own].size();
      next = now;
      if (has_next) find_all(rows_[own][i + 1], next);
      found.clear();
      if (has_next) arc(rows_[own][i], rows_[own][i + 1]);
      for (std::size_t row = 0; row < rows_.size(); ++row) {
        const bool is_new = row != own && now[row] < (has_next ? next[row] : rows_[row].size());
        if (is_new) found.push_back(rows_[row][now[row]]);
      }
      prune(found);
      for (const std::uint32_t to : found) arc(rows_[own][i], to);
      now.swap(next);
    }
  }
}

std::span<const std::uint32_t> ValuePlaces::Cursor::after(std::span<const Cmd> lasts) {
  const Order& order = all_.order_;
  const bool goes_on = !lasts.empty() && last_ != kNoCmd &&
                       order.chain(lasts[0]) == order.chain(last_) &&
                       order.position(lasts[0]) >= order.position(last_);
  if (!goes_on) std::ranges::fill(first_, 0);
  last_ = lasts.empty() ? kNoCmd : lasts[0];
  found_.clear();
  for (std::size_t row = 0; row < first_.size(); ++row) {
    std::uint32_t& first = first_[row];
    first = all_.first_good(row, first, [&](std::uint32_t place) {
      return all_.is_after(place, lasts.first(std::min<std::size_t>(lasts.size(), 1)));
    });
    std::uint32_t at = first;
    if (lasts.size() > 1) {
      at = all_.first_good(row, at, [&](std::uint32_t p) { return all_.is_after(p, lasts); });
    }
    if (at < all_.rows_[row].size()) found_.push_back(all_.rows_[row][at]);
  }
  all_.prune(found_);
  return found_;
}

}  // namespace memverify
