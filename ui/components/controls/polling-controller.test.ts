import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import type { ReactiveControllerHost } from "lit";
import { Refreshing } from "./polling-controller.ts";

const HOUR_MS = 3_600_000;

/** Questions that are answered when the test says so, in the order they were asked. */
let asked: PromiseWithResolvers<string>[];
let refreshing: Refreshing<string>;

beforeEach(() => {
  const listener = { addEventListener: () => undefined, removeEventListener: () => undefined };
  Object.assign(globalThis, { document: { ...listener, hidden: true }, ...listener });
  asked = [];
  const host = { addController: () => undefined, requestUpdate: () => undefined };
  const ask = (): Promise<string> => {
    const question = Promise.withResolvers<string>();
    asked.push(question);
    return question.promise;
  };
  refreshing = new Refreshing(host as unknown as ReactiveControllerHost, ask, HOUR_MS);
  refreshing.hostConnected();
});

afterEach(() => refreshing.hostDisconnected());

test("an answer that comes after that to a later question isn't shown", async () => {
  const later = refreshing.refresh();
  asked[1]!.resolve("new");
  await later;
  asked[0]!.resolve("old");
  await Promise.resolve();
  assert.equal(refreshing.value, "new");
});

test("work waits for the work before, and finds what that has made", async () => {
  const found: (string | undefined)[] = [];
  const work = (): Promise<void> => Promise.resolve(void found.push(refreshing.value));
  asked[0]!.resolve("one");
  await Promise.resolve();
  const done = [refreshing.attempt(work), refreshing.attempt(work)];
  while (asked.length < 2) await Promise.resolve();
  asked[1]!.resolve("two");
  while (asked.length < 3) await Promise.resolve();
  asked[2]!.resolve("three");
  assert.deepEqual(await Promise.all(done), [true, true]);
  assert.deepEqual(found, ["one", "two"]);
});
