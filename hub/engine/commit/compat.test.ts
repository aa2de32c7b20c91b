import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  apply,
  contents,
  INDEX,
  idsWith,
  openShard,
  operation,
  withFolder,
} from "#test/support/engine/shard.ts";

/**
 * Shards that versions 1, 2 and 3 of the formats wrote; the second holds the segments of the first and one of its own, the
 * third one of the first and a merged one with columnar blocks.
 */
const [SAMPLE, SAMPLE_2, SAMPLE_3] = [1, 2, 3].map((version) =>
  fileURLToPath(import.meta.resolve(`#test/compat/engine-${version}`)),
) as [string, string, string];

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

suite("a shard with segments of versions 1 and 2", () => {
  test("reads as it was written, and is merged", () =>
    withFolder(async (folder) => {
      cpSync(SAMPLE_2, folder, { recursive: true });
      const shard = openShard(folder);
      assert.deepEqual([shard.lost, shard.position], [[], { incarnation: 1, sequence: 4 }]);
      const before = contents(shard.searcher());
      assert.equal(before.size, 501);
      assert.equal(before.get("two-7"), '{"message":"fresh größer 東京 7 odd","n":7,"k":"k2","o":{"x":21}}');
      await shard.forceMerge(1);
      assert.deepEqual(contents(shard.searcher()), before);
      const searcher = shard.searcher();
      assert.equal(idsWith(searcher, "message", "größer").length, 200);
      assert.equal(searcher.segments.length, 1);
      searcher.close();
      shard.close();
    }));
});

suite("a shard with segments of versions 1 and 3", () => {
  test("reads as it was written, and is merged", () =>
    withFolder(async (folder) => {
      cpSync(SAMPLE_3, folder, { recursive: true });
      const shard = openShard(folder);
      assert.deepEqual([shard.lost, shard.position], [[], { incarnation: 1, sequence: 7 }]);
      const before = contents(shard.searcher());
      assert.equal(before.size, 801);
      assert.equal(before.get("three-7"), '{ "message" : "spaced",\n "n": 1e3 }');
      assert.equal(
        before.get("three-100"),
        '{"t":"2026-02-02T02:41:37.700Z","message":"10.0.0.1 - - \\"GET /größe/100 HTTP/1.1\\" 201 3100","ip":"10.0.0.1","k":"k0","n":3100,"o":{"x":-100}}',
      );
      assert.equal(before.get("two-7"), '{"message":"fresh größer 東京 7 odd","n":7,"k":"k2","o":{"x":21}}');
      await shard.forceMerge(1);
      assert.deepEqual(contents(shard.searcher()), before);
      shard.close();
    }));
});
