#include "tools/branch_split.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "plan/words.h"

namespace memverify {
namespace {

using GraphJson = nlohmann::json;

constexpr const char* kAccessLists[] = {"reads", "writes", "accumulates", "clobbers"};

const GraphJson& member(const GraphJson& object, const char* key) {
  static const GraphJson kNothing = GraphJson::array();
  const auto at = object.find(key);
  return at == object.end() ? kNothing : *at;
}

/// The tensor of an access entry, "" for bytes of a pool.
std::string tensor_of(const GraphJson& entry) {
  return entry.is_string() ? entry.get<std::string>() : entry.value("tensor", "");
}

bool exclude_each_other(const GraphJson& a, const GraphJson& b) {
  return std::ranges::any_of(a.items(), [&](const auto& term) {
    return b.contains(term.key()) && b[term.key()] != term.value();
  });
}

/// How one op uses one root.
struct Use {
  std::size_t op = 0;
  bool only_reads = true;
  bool writes_all = false;
  std::string
      oddity;  ///< Why it is not of the iteration itself, expecting whom program order says.
};

struct Branch {
  GraphJson when;
  std::vector<Use> uses;
};

/// Who uses one root: ops without conditions, and ops under each set of conditions.
struct RootUses {
  std::vector<Use> always;
  std::vector<Branch> branches;  ///< In program order of their first ops.
  bool is_output = false;

  bool needs_copies() const { return !always.empty() || is_output; }
};

class BranchSplitter {
 public:
  BranchSplitter(GraphJson graph, SplitOptions options) : options_(options) {
    result_.graph = std::move(graph);
    for (const GraphJson& tensor : member(result_.graph, "tensors")) {
      const std::string id = tensor["id"];
      names_.insert(id);
      base_of_[id] = tensor.value("view_of", "");
    }
    for (const GraphJson& op : member(result_.graph, "ops")) op_names_.insert(op["id"]);
  }

  SplitGraph run() {
    collect_uses();
    const GraphJson tensors = member(result_.graph, "tensors");
    for (const GraphJson& tensor : tensors) {
      const auto at = uses_.find(tensor["id"].get<std::string>());
      if (at == uses_.end() || at->second.branches.size() < 2) continue;
      std::string why = obstacle_of(tensor);
      if (why.empty()) why = obstacle_in(at->second);
      if (why.empty()) {
        split(at->first, at->second);
      } else {
        result_.kept.push_back({at->first, std::move(why)});
      }
    }
    insert_copies();
    return std::move(result_);
  }

 private:
  std::string root_of(std::string tensor) const {
    for (auto at = base_of_.find(tensor); at != base_of_.end() && !at->second.empty();
         at = base_of_.find(tensor)) {
      tensor = at->second;
    }
    return tensor;
  }

  void collect_uses() {
    const GraphJson& ops = member(result_.graph, "ops");
    for (std::size_t k = 0; k < ops.size(); ++k) {
      if (ops[k].value("kind", "op") == "view") continue;
      for (auto& [root, use] : uses_of(ops[k], k)) note(root, use, ops[k]);
    }
    for (const GraphJson& output : member(result_.graph, "outputs")) {
      RootUses& uses = uses_[root_of(tensor_of(output))];
      uses.is_output = true;
      if (output.is_object() && output.contains("from")) {
        uses.always.push_back({.oddity = "the output says which version it is"});
      }
    }
  }

  std::map<std::string, Use> uses_of(const GraphJson& op, std::size_t k) const {
    std::map<std::string, Use> uses;
    for (const char* list : kAccessLists) {
      for (const GraphJson& entry : member(op, list)) {
        const std::string root = root_of(tensor_of(entry));
        Use& use = uses.try_emplace(root, Use{.op = k}).first->second;
        const bool is_read = std::string_view(list) == "reads";
        use.only_reads = use.only_reads && is_read;
        use.writes_all = use.writes_all ||
                         (std::string_view(list) == "writes" && entry.is_string() && entry == root);
        if (use.oddity.empty()) use.oddity = oddity_of(op, entry);
      }
    }
    return uses;
  }

  static std::string oddity_of(const GraphJson& op, const GraphJson& entry) {
    const std::string who = memverify::quoted(op["id"].get<std::string>());
    if (op.contains("runs")) return who + " runs in one iteration only";
    if (entry.is_string()) return {};
    if (entry.contains("distance")) return who + " uses it of another iteration";
    if (entry.contains("from")) return who + " says which version it reads";
    return {};
  }

