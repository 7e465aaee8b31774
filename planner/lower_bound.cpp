#include "planner/lower_bound.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "planner/clashes.h"
#include "planner/min_cut.h"
#include "planner/ordered_values.h"
#include "planner/value_places.h"

namespace memverify {
namespace {

constexpr std::size_t kMostQuestions = 50'000'000;  // About, to the order.
constexpr std::uint32_t kNoNode = 0xFFFFFFFFU;

/// Values of one buffer with the same accesses, or a value that may share with others.
struct Element {
  std::uint32_t value = 0;  ///< One of them.
  std::int64_t weight = 0;
  bool is_alone = false;
  bool ends = false;           ///< Perhaps before something begins; else nothing needs to be asked.
  bool follows = false;        ///< Perhaps after something has ended.
  std::uint32_t in = kNoNode;  ///< Reached from all that ends before it.
  std::uint32_t out = kNoNode;  ///< Reaches all that begins after it.
};

class AntichainNetwork {
 public:
  AntichainNetwork(const LiveValues& live, const Order& order,
                   std::span<const std::int64_t> weights, const SharingPairs& sharing)
      : live_(live), order_(order), weights_(weights), sharing_(sharing), places_(order) {}

  Antichain solve() {
    find_elements();
    const std::size_t ending = mark_ordered();
    const std::vector<std::uint32_t> place_of = find_places();
    if (places_.rows() * (ending + places_.places()) > kMostQuestions) return {};
    add_places();
    add_ins(place_of);
    add_outs();
    for (const Element& element : elements_) {
      network_.add_arc(FlowNetwork::kSource, element.out, element.weight);
      network_.add_arc(element.in, FlowNetwork::kSink, element.weight);
    }
    for (const auto& [a, b] : sharing_) {
      if (weights_[a] > 0 && weights_[b] > 0) {
        network_.add_arc(elements_[element_of_[a]].out, elements_[element_of_[b]].in, total_);
      }
    }
    return cut();
  }

 private:
  void find_elements() {
    std::vector<std::uint8_t> alone(weights_.size(), 0);
    for (const auto& [a, b] : sharing_) alone[a] = alone[b] = 1;
    std::map<std::vector<Cmd>, std::uint32_t> same;  // In a buffer.
    element_of_.assign(weights_.size(), 0);
    for (std::uint32_t v = 0; v < weights_.size(); ++v) {
      if (v > 0 && live_.values[v].buffer != live_.values[v - 1].buffer) same.clear();
      if (weights_[v] == 0) continue;
      const auto next = static_cast<std::uint32_t>(elements_.size());
      element_of_[v] = alone[v] != 0 ? next : same.try_emplace(accesses_of(v), next).first->second;
      if (element_of_[v] == next) elements_.push_back({.value = v, .is_alone = alone[v] != 0});
      elements_[element_of_[v]].weight += weights_[v];
      total_ += weights_[v];
    }
  }

  std::vector<Cmd> accesses_of(std::uint32_t v) const {
    const LiveValue& value = live_.values[v];
    std::vector<Cmd> key = {value.from_start ? 1U : 0U, value.to_end ? 1U : 0U};
    const auto firsts = live_.firsts(value);
    const auto lasts = live_.lasts(value);
    key.insert(key.end(), firsts.begin(), firsts.end());
    key.push_back(kNoCmd);
    key.insert(key.end(), lasts.begin(), lasts.end());
    return key;
  }

  /// Returns how many end.
  std::size_t mark_ordered() {
    std::vector<std::uint32_t> values;
    for (const Element& element : elements_) values.push_back(element.value);
    const OrderedValues ordered = ordered_values(live_, order_, values);
    for (std::size_t e = 0; e < elements_.size(); ++e) {
      elements_[e].ends = ordered.ends[e] != 0;
      elements_[e].follows = ordered.follows[e] != 0;
    }
    return static_cast<std::size_t>(std::ranges::count(elements_, true, &Element::ends));
  }

  /// Returns the place of each element that follows something.
  std::vector<std::uint32_t> find_places() {
    std::vector<std::uint32_t> place_of;
    for (const Element& element : elements_) {
      const bool has_place = element.follows;
      place_of.push_back(has_place ? places_.add(live_.firsts(live_.values[element.value])) : 0);
    }
    places_.make_rows();
    return place_of;
  }

