import assert from "node:assert/strict";
import { test } from "node:test";
import { shorten } from "#ui/services/text/format.ts";
import { niceTicks } from "./chart-look.ts";
import { visualisationRequest } from "./request.ts";
import { groupSums, groupTops, labelledGroups, readSeries, toCsv } from "./series.ts";
import {
  DEFAULT_VISUALISATION,
  drawnPart,
  metricName,
  missingChoice,
  readVisualisation,
  type Visualisation,
  writeVisualisation,
} from "./visualisation.ts";

const AROUND = {
  range: { fromMs: 0, toMs: 1_000 },
  interval: { text: "1s", ms: 1_000 },
  timeZone: "UTC",
  filter: "",
};
const LATENCY: Visualisation = {
  ...DEFAULT_VISUALISATION,
  chart: "line",
  index: "web-*",
  query: "status:500",
  metric: { kind: "p95", field: "took" },
  split: { field: "host", size: 3 },
};
const BY_PATH: Visualisation = {
  ...DEFAULT_VISUALISATION,
  by: { kind: "terms", field: "url", size: 2 },
  split: { field: "code", size: 2 },
};

test("a visualisation survives the address, and a wrong address is the default", () => {
  const steps: Visualisation = { ...LATENCY, by: { kind: "steps", field: "a:b", interval: 0.5 } };
  for (const one of [
    DEFAULT_VISUALISATION,
    LATENCY,
    BY_PATH,
    steps,
    { ...LATENCY, by: { kind: "none" } as const },
    { ...LATENCY, by: { kind: "ranges", field: "a:b", bounds: [0.5, 10] } as const },
    {
      ...LATENCY,
      by: { kind: "filters", queries: ["a:1 OR b", "c:(d)"] } as const,
      marks: "message:deployed",
      scripts: "kb = doc['bytes'].value / 1024.0\nhost: keyword = doc['host'].value",
    },
  ])
    assert.deepEqual(readVisualisation(writeVisualisation(one)), one);
  assert.equal(writeVisualisation(DEFAULT_VISUALISATION).toString(), "");
  const wrong = new URLSearchParams("chart=cake&metric=x&by=terms:999:f&split=zero");
  assert.deepEqual(readVisualisation(wrong), {
    ...DEFAULT_VISUALISATION,
    by: { kind: "terms", field: "f", size: 100 },
  });
});

test("fields that scripts compute are defined with the search", () => {
  const scripts = "kb = doc['bytes'].value / 1024.0\nhost: keyword = if (true) { emit('a') }";
  assert.deepEqual(visualisationRequest({ ...LATENCY, scripts }, AROUND)["runtime_mappings"], {
    kb: { type: "double", script: { source: "emit(doc['bytes'].value / 1024.0)" } },
    host: { type: "keyword", script: { source: "if (true) { emit('a') }" } },
  });
  assert.equal("runtime_mappings" in visualisationRequest(LATENCY, AROUND), false);
  assert.equal(missingChoice({ ...LATENCY, scripts }), undefined);
  assert.match(missingChoice({ ...LATENCY, scripts: "kb doc" })!, /equals sign.*"kb doc"/);
  assert.match(missingChoice({ ...LATENCY, scripts: "kb: text = 1" })!, /equals sign/);
});

test("what is still to be chosen is said", () => {
  assert.equal(missingChoice(LATENCY), undefined);
  assert.match(missingChoice({ ...LATENCY, metric: { kind: "avg", field: "" } })!, /measure/);
  assert.match(missingChoice({ ...LATENCY, by: { kind: "terms", field: "", size: 3 } })!, /group/);
  assert.match(missingChoice({ ...LATENCY, split: { field: "", size: 3 } })!, /split/);
  assert.equal(metricName(LATENCY.metric), "95th percentile of took");
});

interface Aggregation {
  readonly aggs: Record<string, Aggregation>;
  readonly terms?: unknown;
  readonly date_histogram?: unknown;
}

const RINGS: readonly (readonly [shown: string, slices: string])[] = [
  ["chart=pie&split=5:host", "split=5:host"],
  ["chart=pie&by=none&split=5:host", "split=5:host"],
  ["chart=pie&by=terms:10:code&split=5:host", "terms:10:code"],
  ["chart=pie&by=terms:10:code", "terms:10:code"],
];

test("a ring is cut into the values of its split, or into the groups of a field", () => {
  for (const [address, slices] of RINGS) {
    const drawn = writeVisualisation(drawnPart(readVisualisation(new URLSearchParams(address))));
    drawn.delete("chart");
    const isSplit = slices.startsWith("split=");
    const expected = isSplit ? { by: "none", split: slices.slice(6) } : { by: slices };
    assert.deepEqual(Object.fromEntries(drawn), expected, address);
  }
});

