import assert from "node:assert/strict";
import { test } from "node:test";
import type { Clock } from "#proto/kit/clock.ts";
import type { Finding } from "./check-output.ts";
import { waitForAdmission } from "./key-admission.ts";

const ADMITTED: Finding = { target: "nats://hub", ok: true, isReached: true, text: "connected" };
const REFUSED: Finding = { target: "nats://hub", ok: false, isReached: true, text: "refused" };
const UNREACHED: Finding = { target: "nats://far", ok: false, isReached: false, text: "no answer" };

/** A clock whose sleeps pass at once. */
function quickClock(): Clock {
  let nowMs = 0;
  return {
    now: () => nowMs,
    monotonic: () => nowMs,
    sleep: async (ms) => {
      nowMs += ms;
    },
  };
}

test("an enrolment waits until a server admits the key", async () => {
  const answers = [[REFUSED], [UNREACHED, REFUSED], [UNREACHED, ADMITTED]];
  assert.equal(await waitForAdmission(async () => answers.shift()!, quickClock()), "");
  assert.deepEqual(answers, []);
});

test("servers that can't be reached are named and not waited for", async () => {
  let asked = 0;
  const text = await waitForAdmission(() => {
    asked++;
    return Promise.resolve([UNREACHED]);
  }, quickClock());
  assert.match(text, /cannot reach the hub's log from here yet: nats:\/\/far: no answer/);
  assert.equal(asked, 1);
});

test("a key that no server admits is an error that names the server", async () => {
  await assert.rejects(
    waitForAdmission(() => Promise.resolve([REFUSED]), quickClock()),
    { code: "unavailable", message: /nats:\/\/hub does not admit the key: refused/ },
  );
});
