import assert from "node:assert/strict";
import { test } from "node:test";
import { setNewest } from "./newest-entries.ts";

test("beyond the limit the oldest entry goes", () => {
  const map = new Map<string, number>();
  for (const [key, value] of [
    ["a", 1],
    ["b", 2],
    ["c", 3],
  ] as const)
    setNewest(map, key, value, 2);
  assert.deepEqual(
    [...map],
    [
      ["b", 2],
      ["c", 3],
    ],
  );
});

test("an entry that is set again is the newest, and none goes for it", () => {
  const map = new Map([
    ["a", 1],
    ["b", 2],
  ]);
  setNewest(map, "a", 3, 2);
  assert.deepEqual(
    [...map],
    [
      ["b", 2],
      ["a", 3],
    ],
  );
  setNewest(map, "c", 4, 2);
  assert.deepEqual([...map.keys()], ["a", "c"]);
});
