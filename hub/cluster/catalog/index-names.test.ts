import assert from "node:assert/strict";
import { test } from "node:test";
import { decodeDateMath } from "./date-math-name.ts";
import {
  checkIndexName,
  denotingNames,
  type NamedIndex,
  type ResolveOptions,
  resolveIndices,
} from "./index-names.ts";

for (const [name, why] of [
  ["", "'.' or '..'"],
  ["..", "'.' or '..'"],
  ["Logs", "lowercase"],
  ["a b", "following characters"],
  ["a*", "following characters"],
  ["a#b", "#"],
  ["_a", "start with"],
  ["-a", "start with"],
  ["x".repeat(256), "too long"],
  ["é".repeat(120), "counts for three"],
  ["\ud800", "well-formed Unicode"],
] as const) {
  test(`the index name ${JSON.stringify(name.slice(0, 8))} is refused: ${why}`, () => {
    assert.throws(() => checkIndexName(name), {
      code: "index_name_invalid",
      message: new RegExp(why.replaceAll(".", "\\.")),
    });
  });
}

test("usual index names are taken", () => {
  for (const name of ["logs-2026.11.21", "a", "müll", ".hidden", "a:b"]) checkIndexName(name);
});

const indices = new Map<string, NamedIndex>(
  [
    { name: "a1", aliases: { all: {} }, state: "open" as const },
    { name: "a2", aliases: { all: {} }, state: "open" as const },
    { name: "b", aliases: {}, state: "close" as const },
  ].map((index) => [index.name, index]),
);

for (const [expression, names] of [
  [undefined, ["a1", "a2"]],
  ["_all", ["a1", "a2"]],
  ["a*", ["a1", "a2"]],
  ["*,-a1", ["a2"]],
  ["all", ["a1", "a2"]],
  ["b,a1", ["a1", "b"]],
  ["z*", []],
] as const) {
  test(`the expression ${expression} means ${names.join(", ") || "no index"}`, () => {
    assert.deepEqual(
      resolveIndices(indices, expression, {}).map(({ name }) => name),
      names,
    );
  });
}

const hidden = new Map<string, NamedIndex>(
  [
    { name: "h1", aliases: { quiet: { is_hidden: true } } },
    { name: "h2", aliases: { ".quiet": { is_hidden: true } } },
    { name: "h3", aliases: { loud: {} } },
  ].map((index) => [index.name, { ...index, state: "open" as const, settings: { raw: { hidden: true } } }]),
);

for (const [expression, expandHidden, names] of [
  ["q*", false, []],
  ["*", false, ["h3"]],
  ["q*", true, ["h1"]],
  [".*", false, ["h2"]],
  ["quiet", false, ["h1"]],
] as const) {
  test(`${expression} means ${names.join(", ") || "nothing"} of hidden indices, ${expandHidden ? "" : "not "}expanded to them`, () => {
    assert.deepEqual(
      resolveIndices(hidden, expression, { expandHidden }).map(({ name }) => name),
      names,
    );
  });
}

test("a missing name is an error unless it may be missing", () => {
  assert.throws(() => resolveIndices(indices, "a1,gone", {}), { code: "index_missing" });
  assert.throws(() => resolveIndices(indices, "z*", { allowNoIndices: false }), { code: "index_missing" });
  assert.equal(resolveIndices(indices, "a1,gone", { ignoreUnavailable: true }).length, 1);
});

test("date math names mean the day in UTC", () => {
  const now = new Date("2026-11-21T01:02:03Z");
  assert.equal(decodeDateMath("<logs-{now/d}>", now), "logs-2026.11.21");
  assert.equal(decodeDateMath("<logs-{now/M-1M{yyyy.MM}}>", now), "logs-2026.10");
  assert.throws(() => decodeDateMath("<logs-{tomorrow}>", now), { code: "request_invalid" });
});

