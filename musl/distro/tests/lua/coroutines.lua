-- Coroutines by the thousand, deep stacks, errors that unwind, to-be-closed variables.
local function count(to) return coroutine.wrap(function() for i = 1, to do coroutine.yield(i) end end) end
local many = {}
for i = 1, 5000 do many[i] = count(i % 17 + 1) end
for i, step in ipairs(many) do for j = 1, i % 17 + 1 do assert(step() == j) end end
local function numbers(from) return coroutine.wrap(function() for i = from, math.huge do coroutine.yield(i) end end) end
local function without(prime, source)
	return coroutine.wrap(function()
		while true do
			local i = source()
			if i % prime ~= 0 then coroutine.yield(i) end
		end
	end)
end
local source, prime = numbers(2), nil
for _ = 1, 150 do
	prime = source()
	source = without(prime, source)
end
assert(prime == 863)
local function deep(i) if i == 0 then return 0 end return 1 + deep(i - 1) end
assert(deep(150000) == 150000)
assert(not pcall(function() local function f() return 1 + f() end return f() end))
local closed = 0
for i = 1, 2000 do
	local ok, why = pcall(function()
		local _ <close> = setmetatable({}, { __close = function() closed = closed + 1 end })
		error({ i })
	end)
	assert(not ok and why[1] == i)
end
assert(closed == 2000)
for _ = 1, 200 do
	local co = coroutine.create(function() local _ <close> = setmetatable({}, { __close = function() closed = closed + 1 end }) deep(500) coroutine.yield() end)
	coroutine.resume(co)
	assert(coroutine.close(co))
end
assert(closed == 2200)
