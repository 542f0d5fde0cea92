// Compute the full distribution after every transform of the logits, fast enough for every frame of a drag. These are
// pure functions of typed arrays, with the same results as model_runner/sampling.py. The transforms are described in
// model_runner/transforms.py.
//
// Tokens are ranked once per logits, by descending score and, if equal, by descending id (torch's stable sort,
// reversed). A temperature keeps that order, a repetition penalty moves few tokens, and top-k, top-p, min-p and typical
// sampling keep a run of consecutive ranks. Therefore nothing is sorted again.

// The stages: "model", then one per name in settings.order; `transforms` has the setting of each name that turns it
// off. Returns null if the logits are broken: NaN, +∞, or all −∞.
//
// `probabilities` (by token id, 0 if removed) is computed on first access. `keptMass` is the probability of the kept
// tokens at the stage before, `entropy` is in bits. Calls with the same `memory`, an object owned by the caller, share
// their arrays and reuse unchanged results; a result is then valid only until the next call.
export function computeStages(logits, settings, previousIds, transforms, memory = {}) {
  const model = modelStage(logits)
  if (!model) return null
  const old = memory.logits === logits && memory.previousIds === previousIds ? memory.stages : []
  const done = [model]
  let same = true
  for (const name of settings.order) {
    const before = done.at(-1)
    const setting = settings[name]
    const known = old[done.length]
    same &&= known?.name === name && known.setting === setting
    if (same) done.push(known)
    else if (setting === transforms[name].off) done.push(new SamplingStage(name, before.run, before, memory, setting))
    else {
      const run = STAGE_TRANSFORMS[name](before.run, setting, { name, memory, previousIds, count: logits.length })
      done.push(new SamplingStage(name, run, before, memory, setting))
    }
  }
  Object.assign(memory, { logits, previousIds, stages: done })
  return done
}

// The tokens that the uniform numbers in [0, 1) select by inverse transform sampling, with the tokens in order of id.
export function drawTokens(probabilities, uniforms) {
  const reached = new Float64Array(probabilities.length)
  addUpTo(probabilities, reached)
  const total = reached[reached.length - 1]
  return Int32Array.from(uniforms, (uniform) => firstWhere(0, reached.length, (id) => reached[id] > uniform * total))
}

function addUpTo(probabilities, reached) {
  reached[0] = probabilities[0]
  for (let id = 1; id < reached.length; id++) reached[id] = reached[id - 1] + probabilities[id]
}

// How often each token is drawn with these uniform numbers.
export function drawMany(probabilities, uniforms) {
  const counts = new Int32Array(probabilities.length)
  for (const id of drawTokens(probabilities, uniforms)) counts[id]++
  return counts
}

// Pearson's χ² of n draws, Σ (count − expected)² / expected over the tokens that can be drawn, and its degrees of
// freedom: the number of these tokens less one, which is also the expected value of χ².
export function chiSquared(counts, probabilities, n) {
  let [value, possible] = [0, 0]
  for (let id = 0; id < counts.length; id++) {
    const expected = n * probabilities[id]
    if (expected > 0) value += (counts[id] - expected) ** 2 / expected
    else if (counts[id] > 0) value = Infinity
    if (expected > 0) possible++
  }
  return { value, freedom: possible - 1 }
}

// ---- a run of ranks -------------------------------------------------------------------------------------------------

// A run is the data of a stage: the tokens `ids[low..high)` by descending score, and weights exp(score − top), where
// top is the score at `low`. `total` is Σ weights, `moment` Σ weights · (score − top). A run is never modified.

// Sums are computed in separate functions that store them in an array and return nothing. V8 13.6 compiles a long loop
// while it runs. Rarely, on a busy machine, variables used in the loop and after it then hold a stale value: one total
// was off by half.

// A run of these tokens with new weights, written to `weights`.
function weighed(ids, scores, low, high, weights) {
  const [top, sums] = [scores[low], new Float64Array(2)]
  weigh(scores, low, high, top, weights, sums)
  return { ids, scores, weights, low, high, top, total: sums[0], moment: sums[1] }
}

function weigh(scores, low, high, top, weights, sums) {
  for (let rank = low; rank < high; rank++) {
    const below = scores[rank] - top
    const weight = Math.exp(below)
    weights[rank] = weight
    sums[0] += weight
    sums[1] += weight * below
  }
}

