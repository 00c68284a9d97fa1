-- Strings: short and long ones, buffers that grow, patterns, pack and format.
local parts = {}
for i = 1, 20000 do parts[i] = string.format('%d:%x;', i, i * 2654435761 % 4294967296) end
local all = table.concat(parts)
local count, sum = 0, 0
for left, right in all:gmatch('(%d+):(%x+);') do
	count = count + 1
	sum = sum + tonumber(left) + tonumber(right, 16) % 7
end
assert(count == 20000)
local upper = all:gsub('%x', function(c) return c:upper() end)
assert(#upper == #all and upper:lower() == all)
assert(all:reverse():reverse() == all)
local grown = ''
for i = 1, 3000 do grown = grown .. string.char(i % 256) end
assert(#grown == 3000 and grown:byte(300) == 300 % 256)
for _, size in ipairs { 0, 1, 15, 40, 41, 1000, 65535, 65536, 1 << 20, 5000001 } do
	local long = ('x'):rep(size)
	assert(#long == size and (size == 0 or long:byte(size) == 120))
	assert(#long:gsub('x', 'ab') == 2 * size)
end
local packed = {}
for i = 1, 5000 do packed[i] = string.pack('<I4s2d', i, ('p'):rep(i % 50), i / 3) end
for i = 1, 5000 do
	local n, text, half = string.unpack('<I4s2d', packed[i])
	assert(n == i and #text == i % 50 and half == i / 3)
end
assert(load('return ' .. ('1+'):rep(5000) .. '1')() == 5001)
