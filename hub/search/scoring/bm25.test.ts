import assert from "node:assert/strict";
import { test } from "node:test";
import { Bm25 } from "./bm25.ts";

test("the least useful freq of a norm is the first that scores above the bound", () => {
  for (const averageLength of [0, 12.5]) {
    const similarity = new Bm25(1.7, averageLength, 1);
    for (const minScore of [0, 0.3, 1.2, 2.9, 3.5, 3.7399, 3.74, 5]) {
      const bound = similarity.above(minScore);
      for (let norm = 0; norm < 256; norm++) {
        let least = 1;
        while (least < 255 && similarity.score(least, norm) <= minScore) least++;
        // The last freq stands for any above it.
        if (least === 255 && similarity.score(0x7fff_ffff, norm) <= minScore) least = 256;
        assert.equal(bound.find(norm), least, `norm ${norm}, above ${minScore}`);
        assert.equal(bound.leastFreqs[norm], least);
      }
      assert.equal(similarity.above(minScore), bound);
    }
  }
});
