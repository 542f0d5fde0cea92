import assert from "node:assert/strict"
import { test } from "node:test"

import { layOut, levelFits } from "../../../../viz/components/long_map/layout.js"

test("numbers over the columns keep clear of the first token's name and of the figure's edge", () => {
  for (const width of [360, 720]) {
    const layout = layOut({ meta: { max_height: 600 } }, width)
    const { plot } = layout
    assert.equal(levelFits(layout, plot.x), false)
    assert.equal(levelFits(layout, plot.x + plot.width / 2), true)
    assert.equal(levelFits(layout, layout.width - 10), false)
  }
})
