import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  apply,
  contents,
  DELETE,
  INDEX,
  idsWith,
  openShard,
  operation,
  withFolder,
} from "#test/support/engine/shard.ts";
import { Analysis } from "./analysis/analysis.ts";
import { Mapping } from "./mapping/mapping.ts";

suite("reading a shard", () => {
  test("sees documents immediately by id, by search after a refresh", () =>
    withFolder((folder) => {
      const shard = openShard(folder);
      apply(shard, 1, operation(INDEX, "a", { message: "hello world" }, { routing: "r" }));
      assert.equal(shard.get("a")?.routing, "r");
      const before = shard.searcher();
      assert.equal(before.totalDocs, 0);
      assert.equal(shard.refresh(), true);
      assert.equal(shard.refresh(), false);
      const after = shard.searcher();
      assert.deepEqual([before.totalDocs, after.totalDocs], [0, 1]);
      assert.deepEqual(idsWith(after, "message", "world"), ["a"]);
      assert.equal(after.segments[0]!.routing(0), "r");
      assert.equal(shard.get("a")?.routing, "r");
      before.close();
      after.close();
      shard.close();
    }));

  test("each document of a batch keeps its own routing", () =>
    withFolder((folder) => {
      const shard = openShard(folder);
      const ids = ["a", "b", "c"];
      apply(shard, 1, ...ids.map((id) => operation(INDEX, id, { n: 1 }, { routing: `r-${id}` })));
      shard.refresh();
      const searcher = shard.searcher();
      assert.deepEqual(
        ids.map((_id, doc) => searcher.segments[0]!.routing(doc)),
        ["r-a", "r-b", "r-c"],
      );
      searcher.close();
      shard.close();
    }));

  test("snapshots don't see what dies after them, and outlive merges and the shard", () =>
    withFolder(async (folder) => {
      const shard = openShard(folder);
      apply(shard, 1, operation(INDEX, "a", { k: "x" }), operation(INDEX, "b", { k: "x" }));
      shard.refresh();
      const old = shard.searcher();
      apply(shard, 2, operation(DELETE, "a"));
      shard.refresh();
      apply(shard, 3, operation(INDEX, "c", { k: "x" }));
      await shard.forceMerge(1);
      shard.commit();
      apply(shard, 4, operation(INDEX, "d", { k: "x" }));
      shard.commit();
      const current = shard.searcher();
      assert.deepEqual(idsWith(current, "k", "x"), ["b", "c"]);
      shard.close();
      assert.deepEqual(idsWith(old, "k", "x"), ["a", "b"]);
      assert.deepEqual([...contents(old).keys()], ["a", "b"]);
      assert.deepEqual([...contents(current).keys()], ["b", "c"]);
    }));

  test("columns, norms, presence and stored values have the values that were sent", () =>
    withFolder((folder) => {
      const shard = openShard(folder);
      apply(
        shard,
        1,
        operation(INDEX, "1", {
          message: "a b c",
          n: [3, 1],
          d: 1.25,
          f: 0.1,
          t: "2024-01-31T00:00:00Z",
          b: true,
          k: ["y", "x", "y"],
          ip: "10.0.0.1",
          g: { lat: 50, lon: 8 },
          hidden: "h",
        }),
        operation(INDEX, "2", '{"n":9007199254740993,"g":[[8,50],[9,51]],"message":["x","y"],"unknown":1}'),
        operation(INDEX, "3", {}),
      );
      shard.refresh();
      const searcher = shard.searcher();
      const segment = searcher.segments[0]!;
      const out: number[] = [];
      const exact: bigint[] = [];
      const n = segment.numericColumn("n")!;
      assert.deepEqual([n.read(0, out), ...out], [2, 1, 3]);
      assert.deepEqual([n.safe, n.readExact(1, exact), exact[0]], [false, 1, 9007199254740993n]);
      assert.equal(segment.numericColumn("f")!.first(0), Math.fround(0.1));
      assert.equal(segment.numericColumn("t")!.first(0), Date.UTC(2024, 0, 31));
      assert.equal(segment.numericColumn("b")!.kind, "boolean");
      const k = segment.keywordColumn("k")!;
      out.length = 0;
      assert.deepEqual([k.read(0, out), out.map((ordinal) => k.text(ordinal))], [2, ["x", "y"]]);
      assert.equal(segment.keywordColumn("ip")!.text(0), "10.0.0.1");
      assert.equal(segment.postings("ip", "10.0.0.1")?.docFreq, 1);
      assert.equal(segment.keywordColumn("hidden")!.text(0), "h");
      assert.equal(segment.postings("hidden", "h"), null);
      const [latitudes, longitudes]: [number[], number[]] = [[], []];
      assert.equal(segment.geoColumn("g")!.read(1, latitudes, longitudes), 2);
      assert.ok(Math.abs(latitudes[1]! - 51) < 1e-6 && Math.abs(longitudes[1]! - 9) < 1e-6);
      assert.deepEqual([...segment.norms("message")!], [3, 2, 0]);
      assert.deepEqual(segment.fieldStats("message"), { docCount: 2, sumTotalTermFreq: 5, sumDocFreq: 5 });
      const cursor = segment.postings("message", "y", { positions: true })!;
      cursor.next();
      assert.equal(cursor.positions()[0], 101);
      assert.deepEqual([segment.exists("n")!.count(), segment.exists("nope")], [2, null]);
      assert.deepEqual([segment.ignored(1), segment.ignored(0)], [["unknown"], []]);
      assert.deepEqual(
        [segment.version(2), segment.seqNo(2), segment.docOf("2"), segment.docOf("9")],
        [1, 2, 1, -1],
      );
      searcher.close();
      shard.close();
    }));

  test("a value for an alias is named as left out, a list of nothing isn't", () =>
    withFolder((folder) => {
      const properties = { k: { type: "keyword" }, also: { type: "alias", path: "k" } };
      const mapping = Mapping.parse({ properties }, { index: "test", analysis: new Analysis() });
      const shard = openShard(folder, mapping);
      assert.equal(apply(shard, 1, operation(INDEX, "a", { also: "x" }))![0]!.result, "created");
      apply(shard, 2, operation(INDEX, "b", { k: "x", list: [], nulls: [null, []] }));
      shard.refresh();
      const searcher = shard.searcher();
      assert.deepEqual(idsWith(searcher, "k", "x"), ["b"]);
      assert.deepEqual(
        [0, 1].map((doc) => searcher.segments[0]!.ignored(doc)),
        [["also"], []],
      );
      searcher.close();
      shard.close();
    }));

  test("lenient documents keep what doesn't fit in their source and name it", () =>
    withFolder((folder) => {
      const shard = openShard(folder);
      const operations = [
        operation(INDEX, "a", { n: "many", k: "x", g: "nowhere, far", o: 5, ip: ["1.2.3.4", "home"] }),
      ];
      const [result] = shard.apply({ operations, lenient: true }, { incarnation: 1, sequence: 1 })!;
      assert.equal(result!.result, "created");
      shard.refresh();
      const searcher = shard.searcher();
      assert.deepEqual(idsWith(searcher, "k", "x"), ["a"]);
      assert.deepEqual(idsWith(searcher, "ip", "1.2.3.4"), ["a"]);
      assert.deepEqual(searcher.segments[0]!.ignored(0), ["g", "ip", "n", "o"]);
      searcher.close();
      shard.close();
    }));

  test("fields that a new mapping brings are indexed from then on", () =>
    withFolder((folder) => {
      const analysis = new Analysis();
      const shard = openShard(
        folder,
        Mapping.parse({ properties: { a: { type: "long" } } }, { index: "test", analysis }),
      );
      apply(shard, 1, operation(INDEX, "1", { a: 1, b: "x" }));
      shard.setMapping(
        shard.mapping.merge({
          properties: { b: { type: "keyword", null_value: "none" }, c: { type: "keyword" } },
        }),
      );
      apply(shard, 2, operation(INDEX, "2", { a: 1, b: "x" }), operation(INDEX, "3", { b: null }));
      shard.refresh();
      const searcher = shard.searcher();
      assert.deepEqual([idsWith(searcher, "b", "x"), idsWith(searcher, "b", "none")], [["2"], ["3"]]);
      searcher.close();
      shard.close();
    }));
});
