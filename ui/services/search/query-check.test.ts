import assert from "node:assert/strict";
import { test } from "node:test";
import { readFields } from "./fields.ts";
import { checkFields, checkQuery, luceneOfKql, missingField, refusedIn } from "./query-check.ts";

const RIGHT = [
  "",
  "error",
  "connection refused",
  '"connection refused" AND NOT healthcheck',
  "timeout OR refused",
  "-healthcheck +error",
  "host.name:web-1",
  "host.name: web-1 AND log.level : error",
  "http.response.status_code:>=500",
  "code:[400 TO 599] OR code:{* TO 3}",
  'at:["2026-01-01 10:00" TO *]',
  "url.original:\\/api\\/*",
  "url:/api\\/v[12]/ done",
  "_exists_:user.name",
  "(a OR b) AND c",
  "level:(error OR warn)",
  "level:(error OR warn) AND (x OR (y z))",
  'say:"a \\" quote"',
  "GET /api/orders is/was",
  "https://example.com/a",
  "a\\:b",
  "!x",
];

const WRONG: readonly (readonly [string, string, number, number])[] = [
  ['say "hello', "quotes", 4, 10],
  ["(a OR b", "never closed", 0, 1],
  ["a) b", "closes nothing", 1, 2],
  ["a OR", "behind OR", 2, 4],
  ["AND b", "before AND", 0, 3],
  ["a AND OR b", "before OR", 6, 8],
  ["a NOT", "behind NOT", 2, 5],
  ["level: ", "value of level", 0, 6],
  ["(level: ) AND b", "value of level", 1, 7],
  ["code:[1 TO", "range", 5, 10],
  ["status::>=500", "two colons behind status", 7, 8],
  ["fe80::1", "two colons behind fe80", 5, 6],
  ["x ()", "nothing between", 3, 4],
  ["path:/var/log", "", -1, -1],
  ["path:/var", "slash", 5, 6],
];

test("a query that can be read has no fault", () => {
  for (const query of RIGHT) assert.equal(checkQuery(query), undefined, query);
});

test("a fault names what is missing and where", () => {
  for (const [query, text, from, to] of WRONG) {
    const fault = checkQuery(query);
    if (from < 0) assert.equal(fault, undefined, query);
    else {
      assert.ok(fault?.message.includes(text) === true, `${query}: ${fault?.message}`);
      assert.deepEqual([fault.from, fault.to], [from, to], query);
    }
  }
});

test("a field that no index has is named, with the one that was meant", () => {
  const capability = { keyword: { aggregatable: true } };
  const fields = readFields({
    fields: { "log.level": capability, "host.name": capability, message: capability },
  });
  assert.equal(checkFields("log.level:error AND host.name:web AND _exists_:x", fields), undefined);
  assert.equal(checkFields("log:* message.keyword:x https://example.com", fields), undefined);
  assert.match(checkFields("log.levle:error", fields)!.hint, /log\.level/);
  assert.match(checkFields("a level:error", fields)!.hint, /log\.level/);
  assert.deepEqual(checkFields("a nosuchthing:1", fields)?.from, 2);
  assert.deepEqual(missingField("a level:error", fields), { name: "level", nearest: "log.level", from: 2 });
  assert.equal(missingField("levle:error", fields)?.nearest, "log.level");
  assert.equal(missingField("a log.level:error", fields), undefined);
});

test("a query of KQL is turned into what it means, other queries aren't", () => {
  const capability = { keyword: { aggregatable: true } };
  const fields = readFields({ fields: { "log.level": capability, took: capability } });
  const rows: readonly (readonly [query: string, meant: string | undefined])[] = [
    ['took > 4000 and log.level : "error and more"', 'took:>4000 AND log.level : "error and more"'],
    ["not (took<=5 or log.level:error)", "NOT (took:<=5 OR log.level:error)"],
    ['"a b" or not c', '"a b" OR NOT c'],
    ["took:>4000 AND log.level:error", undefined],
    ["size > 5 android nothing order", undefined],
    ["and", undefined],
    ['a or "b or c', 'a OR "b or c'],
    ['"\\'.repeat(50_000), undefined],
  ];
  const startedMs = performance.now();
  for (const [query, meant] of rows) assert.equal(luceneOfKql(query, fields), meant, query.slice(0, 100));
  assert.ok(performance.now() - startedMs < 500);
});

test("what the search interface refuses is found in the query", () => {
  const rows: readonly (readonly [query: string, reason: string, marked: string | undefined])[] = [
    ["took:abc", 'failed to create query: For input string: "abc"', "abc"],
    ["@timestamp:soon", "failed to parse date field [soon] with format [epoch_millis]", "soon"],
    [
      "took:*5*",
      "Can only use wildcard queries on keyword and text fields - not on [took] which is of type [long]",
      "took",
    ],
    ["a:b ]", "Failed to parse query [a:b ]]: nothing may end here at character 5", "]"],
    ["error", "disk full", undefined],
  ];
  for (const [query, reason, marked] of rows) {
    const fault = refusedIn(query, reason, "");
    assert.equal(fault && query.slice(fault.from, fault.to), marked, query);
  }
});
