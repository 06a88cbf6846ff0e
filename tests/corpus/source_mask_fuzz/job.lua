local n = #arg wrk.headers["Authorization"] = "Bearer abc" -- why
local token, cookie = [==[id
=1]==], { ['x-api-key'] = 'a\'b', pwd = 12 }
function run() set("password", b64("ada" .. 'hunter2')) wrk.body = "{\"password\":\"x\"}" .. 'pwd=a&b=c' end