test("a map keeps the split that other charts have, and doesn't ask by it", () => {
  const map = readVisualisation(new URLSearchParams("chart=map&by=places:where&split=5:host"));
  assert.deepEqual(map.split, { field: "host", size: 5 });
  assert.equal(writeVisualisation(map).get("split"), "5:host");
  assert.doesNotMatch(JSON.stringify(visualisationRequest(map, AROUND)), /host/);
});

test("times stand within the splits, values of a field around them", () => {
  const latency = visualisationRequest(LATENCY, AROUND) as unknown as Aggregation;
  assert.deepEqual(Object.keys(latency.aggs), ["metric", "split", "split_missing"]);
  assert.deepEqual(latency.aggs["split"]!.terms, { field: "host", size: 3, order: { "metric.95": "desc" } });
  assert.ok(latency.aggs["split"]!.aggs["by"]!.date_histogram);
  assert.deepEqual(Object.keys(latency.aggs["split"]!.aggs["by"]!.aggs), ["metric"]);
  const path = visualisationRequest(BY_PATH, AROUND) as unknown as Aggregation;
  assert.deepEqual(path.aggs["by"]!.terms, { field: "url", size: 2 });
  assert.deepEqual(path.aggs["by"]!.aggs["split"]!.terms, { field: "code", size: 2 });
  const plain = visualisationRequest({ ...DEFAULT_VISUALISATION, by: { kind: "none" } }, AROUND);
  assert.equal(plain["aggs"], undefined);
});

test("a dashboard's query is joined with the visualisation's own", () => {
  const text = JSON.stringify(visualisationRequest(LATENCY, { ...AROUND, filter: "a OR b" }));
  assert.match(text, /\(status:500\) AND \(a OR b\)/);
});

test("an answer becomes series over groups", () => {
  const bucket = (key: number | string, doc_count: number, more: object = {}) => ({
    key,
    doc_count,
    ...more,
  });
  const times = {
    hits: { total: 7 },
    aggregations: {
      split: {
        buckets: [
          bucket("b", 4, { by: { buckets: [bucket(2_000, 1), bucket(0, 3)] } }),
          bucket("", 3, { by: { buckets: [bucket(1_000, 3)] } }),
        ],
      },
    },
  };
  const shown: Visualisation = { ...DEFAULT_VISUALISATION, split: { field: "f", size: 2 } };
  const data = readSeries(shown, times, "all", true);
  assert.deepEqual(
    data.groups.map(({ key }) => key),
    [0, 1_000, 2_000],
  );
  assert.deepEqual(data.series, [
    { name: "b", value: "b", part: "value", values: [3, undefined, 1] },
    { name: "(empty)", value: "", part: "value", values: [undefined, 3, undefined] },
  ]);
  assert.deepEqual([data.total, groupSums(data)], [7, [3, 3, 1]]);
  const measured = { hits: { total: { value: 2 } }, aggregations: { metric: { values: { "95.0": 12.5 } } } };
  const number = readSeries({ ...LATENCY, by: { kind: "none" }, split: undefined }, measured, "took", true);
  assert.deepEqual([number.total, number.series[0]!.values], [12.5, [12.5]]);
  const paths = { hits: { total: 1 }, aggregations: { by: { buckets: [bucket('a,"b', 1)] } } };
  const byPath = readSeries({ ...BY_PATH, split: undefined }, paths, "lines", true);
  assert.equal(toCsv(byPath), ',lines\r\n"a,""b",1\r\n');
});

test("characters that change the direction of text are written out in names, values stay as they are", () => {
  const bucket = { key: "a\u202egpj.exe", doc_count: 1 };
  const found = { hits: { total: 1 }, aggregations: { by: { buckets: [bucket] } } };
  const { groups } = readSeries({ ...BY_PATH, split: undefined }, found, "lines", true);
  assert.deepEqual(groups, [{ key: "a\u202egpj.exe", label: "a[U+202E]gpj.exe", part: "value" }]);
});

test("ticks are round, cover the numbers, and labels do not overlap", () => {
  assert.deepEqual(niceTicks(0, 97, 4), [0, 25, 50, 75, 100]);
  assert.deepEqual(niceTicks(0, 0, 4), [0, 0.25, 0.5, 0.75, 1]);
  assert.deepEqual(niceTicks(0, 0, 4, 1), [0, 1]);
  assert.deepEqual(niceTicks(0, 9, 4, 1), [0, 3, 6, 9]);
  assert.deepEqual(niceTicks(-5, 5, 2), [-5, 0, 5]);
  assert.deepEqual(niceTicks(0, 0.0031, 3), [0, 0.002, 0.004]);
  assert.deepEqual(labelledGroups(10, 300, 100), [0, 4, 8]);
  assert.deepEqual(labelledGroups(0, 300, 100), []);
  assert.equal(shorten("/abcdefghij", 7), "/abc…ij");
});

