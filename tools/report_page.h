// tools/report_page.h -- pictures of a plan, one function for each format.
#pragma once

#include <span>
#include <string>

#include "tools/report_data.h"

namespace memverify {

/// One HTML file that loads nothing: the page of tools/report with one drawing, or two to compare.
std::string html_page(std::span<const Drawing> drawings);

/// The memory of the drawn run as an SVG file: a picture for each pool in use.
std::string arena_svg(const Drawing& drawing);

/// The commands of the drawn run and what orders them as a graph in DOT, clashes in red; of a large
/// plan the neighbourhood of its findings.
std::string order_dot(const Drawing& drawing);

/// The drawn run as a trace in Chrome's JSON format, which Perfetto opens: queues as tracks,
/// tensors as asynchronous slices, syncs as flows, live bytes as counters.
std::string perfetto_trace(const Drawing& drawing);

}  // namespace memverify