  void note(const std::string& root, const Use& use, const GraphJson& op) {
    RootUses& uses = uses_[root];
    if (!op.contains("when") || op["when"].empty()) {
      uses.always.push_back(use);
      return;
    }
    auto at = std::ranges::find(uses.branches, op["when"], &Branch::when);
    if (at == uses.branches.end()) {
      uses.branches.push_back({op["when"], {}});
      at = uses.branches.end() - 1;
    }
    at->uses.push_back(use);
  }

  /// Why the tensor itself cannot be split; "": nothing.
  std::string obstacle_of(const GraphJson& tensor) const {
    const std::pair<const char*, const char*> boundaries[] = {{"inputs", "it is an input"},
                                                              {"constants", "it is a constant"}};
    for (const auto& [boundary, why] : boundaries) {
      for (const GraphJson& entry : member(result_.graph, boundary)) {
        if (root_of(tensor_of(entry)) == tensor["id"]) return why;
      }
    }
    if (tensor.contains("storage")) return "it has a place already";
    if (tensor.contains("slots") && !options_.rotating) return "the syncs are for its slots alone";
    return {};
  }

  /// Why tensors with such uses cannot be split; "": nothing.
  std::string obstacle_in(const RootUses& uses) const {
    std::size_t last = 0;
    for (const Branch& branch : uses.branches) {
      for (const Use& use : branch.uses) {
        if (!use.oddity.empty()) return use.oddity;
        last = std::max(last, use.op);
      }
      for (const Branch& other : uses.branches) {
        if (&other == &branch || exclude_each_other(branch.when, other.when)) continue;
        return "paths " + memverify::quoted(path_name(branch.when)) + " and " +
               memverify::quoted(path_name(other.when)) + " may be the same";
      }
      if (uses.needs_copies() && std::ranges::none_of(branch.uses, &Use::writes_all)) {
        return "no op of path " + memverify::quoted(path_name(branch.when)) + " writes all of it";
      }
    }
    for (const Use& use : uses.always) {
      if (!use.oddity.empty()) return use.oddity;
      const std::string who =
          memverify::quoted(result_.graph["ops"][use.op]["id"].get<std::string>());
      if (!use.only_reads) return who + ", which is on all paths, writes it";
      if (use.op <= last) return who + " reads it before the paths have merged";
    }
    if (uses.needs_copies() && !options_.merges) return "the syncs leave no room for copies";
    return {};
  }

  std::string fresh(std::string name, std::set<std::string>& taken) const {
    while (!taken.insert(name).second) name += "'";
    return name;
  }

  void split(const std::string& root, const RootUses& uses) {
    for (std::size_t k = 1; k < uses.branches.size(); ++k) {
      const Branch& branch = uses.branches[k];
      BranchSplit made{.tensor = root, .when = branch.when};
      const GraphJson tensors = result_.graph["tensors"];
      for (const GraphJson& tensor : tensors) {
        const std::string id = tensor["id"];
        if (root_of(id) != root) continue;
        made.family.emplace_back(id, fresh(id + "@" + path_name(branch.when), names_));
        if (id == root) made.own = made.family.back().second;
      }
      add_family(made);
      std::vector<std::string> writers;
      for (const Use& use : branch.uses) {
        rename(result_.graph["ops"][use.op], made.family);
        if (!use.only_reads) writers.push_back(result_.graph["ops"][use.op]["id"]);
      }
      if (uses.needs_copies()) plan_copy(made, branch, uses, writers);
      result_.splits.push_back(std::move(made));
    }
  }

  void add_family(const BranchSplit& made) {
    const std::map<std::string, std::string> renamed(made.family.begin(), made.family.end());
    const GraphJson tensors = result_.graph["tensors"];
    for (const GraphJson& tensor : tensors) {
      const auto at = renamed.find(tensor["id"].get<std::string>());
      if (at == renamed.end()) continue;
      GraphJson own = tensor;
      own["id"] = at->second;
      if (own.contains("view_of")) own["view_of"] = renamed.at(own["view_of"].get<std::string>());
      base_of_[at->second] = own.value("view_of", "");
      result_.graph["tensors"].push_back(std::move(own));
    }
  }

 public:
  /// Puts the new names for the old into what an op accesses.
  static void rename(GraphJson& op, const std::vector<std::pair<std::string, std::string>>& names) {
    const auto renamed = [&](const std::string& name) {
      const auto at = std::ranges::find(names, name, &std::pair<std::string, std::string>::first);
      return at == names.end() ? name : at->second;
    };
    for (const char* list : kAccessLists) {
      if (!op.contains(list)) continue;
      for (GraphJson& entry : op[list]) {
        if (entry.is_string()) {
          entry = renamed(entry.get<std::string>());
        } else if (entry.contains("tensor")) {
          entry["tensor"] = renamed(entry["tensor"].get<std::string>());
        }
      }
    }
    if (!op.contains("in_place")) return;
    for (GraphJson& pair : op["in_place"]) {
      for (std::size_t k = 0; k < 2; ++k) pair[k] = renamed(pair[k].get<std::string>());
    }
  }

