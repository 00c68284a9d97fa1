-- Tables that grow, shrink and are rehashed; sort; a sieve; a queue; a matrix.
local n = 200000
local composite, primes = {}, 0
for i = 2, n do
	if not composite[i] then
		primes = primes + 1
		for j = i * i, n, i do composite[j] = true end
	end
end
assert(primes == 17984)
local state = 12345
local function random(limit)
	state = (state * 1103515245 + 12345) % 2147483648
	return state % limit + 1
end
for _, count in ipairs { 0, 1, 2, 10, 1000, 50000 } do
	local list = {}
	for i = 1, count do list[i] = random(1000000) end
	table.sort(list)
	for i = 2, count do assert(list[i - 1] <= list[i]) end
	table.sort(list, function(a, b) return a > b end)
	for i = 2, count do assert(list[i - 1] >= list[i]) end
end
local map, live = {}, 0
for _ = 1, 300000 do
	local key = 'k' .. random(5000)
	if map[key] then map[key] = nil live = live - 1 else map[key] = { key } live = live + 1 end
end
for key, value in pairs(map) do live = live - 1 assert(value[1] == key) end
assert(live == 0)
local first, last, queue = 1, 0, {}
for i = 1, 100000 do
	last = last + 1 queue[last] = i
	if i % 3 ~= 0 then assert(queue[first]) queue[first] = nil first = first + 1 end
end
local function matrix(f)
	local m = {}
	for i = 1, 60 do m[i] = {} for j = 1, 60 do m[i][j] = f(i, j) end end
	return m
end
local a, b = matrix(function(i, j) return i + j end), matrix(function(i, j) return i == j and 1 or 0 end)
local c = matrix(function(i, j) local s = 0 for k = 1, 60 do s = s + a[i][k] * b[k][j] end return s end)
for i = 1, 60 do for j = 1, 60 do assert(c[i][j] == i + j) end end
assert(select('#', table.unpack(queue, first, first + 200)) == 201)