// The part of a run from its beginning to `high`.
function shortened(run, high) {
  if (high === run.high) return run
  const sums = new Float64Array(2)
  addUp(run, high, sums)
  return { ...run, high, total: sums[0], moment: sums[1] }
}

function addUp({ weights, scores, low, top }, high, sums) {
  for (let rank = low; rank < high; rank++) {
    sums[0] += weights[rank]
    sums[1] += weights[rank] * (scores[rank] - top)
  }
}

class SamplingStage {
  /**
   * @param {string} name
   * @param {any} run
   * @param {any} before the stage before, or null
   * @param {any} memory
   * @param {unknown} setting
   */
  constructor(name, run, before, memory, setting) {
    this.name = name
    this.run = run
    this.before = before
    this.memory = memory
    this.setting = setting
    this.made = null
    this.kept = run.high - run.low
    this.keptMass = before && this.kept < before.kept ? massOf(run, before.run) : 1
    this.entropy = Math.max(0, (Math.log(run.total) - run.moment / run.total) / Math.LN2)
  }

  get probabilities() {
    return (this.made ??= this.run === this.before?.run ? this.before?.probabilities : this.spread())
  }

  spread() {
    const { ids, weights, low, high, total } = this.run
    const size = this.memory.logits.length
    const probabilities = roomFor(this.memory, `${this.name} probabilities`, Float64Array, size)
    if (this.kept < size) probabilities.fill(0)
    for (let rank = low; rank < high; rank++) probabilities[ids[rank]] = weights[rank] / total
    return probabilities
  }
}

// The probability that the tokens of a run had in the run that it was cut from, where they have the same ranks.
function massOf(run, before) {
  const sums = new Float64Array(2)
  addUp({ ...before, low: run.low }, run.high, sums)
  return sums[0] / before.total
}

const modelStages = new WeakMap() // logits -> their first stage

function modelStage(logits) {
  if (!modelStages.has(logits)) {
    const ranked = rankedTokens(logits)
    const run = ranked && weighed(ranked.ids, ranked.scores, 0, ranked.ids.length, new Float64Array(logits.length))
    modelStages.set(logits, run && new SamplingStage("model", run, null, { logits }, null))
  }
  return modelStages.get(logits)
}

// Ids and scores by descending score and id, without the tokens at −∞; null if the logits are broken.
function rankedTokens(logits) {
  const bits = new Int32Array(Float32Array.from(logits, (logit) => logit + 0).buffer) // + 0 turns −0 into 0
  const keys = new Float64Array(logits.length) // score and id in one 53-bit integer, which typed arrays sort fast
  let count = 0
  for (let id = 0; id < logits.length; id++) {
    if (Number.isNaN(logits[id]) || logits[id] === Infinity) return null
    const rising = bits[id] < 0 ? ~bits[id] >>> 0 : (bits[id] ^ 0x80000000) >>> 0 // unsigned integers in the same order as the floats
    if (logits[id] !== -Infinity) keys[count++] = rising * ID_ROOM + id
  }
  if (!count) return null
  const sorted = keys.subarray(0, count).sort()
  const ids = new Int32Array(count)
  const scores = new Float64Array(count)
  for (let rank = 0; rank < count; rank++) {
    ids[rank] = sorted[count - 1 - rank] % ID_ROOM
    scores[rank] = logits[ids[rank]]
  }
  return { ids, scores }
}

const ID_ROOM = 2 ** 21

// ---- the transforms -------------------------------------------------------------------------------------------------

