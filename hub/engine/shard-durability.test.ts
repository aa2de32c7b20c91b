import assert from "node:assert/strict";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import {
  apply,
  contents,
  DELETE,
  INDEX,
  openShard,
  operation,
  withFolder,
} from "#test/support/engine/shard.ts";

suite("durability of a shard", () => {
  test("a second opening is refused while the first lasts", () =>
    withFolder((folder) => {
      const shard = openShard(folder);
      assert.throws(() => openShard(folder), { code: "data_locked" });
      shard.close();
      openShard(folder).close();
    }));

  test("after a merge an idle shard holds one set of files, and both manifests name it", async () => {
    await withFolder(async (folder) => {
      const shard = openShard(folder);
      for (let sequence = 1; sequence <= 3; sequence++) {
        apply(shard, sequence, operation(INDEX, `${sequence}`, { n: sequence }));
        shard.refresh();
        shard.commit();
      }
      const segmentFiles = () => readdirSync(folder).filter((name) => name.endsWith(".seg"));
      assert.equal(segmentFiles().length, 3);
      await shard.forceMerge(1);
      assert.equal(segmentFiles().length, 1);
      const { generation } = shard.stats();
      shard.trim();
      assert.equal(shard.stats().generation, generation, "nothing is written where nothing is kept");
      shard.close();
      rmSync(join(folder, `manifest-${generation}.json`));
      const before = openShard(folder);
      assert.equal(before.stats().docs, 3);
      assert.deepEqual(before.position, { incarnation: 1, sequence: 3 });
      before.close();
    });
  });

  test("what wasn't committed is read again from the log and comes to the same", () =>
    withFolder((folder) => {
      const first = openShard(folder);
      apply(first, 1, operation(INDEX, "a", { n: 1 }), operation(INDEX, "b", {}));
      first.commit();
      apply(first, 2, operation(DELETE, "a"), operation(INDEX, "b", { n: 2 }));
      first.refresh();
      first.close();
      const second = openShard(folder);
      assert.deepEqual(second.position, { incarnation: 1, sequence: 1 });
      assert.equal(apply(second, 1, operation(INDEX, "a", { n: 5 })), null);
      const results = apply(second, 2, operation(DELETE, "a"), operation(INDEX, "b", { n: 2 }))!;
      assert.deepEqual(
        results.map(({ result, version }) => [result, version]),
        [
          ["deleted", 2],
          ["updated", 2],
        ],
      );
      second.commit();
      second.close();
      const third = openShard(folder);
      assert.deepEqual([...contents(third.searcher())], [["b", '{"n":2}']]);
      // The deletion is remembered: its version continues.
      assert.equal(apply(third, 3, operation(INDEX, "a", {}))![0]!.version, 3);
      third.close();
    }));

  test("files that nothing needs are removed", () =>
    withFolder(async (folder) => {
      const shard = openShard(folder);
      for (let sequence = 1; sequence <= 20; sequence++) {
        apply(shard, sequence, operation(INDEX, `d${sequence}`, {}), operation(DELETE, `d${sequence - 1}`));
        shard.commit();
      }
      await shard.forceMerge(1);
      for (let extra = 21; extra <= 23; extra++) {
        apply(shard, extra, operation(INDEX, "x", { n: extra }));
        shard.commit();
      }
      const files = readdirSync(folder).filter((name) => !name.startsWith("manifest"));
      assert.ok(files.length <= 8, files.join(" "));
      assert.equal(readdirSync(folder).filter((name) => name.startsWith("manifest")).length, 2);
      assert.deepEqual([...contents(shard.searcher()).keys()].sort(), ["d20"]);
      shard.close();
    }));
});
