import assert from "node:assert/strict";
import { test } from "node:test";
import { AppError } from "./errors.ts";
import { FairShares } from "./fair-shares.ts";

/** Takes one after the other for an owner until that is refused; returns how many it got. */
function takeAll(shares: FairShares, owner: string): number {
  for (let count = 0; ; count++) {
    try {
      shares.take(owner);
    } catch (error) {
      assert.ok(error instanceof AppError && error.status === 429 && error.data["retryAfterSeconds"] === 1);
      return count;
    }
  }
}

const shares = (limit: number): FairShares =>
  new FairShares({ limit, what: "points in time are open", remedy: "close some" });

test("one owner gets half, and each who comes later half of the rest", () => {
  const all = shares(500);
  assert.equal(takeAll(all, "ann"), 250);
  assert.equal(takeAll(all, "bob"), 125);
  assert.equal(takeAll(all, "cid"), 62);
  assert.equal(takeAll(all, "ann"), 0);
});

test("who stands for everybody may take all", () => {
  const all = new FairShares({ limit: 500, what: "points", remedy: "close some", everybody: "all" });
  assert.equal(takeAll(all, "all"), 500);
});

test("what an owner gives back serves the others", () => {
  const all = shares(100);
  const [ann, bob] = [takeAll(all, "ann"), takeAll(all, "bob")];
  for (let count = 0; count < ann; count++) all.give("ann");
  assert.equal(all.heldBy("ann"), 0);
  assert.equal(bob + takeAll(all, "bob"), 50);
  for (let count = 0; count < 50; count++) all.give("bob");
  assert.deepEqual([all.taken, all.owners, all.refused], [0, 0, 3]);
});

test("an amount that fits is taken by who holds nothing, and none is taken beyond the limit", () => {
  const all = shares(100);
  all.take("ann", 90);
  assert.throws(
    () => all.take("ann", 1),
    /90 points in time are open for you, of 100 for all users; close some/,
  );
  all.take("bob", 10);
  assert.throws(() => all.take("cid", 1), /100 points in time are open, of 100/);
});
