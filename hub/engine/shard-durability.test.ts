import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import fs, { existsSync, readdirSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
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

/** More than a megabyte as a segment, as nothing in it can be packed. */
const LARGE = Array.from({ length: 300 }, (_, n) =>
  operation(INDEX, `${n}`, { hidden: randomBytes(6_000).toString("base64") }),
);

/** Makes a function of the file system fail until the returned function is called, or the test ends. */
function failing(t: TestContext, name: "fsyncSync" | "writeSync", code: string): () => void {
  const mock = t.mock.method(fs, name, () => {
    throw Object.assign(new Error(code), { code });
  });
  const restore = (): void => {
    mock.mock.restore();
    syncBuiltinESMExports();
  };
  syncBuiltinESMExports();
  t.after(restore);
  return restore;
}

suite("a large segment", () => {
  test("goes to its file when it is sealed, and counts as uncommitted until the commit", () =>
    withFolder((folder) => {
      const first = openShard(folder);
      apply(first, 1, ...LARGE);
      first.refresh();
      assert.ok(existsSync(join(folder, "s1.seg")));
      assert.equal(first.stats().memoryBytes, 0);
      const sealed = contents(first.searcher());
      assert.equal(sealed.size, LARGE.length);
      first.close();
      const second = openShard(folder);
      assert.equal(second.position.sequence, 0);
      assert.equal(existsSync(join(folder, "s1.seg")), false, "no manifest names it");
      apply(second, 1, ...LARGE);
      second.commit();
      second.close();
      const third = openShard(folder);
      assert.deepEqual(contents(third.searcher()), sealed);
      third.close();
    }));

  test("stays in memory while the disk is full, and the commit with space writes it", (t) =>
    withFolder((folder) => {
      const first = openShard(folder);
      apply(first, 1, ...LARGE);
      const restore = failing(t, "writeSync", "ENOSPC");
      first.refresh();
      assert.equal(contents(first.searcher()).size, LARGE.length);
      assert.throws(() => first.commit(), { code: "disk_full" });
      assert.equal(first.hasFailed, false);
      restore();
      first.commit();
      first.close();
      const second = openShard(folder);
      assert.equal(contents(second.searcher()).size, LARGE.length);
      second.close();
    }));

  test("whose file can't be made durable fails the shard, which goes back to its last commit", (t) =>
    withFolder((folder) => {
      const first = openShard(folder);
      apply(first, 1, operation(INDEX, "a", { n: 1 }));
      first.commit();
      apply(first, 2, ...LARGE);
      first.refresh();
      const restore = failing(t, "fsyncSync", "EIO");
      assert.throws(() => first.commit(), /EIO/);
      restore();
      assert.equal(first.hasFailed, true);
      assert.throws(() => first.commit(), /EIO/, "another attempt could succeed without the bytes");
      first.close();
      const second = openShard(folder);
      assert.equal(second.position.sequence, 1);
      assert.deepEqual([...contents(second.searcher()).keys()], ["a"]);
      second.close();
    }));
});
