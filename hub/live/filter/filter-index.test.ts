import assert from "node:assert/strict";
import { test } from "node:test";
import { EventDocument } from "./event-document.ts";
import { compileFilter } from "./filter.ts";
import { FilterIndex } from "./filter-index.ts";

function document(value: unknown): EventDocument {
  const source = new TextEncoder().encode(JSON.stringify(value));
  return new EventDocument({ index: "logs", id: "1", timestampMs: 0, source });
}

const VALUES: readonly unknown[] = [
  { message: "GET /Shop/item", log: { level: "error" }, "host.name": "web-1" },
  { message: "größe", log: { level: "ERROR" }, host: { name: "web-12" } },
  { message: "Kelvin \u212A and ſtone", tags: ["edge", "Beta User"], code: 500 },
  { message: "a", code: "500", host: { name: "10.0.0.1" }, log: { level: "warn" } },
  { message: "abc", path: "/var/log/shop/app.log", log: { level: ["info", "error"] } },
  { message: "x".repeat(5_000), code: 5e2, "log.level": "errors" },
  { message: 'tab\tand "quote"', path: "/var/logs", tags: "größe", level: "\u212Aelvin" },
];

const FILTERS = [
  "shop",
  "get",
  "item",
  "abc",
  "xxx",
  "größe",
  "stone",
  "kelvin",
  "and",
  "op/it",
  "ab",
  "",
  "log.level:error",
  "log.level:err*",
  "log.level:(error OR warn)",
  "log.level:error OR warn",
  "host.name:web-1",
  "host.name:web",
  "host.name:10.0.0.1",
  "host.name:we?-1",
  "code:500",
  "code:50",
  'tags:"beta user"',
  "tags:edge AND stone",
  "tags:größe",
  "path:/var/log",
  "path:log",
  "level:kelvin",
  "NOT log.level:error",
  "log.level:error AND NOT shop",
  "_exists_:tags",
  "code:[400 TO 600]",
  "message:shop",
  "log.level:info AND log.level:error",
  "tags:-",
  "host.name:web AND (log.level:error OR code:500)",
];

/** Returns the filters an index finds for an event, each as often as it does. */
function found(index: FilterIndex<string>, value: unknown): string[] {
  const queries: string[] = [];
  index.forEachMatch(document(value), (query) => queries.push(query));
  return queries.toSorted();
}

test("an index finds just the filters that match, each once, whatever is in it besides", () => {
  const all = FILTERS.map((query) => ({ query, filter: compileFilter(query, []) }));
  const index = new FilterIndex<string>();
  for (const { query, filter } of all) index.add(query, filter);
  for (const value of VALUES) {
    const expected = all.filter(({ filter }) => filter.matches(document(value))).map(({ query }) => query);
    assert.deepEqual(found(index, value), expected.toSorted(), JSON.stringify(value).slice(0, 100));
    for (const { query, filter } of all) {
      const alone = new FilterIndex<string>();
      alone.add(query, filter);
      assert.equal(found(alone, value).length, expected.includes(query) ? 1 : 0, `filter: ${query}`);
    }
  }
});

test("a filter that was removed isn't found again", () => {
  const index = new FilterIndex<string>();
  for (const query of FILTERS) index.add(query, compileFilter(query, []));
  for (const query of FILTERS) {
    index.delete(query);
    index.delete(query);
  }
  for (const value of VALUES) assert.deepEqual(found(index, value), []);
});

test("an event is only decoded where it holds what a word needs", () => {
  const index = new FilterIndex<string>();
  index.add("errors", compileFilter("log.level:error", []));
  const quiet = document({ message: "all is well", log: { level: "info" } });
  index.forEachMatch(quiet, () => assert.fail("it doesn't match"));
  assert.equal(quiet.isDecoded, false);
});

test("of a thousand filters by a field's value an event asks those of its value alone", () => {
  const index = new FilterIndex<number>();
  let asked = 0;
  for (let number = 0; number < 1_000; number++) {
    const filter = compileFilter(`customer:c${number}x`, []);
    const matches = (event: EventDocument): boolean => {
      asked += 1;
      return filter.matches(event);
    };
    index.add(number, { ...filter, matches });
  }
  const taken: number[] = [];
  index.forEachMatch(document({ customer: "c77x", message: "c78x c79x" }), (number) => taken.push(number));
  assert.deepEqual(taken, [77]);
  assert.equal(asked, 1);
});
