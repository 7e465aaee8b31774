#include "sim/stage.h"

#include <utility>

namespace memverify::sim {

void Stage::clear() {
  lifetimes_.reset();
  bytes_.reset();
  reach_.reset();
  program_.reset();
}

std::string Stage::lay_out(const Valuation& symbols) {
  if (layout_ && layout_->valuation().symbols == symbols.symbols) return "";
  clear();
  layout_.reset();
  Result<Layout> layout = Layout::make(plan_, symbols);
  if (!layout.ok()) return layout.errors().front().message;
  layout_ = std::move(layout).value();
  return "";
}

std::string Stage::make_commands(const Case& settled) {
  const bool is_there = program_ && settled_.iterations == settled.iterations &&
                        settled_.unrolled == settled.unrolled &&
                        settled_.conditions == settled.conditions;  // The symbols are the layout's.
  if (is_there) return "";
  clear();
  Result<Program> program = make_program(plan_, settled);
  if (!program.ok()) return program.errors().front().message;
  program_ = std::move(program).value();
  settled_ = settled;
  steps_ += program_->commands.size();
  return "";
}

const Result<ByteMap>& Stage::bytes() {
  if (!bytes_) {
    bytes_ = map_bytes(setting(), std::nullopt, kMaxRuns);
    steps_ += program_->commands.size();
  }
  return *bytes_;
}

Result<ByteMap> Stage::bytes_in(const Window& window) {
  if (!reach_) {
    reach_.emplace(setting());
    steps_ += program_->commands.size();
  }
  const std::vector<CommandId> commands = reach_->commands_in(window);
  steps_ += commands.size();
  return map_bytes(setting(), window, commands, reach_->one_for_all(), kMaxRuns);
}

const Lifetimes& Stage::lifetimes() {
  if (!lifetimes_) {
    lifetimes_ = find_lifetimes(setting(), bytes().value());
    steps_ += program_->commands.size();
  }
  return *lifetimes_;
}

}  // namespace memverify::sim
