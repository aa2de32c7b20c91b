import assert from "node:assert/strict";
import { test } from "node:test";
import type { StoreFigures } from "./peers/measure.ts";
import { pictureOf } from "./peers/picture.ts";
import { parsePeers } from "./peers/stores.ts";
import { tablesOf } from "./peers/tables.ts";

test("other programs are named by kind and address, or program where one can be started", () => {
  assert.deepEqual(parsePeers("elasticsearch=http://h:9200/?a=b, filebeat=/usr/bin/filebeat"), [
    { kind: "elasticsearch", at: "http://h:9200/?a=b" },
    { kind: "filebeat", at: "/usr/bin/filebeat" },
  ]);
  for (const [text, reason] of [
    ["elasticsaerch=http://h", /did you mean "elasticsearch"/],
    ["victorialogs", /write victorialogs=/],
    ["clickhouse=/usr/bin/clickhouse", /start it and write its address/],
    ["filebeat=http://h", /path of the program/],
  ] as const)
    assert.throws(() => parsePeers(text), reason);
});

const store = (name: string, cpuMs: number | undefined, differs?: string): StoreFigures => ({
  name,
  ingest: { perCpuSecond: 1234.5, wallSeconds: 2, memoryBytes: undefined, diskBytes: 3 * 1024 ** 2 },
  questions: [{ name: "a < b", firstMs: 12.34, medianMs: 0.5, cpuMs, differs }],
});

test("tables have a column for each store, and say which answer differs", () => {
  const comparison = {
    documents: 1000,
    stores: [store("One", 1.25), store("Two", undefined, "7")],
    shippers: [],
  };
  const tables = tablesOf(comparison);
  assert.match(tables, /^\| One \| 1,235 \| 2\.0 \| – \| 3 \|$/m);
  assert.match(tables, /^\| a < b \| 1\.3 \| – \|$/m);
  assert.match(tables, /^\| a < b \| 0\.5 \(12\) \| 0\.5 \(12\) \|$/m);
  assert.match(tables, /Two answered “a < b” with 7/);
  const picture = pictureOf(comparison);
  assert.match(picture, /a &lt; b/);
  assert.equal(picture.match(/<circle [^>]*><title>/g)?.length, 1);
});