  void add_places() {
    for (std::size_t p = 0; p < places_.places(); ++p) node_of_.push_back(network_.add_node());
    places_.for_each_arc([&](std::uint32_t from, std::uint32_t to) {
      network_.add_arc(node_of_[from], node_of_[to], total_);
    });
  }

  /// A node of its own only where others than the place lead to it.
  void add_ins(const std::vector<std::uint32_t>& place_of) {
    for (std::size_t e = 0; e < elements_.size(); ++e) {
      Element& element = elements_[e];
      const bool has_place = element.follows;
      if (has_place) element.in = node_of_[place_of[e]];
      if (has_place && !element.is_alone) continue;
      element.in = network_.add_node();
      if (has_place) network_.add_arc(node_of_[place_of[e]], element.in, total_);
    }
  }

  /// A node of its own only where it leads to more than one place.
  void add_outs() {
    ValuePlaces::Cursor cursor(places_);
    for (const std::uint32_t e : by_end()) {
      Element& element = elements_[e];
      const auto after = cursor.after(live_.lasts(live_.values[element.value]));
      if (after.size() == 1 && !element.is_alone) {
        element.out = node_of_[after[0]];
        continue;
      }
      element.out = network_.add_node();
      for (const std::uint32_t p : after) network_.add_arc(element.out, node_of_[p], total_);
    }
    for (Element& element : elements_) {
      if (element.out == kNoNode) element.out = network_.add_node();
    }
  }

  /// The elements that end, in the order that the cursor likes.
  std::vector<std::uint32_t> by_end() const {
    std::vector<std::uint32_t> ending;
    for (std::uint32_t e = 0; e < elements_.size(); ++e) {
      if (elements_[e].ends) ending.push_back(e);
    }
    std::ranges::sort(ending, {}, [&](std::uint32_t e) {
      const auto lasts = live_.lasts(live_.values[elements_[e].value]);
      return lasts.empty() ? std::tuple(0U, 0U, e)
                           : std::tuple(order_.chain(lasts[0]), order_.position(lasts[0]), e);
    });
    return ending;
  }

  /// The elements whose way out is on the source's side, and whose way in is not.
  Antichain cut() const {
    const std::vector<std::uint8_t> reached = network_.source_side();
    Antichain result;
    for (std::uint32_t v = 0; v < weights_.size(); ++v) {
      if (weights_[v] == 0) continue;
      const Element& element = elements_[element_of_[v]];
      if (reached[element.out] == 0 || reached[element.in] != 0) continue;
      result.members.push_back(v);
      result.bytes += weights_[v];
    }
    return result;
  }

  const LiveValues& live_;
  const Order& order_;
  std::span<const std::int64_t> weights_;
  const SharingPairs& sharing_;
  std::vector<Element> elements_;
  std::vector<std::uint32_t> element_of_;  ///< By value.
  std::int64_t total_ = 0;                 ///< More than any flow.
  FlowNetwork network_;
  ValuePlaces places_;
  std::vector<std::uint32_t> node_of_;  ///< By place.
};

}  // namespace

Antichain heaviest_antichain(const LiveValues& live, const Order& order,
                             std::span<const std::int64_t> weights, const SharingPairs& sharing) {
  return AntichainNetwork(live, order, weights, sharing).solve();
}

bool holds(const Antichain& antichain, const LiveValues& live, const Order& order,
           std::span<const std::int64_t> weights, const SharingPairs& sharing) {
  const std::set<std::pair<std::uint32_t, std::uint32_t>> may_share(sharing.begin(), sharing.end());
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < antichain.members.size(); ++i) {
    const std::uint32_t a = antichain.members[i];
    bytes += weights[a];
    for (std::size_t j = i + 1; j < antichain.members.size(); ++j) {
      const std::uint32_t b = antichain.members[j];
      if (a == b || may_share.contains({a, b}) || may_share.contains({b, a}) ||
          ends_before(live, order, live.values[a], live.values[b]) ||
          ends_before(live, order, live.values[b], live.values[a])) {
        return false;
      }
    }
  }
  return bytes == antichain.bytes;
}

}  // namespace memverify
