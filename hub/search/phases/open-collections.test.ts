import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Metrics } from "#proto/kit/metrics.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import type { Collection } from "./collect.ts";
import { OpenCollections } from "./open-collections.ts";

const COLLECTION = {} as Collection;

suite("open collections", () => {
  test("are closed once, by their id", () => {
    const open = new OpenCollections(new Metrics(), new StillClock());
    let closed = 0;
    const id = open.open(COLLECTION, () => closed++);
    assert.equal(open.get(id), COLLECTION);
    open.close(id);
    open.close(id);
    assert.equal(closed, 1);
    assert.throws(() => open.get(id), { code: "unavailable" });
    open.stop();
  });

  test("are closed after 30 s, and when the host stops", async () => {
    const clock = new StillClock();
    const open = new OpenCollections(new Metrics(), clock);
    const closed: string[] = [];
    const first = open.open(COLLECTION, () => closed.push("first"));
    await clock.advance(31_000);
    open.open(COLLECTION, () => closed.push("second"));
    assert.deepEqual(closed, ["first"]);
    assert.throws(() => open.get(first), { code: "unavailable" });
    open.stop();
    assert.deepEqual(closed, ["first", "second"]);
  });

  test("are limited in number: a further one is closed and refused", () => {
    const open = new OpenCollections(new Metrics(), new StillClock());
    let closed = 0;
    assert.throws(
      () => {
        for (;;) open.open(COLLECTION, () => closed++);
      },
      { code: "overloaded" },
    );
    assert.equal(closed, 1);
    open.stop();
    assert.equal(closed, 513);
  });
});
