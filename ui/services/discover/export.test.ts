import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_STATE } from "#ui/services/search/discover-state.ts";
import { SearchClient } from "#ui/services/search/search-client.ts";
import { csvLine } from "#ui/services/text/csv.ts";
import { type ExportFormat, exportLines } from "./export.ts";

const RANGE = { fromMs: 0, toMs: 10 };

/** Answers two pages of two lines and records what was asked. */
function paged(asked: string[]): SearchClient {
  const hit = (id: number) => ({ _index: "i", _id: String(id), _source: { message: `line ${id}`, n: id } });
  const pages = [[hit(1), hit(2)], [hit(3)]];
  return new SearchClient((url, init) => {
    assert.ok(typeof url === "string");
    asked.push(`${init?.method} ${url}`);
    const hits = { total: 3, hits: pages.shift() ?? [] };
    return Promise.resolve(
      new Response(JSON.stringify({ took: 1, timed_out: false, _scroll_id: "s1", hits })),
    );
  });
}

async function run(format: ExportFormat, columns: string[], asked: string[] = [], maxCharacters?: number) {
  const progress: number[] = [];
  const files: string[] = [];
  const options = {
    client: paged(asked),
    state: { ...DEFAULT_STATE, columns },
    range: RANGE,
    format,
    onProgress: (lines: number) => progress.push(lines),
    onFile: (parts: readonly string[]) => files.push(parts.join("")),
    signal: new AbortController().signal,
  };
  const exported = await exportLines(options, maxCharacters);
  return { text: files.join("|"), progress, exported };
}

test("all lines of a snapshot are written, and the snapshot is given back", async () => {
  const asked: string[] = [];
  const { text, progress, exported } = await run("ndjson", [], asked);
  assert.equal(text, '{"message":"line 1","n":1}\n{"message":"line 2","n":2}\n{"message":"line 3","n":3}\n');
  assert.deepEqual([progress, exported.lines, exported.files], [[2, 3], 3, 1]);
  assert.deepEqual(asked, [
    "POST /es/logs-*/_search?scroll=2m&ignore_unavailable=true",
    "POST /es/_search/scroll",
    "DELETE /es/_search/scroll",
  ]);
});

test("CSV has the chosen columns behind the time", async () => {
  const { text } = await run("csv", ["n", "missing"]);
  assert.equal(text, "@timestamp,n,missing\r\n,1,\r\n,2,\r\n,3,\r\n");
});

test("what doesn't fit into a file is written into a further one", async () => {
  const { text, exported } = await run("csv", ["n"], [], 5);
  assert.equal(text, "@timestamp,n\r\n,1\r\n,2\r\n|@timestamp,n\r\n,3\r\n");
  assert.deepEqual(exported, { lines: 3, files: 2 });
});

const CELLS: readonly (readonly [string, string])[] = [
  ["plain", "plain"],
  ['a "b", c', '"a ""b"", c"'],
  ["two\nlines", '"two\nlines"'],
  ["=HYPERLINK(1)", "'=HYPERLINK(1)"],
  ["-12.5", "-12.5"],
  ["-rf", "'-rf"],
];

test("cells are quoted where needed and never formulas", () => {
  for (const [from, to] of CELLS) assert.equal(csvLine([from]), `${to}\r\n`);
});
