import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { systemClock } from "#proto/kit/clock.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Entry } from "./entry.ts";
import { Pace } from "./pace.ts";
import { parseLogQl } from "./parser.ts";
import { compileStages } from "./stages.ts";
import type { LogQuery } from "./syntax.ts";

const LONG = "a".repeat(100_000);

function entryOf(line: string): Entry {
  return {
    line,
    labels: new Map(),
    stream: new Map(),
    extracted: new Set(),
    field: () => [],
    value: undefined,
    work: 0,
  };
}

async function keeps(stages: string, line: string): Promise<boolean> {
  const { stages: parsed } = parseLogQl(`{job="a"} ${stages}`) as LogQuery;
  const pace = new Pace(new AbortController().signal, systemClock, 60_000);
  return compileStages(parsed)(entryOf(line), pace);
}

function isTooLong(error: unknown): boolean {
  return error instanceof AppError && error.code === "request_invalid" && /too long/.test(error.message);
}

test("expressions that would take seconds on a line are refused, on shorter lines they aren't", async () => {
  const folded = Array.from({ length: 85 }, (_, n) => `a*b${n}`).join("|");
  const values = Array.from({ length: 85 }, () => '"a*b[0-9]"').join(" or ");
  const stages = [
    `|~ "${folded}"`,
    `|~ ${values}`,
    `!~ "(a?b?c?d?e?){16}x"  !~ "${folded}"`,
    `| regexp "(?P<x>${folded})"`,
    `| regexp "(?P<x>a+)" | x=~"${folded}"`,
  ];
  for (const each of stages) await assert.rejects(keeps(each, LONG), isTooLong, each);
  for (const each of stages) await keeps(each, "aaa");
  assert.equal(await keeps('|~ "timed out|aaab?$"', LONG), true);
});

test("other work runs between the filters of one line", async () => {
  const stages = Array.from({ length: 12 }, () => '!~ "a*a*a*a*a*b"').join(" ");
  let isDone = false;
  const work = keeps(stages, LONG).finally(() => (isDone = true));
  let turns = 0;
  while (!isDone) {
    await nextTurn();
    turns++;
  }
  assert.equal(await work, true);
  assert.ok(turns > 2, String(turns));
});

test("templates that double a text are refused before it fills the memory", async () => {
  for (const stage of ['| line_format "{{__line__}}{{__line__}}"', '| label_format a="{{.a}}{{.a}}x"'])
    await assert.rejects(keeps(stage.repeat(60), "ab"), /more than 1048576 characters/);
});

test("a line with more labels than are kept says so", async () => {
  const many = JSON.stringify(Object.fromEntries(Array.from({ length: 300 }, (_, n) => [`k${n}`, n])));
  const deep = `${'{"a":'.repeat(20)}1${"}".repeat(20)}`;
  for (const line of [many, deep]) {
    assert.equal(await keeps('| json | __error__="LabelsLimitErr"', line), true);
    assert.equal(await keeps('| json | __error__=""', line), false);
  }
  assert.equal(await keeps('| json | __error__=""', '{"a":{"b":1}}'), true);
});

test("members that every object has aren't fields of a line or functions of a template", async () => {
  assert.equal(await keeps('| json x="constructor.name" | x=""', "{}"), true);
  await assert.rejects(keeps('| line_format "{{.a | hasOwnProperty}}"', ""), /isn't offered/);
  await assert.rejects(keeps('| line_format "{{toString .a}}"', ""), /isn't offered/);
});

test("a query that is too deep or has too many operators is refused with its place", () => {
  const rows: [query: string, message: RegExp][] = [
    [`{job="a"} | ${"(".repeat(8_000)}`, /line 1, col 45: .*at most 32 deep/],
    [`${"(".repeat(8_000)}1`, /at most 32 deep/],
    [`1${"+1".repeat(8_000)}`, /at most 250 operators/],
    [`{job="a"} | a=1${" or a=1".repeat(2_000)}`, /at most 250 operators/],
  ];
  for (const [query, message] of rows) assert.throws(() => parseLogQl(query), message);
  parseLogQl(`{job="a"} | ${"(".repeat(30)}a=1${")".repeat(30)}`);
  parseLogQl(`1${"+1".repeat(200)}`);
});
