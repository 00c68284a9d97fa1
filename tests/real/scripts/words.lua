-- Tables, strings, closures, coroutines, and collections in between.
local state = 42
local function rnd(n) state = (state * 1103515245 + 12345) % 2147483648; return state % n end
local function hash(text)
	local h = 5381
	for i = 1, #text do h = (h * 33 + text:byte(i)) & 0xffffffff end
	return string.format("%08x", h)
end

local words = {}
for i = 1, 40000 do
	local letters = {}
	for j = 1, 3 + rnd(9) do letters[j] = string.char(97 + rnd(26)) end
	words[i] = table.concat(letters)
end
local count = {}
for _ = 1, 300000 do local w = words[rnd(#words) + 1]; count[w] = (count[w] or 0) + 1 end
local keys = {}
for w, n in pairs(count) do keys[#keys + 1] = w .. "=" .. n end
table.sort(keys)
print("words", #keys, hash(table.concat(keys, ",")))

local text = table.concat(words, " ")
local changed, n = text:gsub("([aeiou])([^aeiou ]+)", "<%2%1>")
print("changed", n, #changed, hash(changed))

local function tree(depth) if depth == 0 then return {} end return { tree(depth - 1), tree(depth - 1), depth } end
local function size(t) if not t[1] then return 1 end return 1 + size(t[1]) + size(t[2]) end
for depth = 6, 15, 3 do
	local sum = 0
	for _ = 1, 1 << (16 - depth) do sum = sum + size(tree(depth)) end
	print("tree", depth, sum)
end
collectgarbage()

local rope = {}
for i = 1, 100000 do rope[#rope + 1] = string.rep(string.char(97 + i % 26), rnd(60)) end
print("rope", hash(table.concat(rope)))

local producers = {}
for i = 1, 2000 do
	producers[i] = coroutine.wrap(function() for j = 1, 40 do coroutine.yield(("%d.%d"):format(i, j)) end end)
end
local parts = {}
for j = 1, 40 do for i = 1, #producers do parts[#parts + 1] = producers[i]() end end
print("coroutines", #parts, hash(table.concat(parts, " ")))

local weak = setmetatable({}, { __mode = "k" })
for i = 1, 50000 do weak[{}] = i end
collectgarbage("collect")
print("weak", next(weak) == nil)
local closed = 0
for i = 1, 2000 do setmetatable({}, { __gc = function() closed = closed + i end }) end
collectgarbage("collect")
print("closed", closed)
