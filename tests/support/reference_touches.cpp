#include "tests/support/reference_touches.h"

#include <algorithm>
#include <set>

namespace memverify::testing {
namespace {

class TouchMaker {
 public:
  TouchMaker(Program& program, const Sizes& sizes)
      : plan_(*program.plan), sizes_(sizes), program_(program) {}

  TouchBytes make() {
    end_touches();
    number_bytes();
    return {std::move(sources_), std::move(representative_)};
  }

 private:
  PoolId pool_of(TensorId tensor) const {
    return plan_.storages[plan_.tensors[tensor].storage].pool;
  }

  std::vector<Address> addresses(TensorId tensor, const Bytes& bytes) const {
    std::vector<Address> result;
    for (const std::int64_t b : bytes) result.emplace_back(pool_of(tensor), b);
    return result;
  }

  void end_touch(TensorId tensor, std::int64_t instance, std::int64_t slot, TouchSource source,
                 bool output, bool own_family_may_write) {
    EndTouch end;
    end.touch.tensor = tensor;
    end.touch.instance = instance;
    end.touch.slot = slot;
    end.output = output;
    end.own_family_may_write = own_family_may_write;
    source.addresses = addresses(tensor, sizes_.elements(tensor, slot).bytes());
    program_.ends.push_back(end);
    end_sources_.push_back(source);
  }

  void end_touches() {
    for (const Output& output : plan_.outputs) {
      const std::int64_t instance = instance_of(plan_, output.tensor, *plan_.iterations - 1, 0);
      const std::int64_t slot = sizes_.slot_index(plan_.tensors[output.tensor].storage, instance);
      end_touch(output.tensor, instance, slot, {output.from_initial, output.from, {}}, true, false);
    }
    std::vector<TensorId> kept = plan_.constants;
    for (const TensorId input : plan_.inputs) {
      if (std::ranges::count(plan_.donated, input) == 0) kept.push_back(input);
    }
    for (const TensorId tensor : kept) {
      const bool is_output = std::ranges::count(plan_.outputs, tensor, &Output::tensor) > 0;
      const std::int64_t slots = sizes_.slot_count(plan_.tensors[tensor].storage);
      for (std::int64_t slot = 0; slot < slots; ++slot) {
        end_touch(tensor, slot, slot, {}, false, is_output);
      }
    }
  }

  /// Makes the touches with their addresses, then gives one number to all bytes that the same
  /// touches and inputs have in common.
  void number_bytes() {
    for (Command& command : program_.commands) make_touches(command);
    std::map<Address, std::vector<int>> membership;
    int set_number = 0;
    auto enter = [&](const std::vector<Address>& entered) {
      for (const Address& address : entered) membership[address].push_back(set_number);
      ++set_number;
    };
    for (Command& command : program_.commands) {
      for (Touch& touch : command.touches) enter(sources_[&touch].addresses);
    }
    for (std::size_t e = 0; e < program_.ends.size(); ++e) {
      sources_[&program_.ends[e].touch] = end_sources_[e];
      enter(end_sources_[e].addresses);
    }
    std::set<Address> initial;
    for (const std::vector<TensorId>* list : {&plan_.inputs, &plan_.constants}) {
      for (const TensorId tensor : *list) {
        const std::int64_t slots = sizes_.slot_count(plan_.tensors[tensor].storage);
        for (std::int64_t slot = 0; slot < slots; ++slot) {
          const auto here = addresses(tensor, sizes_.elements(tensor, slot).bytes());
          enter(here);  // Apart from other families: only its own may expect its value.
          initial.insert(here.begin(), here.end());
        }
      }
    }
    enter_everything(membership);
    std::map<std::vector<int>, int> numbers;
    std::map<Address, int> number_of;
    for (const auto& [address, sets] : membership) {
      const auto [entry, fresh] = numbers.try_emplace(sets, static_cast<int>(numbers.size()));
      number_of[address] = entry->second;
      if (!fresh) continue;
      representative_.push_back(address);
      program_.initial_version.push_back(initial.contains(address) ? kInitial : kNobody);
    }
    program_.bytes = numbers.size();
    for (const auto& [touch, source] : sources_) {
      std::set<int> bytes;
      for (const Address& address : source.addresses) bytes.insert(number_of.at(address));
      touch->bytes.assign(bytes.begin(), bytes.end());
    }
  }

  void make_touches(Command& command) {
    if (!command.accesses_memory) return;
    for (const Access& access : plan_.accesses_of(plan_.ops[command.op])) {
      Touch touch;
      touch.kind = access.kind;
      touch.tensor = access.tensor;
      touch.update = plan_.updates[access.update];
      command.touches.push_back(touch);
    }
    std::size_t k = 0;
    for (const Access& access : plan_.accesses_of(plan_.ops[command.op])) {
      Touch& touch = command.touches[k++];
      TouchSource& source = sources_[&touch];
      source.from_initial = access.from_initial;
      source.from = access.from;
      if (access.tensor == kNone<TensorId>) {
        pool_clobbers_.push_back({&touch, &access});
        continue;
      }
      touch.instance = instance_of(plan_, access.tensor, command.iteration, access.distance);
      touch.slot = sizes_.slot_index(plan_.tensors[access.tensor].storage, touch.instance);
      source.addresses = addresses(access.tensor, sizes_.access_bytes(access, touch.slot));
    }
  }

  /// Clobbers of a pool's bytes and commands that touch everything have no bytes of their own: they
  /// touch those that somebody else does.
  void enter_everything(std::map<Address, std::vector<int>>& membership) {
    int number = -1;
    for (const auto& [touch, access] : pool_clobbers_) {
      const Part part = access->part == Access::kWhole ? Part{} : plan_.parts[access->part];
      const std::int64_t begin = sizes_.value(part.offset);
      const std::int64_t bytes = part.bytes ? sizes_.value(*part.bytes) : 0;
      if (part.bytes && bytes > sizes_.max_bytes) sizes_.too_large = true;
      if (sizes_.too_large) return;
      for (std::int64_t b = begin; part.bytes && b < begin + bytes; ++b) {
        membership[{access->pool, b}];  // Two clobbers may meet where nobody else goes.
      }
      for (auto& [address, sets] : membership) {
        if (address.first != access->pool || address.second < begin) continue;
        if (part.bytes && address.second >= begin + bytes) continue;
        sets.push_back(number);
        sources_[touch].addresses.push_back(address);
      }
      --number;
    }
    for (Command& command : program_.commands) {
      if (!command.touches_everything) continue;
      Touch touch;
      touch.kind = AccessKind::kClobber;
      command.touches.push_back(touch);
      TouchSource& source = sources_[&command.touches.back()];
      for (const auto& [address, sets] : membership) source.addresses.push_back(address);
    }
  }

  const Plan& plan_;
  const Sizes& sizes_;
  Program& program_;
  std::map<Touch*, TouchSource> sources_;
  std::vector<TouchSource> end_sources_;
  std::vector<std::pair<Touch*, const Access*>> pool_clobbers_;
  std::vector<Address> representative_;
};

}  // namespace

TouchBytes touch_bytes(Program& program, const Sizes& sizes) {
  return TouchMaker(program, sizes).make();
}

}  // namespace memverify::testing
