// Four worker threads that allocate in every way node has, and send results back.
'use strict';
const { Worker, isMainThread, parentPort, workerData } = require('worker_threads');
const crypto = require('crypto');
const zlib = require('zlib');

function random(seed) {
	let state = seed;
	return n => { state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff; return state % n; };
}
const sha = data => crypto.createHash('sha256').update(data).digest('hex').slice(0, 16);

function work(number) {
	const rnd = random(number + 1), answers = [];
	const map = new Map();
	for (let i = 0; i < 100000; i++) map.set('k' + rnd(30000), { i, text: 'x'.repeat(rnd(50)) });
	const json = JSON.stringify([...map].sort((a, b) => (a[0] < b[0] ? -1 : 1)));
	answers.push(`map ${map.size} ${sha(json)} ${sha(JSON.stringify(JSON.parse(json)))}`);

	const buffers = [];
	for (let i = 0; i < 3000; i++) {
		buffers.push(Buffer.alloc(1 + rnd(40000), i & 255));
		if (buffers.length > 200) buffers.splice(rnd(100), 50);
	}
	const all = Buffer.concat(buffers);
	answers.push(`buffers ${all.length} ${sha(all)}`);

	const packed = zlib.deflateSync(Buffer.from(json), { level: 6 });
	answers.push(`deflate ${sha(zlib.inflateSync(packed))}`);
	const brotli = zlib.brotliCompressSync(json.slice(0, 1 << 20), { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 } });
	answers.push(`brotli ${sha(zlib.brotliDecompressSync(brotli))}`);
	const words = json.slice(0, 1 << 20).replace(/([a-z]+)"/g, (all, w) => w.toUpperCase()).split(',');
	answers.push(`words ${words.length} ${sha(words.sort().join())}`);
	answers.push(`key ${crypto.pbkdf2Sync('nacre', 'salt', 2000, 32, 'sha512').toString('hex')}`);
	return answers;
}

if (isMainThread) {
	const results = [];
	let left = 4, messages = 0;
	for (let number = 0; number < 4; number++) {
		const worker = new Worker(__filename, { workerData: number });
		worker.on('message', data => { if (data.part) messages += data.part.byteLength; else results[number] = data.answers; });
		worker.on('error', error => { throw error; });
		worker.on('exit', code => {
			if (code) process.exitCode = code;
			if (--left === 0) { results.forEach((lines, n) => lines.forEach(line => console.log(n, line))); console.log('messages', messages); }
		});
	}
} else {
	for (let i = 0; i < 100; i++) { const part = new ArrayBuffer(1000 * (i + 1)); parentPort.postMessage({ part }, [part]); }
	parentPort.postMessage({ answers: work(workerData) });
}
