import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { suite, test } from "node:test";
import { DocOperation, type tailrace } from "#proto/messages.ts";
import { Analysis } from "./analysis/analysis.ts";
import { Mapping } from "./mapping/mapping.ts";
import {
  apply,
  CREATE,
  contents,
  DELETE,
  INDEX,
  idsWith,
  openShard,
  operation,
  UPDATE,
  withFolder,
} from "./shard.test-support.ts";

const { EXTERNAL, EXTERNAL_GTE } = DocOperation.VersionType;

suite("operations of a shard", () => {
  type Row = readonly [
    operation: tailrace.IDocOperation,
    expected: Partial<tailrace.DocItemResult.$Properties>,
  ];
  const stories: readonly (readonly [name: string, rows: readonly Row[]])[] = [
    [
      "count versions and sequence numbers",
      [
        [operation(INDEX, "a", { n: 1 }), { result: "created", version: 1, seqNo: 0, primaryTerm: 1 }],
        [operation(INDEX, "a", { n: 2 }), { result: "updated", version: 2, seqNo: 1 }],
        [operation(DELETE, "a"), { result: "deleted", version: 3, seqNo: 2 }],
        [operation(DELETE, "a"), { result: "not_found", version: 4, seqNo: 3 }],
        [operation(INDEX, "a", { n: 1 }), { result: "created", version: 5, seqNo: 4 }],
      ],
    ],
    [
      "create only what isn't there",
      [
        [operation(CREATE, "a", {}), { result: "created" }],
        [
          operation(CREATE, "a", {}),
          {
            errorCode: "version_conflict",
            errorReason: "[_doc][a]: version conflict, document already exists (current version [1])",
          },
        ],
      ],
    ],
    [
      "update by merging",
      [
        [
          operation(UPDATE, "a", { n: 1 }),
          { errorCode: "document_missing", errorReason: "[_doc][a]: document missing" },
        ],
        [operation(UPDATE, "a", { n: 1 }, { upsert: Buffer.from('{"n":7}') }), { result: "created" }],
        [operation(UPDATE, "a", { n: 7 }, { detectNoop: true }), { result: "noop", version: 1, seqNo: 0 }],
        [operation(UPDATE, "a", { n: 8 }, { detectNoop: true }), { result: "updated", version: 2 }],
        [operation(UPDATE, "b", { n: 9 }, { docAsUpsert: true }), { result: "created" }],
      ],
    ],
    [
      "check internal versions and sequence numbers",
      [
        [operation(INDEX, "a", {}), { version: 1 }],
        [
          operation(INDEX, "a", {}, { hasVersion: true, version: 2 }),
          {
            errorReason:
              "[_doc][a]: version conflict, current version [1] is different than the one provided [2]",
          },
        ],
        [operation(INDEX, "a", {}, { hasVersion: true, version: 1 }), { version: 2, seqNo: 1 }],
        [
          operation(INDEX, "a", {}, { ifSeqNo: 0, ifPrimaryTerm: 1 }),
          {
            errorReason:
              "[_doc][a]: version conflict, required seqNo [0], primary term [1]. current document has seqNo [1] and primary term [1]",
          },
        ],
        [operation(INDEX, "a", {}, { ifSeqNo: 1, ifPrimaryTerm: 1 }), { version: 3 }],
        [
          operation(DELETE, "x", {}, { ifSeqNo: 1, ifPrimaryTerm: 1 }),
          {
            errorReason:
              "[_doc][x]: version conflict, required seqNo [1], primary term [1]. but no document was found",
          },
        ],
      ],
    ],
    [
      "take external versions, of deletions too",
      [
        [operation(INDEX, "a", {}, { hasVersion: true, version: 5, versionType: EXTERNAL }), { version: 5 }],
        [
          operation(INDEX, "a", {}, { hasVersion: true, version: 5, versionType: EXTERNAL }),
          {
            errorReason:
              "[_doc][a]: version conflict, current version [5] is higher or equal to the one provided [5]",
          },
        ],
        [
          operation(INDEX, "a", {}, { hasVersion: true, version: 5, versionType: EXTERNAL_GTE }),
          { version: 5 },
        ],
        [
          operation(DELETE, "a", {}, { hasVersion: true, version: 9, versionType: EXTERNAL }),
          { result: "deleted", version: 9 },
        ],
        [
          operation(INDEX, "a", {}, { hasVersion: true, version: 8, versionType: EXTERNAL }),
          { errorCode: "version_conflict" },
        ],
        [
          operation(INDEX, "a", {}, { hasVersion: true, version: 10, versionType: EXTERNAL }),
          { result: "created", version: 10 },
        ],
      ],
    ],
    [
      "fail one by one",
      [
        [
          operation(INDEX, "a", { n: "abc" }),
          {
            errorCode: "mapping_parse",
            errorReason: 'failed to parse field [n] of type [long]; For input string: "abc"',
          },
        ],
        [operation(INDEX, "a", '{"n":1'), { errorCode: "mapping_parse" }],
        [
          operation(INDEX, "a", '{"o":5}'),
          {
            errorReason:
              "object mapping for [o] tried to parse field [o] as object, but found a concrete value",
          },
        ],
        [operation(INDEX, "", {}), { errorCode: "request_invalid" }],
        [operation(INDEX, "x".repeat(513), {}), { errorCode: "request_invalid" }],
        [operation(INDEX, "a", { n: 1 }), { result: "created", version: 1, seqNo: 0 }],
      ],
    ],
  ];
  for (const [name, rows] of stories) {
    test(name, () =>
      withFolder((folder) => {
        const shard = openShard(folder);
        for (const [index, [given, expected]] of rows.entries()) {
          const [result] = apply(shard, index + 1, given)!;
          assert.deepEqual({ ...result, ...expected }, result, `row ${index + 1}: ${JSON.stringify(result)}`);
        }
        shard.close();
      }),
    );
  }

  test("keep the text of numbers when they merge documents", () =>
    withFolder((folder) => {
      const shard = openShard(folder);
      apply(shard, 1, operation(INDEX, "a", '{"n":9007199254740993,"f":1.0,"o":{"x":1}}'));
      apply(shard, 2, operation(UPDATE, "a", '{"o":{"y":2.50},"__proto__":1}'));
      assert.equal(
        Buffer.from(shard.get("a")!.source).toString(),
        '{"n":9007199254740993,"f":1.0,"o":{"x":1,"y":2.50},"__proto__":1}',
      );
      shard.close();
    }));
});

