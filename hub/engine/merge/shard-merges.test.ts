import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import { apply, contents, INDEX, openShard, operation, withFolder } from "#test/support/engine/shard.ts";
import { MergeTask } from "./shard-merges.ts";

test("a merge for which the kernel's memory is too small is done without it", (t) =>
  withFolder(async (folder) => {
    const shard = openShard(folder);
    for (let sequence = 1; sequence <= 3; sequence++) {
      apply(shard, sequence, operation(INDEX, `${sequence}`, { n: sequence }));
      shard.refresh();
    }
    const full = t.mock.method(MergeTask.prototype, "step", () => {
      full.mock.restore();
      throw new AppError("memory_limit", "full");
    });
    await shard.forceMerge(1);
    assert.equal(shard.stats().segments, 1);
    const searcher = shard.searcher();
    assert.deepEqual([...contents(searcher).keys()].sort(), ["1", "2", "3"]);
    searcher.close();
    shard.close();
  }));
