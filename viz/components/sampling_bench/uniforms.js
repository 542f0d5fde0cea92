// The random numbers of model_runner/sampling.py, bit for bit: Threefry-2x32 with 20 rounds (Salmon et al. 2011), which
// turns a counter into a random number with only additions, rotations and xor. A seed typed in the browser therefore
// draws the same tokens as in Python.

const TURNS = [13, 15, 26, 6, 17, 29, 16, 24] // bits of rotation, by round

// `count` numbers in [0, 1) for the token at `position`; `seed` is an integer as text.
export function uniformsOf(seed, position, count) {
  const key = seedKey(BigInt(seed))
  return Float32Array.from({ length: count }, (_, i) => (threefry(key, [position, i])[0] >>> 8) / 2 ** 24)
}

// Hash an integer of any size into two words, 64 bits at a time.
function seedKey(seed) {
  let rest = seed >= 0n ? 2n * seed : -2n * seed - 1n
  let key = [0, 0]
  do {
    key = threefry(key, [Number(rest & 0xffffffffn), Number((rest >> 32n) & 0xffffffffn)])
    rest >>= 64n
  } while (rest)
  return key
}

// Two random words of 32 bits for this key and counter.
export function threefry(key, counter) {
  const keys = [...key, key[0] ^ key[1] ^ 0x1bd11bda]
  let [x, y] = [(counter[0] + keys[0]) | 0, (counter[1] + keys[1]) | 0]
  for (let round = 0; round < 20; round++) {
    const turn = TURNS[round % 8]
    x = (x + y) | 0
    y = ((y << turn) | (y >>> (32 - turn))) ^ x
    if (round % 4 < 3) continue
    const block = (round + 1) / 4
    x = (x + keys[block % 3]) | 0
    y = (y + keys[(block + 1) % 3] + block) | 0
  }
  return [x >>> 0, y >>> 0]
}
