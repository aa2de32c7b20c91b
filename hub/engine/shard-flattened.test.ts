import assert from "node:assert/strict";
import { test } from "node:test";
import {
  apply,
  DELETE,
  INDEX,
  idsWith,
  openShard,
  operation,
  withFolder,
} from "#test/support/engine/shard.ts";
import { Analysis } from "./analysis/analysis.ts";
import { Mapping } from "./mapping/mapping.ts";
import type { Searcher } from "./searcher/searcher.ts";
import type { Shard } from "./shard.ts";

const properties = { labels: { type: "flattened" }, k: { type: "keyword" } };
const mapping = Mapping.parse({ properties }, { index: "test", analysis: new Analysis() });

/** What is found by the keys, and the values of each document by key, by id. */
function seen(shard: Shard): unknown {
  const searcher = shard.searcher();
  try {
    return {
      found: ["x", "y", "z"].map((value) => idsWith(searcher, "labels.app", value).sort()),
      any: idsWith(searcher, "labels", "x").sort(),
      values: ["labels.app", "labels.tier.name", "labels"].map((path) => valuesOf(searcher, path)),
      names: searcher.segments.flatMap((segment) => segment.fieldNames()).filter((name) => name !== "k"),
    };
  } finally {
    searcher.close();
  }
}

function valuesOf(searcher: Searcher, path: string): Record<string, string[]> {
  const found: Record<string, string[]> = {};
  for (const segment of searcher.segments) {
    const column = segment.keywordColumn(path);
    const ordinals: number[] = [];
    for (let doc = 0; doc < segment.docCount && column !== null; doc++) {
      if (!segment.isLive(doc)) continue;
      const count = column.read(doc, ordinals);
      if (count > 0) found[segment.id(doc)] = ordinals.slice(0, count).map((each) => column.text(each));
    }
  }
  return found;
}

test("a key is opened with pauses, and then read without", () =>
  withFolder(async (folder) => {
    const shard = openShard(folder, mapping);
    const count = 30_000;
    const documents = Array.from({ length: count }, (_, at) =>
      operation(INDEX, String(at), {
        labels: { app: `v${at % 3}`, id: `i${at}`, ...(at % 2 === 0 && { odd: "no" }) },
      }),
    );
    for (let from = 0, position = 1; from < count; from += 10_000)
      apply(shard, position++, ...documents.slice(from, from + 10_000));
    shard.refresh();
    const searcher = shard.searcher();
    try {
      const [segment] = searcher.segments;
      for (const [path, docCount] of [
        ["labels.id", count],
        ["labels.odd", count / 2],
        ["labels.none", undefined],
        ["k", undefined],
      ] as const) {
        const steps = segment!.openKeys([path]);
        let pauses = 0;
        for (let step = steps.next(); step.done !== true; step = steps.next()) pauses++;
        if (path === "labels.id") assert.ok(pauses > 1, `${pauses} pauses`);
        const column = segment!.keywordColumn(path);
        assert.equal(column?.docCount, docCount);
        assert.equal(column?.valueCount, docCount);
      }
      assert.equal(segment!.exists("labels.odd")!.count(), count / 2);
    } finally {
      searcher.close();
      shard.close();
    }
  }));

test("keys of flattened fields stay as they are through merges and a restart", () =>
  withFolder(async (folder) => {
    const shard = openShard(folder, mapping);
    const label = (id: string, labels: unknown) => operation(INDEX, id, { labels, k: id });
    apply(shard, 1, label("a", { app: "x", tier: { name: "t" } }), label("b", { app: ["y", "x"] }));
    shard.refresh();
    apply(shard, 2, label("c", { app: "z", b: 1 }), label("d", {}), operation(INDEX, "e", { k: "e" }));
    shard.refresh();
    apply(shard, 3, label("b", { app: "y", zz: "x" }), operation(DELETE, "c"));
    shard.refresh();
    const before = seen(shard) as { names: string[] };
    assert.deepEqual(before, {
      found: [["a"], ["b"], []],
      any: ["a", "b"],
      values: [{ a: ["x"], b: ["y"] }, { a: ["t"] }, { a: ["t", "x"], b: ["x", "y"] }],
      names: ["labels", "labels", "labels"],
    });
    await shard.forceMerge(1);
    shard.refresh();
    const merged = { ...before, names: ["labels"] };
    assert.deepEqual(seen(shard), merged);
    shard.commit();
    shard.close();
    const again = openShard(folder, mapping);
    assert.deepEqual(seen(again), merged);
    again.close();
  }));

test("a field whose name ends with NUL is none of a flattened field's keys", () =>
  withFolder(async (folder) => {
    const named = { ...properties, "labels\0": { type: "long" } };
    const both = Mapping.parse({ properties: named }, { index: "test", analysis: new Analysis() });
    const shard = openShard(folder, both);
    apply(
      shard,
      1,
      operation(INDEX, "a", { "labels\0": 5, k: "a" }),
      operation(INDEX, "b", { labels: { app: "x\0y" }, k: "b" }),
    );
    shard.refresh();
    await shard.forceMerge(1);
    shard.refresh();
    shard.commit();
    const searcher = shard.searcher();
    assert.deepEqual(valuesOf(searcher, "labels.app"), { b: ["x\0y"] });
    assert.deepEqual(valuesOf(searcher, "labels.app\0x"), {});
    const [segment] = searcher.segments;
    assert.deepEqual(segment?.fieldNames().sort(), ["k", "labels", "labels\0"]);
    assert.equal(segment?.numericColumn("labels\0")?.docCount, 1);
    searcher.close();
    shard.close();
  }));

test("a key that no document has opens no column, and one that few have reads no others' values", () =>
  withFolder(async (folder) => {
    const shard = openShard(folder, mapping);
    const many = Array.from({ length: 200 }, (_, at) =>
      operation(INDEX, `${at}`, {
        labels: { app: `v${at % 50}`, ...(at === 7 && { rare: ["x", "y", "x"] }) },
      }),
    );
    apply(shard, 1, ...many);
    shard.refresh();
    const searcher = shard.searcher();
    const [segment] = searcher.segments;
    assert.equal(segment!.keywordColumn("labels.none"), null);
    assert.equal(segment!.exists("labels.none"), null);
    const all = segment!.keywordColumn("labels.app")!;
    assert.deepEqual([all.docCount, all.valueCount, all.presence], [200, 200, null]);
    const rare = segment!.keywordColumn("labels.rare")!;
    assert.deepEqual([rare.docCount, rare.valueCount, rare.multiValued], [1, 2, true]);
    const found = segment!.exists("labels.rare")!;
    assert.deepEqual([found.count(), found.nextSet(0)], [1, 7]);
    searcher.close();
    shard.close();
  }));
