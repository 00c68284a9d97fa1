-- Files, pipes and chunks: buffers of libc's, popen (fork), load, require.
local name = os.tmpname()
local file = assert(io.open(name, 'w'))
for i = 1, 50000 do file:write(i, ' ', ('w'):rep(i % 80), '\n') end
file:close()
local lines = 0
for line in io.lines(name) do
	lines = lines + 1
	local number, text = line:match '^(%d+) (w*)$'
	assert(tonumber(number) == lines and #text == lines % 80)
end
assert(lines == 50000)
file = assert(io.open(name, 'rb'))
local all = file:read 'a'
file:seek('set', 0)
local again = {}
repeat
	local block = file:read(4099)
	again[#again + 1] = block
until not block
assert(table.concat(again) == all)
file:close()
for i = 1, 40 do
	local pipe = assert(io.popen('echo ' .. i))
	assert(pipe:read 'n' == i)
	assert(pipe:close())
end
for i = 1, 200 do
	local f = assert(io.open(name, 'w'))
	f:setvbuf('full', i * 100)
	f:write(('return {%d, "%s"}'):format(i, ('s'):rep(i)))
	f:close()
	local t = dofile(name)
	assert(t[1] == i and #t[2] == i)
end
local chunks = {}
for i = 1, 2000 do chunks[i] = assert(load(string.dump(load(('local a = ... return a + %d'):format(i))))) end
for i = 1, 2000 do assert(chunks[i](1) == i + 1) end
os.remove(name)
