import assert from "node:assert/strict";
import { test } from "node:test";
import { type Formula, parseFormula, termValues } from "./formula.ts";
import { formulaRequest, joinMeasures, offsetsOf, readFormula } from "./formula-series.ts";
import {
  DEFAULT_VISUALISATION,
  formulaLines,
  metricName,
  missingChoice,
  readVisualisation,
  writeVisualisation,
} from "./visualisation.ts";

const HOUR_MS = 3_600_000;
const WEEK_MS = 168 * HOUR_MS;

function formula(text: string): Formula {
  const parsed = parseFormula(text);
  assert.ok("term" in parsed, JSON.stringify(parsed));
  return parsed;
}

/** The values of a formula where each measure has these. */
const valuesOf = (text: string, ...measured: (number | undefined)[][]): (number | undefined)[] => {
  const { term } = formula(text);
  return termValues(term, measured, measured[0]!.length);
};

test("signs bind as in arithmetic, and brackets first", () => {
  assert.deepEqual(valuesOf("1 + 2 * count() - 4 / 2", [3]), [5]);
  assert.deepEqual(valuesOf("(1 + 2) * -count()", [3]), [-9]);
  assert.deepEqual(valuesOf("10 - count() - 1", [2]), [7]);
});

test("a division by zero, and what was not measured, is nothing", () => {
  assert.deepEqual(valuesOf("count(a) / count()", [1, 0, undefined], [0, 4, 2]), [undefined, 0, undefined]);
});

test("functions of series see the values before", () => {
  const values = [1, 3, undefined, 8];
  assert.deepEqual(valuesOf("derivative(count())", values), [undefined, 2, undefined, undefined]);
  assert.deepEqual(valuesOf("cumulative(count())", values), [1, 4, 4, 12]);
  assert.deepEqual(valuesOf("moving_average(count(), 2)", values), [1, 2, 3, 8]);
});

test("measures have a field, a query and the time they lie before; equal ones are one", () => {
  const { measures } = formula(
    'p95(took, a:"x, (y" OR b) + count(c:(d e)) + offset(count(), 1w) + count(c:(d e))',
  );
  assert.deepEqual(measures, [
    { kind: "p95", field: "took", query: 'a:"x, (y" OR b', offsetMs: 0 },
    { kind: "count", field: "", query: "c:(d e)", offsetMs: 0 },
    { kind: "count", field: "", query: "", offsetMs: WEEK_MS },
  ]);
});

const FAULTS: readonly (readonly [string, RegExp, number])[] = [
  ["", /missing here/, 1],
  ["1 + 2", /measures something/, 1],
  ["count() count()", /operator is missing/, 9],
  ["count(", /never closed/, 6],
  ["avg()", /takes a field/, 1],
  ["median(x)", /no function median\(\)/, 1],
  ["moving_average(count(), x)", /number of steps/, 24],
  ["count() - offset(count())", /length such as 1w/, 18],
  ["offset(count(), 1w)", /of the time that is shown/, 1],
  ["count() + ".repeat(60), /at most 500/, 500],
  [Array.from({ length: 9 }, (_, at) => `count(${at})`).join("+"), /at most 8/, 73],
];

test("what is wrong with a formula is said with its place", () => {
  for (const [text, fault, column] of FAULTS) {
    const parsed = parseFormula(text);
    assert.ok("fault" in parsed, text);
    assert.match(parsed.fault, fault);
    assert.equal(parsed.column, column, text);
  }
});

const RATE = {
  ...DEFAULT_VISUALISATION,
  chart: "line",
  metric: { kind: "formula", field: "count(e) - offset(count(e), 1w)" },
} as const;
const AROUND = {
  range: { fromMs: WEEK_MS, toMs: WEEK_MS + 2 * HOUR_MS },
  interval: { text: "1h", ms: HOUR_MS },
  timeZone: "UTC",
  filter: "",
};

test("a formula survives the address, and what it lacks is said", () => {
  assert.deepEqual(readVisualisation(writeVisualisation(RATE)), RATE);
  assert.equal(missingChoice(RATE), undefined);
  assert.match(missingChoice({ ...RATE, metric: { kind: "formula", field: "count(" } })!, /Character 6/);
});

