import assert from "node:assert/strict";
import { test } from "node:test";
import { formatRoute, parseRoute } from "#ui/services/browser/router.ts";
import {
  addFilter,
  DEFAULT_STATE,
  type DiscoverState,
  filterGroups,
  readFilter,
  readState,
  replaceFilter,
  toQueryText,
  writeState,
} from "./discover-state.ts";

const STATES: readonly (readonly [string, Partial<DiscoverState>])[] = [
  ["#/discover", {}],
  ["#/discover?q=error+%26+%22x%22", { query: 'error & "x"' }],
  ["#/discover?index=audit,logs-2026*", { index: "audit,logs-2026*" }],
  ["#/discover?from=now-1h", { range: { from: "now-1h", to: "now" } }],
  [
    "#/discover?from=2026-01-01T00:00:00.000Z&to=2026-01-02T00:00:00.000Z",
    { range: { from: "2026-01-01T00:00:00.000Z", to: "2026-01-02T00:00:00.000Z" } },
  ],
  [
    "#/discover?f=host.name:web:1&f=%7E-a%5C:b:c&f=tags",
    {
      filters: [
        { field: "host.name", value: "web:1", exclude: false, disabled: false },
        { field: "a:b", value: "c", exclude: true, disabled: true },
        { field: "tags", value: undefined, exclude: false, disabled: false },
      ],
    },
  ],
  [
    "#/discover?cols=host.name,message&refresh=30&tz=utc",
    { columns: ["host.name", "message"], refreshSeconds: 30, isUtc: true },
  ],
  [
    "#/discover?f=a:1&f=%7C-b:2",
    {
      filters: [
        { field: "a", value: "1", exclude: false, disabled: false },
        { field: "b", value: "2", exclude: true, disabled: false, isOr: true },
      ],
    },
  ],
  ["#/discover?view=patterns&step=30s&scale=log", { view: "patterns", step: "30s", isLog: true }],
];

test("a state goes into the address and comes back, defaults left out", () => {
  for (const [hash, change] of STATES) {
    const state = { ...DEFAULT_STATE, ...change };
    const written = formatRoute({ page: "discover", parameters: writeState(state) });
    assert.equal(written, hash);
    assert.deepEqual(readState(parseRoute(hash).parameters), state, hash);
  }
});

test("what an address says wrongly is the default", () => {
  const state = readState(new URLSearchParams("refresh=-1&tz=moon&f=&cols=,,&from=&index="));
  assert.deepEqual(state, DEFAULT_STATE);
});

test("a page without a name is the home page", () => {
  for (const hash of ["", "#", "#/", "#/discover/"]) assert.equal(parseRoute(hash).page, "discover");
  assert.equal(parseRoute("#/nowhere?x=1").page, "nowhere");
  assert.equal(parseRoute("#/live?q=a%3Fb").parameters.get("q"), "a?b");
});

test("a filter by the same field and value is replaced", () => {
  const filter = { field: "host", value: "a", exclude: false, disabled: false };
  assert.deepEqual(addFilter([filter], { ...filter, exclude: true }), [{ ...filter, exclude: true }]);
  assert.equal(addFilter([filter], { ...filter, value: "b" }).length, 2);
});

test("filters become a part of a live query", () => {
  const filter = { field: "host", value: 'say "hi"', exclude: false, disabled: false };
  assert.equal(toQueryText("", []), "");
  assert.equal(toQueryText("a OR b", []), "a OR b");
  assert.equal(toQueryText("a OR b", [filter]), '(a OR b) AND host:"say \\"hi\\""');
  assert.equal(toQueryText("", [{ ...filter, value: undefined, exclude: true }]), "NOT host:*");
  assert.equal(toQueryText("", [{ ...filter, disabled: true }]), "");
});

const filtersOf = (text: string) => text.split(" ").flatMap(readFilter);

test("filters that are joined by or are one group, of which those that are off aren't part", () => {
  const groupsOf = (text: string): string =>
    filterGroups(filtersOf(text))
      .map((group) => group.map(({ field }) => field).join("|"))
      .join(" ");
  assert.equal(groupsOf("a:1 b:1 c:1"), "a b c");
  assert.equal(groupsOf("a:1 |b:1 c:1"), "a|b c");
  assert.equal(groupsOf("|a:1 ~|b:1 |~c:1 |d:1"), "a d");
  assert.equal(groupsOf("~a:1 |~b:1"), "");
  assert.equal(toQueryText("x", filtersOf("a:1 |-b:2 c:3")), '(x) AND (a:"1" OR (NOT b:"2")) AND c:"3"');
});

test("what was joined to a removed filter is joined to no other one", () => {
  const without = (text: string, at: number): string =>
    replaceFilter(filtersOf(text), at)
      .map(({ field, isOr = false }) => `${isOr ? "|" : ""}${field}`)
      .join(" ");
  assert.equal(without("a:1 b:1 |c:1", 1), "a c");
  assert.equal(without("a:1 |b:1 |c:1", 1), "a |c");
  assert.equal(without("a:1 |b:1", 0), "b");
  const again = addFilter(filtersOf("a:1 b:1 |c:1"), filtersOf("-b:1")[0]!);
  assert.deepEqual(
    again.map(({ field, isOr = false }) => [field, isOr]),
    [
      ["a", false],
      ["c", false],
      ["b", false],
    ],
  );
});
