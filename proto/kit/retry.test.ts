import assert from "node:assert/strict";
import { test } from "node:test";
import { Backoff } from "./retry.ts";

test("waits double up to the cap, each between half its ceiling and the ceiling", () => {
  const backoff = new Backoff({ firstMs: 50, capMs: 300 });
  for (const ceiling of [50, 100, 200, 300, 300]) {
    const wait = backoff.next();
    assert.ok(wait >= ceiling / 2 && wait <= ceiling, `${wait} for ${ceiling}`);
  }
  assert.equal(backoff.tries, 5);
});

test("a reset starts at the first wait again", () => {
  const backoff = new Backoff({ firstMs: 50, capMs: 60_000 });
  for (let tries = 0; tries < 8; tries++) backoff.next();
  backoff.reset();
  assert.equal(backoff.tries, 0);
  assert.ok(backoff.next() <= 50);
});

test("the wait stays at the cap however often it failed", () => {
  const backoff = new Backoff({ firstMs: 1, capMs: 1_000 });
  for (let tries = 0; tries < 5_000; tries++) assert.ok(backoff.next() <= 1_000);
});

test("waits of many that failed together spread out", () => {
  const waits = new Set(
    Array.from({ length: 50 }, () => new Backoff({ firstMs: 1_000, capMs: 1_000 }).next()),
  );
  assert.ok(waits.size > 40);
});