test("each offset is a search of its own, and its steps stand at the times they are compared with", () => {
  const parsed = formula(RATE.metric.field);
  assert.deepEqual(offsetsOf(parsed), [0, WEEK_MS]);
  const [now, before] = offsetsOf(parsed).map((offsetMs) =>
    JSON.stringify(formulaRequest(RATE, parsed, AROUND, offsetMs)),
  );
  assert.match(now!, new RegExp(`"gte":${WEEK_MS},"lt":${WEEK_MS + 2 * HOUR_MS}`));
  assert.match(before!, new RegExp(`"gte":0,"lt":${2 * HOUR_MS}`));
  assert.match(before!, /"m1":\{"filter":\{"query_string":\{"query":"e"/);
  const answer = (startMs: number, name: string, counts: readonly number[]) => ({
    hits: { total: 9 },
    aggregations: {
      [name]: { doc_count: counts.reduce((sum, count) => sum + count, 0) },
      by: {
        buckets: counts.map((count, at) => ({
          key: startMs + at * HOUR_MS,
          doc_count: 9,
          [name]: { doc_count: count },
        })),
      },
    },
  });
  const answers = new Map([
    [0, answer(WEEK_MS, "m0", [7, 5])],
    [WEEK_MS, answer(0, "m1", [4, 6])],
  ]);
  const data = readFormula(RATE, answers, "rate", true);
  assert.deepEqual(
    data.groups.map(({ key }) => key),
    [WEEK_MS, WEEK_MS + HOUR_MS],
  );
  assert.deepEqual(data.series[0]!.values, [3, -1]);
  assert.equal(data.total, 2);
});

test("steps of a range that is moved by a part of a step begin as much earlier", () => {
  const shown = { ...RATE, metric: { kind: "formula", field: "count() - offset(count(), 10m)" } } as const;
  const body = JSON.stringify(formulaRequest(shown, formula(shown.metric.field), AROUND, 600_000));
  assert.match(body, /"offset":"-600000ms"/);
});

test("days are compared with days over a change of the clock", () => {
  const parsed = "count() - offset(count(), 1w)";
  const shown = { ...RATE, metric: { kind: "formula", field: parsed } } as const;
  const dayMs = 24 * HOUR_MS;
  const answer = (starts: readonly number[]) => ({
    hits: { total: 9 },
    aggregations: { by: { buckets: starts.map((key, at) => ({ key, doc_count: at + 1 })) } },
  });
  const nowMs = 4 * WEEK_MS;
  const beforeMs = nowMs - WEEK_MS - HOUR_MS;
  const answers = new Map([
    [0, answer([nowMs, nowMs + dayMs, nowMs + 2 * dayMs])],
    [WEEK_MS, answer([beforeMs, beforeMs + dayMs])],
  ]);
  const { series } = readFormula(shown, answers, "rate", false);
  assert.deepEqual(series[0]!.values, [0, 0, undefined]);
});

test("a formula of several lines is several measures, under their names", () => {
  const text = "errors = count(level:error)\n\ncount(a:>=5)";
  assert.deepEqual(formulaLines(text), [
    { name: "errors", text: "count(level:error)" },
    { name: "count(a:>=5)", text: "count(a:>=5)" },
  ]);
  assert.equal(metricName({ kind: "formula", field: text }), "errors, count(a:>=5)");
  const shown = { ...DEFAULT_VISUALISATION, metric: { kind: "formula", field: `${text}\n1 +` } } as const;
  assert.match(missingChoice(shown)!, /missing here/);
  const dataOf = (keys: number[], values: number[]) => ({
    isTime: true,
    isUtc: true,
    isAdditive: false,
    groups: keys.map((key) => ({ key, label: String(key), part: "value" as const })),
    series: [{ name: "x", value: "", part: "value" as const, values }],
    total: 1,
  });
  const joined = joinMeasures([
    { name: "errors", data: dataOf([1, 2], [5, 6]) },
    { name: "all", data: dataOf([2], [7]) },
  ]);
  assert.deepEqual(
    joined.series.map(({ name, values }) => [name, values]),
    [
      ["errors", [5, 6]],
      ["all", [undefined, 7]],
    ],
  );
});
