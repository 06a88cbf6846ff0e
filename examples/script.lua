-- A workflow that is programmed rather than written down: log in once, then look at pages until one has what is wanted.
-- Run it: muster run examples/script.lua --target embedded
job {
  target = "http://127.0.0.1:8080",
  thresholds = { "failed rate < 1%", "latency p95 < 500ms" },
}

-- Steps are declared here, with the keys that they have in YAML, and called in the functions below.
-- ${user} and ${page} are arguments of the call.
local login = http.post("/login", {
  name = "login",
  json = { user = "${user}", password = "secret" },
  check = { status = 200 },
  save = { token = "json.token" },
})
local page = http.get("/json?page=${page}", { name = "page", check = { status = 200 } })
local found = metric("pages", "trend")

workflow("search", {
  load = { vus = 5, ["for"] = "3s" },

  -- Once for each virtual user; what is put into `vu` here stays.
  start = function(vu)
    vu.token = login({ user = "user" .. vu.id }).token
  end,

  run = function(vu)
    local pages = 0
    repeat
      pages = pages + 1
      local response = page { page = pages }
      think("5ms..20ms")
    until pages == 3 or math.random() < 0.3
    found(pages)
  end,
})
