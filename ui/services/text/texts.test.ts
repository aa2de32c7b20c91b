import assert from "node:assert/strict";
import { test } from "node:test";
import { HubError } from "#ui/services/hub/json-call.ts";
import { filterValues, LogDocument, linesWith, valueText } from "#ui/services/search/log-document.ts";
import { SearchClient, shardFailureOf } from "#ui/services/search/search-client.ts";
import {
  formatAgo,
  formatBytes,
  formatDuration,
  formatMeasure,
  formatTick,
  formatTime,
  formatZone,
  shortenName,
} from "./format.ts";
import { compileHighlight, highlightWords, pieceAround, splitMatches, wholeWords } from "./highlight.ts";
import { sentence } from "./sentence.ts";

const QUERIES: readonly (readonly [string, string[]])[] = [
  ["", []],
  ["error timeout", ["error", "timeout"]],
  ['"connection refused" AND x.y:z', ["connection refused"]],
  ["message:denied host.name:web", ["denied"]],
  ["-health NOT probe !ping real", ["real"]],
  ["time* a (b2)", ["time", "b2"]],
];

test("the words of a query that lines may hold are marked", () => {
  for (const [query, words] of QUERIES) assert.deepEqual(highlightWords(query), words, query);
  const expression = compileHighlight(["a.b", "err"]);
  assert.deepEqual(splitMatches("ERR axb a.b", expression), [
    { text: "ERR", isMatch: true },
    { text: " axb ", isMatch: false },
    { text: "a.b", isMatch: true },
  ]);
  assert.deepEqual(splitMatches("plain", undefined), [{ text: "plain", isMatch: false }]);
});

const LONG = `${"x".repeat(100)} request failed ${"y".repeat(50)}`;
const PIECES: readonly (readonly [words: readonly string[], letters: number, piece: RegExp])[] = [
  [["failed"], 200, /^x{100} request failed y{50}$/],
  [["failed"], 60, /^x{20} … x request failed y{50}$/],
  [["failed"], 30, /^x{10} … uest failed y{50}$/],
  [["yyy"], 60, /^x{20} … st failed y{50}$/],
  [["xx", "failed"], 60, /^x{100} /],
  [["nowhere"], 20, /^x{100} /],
];

test("a cell that would cut off a hit shows the piece around it", () => {
  for (const [words, letters, piece] of PIECES)
    assert.match(pieceAround(LONG, [compileHighlight(words)!], letters), piece, words.join());
  const find = compileHighlight(["request"])!;
  assert.match(pieceAround(LONG, [find, compileHighlight(["xx"])!], 30), /^x{10} … x+ request/);
});

test("what is looked for is found behind what a row shows from its begin", () => {
  const message = `${"x ".repeat(2_000)}needle`;
  const row = new LogDocument({ _index: "i", _id: "1", _source: { message } });
  assert.ok(!row.rowText("message").includes("needle"));
  assert.deepEqual(linesWith([row], [], "needle"), [0]);
});

test("characters that turn the text behind them are written out in what is shown, and nowhere else", () => {
  const message = "user \u202etxt.exe\u202c \u2067x\u2069 \u200fשלום";
  const row = new LogDocument({ _index: "i", _id: "1", _source: { message, list: ["a\u202e", "b"] } });
  const shown = "user [U+202E]txt.exe[U+202C] [U+2067]x[U+2069] \u200fשלום";
  assert.deepEqual(
    [row.rowText("message"), row.lineText("message"), row.fullText("message")],
    [shown, shown, shown],
  );
  assert.equal(row.rowText("list"), "a[U+202E], b");
  assert.equal(row.message, message);
});

test("a document's fields are dotted, its level and message found", () => {
  const document = new LogDocument({
    _index: "i",
    _id: "1",
    _source: {
      "@timestamp": "2026-01-01T00:00:00Z",
      b: { c: [1, 2] },
      "a.x": null,
      log: { level: "Warning" },
    },
  });
  assert.deepEqual([...document.fields.keys()], ["@timestamp", "a.x", "b.c", "log.level"]);
  assert.deepEqual([document.level, document.timestampMs], [4, 1_767_225_600_000]);
  assert.equal(document.message, "a.x=  b.c=1, 2  log.level=Warning");
  assert.equal(document.rowText("b.c"), "1, 2");
  assert.deepEqual(filterValues(["a", 1, null, {}]), ["a", "1"]);
  assert.equal(valueText([{ a: 1 }]), '[{"a":1}]');
});