test("levels are stacked from the least to the most severe, lines without one at the bottom", () => {
  const by = { buckets: [{ key: 0, doc_count: 1 }] };
  const level = (key: string, doc_count: number) => ({ key, doc_count, by });
  const answer = (...names: string[]) => ({
    hits: { total: 9 },
    aggregations: {
      split: { buckets: names.map((name, at) => level(name, 9 - at)) },
      split_missing: { doc_count: 1, by },
    },
  });
  const split: Visualisation = { ...DEFAULT_VISUALISATION, split: { field: "log.level", size: 5 } };
  const namesOf = (...names: string[]) =>
    readSeries(split, answer(...names), "all", true).series.map(({ name }) => name);
  assert.deepEqual(namesOf("INFO", "error", "debug", "Warn"), [
    "(no value)",
    "debug",
    "INFO",
    "Warn",
    "error",
  ]);
  assert.deepEqual(namesOf("b", "error", "a"), ["b", "error", "a", "(no value)"]);
});

test("lines without the field and further values are shown as such, so that no line is left out", () => {
  const bucket = (key: number | string, doc_count: number, more: object = {}) => ({
    key,
    doc_count,
    ...more,
  });
  const times = (...counts: number[]): object => ({
    by: { buckets: counts.map((count, at) => bucket(at * 1_000, count)) },
  });
  const split: Visualisation = { ...DEFAULT_VISUALISATION, split: { field: "f", size: 1 } };
  const { aggs } = visualisationRequest(split, AROUND) as unknown as Aggregation;
  assert.deepEqual(Object.keys(aggs), ["by", "split", "split_missing"]);
  const answer = {
    hits: { total: 17 },
    aggregations: {
      ...times(10, 7),
      split: { buckets: [bucket("b", 6, times(4, 2))] },
      split_missing: { doc_count: 8, ...times(6, 2) },
    },
  };
  const data = readSeries(split, answer, "all", true);
  assert.deepEqual(
    data.series.map(({ name, part, values }) => [name, part, values]),
    [
      ["b", "value", [4, 2]],
      ["(no value)", "missing", [6, 2]],
      ["Others", "others", [undefined, 3]],
    ],
  );
  assert.deepEqual(groupSums(data), [10, 7]);
  const paths = {
    hits: { total: 9 },
    aggregations: {
      by: {
        buckets: [bucket("/a", 5, { split: { buckets: [bucket("x", 3)] }, split_missing: { doc_count: 0 } })],
      },
      by_missing: { doc_count: 4, split: { buckets: [] }, split_missing: { doc_count: 4 } },
    },
  };
  const byPath = readSeries(BY_PATH, paths, "all", true);
  assert.deepEqual(
    byPath.groups.map(({ label, part }) => [label, part]),
    [
      ["/a", "value"],
      ["(no value)", "missing"],
    ],
  );
  assert.deepEqual(groupSums(byPath), [5, 4]);
});

test("numbers that don't add up are neither summed nor parts of a whole", () => {
  const latency: Visualisation = { ...LATENCY, query: "" };
  const measured = (key: string, value: number) => ({
    key,
    doc_count: 1,
    by: { buckets: [{ key: 0, doc_count: 1, metric: { values: { "95.0": value } } }] },
  });
  const answer = {
    hits: { total: 2 },
    aggregations: { split: { buckets: [measured("a", 300), measured("b", 200)] } },
  };
  const data = readSeries(latency, answer, "took", true);
  assert.equal(data.isAdditive, false);
  assert.deepEqual(groupTops(data), [300]);
  assert.match(missingChoice({ ...latency, chart: "pie" })!, /parts of a whole/);
  assert.equal(
    missingChoice({ ...latency, chart: "pie", metric: { kind: "sum", field: "took" } }),
    undefined,
  );
});

test("groups of queries and of ranges have their names, in their order", () => {
  const asked = (by: Visualisation["by"]): Visualisation => ({ ...DEFAULT_VISUALISATION, by });
  const numbers = (...counts: number[]) => ({
    hits: { total: 9 },
    aggregations: { by: { buckets: counts.map((doc_count) => ({ key: "", doc_count })) } },
  });
  const queries = asked({ kind: "filters", queries: ["a:1", "b OR c"] });
  const ranges = asked({ kind: "ranges", field: "took", bounds: [100, 500] });
  const { by } = visualisationRequest(ranges, AROUND)["aggs"] as Record<string, { readonly range: unknown }>;
  assert.deepEqual(by!.range, {
    field: "took",
    ranges: [{ to: 100 }, { from: 100, to: 500 }, { from: 500 }],
  });
  for (const [shown, answer, labels] of [
    [queries, numbers(4, 5), ["a:1", "b OR c"]],
    [ranges, numbers(1, 2, 6), ["< 100", "100 – 500", "≥ 500"]],
  ] as const) {
    const { groups, series } = readSeries(shown, answer, "Lines", true);
    assert.deepEqual(
      groups.map(({ label }) => label),
      labels,
    );
    assert.deepEqual(
      series[0]!.values,
      answer.aggregations.by.buckets.map(({ doc_count }) => doc_count),
    );
  }
});