const STAGE_TRANSFORMS = {
  repetition_penalty(run, penalty, { name, memory, previousIds, count }) {
    const isPrevious = roomFor(memory, `${name} previous`, Uint8Array, count).fill(0)
    for (const id of previousIds) if (id >= 0 && id < count) isPrevious[id] = 1
    const moved = [] // the few affected tokens with their new scores; their relative order does not change
    for (let rank = run.low; rank < run.high; rank++) {
      if (!isPrevious[run.ids[rank]]) continue
      const score = run.scores[rank]
      moved.push({ id: run.ids[rank], score: score < 0 ? score * penalty : score / penalty })
    }
    const ids = roomFor(memory, `${name} ids`, Int32Array, count)
    const scores = roomFor(memory, `${name} scores`, Float64Array, count)
    let [next, length] = [0, 0]
    const put = (id, score) => {
      ids[length] = id
      scores[length++] = score
    }
    const comesFirst = (one, id, score) => one.score > score || (one.score === score && one.id > id)
    for (let rank = run.low; rank < run.high; rank++) {
      const [id, score] = [run.ids[rank], run.scores[rank]]
      if (isPrevious[id]) continue
      for (; next < moved.length && comesFirst(moved[next], id, score); next++) put(moved[next].id, moved[next].score)
      put(id, score)
    }
    for (; next < moved.length; next++) put(moved[next].id, moved[next].score)
    return weighed(ids, scores, 0, length, roomFor(memory, `${name} weights`, Float64Array, count))
  },

  temperature(run, temperature, { name, memory, count }) {
    if (temperature === 0) return onlyTheFirst(run)
    const scores = roomFor(memory, `${name} scores`, Float64Array, count)
    for (let rank = run.low; rank < run.high; rank++) scores[rank] = run.scores[rank] / temperature
    return weighed(run.ids, scores, run.low, run.high, roomFor(memory, `${name} weights`, Float64Array, count))
  },

  top_k(run, k) {
    if (k >= run.high - run.low) return run
    const least = run.scores[run.low + k - 1]
    return shortened(run, firstWhere(run.low + k, run.high, (rank) => run.scores[rank] < least))
  },

  // Remove tokens from the least likely up while their total probability is at most 1 − p.
  top_p(run, p) {
    let [high, mass] = [run.high, 0]
    for (; high > run.low + 1; high--) {
      mass += run.weights[high - 1] / run.total
      if (mass > 1 - p) break
    }
    return shortened(run, high)
  },

  min_p(run, share) {
    const bar = share * (run.weights[run.low] / run.total)
    return shortened(run, firstWhere(run.low + 1, run.high, (rank) => run.weights[rank] / run.total < bar))
  },

  // The surprisal −ln p increases with the rank, so the tokens nearest to the entropy are around one rank. The run
  // grows from there, always on the nearer side, until it has the mass. Tokens as near as the last one are kept, too.
  typical_p(run, mass, { name, memory, count }) {
    const { ids, scores, weights, low, high, top, total, moment } = run
    const logTotal = Math.log(total)
    const entropy = logTotal - moment / total
    const surprise = (rank) => logTotal - (scores[rank] - top)
    const apart = (rank) => (rank < low || rank >= high ? Infinity : Math.abs(surprise(rank) - entropy))
    let first = firstWhere(low, high, (rank) => surprise(rank) >= entropy)
    let [end, reached, last] = [first, 0, 0]
    let [before, after] = [apart(first - 1), apart(end)]
    while (reached < mass && (first > low || end < high)) {
      if (before <= after) {
        last = before
        reached += weights[--first] / total
        before = apart(first - 1)
      } else {
        last = after
        reached += weights[end++] / total
        after = apart(end)
      }
    }
    while (apart(first - 1) <= last) first--
    while (apart(end) <= last) end++
    if (first === low) return shortened(run, end)
    return weighed(ids, scores, first, end, roomFor(memory, `${name} weights`, Float64Array, count))
  },
}

// Greedy choice: the most likely token or, if several are, the one with the lowest id, as in torch.argmax.
function onlyTheFirst(run) {
  const end = firstWhere(run.low, run.high, (rank) => run.scores[rank] < run.top) // ids descend among equal scores
  return { ...run, low: end - 1, high: end, total: 1, moment: 0 } // its weight is exp(0)
}

// ---- searching and memory -------------------------------------------------------------------------------------------

// Binary search for the first integer in [low, high) for which the monotone predicate `holds`; `high` if there is none.
function firstWhere(low, high, holds) {
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(middle)) high = middle
    else low = middle + 1
  }
  return low
}

// An array of this length, allocated once per memory and name.
function roomFor(memory, name, Type, length) {
  const rooms = (memory.rooms ??= new Map())
  if (rooms.get(name)?.length !== length) rooms.set(name, new Type(length))
  return rooms.get(name)
}
