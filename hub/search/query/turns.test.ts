import assert from "node:assert/strict";
import { test } from "node:test";
import { nextTurn } from "./turns.ts";

test("searches that paused continue in their order, one in each turn of the event loop", async () => {
  const events: string[] = [];
  const search = async (name: string): Promise<void> => {
    for (let slice = 0; slice < 3; slice++) {
      await nextTurn();
      events.push(name);
    }
  };
  let isOver = false;
  const others = (): void => {
    if (isOver) return;
    events.push("-");
    setImmediate(others);
  };
  const searches = Promise.all(["a", "b", "c"].map(search));
  setImmediate(others);
  await searches;
  isOver = true;
  assert.equal(events.filter((each) => each !== "-").join(""), "abcabcabc");
  assert.match(events.join(""), /^(?:\w-)+\w-?$/, "other work comes between any two slices");
});

test("a search that pauses alone continues", async () => {
  for (let times = 0; times < 3; times++) await nextTurn();
});
