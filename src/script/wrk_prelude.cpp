#include "script/prelude.h"

namespace muster::script {

namespace {

// wrk's interface as its scripts know it: the table `wrk` with what the command line said, and how a request is made of
// it. The hooks (setup, init, delay, request, response, done) are globals of the script.
constexpr std::string_view kWrkPrelude = R"lua(
local native = ...
local format, concat, pairs, type, tostring = string.format, table.concat, pairs, type, tostring

wrk = {
  scheme = native.settings.scheme,
  host = native.settings.host,
  port = native.settings.port,
  method = "GET",
  path = native.settings.path,
  headers = {},
  body = nil,
  thread = native.thread,
  lookup = native.lookup,
  connect = native.connect,
}
for name, value in pairs(native.headers) do wrk.headers[name] = value end

-- "Host" is asked for under this spelling only, as scripts that set it themselves expect.
local function host_line()
  local host = wrk.host
  if host:find(":", 1, true) then host = "[" .. host .. "]" end
  return wrk.port and host .. ":" .. wrk.port or host
end

function wrk.format(method, path, headers, body)
  local all = headers or wrk.headers
  local text = body or wrk.body
  if not all["Host"] then all["Host"] = wrk.headers["Host"] end
  all["Content-Length"] = text and #text
  local lines = { format("%s %s HTTP/1.1", method or wrk.method, path or wrk.path) }
  for name, value in pairs(all) do lines[#lines + 1] = format("%s: %s", name, value) end
  lines[#lines + 1] = ""
  lines[#lines + 1] = text or ""
  return concat(lines, "\r\n")
end

-- Addresses of the host that can be connected to; the first one is every thread's unless `setup` says otherwise.
function native.resolve()
  local found = wrk.lookup(wrk.host, wrk.port or wrk.scheme)
  local good = {}
  for _, address in ipairs(found) do
    if wrk.connect(address) then good[#good + 1] = address end
  end
  wrk.addrs = good
end

function native.set_up(thread)
  if wrk.addrs and wrk.addrs[1] then thread.addr = wrk.addrs[1] end
  if type(setup) == "function" then setup(thread) end
end

-- What is known of the requests before a run: nothing where functions of the script decide.
function native.plan()
  local known = type(request) ~= "function" and type(init) ~= "function"
  return known, tostring(wrk.method), tostring(wrk.path)
end

function native.begin(arguments)
  if not wrk.headers["Host"] then wrk.headers["Host"] = host_line() end
  if type(init) == "function" then init(arguments) end
  local constant = wrk.format()
  wrk.request = function() return constant end
end

-- What is there to call, once the script and its `init` have run.
function native.hooks()
  local dynamic = type(request) == "function"
  return dynamic and request or wrk.request, dynamic, type(response) == "function" and response or nil,
    type(delay) == "function" and delay or nil, type(done) == "function" and done or nil
end
)lua";

}  // namespace

std::string_view wrk_prelude() {
  return kWrkPrelude;
}

}  // namespace muster::script
