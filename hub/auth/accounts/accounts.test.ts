import assert from "node:assert/strict";
import { test } from "node:test";
import { SlowBucket } from "#test/conformance/oauth/slow-bucket.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { Accounts } from "./accounts.ts";
import { Passwords } from "./passwords.ts";
import type { Role } from "./principal.ts";

const ROUNDS = 30;

function accountsIn(bucket: MemoryBucket): Accounts {
  const passwords = new Passwords({ N: 1024, r: 8, p: 1 });
  return new Accounts(
    { bucket: new SlowBucket(bucket), clock: new StillClock() },
    passwords,
    () => undefined,
  );
}

/** Returns accounts with "bob", whose removal has failed after its first step, and his id. */
async function halfRemoved(bucket: MemoryBucket): Promise<{ accounts: Accounts; id: string }> {
  const accounts = accountsIn(bucket);
  const { id } = await accounts.ofUpstream("issuer|bob", "bob", "viewer");
  const remove = bucket.delete.bind(bucket);
  let count = 0;
  bucket.delete = (key, revision) =>
    ++count === 1 ? remove(key, revision) : Promise.reject(new Error("no answer"));
  await assert.rejects(accounts.remove("bob", "test"), /no answer/);
  bucket.delete = remove;
  assert.equal(await accounts.get(id), null);
  return { accounts, id };
}

test("a removal that failed halfway can be repeated", async () => {
  const bucket = new MemoryBucket();
  const { accounts, id } = await halfRemoved(bucket);
  assert.deepEqual(await accounts.remove("bob", "test"), { id });
  assert.equal(await accounts.empty(), true);
  await assert.rejects(accounts.remove("bob", "test"), { code: "not_found" });
});

const TAKERS: [string, (accounts: Accounts) => Promise<unknown>][] = [
  ["a new account", (accounts) => accounts.add({ name: "Bob", role: "viewer" }, "test")],
  ["a person of another provider", (accounts) => accounts.ofUpstream("issuer|bob", "bob", "viewer")],
];
for (const [who, take] of TAKERS)
  test(`${who} can take the name of an account whose removal failed halfway`, async () => {
    const { accounts, id } = await halfRemoved(new MemoryBucket());
    await take(accounts);
    const found = await accounts.find("bob");
    assert.ok(found !== null && found.id !== id);
  });

test("of several accounts that take a name at once one gets it, and the others leave nothing", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { accounts } = await halfRemoved(new MemoryBucket());
    const adding = [1, 2, 3].map(() => accounts.add({ name: "bob", role: "viewer" }, "test"));
    const added = (await Promise.allSettled(adding)).flatMap((each) =>
      each.status === "fulfilled" ? [each.value] : [],
    );
    assert.equal(added.length, 1);
    assert.deepEqual(await accounts.list(), added);
    assert.equal((await accounts.find("bob"))?.id, added[0]?.id);
  }
});

/** Lets each call with a name's record fail. */
async function withoutNames(bucket: MemoryBucket, run: () => Promise<void>): Promise<void> {
  const create = bucket.create.bind(bucket);
  bucket.create = (key, value) =>
    key.startsWith("account-name.") ? Promise.reject(new Error("no answer")) : create(key, value);
  await run();
  bucket.create = create;
}

test("an account that failed to get its name leaves nothing", async () => {
  const bucket = new MemoryBucket();
  const accounts = accountsIn(bucket);
  await withoutNames(bucket, async () => {
    await assert.rejects(accounts.add({ name: "bob", role: "viewer" }, "test"), /no answer/);
  });
  assert.deepEqual(await bucket.keys(), []);
});

/** Adds an account as a hub that dies before it gives the account its name. */
async function addNameless(bucket: MemoryBucket, name: string, role: Role): Promise<void> {
  const remove = bucket.delete.bind(bucket);
  bucket.delete = () => Promise.reject(new Error("no hub"));
  await withoutNames(bucket, async () => {
    await assert.rejects(accountsIn(bucket).add({ name, role }, "test"), /no hub/);
  });
  bucket.delete = remove;
}

test("an account that never got its name, as of a hub that died, can be removed", async () => {
  const bucket = new MemoryBucket();
  const accounts = accountsIn(bucket);
  await addNameless(bucket, "bob", "viewer");
  assert.equal((await accounts.list()).length, 1);
  await accounts.remove("bob", "test");
  assert.deepEqual(await bucket.keys(), []);
});

test("an administrator that never got its name is none", async () => {
  const bucket = new MemoryBucket();
  const accounts = accountsIn(bucket);
  await addNameless(bucket, "bob", "admin");
  assert.equal(await accounts.lackAdministrator(), false, "there is no account at all");
  await accounts.add({ name: "vera", role: "viewer" }, "test");
  assert.equal(await accounts.lackAdministrator(), true);
  await accounts.add({ name: "ada", role: "admin" }, "test");
  for (const lose of [
    () => accounts.remove("ada", "test"),
    () => accounts.setRole("ada", "viewer", ["*"], "test"),
  ])
    await assert.rejects(lose, { code: "request_invalid", message: /only administrator/ });
});
