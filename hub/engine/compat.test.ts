import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { apply, contents, INDEX, idsWith, openShard, operation, withFolder } from "./shard.test-support.ts";

/** A shard that version 1 of the formats wrote. */
const SAMPLE = fileURLToPath(import.meta.resolve("#test/compat/engine-1"));

suite("a shard written by version 1", () => {
  test("reads as it was written and goes on", () =>
    withFolder((folder) => {
      cpSync(SAMPLE, folder, { recursive: true });
      const shard = openShard(folder);
      assert.deepEqual([shard.lost, shard.position], [[], { incarnation: 1, sequence: 3 }]);
      assert.deepEqual(shard.rawPositions(), [{ incarnation: 1, sequence: 9 }]);
      assert.equal(contents(shard.searcher()).size, 301);
      const searcher = shard.searcher();
      assert.equal(idsWith(searcher, "message", "common").length, 298);
      assert.equal(idsWith(searcher, "message", "größe").length, 298);
      assert.equal(idsWith(searcher, "k", "k3").length, 59);
      assert.deepEqual(idsWith(searcher, "ip", "10.0.0.249"), ["doc-249"]);
      const [first] = searcher.segments;
      const doc = first!.docOf("doc-100");
      assert.equal(first!.numericColumn("n")!.first(doc), 300);
      assert.equal(first!.numericColumn("d")!.first(doc), 25);
      assert.equal(first!.numericColumn("f")!.first(doc), Math.fround(100 / 3));
      assert.equal(first!.keywordColumn("hidden")!.text(first!.keywordColumn("hidden")!.first(doc)), "h1");
      const exact: bigint[] = [];
      first!.numericColumn("n")!.readExact(first!.docOf("big"), exact);
      assert.equal(exact[0], 9007199254740993n);
      assert.equal(Buffer.from(shard.get("doc-8")!.source).toString(), '{"message":"changed"}');
      assert.equal(shard.get("doc-7"), null);
      searcher.close();
      assert.equal(apply(shard, 4, operation(INDEX, "doc-7", {}))![0]!.version, 3);
      shard.commit();
      shard.close();
    }));
});
