import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "#proto/kit/clock.ts";
import type { Entry } from "./entry.ts";
import { Pace } from "./pace.ts";
import { parseLogQl } from "./parser.ts";
import { compileStages } from "./stages.ts";
import type { LogQuery } from "./syntax.ts";

interface Outcome {
  readonly isKept: boolean;
  readonly line: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Runs stages over a line of a stream with the label `app="shop"`. */
async function run(stages: string, line: string): Promise<Outcome> {
  const { stages: parsed } = parseLogQl(`{app="shop"} ${stages}`) as LogQuery;
  const stream = new Map([["app", "shop"]]);
  const entry: Entry = {
    line,
    labels: new Map(stream),
    stream,
    extracted: new Set(),
    field: () => [],
    value: undefined,
    work: 0,
  };
  const pace = new Pace(new AbortController().signal, systemClock, 60_000);
  const isKept = await compileStages(parsed)(entry, pace);
  entry.labels.delete("app");
  return { isKept, line: entry.line, labels: Object.fromEntries(entry.labels) };
}

test("stages make labels of a line", async () => {
  const rows: [stages: string, line: string, labels: Record<string, string>][] = [
    ["| logfmt", 'a=1 app=cart b= c="two words" d', { a: "1", app_extracted: "cart", c: "two words" }],
    ["| logfmt --keep-empty", "a=1 b= d", { a: "1", b: "", d: "" }],
    ["| logfmt", "a=1 a=2", { a: "1" }],
    ["| logfmt", 'a=x=y b"c=1 =none d="open', {}],
    ["| logfmt", 'a="one\\ntwo" b="three\nfour" c="\\q"', { a: "one\ntwo", b: "three\nfour" }],
    ["| logfmt --strict", "a=1 b=x=y c=2", { a: "1", __error__: "LogfmtParserErr" }],
    ['| logfmt --strict --keep-empty first="a", b', "a=1 c=2", { first: "1", b: "" }],
    ["| json", '{"a":1," ":{"b":2},"app":"cart"}', { a: "1", b: "2", app_extracted: "cart" }],
    ["| json | logfmt", '{"a":"first"} a=second', { __error__: "JSONParserErr", a: "second" }],
    ["| json a | json a", '{"a":1}', { a: "1" }],
    ['| label_format a="kept" | json', '{"a":1}', { a: "kept" }],
    ['| pattern "<verb> <path>?<_> <code>"', "GET /a?b 200", { verb: "GET", path: "/a", code: "200" }],
    ['| pattern "<verb> <path>?<_>"', "GET /a 200", { verb: "GET", path: "/a 200" }],
    ['| pattern "at <when> <rest>"', "GET at 5 o", {}],
  ];
  for (const [stages, line, labels] of rows)
    assert.deepEqual((await run(stages, line)).labels, labels, `${stages}: ${line}`);
});

test("a range of addresses has two ends", async () => {
  await assert.rejects(run('|= ip("10.0.0.1-10.0.0.9-x")', "10.0.0.2"), /ip: invalid pattern/);
});

test("unpack restores a packed line, its texts become labels", async () => {
  const packed = '{"pod":"p-1","app":"cart","size":3,"_entry":"the line"}';
  assert.deepEqual(await run("| unpack", packed), {
    isKept: true,
    line: "the line",
    labels: { pod: "p-1", app_extracted: "cart" },
  });
  const other = '{"pod":"p-1"}';
  assert.deepEqual(await run("| unpack", other), { isKept: true, line: other, labels: {} });
  assert.deepEqual((await run("| unpack", "[1]")).labels, { __error__: "JSONParserErr" });
});

test("filters keep lines by patterns, addresses and several labels", async () => {
  const rows: [stages: string, line: string, isKept: boolean][] = [
    ['|> "<_> failed: <_>"', "login failed: no key", true],
    ['|> "<_> failed: <_>"', "login failed: ", false],
    ['|> "login"', "login failed", false],
    ['|> "login" or "<_>ed"', "login failed", true],
    ['!> "<_> failed: <_>"', "login failed: no key", false],
    ['|= ip("10.1.0.0/16")', "from [10.1.2.3]:80", true],
    ['|= ip("10.1.0.0/16")', "from 10.2.2.3", false],
    ['|= ip("10.1.0.5-10.1.0.9")', "10.1.0.10 10.1.0.6", true],
    ['|= ip("2001:db8::/32")', "peer 2001:db8::7 lost", true],
    ['|= ip("::1")', "v1.2.3 from ::1", true],
    ['!= ip("10.1.2.3")', "from 10.1.2.3", false],
    ['|= ip("10.1.2.3") or "local"', "from local", true],
    ['| logfmt | from=ip("10.1.0.0/16")', "from=10.1.2.3", true],
    ['| logfmt | from!=ip("10.1.0.0/16")', "from=10.1.2.3", false],
    ['| logfmt | from!=ip("10.1.0.0/16")', "to=10.1.2.3", false],
    ["| logfmt | n >= -1 n < .5", "n=-0.5", true],
    ["| logfmt | n > -1", "n=-2", false],
    ["| logfmt | took < -1s", "took=-2s", true],
    ['| logfmt | a="1", b="2" or c="3"', "a=0 c=3", false],
    ['| logfmt | a="1" b="2" or c="3"', "a=1 c=3", true],
    ['| logfmt | a="1" or b="2" and c="3"', "a=1 c=4", true],
  ];
  for (const [stages, line, isKept] of rows)
    assert.equal((await run(stages, line)).isKept, isKept, `${stages}: ${line}`);
});
