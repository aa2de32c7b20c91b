import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { KnownRecords } from "#hub/auth/state/known-records.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { StateAdapter } from "./adapter.ts";
import { SignInTokens, TokenFamilies } from "./tokens.ts";

test("a grant that is being stored can be revoked by its owner afterwards, whoever revokes meanwhile", async () => {
  const bucket = new MemoryBucket();
  const store = { bucket, clock: new StillClock() };
  const families = new TokenFamilies(store);
  const grants = new StateAdapter("Grant", {
    store,
    families,
    signInTokens: new SignInTokens(),
    known: new KnownRecords(store.clock),
    audit: () => undefined,
    accounts: { get: () => Promise.resolve(null) },
    findClient: () => Promise.resolve(undefined),
  });
  // The log is slow to take the grant itself.
  const isSlow = Promise.withResolvers<void>();
  const put = bucket.put.bind(bucket);
  bucket.put = async (key, value) => {
    if (key.startsWith("oauth.Grant.")) await isSlow.promise;
    return put(key, value);
  };
  const stored = grants.upsert("g", { accountId: "ann", clientId: "app" }, 60);
  await turn();
  await families.endOf("ann");
  isSlow.resolve();
  await stored;
  assert.notEqual(await families.grant("g"), null);
  await families.endOf("ann");
  assert.equal(await families.grant("g"), null);
});
