#include "script/wrk_stats.h"

#include <algorithm>
#include <cmath>
#include <lua.hpp>
#include <string_view>

namespace muster::script {
namespace {

constexpr const char* kStats = "muster.wrk.stats";

double microseconds(base::Duration duration) {
  return std::round(static_cast<double>(duration.count()) / 1e3);
}

const WrkStats& stats_at(lua_State* state, int index) {
  return **static_cast<const WrkStats**>(luaL_checkudata(state, index, kStats));
}

int percentile(lua_State* state) {
  lua_pushnumber(state, stats_at(state, 1).percentile(luaL_checknumber(state, 2)));
  return 1;
}

int index_stats(lua_State* state) {
  const WrkStats& stats = stats_at(state, 1);
  const std::string_view key = luaL_checkstring(state, 2);
  if (key == "min") {
    lua_pushnumber(state, stats.min());
  } else if (key == "max") {
    lua_pushnumber(state, stats.max());
  } else if (key == "mean") {
    lua_pushnumber(state, stats.mean());
  } else if (key == "stdev") {
    lua_pushnumber(state, stats.stdev());
  } else if (key == "percentile") {
    lua_pushcfunction(state, &percentile);
  } else {
    return 0;
  }
  return 1;
}

int call_stats(lua_State* state) {
  const auto& values = stats_at(state, 1).values();
  const double position = luaL_checknumber(state, 2);
  const bool inside = position >= 1 && position <= static_cast<double>(values.size());
  const auto [value, count] =
      inside ? values[static_cast<std::size_t>(position) - 1] : std::pair(0.0, std::uint64_t{0});
  lua_pushnumber(state, value);
  lua_pushnumber(state, static_cast<double>(count));
  return 2;
}

int count_stats(lua_State* state) {
  lua_pushnumber(state, static_cast<double>(stats_at(state, 1).values().size()));
  return 1;
}

}  // namespace

WrkStats::WrkStats(const metrics::Histogram& latency)
    : count_(latency.count()),
      min_(microseconds(latency.min())),
      max_(microseconds(latency.max())),
      mean_(static_cast<double>(latency.mean().count()) / 1e3),
      stdev_(static_cast<double>(latency.stddev().count()) / 1e3) {
  latency.for_each([&](base::Duration lower, base::Duration upper, std::uint64_t count) {
    const double middle = std::clamp(microseconds(lower + (upper - lower) / 2), min_, max_);
    if (!values_.empty() && values_.back().first == middle) {
      values_.back().second += count;
    } else {
      values_.emplace_back(middle, count);
    }
  });
}

WrkStats::WrkStats(std::vector<double> samples) : count_(samples.size()) {
  if (samples.empty()) return;
  std::ranges::sort(samples);
  min_ = samples.front();
  max_ = samples.back();
  double squares = 0;
  for (const double each : samples) mean_ += each / static_cast<double>(samples.size());
  for (const double each : samples) squares += (each - mean_) * (each - mean_);
  stdev_ = std::sqrt(squares / static_cast<double>(samples.size()));
  for (const double each : samples) {
    if (!values_.empty() && values_.back().first == each) {
      ++values_.back().second;
    } else {
      values_.emplace_back(each, 1);
    }
  }
}

double WrkStats::percentile(double percent) const {
  const double rank = std::round(percent / 100.0 * static_cast<double>(count_) + 0.5);
  double seen = 0;
  for (const auto& [value, count] : values_) {
    seen += static_cast<double>(count);
    if (seen >= rank) return value;
  }
  return values_.empty() ? 0 : values_.back().first;
}

void push_stats(lua_State* state, const WrkStats& stats) {
  *static_cast<const WrkStats**>(lua_newuserdata(state, sizeof(WrkStats*))) = &stats;
  if (luaL_newmetatable(state, kStats) != 0) {
    lua_pushcfunction(state, &index_stats);
    lua_setfield(state, -2, "__index");
    lua_pushcfunction(state, &call_stats);
    lua_setfield(state, -2, "__call");
    lua_pushcfunction(state, &count_stats);
    lua_setfield(state, -2, "__len");
  }
  lua_setmetatable(state, -2);
}

}  // namespace muster::script
