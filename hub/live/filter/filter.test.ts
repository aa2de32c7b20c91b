import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "#proto/kit/errors.ts";
import { threadCpuMs } from "#proto/kit/process/thread-cpu.ts";
import { EventDocument } from "./event-document.ts";
import { compileFilter } from "./filter.ts";

const DOCUMENT = {
  "@timestamp": "2026-01-05T10:00:00.000Z",
  message: 'GET /Checkout failed: "Timeout" after 30s (why?)',
  log: { level: "ERROR", file: { path: "/var/log/shop/app.log" } },
  "host.name": "web-3",
  http: { response: { status_code: 503 } },
  tags: ["edge", "Beta User"],
  ratio: 1.5e3,
  ok: false,
  nothing: null,
};

function document(value: unknown = DOCUMENT, index = "logs-2026.01.05"): EventDocument {
  return new EventDocument({
    index,
    id: "1",
    timestampMs: 0,
    source: new TextEncoder().encode(JSON.stringify(value)),
  });
}

const ROWS: readonly (readonly [string, boolean])[] = [
  ["", true],
  ["timeout", true],
  ["TIMEOUT after", true],
  ['"timeout after"', false],
  ['"\\"timeout\\" after"', true],
  ["nowhere", false],
  ["time*30s", true],
  ["30s*time", false],
  ["t?meout", true],
  ['"why?"', true],
  ['"wh??"', false],
  ["*", true],
  ["log.level:error", true],
  ["log.level:err", false],
  ["log.level:err*", true],
  ["log.level:*ror", true],
  ["log.level:e*r*r", true],
  ["log.level:e*x*r", false],
  ["host.name:web-3", true],
  ["host.name:web", true],
  ["host.name:eb", false],
  ["log.file.path:shop", true],
  ["log.file.path:/var/log/*", true],
  ["http.response.status_code:503", true],
  ["http.response.status_code:50", false],
  ["http.response.status_code:>=500", true],
  ["http.response.status_code:>503", false],
  ["http.response.status_code:<504", true],
  ["http.response.status_code:[500 TO 599]", true],
  ["http.response.status_code:{503 TO *]", false],
  ["http.response.status_code:[* TO 503}", false],
  ["ratio:1500", true],
  ["ok:false", true],
  ["tags:edge", true],
  ['tags:"beta user"', true],
  ["tags:(nope OR edge)", true],
  ["_exists_:tags", true],
  ["tags:*", true],
  ["nothing:*", false],
  ["missing:*", false],
  ["log:*", true],
  ["NOT timeout", false],
  ["-nowhere", true],
  ["!nowhere", true],
  ["+timeout -nowhere", true],
  ["nowhere OR timeout", true],
  ["nowhere || timeout", true],
  ["timeout AND nowhere", false],
  ["timeout && checkout", true],
  ["nowhere timeout OR checkout", true],
  ["(nowhere OR timeout) AND web", false],
  ["@timestamp:>2026-01-05", true],
  ["@timestamp:[2026-01-06 TO *]", false],
  ["message:checkout", true],
  ["_index:logs-*", true],
  ["ORder OR checkout", true],
];

test("a filter matches by words, fields, ranges and operators", () => {
  for (const [query, expected] of ROWS)
    assert.equal(compileFilter(query, []).matches(document()), expected, `filter: ${query}`);
});

test("index patterns take and leave out", () => {
  const matches = (patterns: string[], index: string): boolean =>
    compileFilter("", patterns).matches(document(DOCUMENT, index));
  assert.equal(matches([], "logs-1"), true);
  assert.equal(matches(["logs-*"], "logs-1"), true);
  assert.equal(matches(["logs-*"], "audit"), false);
  assert.equal(matches(["*", "-audit"], "audit"), false);
  assert.equal(matches(["audit", "logs-1"], "logs-1"), true);
});

test("letters that fold to ASCII are found although the bytes hold other ones", () => {
  assert.equal(compileFilter("kelvin", []).matches(document({ message: "273 \u212Aelvin" })), true);
  assert.equal(compileFilter("grün", []).matches(document({ message: "GRÜN" })), true);
});

test("a document without a message is searched as a whole, and one that isn't JSON matches nothing it lacks", () => {
  assert.equal(compileFilter("inside", []).matches(document({ a: { b: "inside" } })), true);
  const broken = new EventDocument({ index: "i", id: "1", timestampMs: 0, source: Buffer.from("{oops") });
  assert.equal(compileFilter("field:x", []).matches(broken), false);
});

const ERRORS: readonly (readonly [string, [number, number]])[] = [
  ["(a OR b", [0, 1]],
  ["a)", [1, 2]],
  ['say "hello', [4, 5]],
  ["a OR", [4, 4]],
  ["AND b", [0, 2]],
  ["level:", [6, 6]],
  [":x", [0, 1]],
  ["le*el:x", [0, 6]],
  ["code:[1 TO", [5, 10]],
  ["()", [1, 2]],
];

test("an error names the characters at fault and the remedy", () => {
  for (const [query, at] of ERRORS)
    assert.throws(
      () => compileFilter(query, []),
      (error) => {
        assert.ok(error instanceof AppError);
        assert.equal(error.code, "parsing");
        assert.deepEqual(error.data["at"], at, `filter: ${query}`);
        assert.equal(typeof error.data["hint"], "string");
        return true;
      },
    );
});

test("a filter too deep or too long is refused", () => {
  assert.throws(() => compileFilter("(".repeat(60), []), /more than 50 levels/);
  assert.throws(() => compileFilter("a ".repeat(201), []), /more than 200 terms/);
});

test("many wildcards on a long text end soon", () => {
  const filter = compileFilter(`${"a*".repeat(100)}b`, []);
  const startedMs = threadCpuMs();
  assert.equal(filter.matches(document({ message: "a".repeat(200_000) })), false);
  assert.ok(threadCpuMs() - startedMs < 1_000);
});
