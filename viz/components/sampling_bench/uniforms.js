// The random numbers of model_runner/sampling.py, bit for bit: Python's random.Random(f"{seed}:{position}"), that is a
// Mersenne Twister (Matsumoto & Nishimura 1998) seeded with the text followed by its SHA-512 (FIPS 180-4). So a seed
// typed in the browser draws the tokens that Python draws.

const WORD = (1n << 64n) - 1n

// `count` numbers in [0, 1) for the token at `position`; `seed` is a whole number as text.
function uniformsOf(seed, position, count) {
  const next = twister(seedWords(`${seed}:${position}`))
  return Float32Array.from({ length: count }, () => (next() >>> 8) / 2 ** 24)
}

// Python reads text + digest as one large number, and its words from the lowest one up.
function seedWords(text) {
  const bytes = new TextEncoder().encode(text)
  const all = [...bytes, ...sha512(bytes)].reverse()
  const words = new Uint32Array(Math.ceil(all.length / 4))
  all.forEach((byte, i) => (words[i >> 2] |= byte << (8 * (i & 3))))
  return words
}

function twister(key) {
  const N = 624
  const state = new Uint32Array(N)
  state[0] = 19650218
  for (let i = 1; i < N; i++) state[i] = Math.imul(1812433253, state[i - 1] ^ (state[i - 1] >>> 30)) + i
  let i = 1
  const follow = () => {
    if (++i < N) return
    state[0] = state[N - 1]
    i = 1
  }
  for (let k = 0; k < Math.max(N, key.length); k++) {
    const j = k % key.length
    state[i] = (state[i] ^ Math.imul(state[i - 1] ^ (state[i - 1] >>> 30), 1664525)) + key[j] + j
    follow()
  }
  for (let k = 1; k < N; k++) {
    state[i] = (state[i] ^ Math.imul(state[i - 1] ^ (state[i - 1] >>> 30), 1566083941)) - i
    follow()
  }
  state[0] = 0x80000000
  let used = N
  return () => {
    if (used === N) used = twist(state)
    let y = state[used++]
    y ^= y >>> 11
    y ^= (y << 7) & 0x9d2c5680
    y ^= (y << 15) & 0xefc60000
    return (y ^ (y >>> 18)) >>> 0
  }
}

function twist(state) {
  const N = state.length
  for (let i = 0; i < N; i++) {
    const y = (state[i] & 0x80000000) | (state[(i + 1) % N] & 0x7fffffff)
    state[i] = state[(i + 397) % N] ^ (y >>> 1) ^ (y & 1 ? 0x9908b0df : 0)
  }
  return 0
}

// ---- SHA-512: a page opened from a file has no crypto.subtle ---------------------------------------------------------

function sha512(bytes) {
  const { hash: start, rounds } = (sha512.constants ??= shaConstants())
  const length = Math.ceil((bytes.length + 17) / 128) * 128
  const block = new Uint8Array(length)
  block.set(bytes)
  block[bytes.length] = 0x80
  const view = new DataView(block.buffer)
  view.setBigUint64(length - 8, BigInt(bytes.length * 8))
  const hash = [...start]
  for (let at = 0; at < length; at += 128) compress(hash, view, at, rounds)
  const digest = new DataView(new ArrayBuffer(64))
  hash.forEach((word, i) => digest.setBigUint64(8 * i, word))
  return new Uint8Array(digest.buffer)
}

function compress(hash, view, at, rounds) {
  const turn = (x, n) => ((x >> n) | (x << (64n - n))) & WORD
  const w = Array.from({ length: 16 }, (_, i) => view.getBigUint64(at + 8 * i))
  for (let i = 16; i < 80; i++) {
    const s0 = turn(w[i - 15], 1n) ^ turn(w[i - 15], 8n) ^ (w[i - 15] >> 7n)
    const s1 = turn(w[i - 2], 19n) ^ turn(w[i - 2], 61n) ^ (w[i - 2] >> 6n)
    w[i] = (w[i - 16] + s0 + w[i - 7] + s1) & WORD
  }
  let [a, b, c, d, e, f, g, h] = hash
  for (let i = 0; i < 80; i++) {
    const s1 = turn(e, 14n) ^ turn(e, 18n) ^ turn(e, 41n)
    const t1 = h + s1 + ((e & f) ^ (~e & WORD & g)) + rounds[i] + w[i]
    const s0 = turn(a, 28n) ^ turn(a, 34n) ^ turn(a, 39n)
    const t2 = s0 + ((a & b) ^ (a & c) ^ (b & c))
    ;[a, b, c, d, e, f, g, h] = [(t1 + t2) & WORD, a, b, c, (d + t1) & WORD, e, f, g]
  }
  ;[a, b, c, d, e, f, g, h].forEach((word, i) => (hash[i] = (hash[i] + word) & WORD))
}

// The first 64 bits behind the point of the square roots of 8 primes and of the cube roots of 80.
function shaConstants() {
  const primes = []
  for (let n = 2; primes.length < 80; n++) if (primes.every((prime) => n % prime)) primes.push(n)
  return {
    hash: primes.slice(0, 8).map((prime) => wholeRoot(BigInt(prime) << 128n, 2n) & WORD),
    rounds: primes.map((prime) => wholeRoot(BigInt(prime) << 192n, 3n) & WORD),
  }
}

// The largest whole number whose power is at most x.
function wholeRoot(x, power) {
  let [low, high] = [0n, 1n << 70n]
  while (low < high) {
    const middle = (low + high + 1n) >> 1n
    if (middle ** power <= x) low = middle
    else high = middle - 1n
  }
  return low
}
