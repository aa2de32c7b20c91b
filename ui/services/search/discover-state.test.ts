import assert from "node:assert/strict";
import { test } from "node:test";
import { formatRoute, parseRoute } from "#ui/services/browser/router.ts";
import {
  addFilter,
  DEFAULT_STATE,
  type DiscoverState,
  readState,
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