suite("reading a shard", () => {
  test("sees documents at once by id, by search after a refresh", () =>
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

  test("columns, norms, presence and stored values tell what was sent", () =>
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

suite("durability of a shard", () => {
  test("a second opening is refused while the first lasts", () =>
    withFolder((folder) => {
      const shard = openShard(folder);
      assert.throws(() => openShard(folder), { code: "data_locked" });
      shard.close();
      openShard(folder).close();
    }));

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
      // The deletion is remembered: its version goes on.
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

suite("repeats", () => {
  /** A message of the pipeline: event offsets of one file from one RAW message. */
  function message(
    raw: number,
    offsets: readonly number[],
    more: Partial<tailrace.IDocBatch> = {},
  ): tailrace.IDocBatch {
    return {
      rawIncarnation: 1,
      rawPartition: 3,
      rawSequence: raw,
      lenient: true,
      sources: [{ key: "agent/file/0", from: offsets[0]!, to: offsets.at(-1)! + 10 }],
      operations: offsets.map((offset, ordinal) =>
        operation(INDEX, `e${offset}`, { n: offset }, { ordinal, sourceIndex: 1, offset, appendOnly: true }),
      ),
      ...more,
    };
  }

  const stories: readonly (readonly [
    name: string,
    messages: readonly tailrace.IDocBatch[],
    events: readonly number[],
  ])[] = [
    ["a message published twice counts once", [message(1, [0, 10]), message(1, [0, 10])], [0, 10]],
    [
      "an older message that comes again counts no more",
      [message(1, [0]), message(2, [10]), message(1, [0])],
      [0, 10],
    ],
    [
      "a message's results in two parts are both taken",
      [
        message(1, [0, 10, 20], { operations: message(1, [0, 10, 20]).operations!.slice(0, 2) }),
        message(1, [0, 10, 20], { operations: message(1, [0, 10, 20]).operations!.slice(1) }),
      ],
      [0, 10, 20],
    ],
    [
      "a file sent again in other pieces after the log was lost gives only what is missing",
      [
        message(5, [0, 10, 20]),
        message(6, [30]),
        message(1, [0, 10], { rawIncarnation: 2 }),
        message(2, [20, 30, 40], { rawIncarnation: 2 }),
      ],
      [0, 10, 20, 30, 40],
    ],
    [
      "the document API isn't filtered",
      [message(1, [0]), { operations: [operation(INDEX, "e0", {}), operation(INDEX, "e0", {})] }],
      [0],
    ],
  ];
  for (const [name, messages, events] of stories) {
    for (const reopened of [false, true]) {
      test(`${name}${reopened ? ", across restarts" : ""}`, () =>
        withFolder((folder) => {
          let shard = openShard(folder);
          for (const [index, batch] of messages.entries()) {
            shard.apply(batch, { incarnation: 1, sequence: index + 1 });
            if (!reopened) continue;
            shard.commit();
            shard.close();
            shard = openShard(folder);
          }
          shard.refresh();
          assert.deepEqual(
            [...contents(shard.searcher()).keys()].sort(),
            events.map((offset) => `e${offset}`).sort(),
          );
          shard.close();
        }));
    }
  }

  test("positions in RAW are told for the check of the log", () =>
    withFolder((folder) => {
      const shard = openShard(folder);
      shard.apply(message(7, [0]), { incarnation: 1, sequence: 1 });
      assert.deepEqual(shard.rawPositions(), [{ incarnation: 1, sequence: 7 }]);
      shard.close();
    }));
});
