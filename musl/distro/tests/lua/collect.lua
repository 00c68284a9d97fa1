-- The collector: both modes, weak tables, finalizers, ephemerons; everything comes back.
local function tree(depth)
	if depth == 0 then return {} end
	return { tree(depth - 1), tree(depth - 1), depth }
end
local function size(t) return #t == 0 and 1 or 1 + size(t[1]) + size(t[2]) end
for _, mode in ipairs { 'incremental', 'generational' } do
	collectgarbage(mode)
	local long = tree(14)
	for _ = 1, 30 do assert(size(tree(10)) == 2 ^ 11 - 1) end
	assert(size(long) == 2 ^ 15 - 1)
end
collectgarbage 'incremental'
local finalized = 0
for i = 1, 10000 do
	setmetatable({ i }, { __gc = function(o) assert(o[1] == i) finalized = finalized + 1 end })
end
collectgarbage() collectgarbage()
assert(finalized == 10000)
local weak, keys = setmetatable({}, { __mode = 'k' }), {}
for i = 1, 10000 do
	local key = {}
	weak[key] = { key, ('v'):rep(i % 100) }
	if i % 10 == 0 then keys[#keys + 1] = key end
end
collectgarbage() collectgarbage()
local left = 0
for key, value in pairs(weak) do left = left + 1 assert(value[1] == key) end
assert(left == #keys)
weak, keys = nil, nil
collectgarbage() collectgarbage()
assert(collectgarbage 'count' < 2000)
