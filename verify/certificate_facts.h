// verify/certificate_facts.h -- the orders that a certificate claims, and why each holds.
//
// An order says: in every run `before` completes before `node` starts. It holds when the node waits
// for something (`via`) that starts after `before` has completed, by another order of the
// certificate; or for a count that cannot be reached by signals of which none needs `before`. No
// rank is needed against circular reasons: take the first instant of a run at which an order fails;
// what let it happen was earlier, where all orders held.
// On a line, and for completions on an in-order queue, one order speaks for all that follow from it
// (later nodes, earlier completions), so few are written.
// An order that nothing needs exactly as it stands is refused, and so is a reason that is not the
// first that holds: a certificate has no idle entry.
// Cost: O(log orders) a question; a count costs that for each of its groups.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "verify/certificate.h"
#include "verify/certificate_model.h"

namespace memverify::cert {

/// Why an order holds: a node that is waited for, or a count with the first signals, of the groups
/// that matter, which need `before`.
struct Reason {
  Node via = kNoNode;
  std::uint32_t count = 0;  ///< Without `via`: number of the count among those of the node.
  std::vector<Node> signals;
  bool operator==(const Reason&) const = default;
};

/// Is `before` done when `node` starts; when it completes?
class Knowledge {
 public:
  virtual ~Knowledge() = default;
  virtual bool at_start(Node node, Node before) = 0;
  /// at_start, or the same node, or on its in-order queue not after it.
  bool at_completion(Node node, Node before, const Model& model);
};

/// Number of nodes of `group` that may complete without `before`: a beginning of it.
std::size_t without(Model& model, const Count& count, const Group& group, Node before,
                    Knowledge& knowledge);

/// The first reason for an order that `knowledge` gives, nullopt if there is none.
std::optional<Reason> first_reason(Model& model, Node node, Node before, Knowledge& knowledge);

/// The orders of one case.
class Orders : public Knowledge {
 public:
  explicit Orders(Model& model) : model_(model) {}
  /// Takes rows of relative numbers. "" or what is wrong with one.
  std::string take(const Rows& rows);
  /// "" or the first order that does not hold, or has another reason than the first. Use() may be
  /// called meanwhile.
  std::string check();

  bool at_start(Node node, Node before) override;
  /// The same, noting that the order it follows from is needed.
  bool use(Node node, Node before);
  /// "" or an order that nothing needed.
  std::string idle() const;
  std::size_t size() const { return orders_.size(); }

 private:
  struct Order {
    Node node, before;
    Node via;
    std::uint32_t count;
    Range signals;  ///< In `signals_`.
    bool used = false, gives_reason = false;
  };
  /// Orders of one line whose `before` lie on one chain, places and `at` ascending.
  struct Entry {
    std::uint32_t place;  ///< Of `before` in its chain.
    std::uint32_t at;     ///< From this place in the line on.
    std::uint32_t order;
  };
  struct Chain {
    std::uint32_t line;
    std::uint32_t begin;  ///< In `entries_`; the next one begins where this ends.
  };
  /// Where a chain was looked at last: questions come in order, more or less.
  using Fingers = std::vector<std::uint32_t>;

  void read(std::span<const std::int64_t> row, Node previous);
  void sort_lines();
  const Entry* find(Node node, Node before, Fingers& fingers) const;
  void note_reason(Node node, Node before);
  bool has_reason(const Order& order, const Reason& reason) const;
  std::string name(const Order& order) const;

  Model& model_;
  std::string problem_;
  std::vector<Order> orders_;
  std::vector<Node> signals_;
  std::vector<Entry> entries_;
  std::vector<Chain> chains_;         ///< And one more.
  std::vector<std::uint32_t> first_;  ///< By line and one more, in `chains_`.
  Fingers asked_, reasoned_;          ///< Of use() and of check(), by chain.
};

/// The row of an order, relative to the node of the row before.
void add_order(Rows& rows, Node previous, Node node, Node before, Node via, std::uint32_t count,
               std::span<const Node> signals);

/// "`U` (iteration 2)", for messages.
std::string describe(const Model& model, Node node);

}  // namespace memverify::cert