test("times, sizes and ages are written for people", () => {
  assert.equal(formatTime(1_767_225_600_123, true), "2026-01-01 00:00:00.123");
  assert.equal(formatTime(0, true), "no time");
  assert.equal(formatZone(0, true), "UTC");
  assert.deepEqual(
    [formatBytes(999), formatBytes(1_234_000), formatBytes(123_456_789)],
    ["999 B", "1.2 MB", "123 MB"],
  );
  assert.equal(formatAgo(0, 3 * 86_400_000), "3 days ago");
  assert.deepEqual([formatDuration(0), formatDuration(90_061_000)], ["0 s", "1 d 1 h"]);
});

test("a failed search says what failed and what to do", async () => {
  const answer = (status: number, body: string): SearchClient =>
    new SearchClient(() => Promise.resolve(new Response(body, { status })));
  const cause = { type: "parse_exception", reason: "Cannot parse 'a:'" };
  const error = {
    root_cause: [{ type: "query_shard_exception", reason: "Failed to parse", caused_by: cause }],
  };
  const rows: readonly (readonly [SearchClient, number, RegExp, RegExp])[] = [
    [answer(400, JSON.stringify({ error, status: 400 })), 400, /Cannot parse 'a:'/, /quotes/],
    [answer(503, "<html>"), 503, /status 503/, /again/],
    [answer(404, JSON.stringify({ error: "no handler" })), 404, /no handler/, /^$/],
    [new SearchClient(() => Promise.reject(new TypeError("failed"))), 0, /can't be reached/, /running/],
  ];
  for (const [client, status, message, hint] of rows)
    await assert.rejects(client.search("logs-*", {}), (thrown) => {
      assert.ok(thrown instanceof HubError);
      assert.equal(thrown.status, status);
      assert.match(thrown.message, message);
      assert.match(thrown.hint, hint);
      return true;
    });
});

test("shards that failed and searches that were cut are said", () => {
  const hits = { total: 0, hits: [] };
  const failures = [{ reason: { reason: "disk" } }];
  assert.match(
    shardFailureOf({ took: 1, timed_out: false, hits, _shards: { total: 3, failed: 1, failures } })!,
    /1 of 3 .*disk/,
  );
  assert.match(shardFailureOf({ took: 1, timed_out: true, hits })!, /too long/);
  assert.equal(shardFailureOf({ took: 1, timed_out: false, hits }), undefined);
});

const DAY_MS = 86_400_000;
const TICKS: readonly (readonly [at: string, stepMs: number, text: string])[] = [
  ["2015-01-01T00:00:00Z", 365 * DAY_MS, "2015"],
  ["2026-03-01T00:00:00Z", 28 * DAY_MS, "2026-03"],
  ["2026-03-31T00:00:00Z", 7 * DAY_MS, "03-31"],
  ["2026-03-31T00:00:00Z", 60_000, "03-31"],
  ["2026-03-31T14:05:00Z", 60_000, "14:05"],
  ["2026-03-31T14:05:09Z", 1_000, "14:05:09"],
];

test("a time on an axis says what its steps change, years and months by their names", () => {
  for (const [at, stepMs, text] of TICKS) assert.equal(formatTick(Date.parse(at), stepMs, true), text);
});

test("a long name keeps its last part, by which fields of one object differ", () => {
  const rows: readonly (readonly [name: string, short: string])[] = [
    ["host.name", "host.name"],
    ["http.response.status_code", "h.response.status_code"],
    ["caches.http_cache.bypass.bytes_written", "c.h.b.bytes_written"],
    ["caches.http_cache.expired.bytes_written", "c.h.e.bytes_written"],
    ["a.very_long_name_without_any_end", "a.very_long_…any_end"],
    ["very_long_name_without_any_dots", "very_long_na…ny_dots"],
    ["", ""],
  ];
  for (const [name, short] of rows) assert.equal(shortenName(name, name.startsWith("h") ? 22 : 20), short);
});

test("a part of a text is completed to the words that it cuts", () => {
  const rows: readonly (readonly [part: string, words: string])[] = [
    ["ssion exp", "session expired"],
    ["session", "session"],
    [": ", ": "],
    ["2083", "2083"],
    ["absent", ""],
    ["", ""],
  ];
  for (const [part, words] of rows)
    assert.equal(wholeWords("cart 2083 is gone: session expired", part), words, part);
});

test("a measured number is written out while it is whole and below a million millions", () => {
  const values = [1_007_999_743, 12.34567, 12_345_678.9, 2e12];
  assert.deepEqual(values.map(formatMeasure), ["1,007,999,743", "12.346", "12.3M", "2T"]);
});

test("a text of the hub becomes a sentence", () => {
  assert.equal(sentence("connection lost"), "Connection lost.");
  assert.equal(sentence("No such index. Which one?"), "No such index. Which one?");
  assert.equal(sentence(""), "");
});
