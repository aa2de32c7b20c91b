import assert from "node:assert/strict";
import { test } from "node:test";
import { Records } from "#hub/auth/state/records.ts";
import { hashOf } from "#hub/auth/state/secrets.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { BrowserSessions, SESSION_BY_UID, SESSION_MODEL } from "./browser-sessions.ts";

test("a session whose end failed can be ended by its name again", async () => {
  const bucket = new MemoryBucket();
  const store = { bucket, clock: new StillClock() };
  const sessions = new Records<{ uid: string }>(store, SESSION_MODEL);
  const key = hashOf("secret");
  await sessions.put(key, { uid: "u" });
  await new Records<{ key: string }>(store, SESSION_BY_UID).put(hashOf("u"), { key });
  const remove = bucket.delete.bind(bucket);
  bucket.delete = (name, revision) =>
    name.startsWith(`${SESSION_MODEL}.`) ? Promise.reject(new Error("no answer")) : remove(name, revision);
  const browsers = new BrowserSessions(store);
  await assert.rejects(browsers.endNamed(hashOf("u")), /no answer/);
  bucket.delete = remove;
  await browsers.endNamed(hashOf("u"));
  assert.equal(await sessions.get(key), null);
  assert.deepEqual(await bucket.keys(), []);
});