test("date math names know zones, and dates that documents name", () => {
  const late = new Date("2026-11-21T23:30:00Z");
  assert.equal(decodeDateMath("<logs-{now/d{yyyy.MM.dd|+12:00}}>", late), "logs-2026.11.22");
  assert.equal(decodeDateMath("<logs-{now/d{yyyy-MM-dd|Europe/Berlin}}>", late), "logs-2026-11-22");
  assert.equal(decodeDateMath("<events-{2016-04-22||/d{yyyy-MM-dd|UTC}}>", late), "events-2016-04-22");
  assert.equal(decodeDateMath("<e-{2016-04-22||/M{yyyy-MM-dd|+01:00}}>", late), "e-2016-04-01");
  assert.equal(decodeDateMath("<e-{2016.04.22||-1d}-x>", late), "e-2016.04.21-x");
  assert.equal(decodeDateMath("<e-{now/w{xxxx.ww}}>", late), "e-2026.47");
  const faults = [
    "<e-{2016-04-22||/d}>",
    "<e-{x||/d}>",
    "<e-{now/d{yyyy|Mars}}>",
    "<e-{now/d{yyyy-QQ}}>",
    "<e-{now+999999999y{e}}>",
    "<e-{now>",
    `<e-{now{${"E-MMM-".repeat(200)}}}>`,
  ];
  for (const each of faults)
    assert.throws(() => decodeDateMath(each, late), { code: "request_invalid" }, each);
});

test("a month without the day of another one ends earlier", () => {
  const march = new Date("2026-03-31T12:00:00Z");
  assert.equal(decodeDateMath("<logs-{now-1M{yyyy.MM}}>", march), "logs-2026.02");
  assert.equal(decodeDateMath("<logs-{now-1M/d}>", march), "logs-2026.02.28");
  assert.equal(decodeDateMath("<logs-{now-1y}>", new Date("2028-02-29T12:00:00Z")), "logs-2027.02.28");
});

test("hours of date math are those that pass, also where the clock is set", () => {
  // 03:30, and an hour before it was 01:30.
  const summer = new Date("2026-03-29T01:30:00Z");
  assert.equal(decodeDateMath("<e-{now-1h{HH|Europe/Berlin}}>", summer), "e-01");
  // 02:30 for the second time.
  const winter = new Date("2026-10-25T01:30:00Z");
  assert.equal(decodeDateMath("<e-{now-1h{HH|Europe/Berlin}}>", winter), "e-02");
  assert.equal(decodeDateMath("<e-{now-1d{dd.HH|Europe/Berlin}}>", winter), "e-24.02");
});

test("names may have braces, and dates no year or one in the letters of java.time", () => {
  const now = new Date("2026-11-21T09:15:00Z");
  assert.equal(decodeDateMath("<e\\{on\\}-{now/M}>", now), "e{on}-2026.11.01");
  assert.equal(decodeDateMath("<e-{02-29||/d{MM-dd}}>", now), "e-02-29");
  assert.equal(decodeDateMath("<e-{2016-04||/M{uuuu-MM|UTC}}>", now), "e-2016-04");
});

const denoted: NamedIndex = {
  name: "logs-1",
  aliases: { few: {}, all: { is_hidden: true }, [decodeDateMath("<today-{now/d}>")]: {} },
  state: "open",
  settings: { raw: { hidden: true } },
};

const DENOTING: readonly (readonly [string | undefined, ResolveOptions, string[]])[] = [
  ["f*", {}, ["few"]],
  ["few,all", {}, ["all", "few"]],
  ["*l*,few", {}, ["few"]],
  ["*l*,few", { expandHidden: true }, ["all", "few", "logs-1"]],
  ["*,-few", { expandHidden: true }, ["all", "logs-1", "today"]],
  ["<today-{now/d}>", {}, ["today"]],
  ["_all", {}, ["few", "today"]],
  [undefined, {}, ["few", "today"]],
  ["other,few", {}, ["few"]],
  ["f*", { expandWildcards: "closed" }, []],
  ["f*,logs-1", { concreteOnly: true }, ["logs-1"]],
];

for (const [expression, options, names] of DENOTING) {
  test(`${expression} with ${JSON.stringify(options)} denotes an index by ${names.join(", ") || "no name"}`, () => {
    const found = [...denotingNames(denoted, expression, options)];
    assert.deepEqual(found.map((name) => name.replace(/^today-.*/, "today")).sort(), names);
  });
}
