import assert from "node:assert/strict";
import { afterEach, test } from "node:test";
import type { FieldFilter } from "./discover-state.ts";
import { isPinned, pinnedAddress, pinnedFilters, togglePinned } from "./pinned-filters.ts";

const stored = new Map<string, string>();
Object.defineProperty(globalThis, "localStorage", {
  configurable: true,
  value: {
    getItem: (name: string) => stored.get(name) ?? null,
    setItem: (name: string, value: string) => void stored.set(name, value),
    removeItem: (name: string) => void stored.delete(name),
  },
});
afterEach(() => stored.clear());

const filter = (field: string, change: Partial<FieldFilter> = {}): FieldFilter => ({
  field,
  value: "a:b",
  exclude: false,
  disabled: false,
  ...change,
});

test("a pinned filter is put into a new search alone, until it is let go", () => {
  togglePinned(filter("service", { exclude: true, disabled: true }));
  togglePinned(filter("host.name"));
  assert.ok(isPinned(filter("service", { exclude: true })));
  assert.ok(!isPinned(filter("service")));
  assert.equal(
    pinnedAddress(new URLSearchParams(), false)?.toString(),
    "f=-service%3Aa%3Ab&f=host.name%3Aa%3Ab",
  );
  assert.equal(pinnedAddress(new URLSearchParams("q=x"), false), undefined);
  togglePinned(filter("service", { exclude: true }));
  assert.deepEqual(pinnedFilters(), [filter("host.name")]);
});

test("a pinned filter that is removed from a search isn't put into it again", () => {
  togglePinned(filter("service"));
  assert.equal(pinnedAddress(new URLSearchParams(), true), undefined);
});

test("what isn't a list of filters is none, and there is a limit", () => {
  stored.set("tailrace.discover.pinned", "{");
  assert.deepEqual(pinnedFilters(), []);
  stored.set("tailrace.discover.pinned", "[1, null]");
  assert.equal(pinnedAddress(new URLSearchParams(), false), undefined);
  for (let at = 0; at < 25; at++) togglePinned(filter(`f${at}`));
  assert.deepEqual([pinnedFilters().length, pinnedFilters()[0]?.field], [20, "f5"]);
});