 private:
  /// The copy comes after the last use on its path, and before all reads after the merge.
  void plan_copy(BranchSplit& made, const Branch& branch, const RootUses& uses,
                 const std::vector<std::string>& writers) {
    made.copy = fresh("copy " + made.own, op_names_);
    GraphJson& ops = result_.graph["ops"];
    const GraphJson& last = ops[branch.uses.back().op];
    GraphJson copy = {{"id", made.copy},
                      {"label", "Copy"},
                      {"queue", last["queue"]},
                      {"reads", GraphJson::array({made.own})},
                      {"writes", GraphJson::array({made.tensor})},
                      {"after", writers},
                      {"when", made.when}};
    copy["in_place"] = GraphJson::array({GraphJson::array({made.own, made.tensor})});
    if (last.contains("thread")) copy["thread"] = last["thread"];
    copies_.emplace_back(branch.uses.back().op, std::move(copy));
    for (const Use& use : uses.always) ops[use.op]["after"].push_back(made.copy);
  }

  void insert_copies() {
    if (copies_.empty()) return;
    GraphJson ops = GraphJson::array();
    const GraphJson& old = result_.graph["ops"];
    for (std::size_t k = 0; k < old.size(); ++k) {
      ops.push_back(old[k]);
      for (const auto& [after, copy] : copies_) {
        if (after == k) ops.push_back(copy);
      }
    }
    result_.graph["ops"] = std::move(ops);
  }

  const SplitOptions options_;
  SplitGraph result_;
  std::set<std::string> names_, op_names_;
  std::map<std::string, std::string> base_of_;             ///< "" for a root.
  std::map<std::string, RootUses> uses_;                   ///< By root.
  std::vector<std::pair<std::size_t, GraphJson>> copies_;  ///< After which op.
};

GraphJson* find_id(GraphJson& list, const std::string& id) {
  for (GraphJson& entry : list) {
    if (entry["id"] == id) return &entry;
  }
  return nullptr;
}

void erase_id(GraphJson& list, const std::string& id) {
  for (auto at = list.begin(); at != list.end(); ++at) {
    if ((*at)["id"] != id) continue;
    list.erase(at);
    return;
  }
}

/// Everything but the name of its storage.
GraphJson place_of(GraphJson& plan, const std::string& root) {
  const GraphJson* tensor = find_id(plan["tensors"], root);
  GraphJson place = *find_id(plan["storages"], (*tensor)["storage"].get<std::string>());
  place.erase("id");
  return place;
}

void drop_op(GraphJson& plan, const std::string& id) {
  erase_id(plan["ops"], id);
  for (GraphJson& op : plan["ops"]) {
    if (!op.contains("after")) continue;
    GraphJson kept = GraphJson::array();
    for (const GraphJson& entry : op["after"]) {
      if (entry != id) kept.push_back(entry);
    }
    op["after"] = kept;
    if (kept.empty()) op.erase("after");
  }
}

void join_one(GraphJson& plan, const BranchSplit& split) {
  std::vector<std::pair<std::string, std::string>> back;
  const std::string storage = (*find_id(plan["tensors"], split.own))["storage"];
  for (const auto& [old, own] : split.family) {
    back.emplace_back(own, old);
    erase_id(plan["tensors"], own);
  }
  erase_id(plan["storages"], storage);
  if (!split.copy.empty()) drop_op(plan, split.copy);
  for (GraphJson& op : plan["ops"]) BranchSplitter::rename(op, back);
}

}  // namespace

SplitGraph split_branches(GraphJson graph, SplitOptions options) {
  return BranchSplitter(std::move(graph), options).run();
}

GraphJson join_branches(GraphJson plan, std::vector<BranchSplit>& splits) {
  std::erase_if(splits, [&](const BranchSplit& split) {
    if (place_of(plan, split.own) != place_of(plan, split.tensor)) return false;
    join_one(plan, split);
    return true;
  });
  return plan;
}

std::string path_name(const GraphJson& when) {
  std::string name;
  for (const auto& [condition, holds] : when.items()) {
    if (!name.empty()) name += ",";
    name += (holds.get<bool>() ? "" : "!") + condition;
  }
  return name;
}

}  // namespace memverify
