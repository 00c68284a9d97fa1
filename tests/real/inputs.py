"""Inputs that the cases read, the same bytes in every run. Made once, then only read."""
import os
import random

WORDS = ('shell pearl layer nacre mussel plate inner thread block page slice arena '
         'heap list free guard canary bitmap claim epoch').split()


def tree(path):
    """3,000 files of text in 150 directories, 4 MiB; some empty, some with one line."""
    rng = random.Random(1)
    for number in range(3000):
        folder = os.path.join(path, f'd{number % 15:02}', f'e{number % 10}')
        os.makedirs(folder, exist_ok=True)
        lines = rng.choice((0, 1, 6, 25, 50, 90))
        with open(os.path.join(folder, f'f{number:04}.txt'), 'w', encoding='ascii') as file:
            for _ in range(lines):
                file.write(' '.join(rng.choices(WORDS, k=7)))
                file.write(f' {rng.randrange(10 ** 6)}\n')


def mixed_bytes(path):
    """32 MiB that compress about 3 to 1: text, repeats at a distance, and noise."""
    rng = random.Random(2)
    seen = [rng.randbytes(4096)]
    with open(path, 'wb') as file:
        for number in range(2048):
            kind = number % 4
            if kind == 0:
                seen.append(rng.randbytes(4096))
                piece = seen[-1] * 4
            elif kind == 1:
                piece = b''.join(rng.choices(seen, k=4))
            else:
                text = ' '.join(rng.choices(WORDS, k=16384 // 5)).encode()
                piece = text[:16384].ljust(16384, b'.')
            file.write(piece)


FUNCTION = '''
static unsigned f{n}(unsigned a, struct node *at, double x)
{{
	static const char *const names[] = {{ "{w0}", "{w1}", "{w2}{n}", "{w3}" }};
	unsigned table[{t}], sum = a * {k}u + {n}u;
	for (unsigned i = 0; i < {t}; i++)
		table[i] = (a << (i % 13)) ^ (sum >> (i % 7)) ^ {k}u;
	for (unsigned i = 1; i < {t}; i++)
		table[i] += table[i - 1] * (unsigned)names[i & 3][i % 3];
	switch (table[{t} - 1] % 7) {{
	case 0: sum += (unsigned)(x * {k}.5); break;
	case 1: sum ^= table[1]; at->count += {n}; /* fall through */
	case 2: sum = sum << 3 | sum >> 29; break;
	case 3: while (sum > {k}u << 8) sum = sum / 3 + table[sum % {t}] % 5; break;
	case 4: at->weight = at->weight * 0.5 + (double)(sum % 1024); break;
	default: sum -= (unsigned)at->count;
	}}
	return sum + {call};
}}
'''


def c_source(path, functions=200):
    """One C file of about 5,000 lines whose program prints a checksum of itself."""
    rng = random.Random(3)
    with open(path, 'w', encoding='ascii') as file:
        file.write('#include <stdio.h>\n\n'
                   'struct node { int count; double weight; };\n')
        for n in range(functions):
            call = f'f{rng.randrange(max(0, n - 20), n)}(sum, at, x)' if n % 3 else 'sum'
            words = {f'w{i}': rng.choice(WORDS) for i in range(4)}
            file.write(FUNCTION.format(n=n, k=rng.randrange(3, 99), t=rng.randrange(8, 40),
                                       call=call, **words))
        file.write('\nint main(void)\n{\n\tstruct node at = { 1, 2.0 };\n'
                   '\tunsigned sum = 1;\n')
        for n in range(functions):
            file.write(f'\tsum = sum * 31 + f{n}(sum, &at, {n}.25);\n')
        file.write('\tprintf("%u %d %.6f\\n", sum, at.count, at.weight);\n\treturn 0;\n}\n')


def git_stream(path, commits=400):
    """A git fast-import stream: a history of edits to 60 files, with merges."""
    rng = random.Random(4)
    files = {f'src/m{i % 6}/file{i:02}.c': [' '.join(rng.choices(WORDS, k=8))
                                            for _ in range(200)] for i in range(60)}
    with open(path, 'w', encoding='ascii') as out:
        for mark in range(1, commits + 1):
            message = f'change {mark}: ' + ' '.join(rng.choices(WORDS, k=6)) + '\n'
            out.write(f'commit refs/heads/main\nmark :{mark}\n'
                      f'committer A B <a@example.org> {1700000000 + mark * 600} +0000\n'
                      f'data {len(message)}\n{message}')
            if mark > 1:
                out.write(f'from :{mark - 1}\n')
            if mark > 10 and mark % 9 == 0:
                out.write(f'merge :{mark - 5}\n')
            names = sorted(files) if mark == 1 else rng.sample(sorted(files), 4)
            for name in names:
                for _ in range(5):
                    files[name][rng.randrange(len(files[name]))] = \
                        ' '.join(rng.choices(WORDS, k=8))
                text = '\n'.join(files[name]) + '\n'
                out.write(f'M 100644 inline {name}\ndata {len(text)}\n{text}\n')
        out.write('done\n')


def redis_commands(path, keys=60000):
    """A stream for redis-cli --pipe: strings, hashes, lists, sorted sets, streams."""
    rng = random.Random(5)

    def command(*words):
        return f'*{len(words)}\r\n' + ''.join(f'${len(w)}\r\n{w}\r\n' for w in words)

    with open(path, 'w', encoding='ascii', newline='') as out:
        for n in range(keys):
            value = 'v' * rng.choice((3, 20, 60, 300, 1500)) + str(n)
            out.write(command('SET', f'string:{n}', value))
            out.write((
                command('HSET', f'hash:{n % 700}', f'field{n}', value[:40]),
                command('RPUSH', f'list:{n % 300}', value[:100]),
                command('ZADD', f'zset:{n % 200}', str(rng.randrange(10 ** 6)), f'm{n}'),
                command('SADD', f'set:{n % 200}', f'member{n}'),
                command('APPEND', f'string:{n // 2}', value[:200]),
                command('DEL', f'string:{n // 3}'),
            )[n % 6])


def web_root(path):
    """Pages for a web server: 1 KiB, 40 KiB of text to compress, 3 MiB."""
    rng = random.Random(6)
    os.makedirs(path)
    for name, size in (('small.html', 1 << 10), ('text.html', 40 << 10),
                       ('big.bin', 3 << 20)):
        text = ' '.join(rng.choices(WORDS, k=size // 4)).encode()[:size]
        with open(os.path.join(path, name), 'wb') as file:
            file.write(text.ljust(size, b'.'))
