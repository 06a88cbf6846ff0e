#include "script/prelude.h"

namespace muster::script {

namespace {

constexpr std::string_view kPrelude = R"lua(
local native = ...
local error, setmetatable, type, tostring, pairs, ipairs = error, setmetatable, type, tostring, pairs, ipairs
local select, concat, pcall, unpack, getmetatable = select, table.concat, pcall, unpack, getmetatable
local native_call, native_fill, native_sleep, result_meta = native.call, native.fill, native.sleep, native.result_meta

-- A step is declared once, outside all functions, and called within them. A failed call ends the iteration like a
-- failed step of a written workflow does; `try` gives the failure back instead.
local declared = 0
local methods = {}
local callable = { __index = methods }

-- The table is made here: a constructor costs a fraction of what setting fields from C does.
local function outcome(index, more, generation, ok, latency, status)
  local result = setmetatable({ generation, index, ok = ok, latency = latency, status = status }, result_meta)
  if more then native_fill(result) end
  return result
end

function methods:try(arguments)
  return outcome(self.index, native_call(self.index, arguments))
end

function callable:__call(arguments)
  local result = outcome(self.index, native_call(self.index, arguments))
  if not result.ok then error(result, 0) end
  return result
end

-- Begins a function of the script for one VU; `kept` shows what `start` left.
function native.launch(run_it, id, iteration, kept)
  local vu = { id = id, iteration = iteration }
  if kept then setmetatable(vu, kept) end
  return run_it(vu)
end

function callable:__tostring()
  return "step " .. tostring(self.name or self.index)
end

local function declare(description)
  declared = declared + 1
  native.step(declared, description)
  return setmetatable({ index = declared, name = description.name }, callable)
end

local function with(options, key, value)
  if options ~= nil and type(options) ~= "table" then
    error("the options of a step are a table such as { name = 'login' }", 3)
  end
  local description = {}
  for name, each in pairs(options or {}) do description[name] = each end
  if value == nil then error(key .. " takes an address or a table: " .. key .. "('/')", 3) end
  if options and options[key] ~= nil then
    error(key .. " has what it takes before the table; take `" .. key .. "` out of that", 3)
  end
  description[key] = value
  return description
end

function step(description)
  if type(description) ~= "table" then error("step takes a table such as { get = '/' }", 2) end
  return declare(description)
end

for _, kind in ipairs(native.kinds) do
  local maker = {}
  for _, key in ipairs(kind.shorthands) do
    maker[key] = function(value, options) return declare(with(options, key, value)) end
  end
  _G[kind.name] = setmetatable(maker, {
    __call = function(_, fields, options) return declare(with(options, kind.name, fields)) end,
  })
end

-- A number of the user's own: metric("basket", "trend")(12.5).
function metric(name, type_of)
  local made = declare({ metric = name, type = type_of, value = "value" })
  return function(value)
    native_call(made.index, { value = value })
  end
end

-- Something of the user's own that must hold: check("in stock")(#items > 0). Gives back whether it does.
function check(label, options)
  if options ~= nil and type(options) ~= "table" then
    error("the options of a check are a table such as { required = true }, found a " .. type(options), 2)
  end
  for key in pairs(options or {}) do
    if key ~= "required" then
      local text = "unknown key '%s' in the options of check '%s'; there is only 'required'"
      error(text:format(tostring(key), tostring(label)), 2)
    end
  end
  local required = options and options.required or false
  local made = declare({ name = label, check = { that = "holds", label = label, required = required } })
  return function(value)
    local result = outcome(made.index, native_call(made.index, { holds = value and true or false }))
    if not result.ok then error(result, 0) end
    return value and true or false
  end
end

-- A stretch that is measured as a whole: group("checkout")(function() … end). Gives back what the function does.
local function group_ended(index, began, ok, ...)
  native.transaction(index, began, ok)
  if not ok then error((...), 0) end
  return ...
end

function group(name)
  local made = declare({ group = name, steps = { { think = "0s" } } })
  return function(run_it, ...)
    return group_ended(made.index, native.now(), pcall(run_it, ...))
  end
end

-- Runs functions at the same time and gives back one value of each. One that fails leaves the others to end.
function parallel(...)
  local count = select("#", ...)
  local values, ended, failed, failure = {}, 0, false, nil
  local branches = {}
  for i = 1, count do
    local run_it = select(i, ...)
    if type(run_it) ~= "function" and getmetatable(run_it) ~= callable then
      error("parallel takes functions and steps: parallel(home, function() … end)", 2)
    end
    branches[i] = function()
      local ok, value = pcall(run_it)
      ended = ended + 1
      if ok then
        values[i] = value
      elseif native.branch_failed(value) or not failed then
        failed, failure = true, value
      end
    end
  end
  if count == 0 then return end
  native.fork(branches, count)
  if failed then error(failure, 0) end
  if ended < count then error("a branch of parallel did not end", 2) end
  return unpack(values, 1, count)
end

function job(description)
  if type(description) ~= "table" then error("job takes a table such as { target = 'https://shop.test' }", 2) end
  native.job(description)
end

function workflow(name, description)
  if type(name) ~= "string" or type(description) ~= "table" then
    error("workflow takes a name and a table: workflow('browse', { load = …, run = function(vu) … end })", 2)
  end
  if description.run ~= nil and type(description.run) ~= "function" then
    error("workflow '" .. name .. "': `run` must be a function, found a " .. type(description.run), 2)
  end
  if description.name ~= nil then
    error("workflow '" .. name .. "' has its name before the table; take `name` out of that", 2)
  end
  native.workflow(name, description)
end

local ranges = {}
function think(time)
  if type(time) == "number" then
    native_sleep(time * 1e9, time * 1e9)
    return
  end
  if type(time) ~= "string" then
    local found = time == nil and "nothing" or "a " .. type(time)
    error("think takes seconds, a time such as '2s' or a range such as '1s..3s', found " .. found, 2)
  end
  local range = ranges[time]
  if not range then
    range = { native.range(time) }
    ranges[time] = range
  end
  native_sleep(range[1], range[2])
end

function stop(scope) native.stop(scope or "iteration") end
function set(name, value) native.set(name, value) end

function log(...)
  local parts = {}
  for i = 1, select("#", ...) do parts[i] = tostring((select(i, ...))) end
  native.log(concat(parts, " "))
end
print = log

data = setmetatable({}, {
  __index = function(self, source)
    local group = "data." .. tostring(source)
    local row = setmetatable({}, { __index = function(_, column) return native.value(group, column) end })
    rawset(self, source, row)
    return row
  end,
})
use = setmetatable({}, { __index = function(_, key) return native.value("use", key) end })
env = native.environment
json = { encode = native.encode, decode = native.decode, list = native.list }
math.random, math.randomseed = native.random, nil
)lua";

}  // namespace

std::string_view prelude() {
  return kPrelude;
}

}  // namespace muster::script
