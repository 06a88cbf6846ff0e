#include "console/starting_files.h"

namespace muster::console {
namespace {

// Below the first line of each.
constexpr std::string_view kHead = R"yaml(#   muster check @FILE@                    is it right?
#   muster try @FILE@                      one round, byte by byte
#   muster run @FILE@                      the test itself
#   muster run @FILE@ --target embedded    the same, on muster's server
muster: 1                        # version of this format

target: @TARGET@    # where requests go

)yaml";

constexpr std::string_view kSimple = R"yaml(# A load test of one page.
@HEAD@
# Ten virtual users. Each asks, reads the answer, thinks, and asks again.
load: { vus: 10, for: 5s }

# What makes the run a failure (exit code 99).
thresholds:
  - latency p95 < 500ms          # 95 of 100 answers come within this time
  - failed rate < 1%

# What each user does, over and over.
steps:
  - name: home
    get: /
    check:
      status: 200                # counted; a failed check stops no user
  - think: 100ms..300ms          # a pause, drawn anew each time
)yaml";

constexpr std::string_view kFlow = R"yaml(# People log in and look around; each is somebody else.
@HEAD@
# Rows of a table: ${data.users.name} is the column `name` of the user's row.
# pick: sequential (row by row), random, unique (each once) or per_vu.
data:
  users: { csv: "@DATA@", pick: per_vu }

thresholds:
  - failed rate < 1%
  - checks rate > 99%
  - { that: latency p95 < 500ms, where: { step: catalog } }

workflows:
  - name: visitors
    # From no user to 20 within 2 s, 20 for 3 s, then down again.
    load: { vus: [ { to: 20, over: 2s }, { hold: 3s }, { to: 0, over: 1s } ] }

    start:                       # once for each user, before the rounds
      - name: log in
        post: /login
        json: { user: "${data.users.name}", password: "${data.users.password}" }
        check:
          status: 200
          json.token: { that: exists, required: true }   # or else stop
        save: { token: json.token }                      # for later: ${token}

    steps:                       # one round
      - name: catalog
        get: /json
        check: { "json.items[0].id": exists }
        save: { id: "json.items[0].id" }
      - think: 50ms..150ms
      - choose:                  # of ten rounds nine look, one buys
          - weight: 9
            steps:
              - name: item
                get: "/delay/5..20?item=${id}"
          - weight: 1
            steps:
              - name: buy
                post: /echo
                auth: { bearer: "${token}" }
                json: { item: "${id}", count: "${random(1, 3)}" }
)yaml";

constexpr std::string_view kFlowData = R"csv(name,password
ada,first
barbara,second
edsger,third
grace,fourth
katherine,fifth
mary,sixth
)csv";

constexpr std::string_view kOpen =
    R"yaml(# So many visits a second, whether or not the server keeps up (the open model).
@HEAD@
# Visits begin by the clock, so a slow server meets as many as a fast one, and
# latency counts from the moment a visit was due.
load:
  rate: [ { to: 100/s, over: 2s }, { hold: 4s } ]   # from none to 100 a second
  spacing: poisson               # as people come; or: even
  max_vus: 200                   # most visits at once; more have to wait
  warm_up: 1s                    # the first second is not counted

thresholds:
  - latency p99 < 1s
  - failed rate < 1%
  - dropped count < 1
  - { that: failed rate < 50%, window: 2s, abort: true }   # give up early

steps:
  - name: page
    get: /delay/5..20
    timeout: 5s
  - name: details
    get: /json
    check: { status: 200, json.items: exists }
)yaml";

// The one in Lua, for those who would rather program it.
constexpr std::string_view kLua = R"lua(-- A load test as a program: what each user does is a function.
--   muster check @FILE@                    is it right?
--   muster try @FILE@                      one round, byte by byte
--   muster run @FILE@                      the test itself
--   muster run @FILE@ --target embedded    the same, on muster's server
job {
  target = "@TARGET@",    -- where requests go

  -- Ten virtual users. Each calls `run`, again and again.
  load = { vus = 10, ["for"] = "5s" },

  -- What makes the run a failure (exit code 99).
  thresholds = {
    "latency p95 < 500ms",       -- 95 of 100 answers come within this time
    "failed rate < 1%",
  },
}

-- The requests. They are declared once and called below.
local home = http.get("/", {
  name = "home",
  check = { status = 200 },      -- counted; a failed check stops no user
})
local catalog = http.get("/json", { name = "catalog" })
local item = http.get("/delay/5..20?item=${id}", { name = "item" })

-- One round of one user; `vu.id` is its number.
function run(vu)
  home()
  local items = catalog().json.items
  item { id = items[math.random(#items)].id }   -- gives ${id} its value
  think("100ms..300ms")          -- a pause, drawn anew each time
end
)lua";

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

// What may stand between double quotes, in YAML and in Lua.
std::string quoted(std::string_view name) {
  std::string made;
  for (const char each : name) {
    if (each == '"' || each == '\\') made += '\\';
    made += each;
  }
  return made;
}

}  // namespace

const std::vector<StartingFile>& starting_files() {
  static const std::vector<StartingFile> kFiles = {
      {.kind = "simple", .doc = "one page, ten users", .text = kSimple, .data = {}},
      {.kind = "flow", .doc = "log in and browse, with a table of users", .text = kFlow, .data = kFlowData},
      {.kind = "open", .doc = "so many visits a second", .text = kOpen, .data = {}}};
  return kFiles;
}

const StartingFile& starting_script() {
  static const StartingFile kScript = {.kind = "simple", .doc = "pages, ten users, in Lua", .text = kLua, .data = {}};
  return kScript;
}

const StartingFile* starting_file(std::string_view kind) {
  for (const StartingFile& each : starting_files()) {
    if (each.kind == kind) return &each;
  }
  return nullptr;
}

std::string starting_text(const StartingFile& file, const StartingNames& names) {
  std::string text;
  const bool script = &file == &starting_script();
  if (!names.schema.empty() && !script) text = "# yaml-language-server: $schema=" + names.schema + "\n";
  text += file.text;
  replace_all(text, "@HEAD@\n", kHead);
  replace_all(text, "@FILE@", names.file);
  replace_all(text, "@TARGET@", script ? quoted(names.target) : names.target);
  replace_all(text, "@DATA@", quoted(names.data));
  return text;
}

}  // namespace muster::console
