-- A small load for Lua: lua5.4 load.lua SCALE (percent).
--
-- Strings made, split, joined and replaced, tables of tables, sorting, closures and
-- coroutines. Each part checks its own result; the last line tells how many were right.

local scale = tonumber(arg[1]) / 100
local words = { "shell", "pearl", "layer", "nacre", "mussel", "plate", "inner", "thread",
                "block", "page", "slice", "arena", "heap", "list", "free", "guard" }

-- Minimal standard of Park and Miller: the same numbers in every version of Lua.
local function random_stream(seed)
  return function(n)
    seed = seed * 16807 % 2147483647
    return seed % n + 1
  end
end

local function strings(count)
  local random, parts, letters = random_stream(1), {}, 0
  for i = 1, count do
    local word = words[random(#words)]
    parts[i] = word .. i
    letters = letters + #word
  end
  local text = table.concat(parts, " ")
  local found = 0
  for word in text:gmatch("(%a+)%d+") do
    found = found + #word
  end
  assert(found == letters)
  local upper, replaced = text:gsub("%a+", function(word) return word:upper() end)
  assert(replaced == count and upper:lower() == text)
  assert(#text:gsub("[%d ]", "") == letters)
end

local function tables(count)
  local random, people = random_stream(2), {}
  for i = 1, count do
    people[i] = { name = words[random(#words)] .. random(1000), age = random(90),
                  friends = {}, notes = { i, tostring(i) } }
  end
  for i, person in ipairs(people) do
    for _ = 1, 3 do
      table.insert(person.friends, people[random(count)])
    end
    person.notes[3] = person.friends[1].name .. "/" .. i
  end
  table.sort(people, function(a, b)
    if a.age ~= b.age then return a.age < b.age end
    return a.notes[1] < b.notes[1]
  end)
  local groups, sum = {}, 0
  for i, person in ipairs(people) do
    assert(i == 1 or people[i - 1].age <= person.age)
    groups[person.name] = groups[person.name] or {}
    table.insert(groups[person.name], person)
    sum = sum + person.notes[1]
  end
  assert(sum == count * (count + 1) // 2)
  local members = 0
  for name, group in pairs(groups) do
    for _, person in ipairs(group) do
      assert(person.name == name)
      members = members + 1
    end
  end
  assert(members == count)
end

-- A binary tree of tables, walked by a coroutine.
local function trees(depth, times)
  local function make(levels)
    if levels == 0 then return { value = 1 } end
    return { make(levels - 1), make(levels - 1), value = 1 }
  end
  local function walk(node)
    if node[1] then walk(node[1]) end
    coroutine.yield(node.value)
    if node[2] then walk(node[2]) end
  end
  for _ = 1, times do
    local tree, sum = make(depth), 0
    for value in coroutine.wrap(function() walk(tree) end) do
      sum = sum + value
    end
    assert(sum == 2 ^ (depth + 1) - 1)
  end
end

-- Closures as a lazy list: the sieve of Eratosthenes.
local function primes(count)
  local function from(n) return function() n = n + 1 return n end end
  local function without(p, list)
    return function()
      local n
      repeat n = list() until n % p ~= 0
      return n
    end
  end
  local list, last = from(1), nil
  for _ = 1, count do
    last = list()
    list = without(last, list)
  end
  return last
end

strings(math.floor(150000 * scale))
tables(math.floor(60000 * scale))
trees(12, math.floor(25 * scale))
assert(primes(168) == 997)
print("4 parts right")
