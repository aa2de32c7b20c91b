import assert from "node:assert/strict";
import { test } from "node:test";
import { SlowBucket } from "#test/conformance/oauth/slow-bucket.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { Accounts } from "./accounts.ts";
import { Passwords } from "./passwords.ts";

const CHEAP = { N: 1024, r: 8, p: 1 };
/** Attempts with other turns of the event loop each. */
const ROUNDS = 30;

/** Returns the accounts of two hubs with one state. */
function twoHubs(bucket = new SlowBucket(new MemoryBucket())): [Accounts, Accounts] {
  const hub = (): Accounts =>
    new Accounts({ bucket, clock: new StillClock() }, new Passwords(CHEAP), () => undefined);
  return [hub(), hub()];
}

async function administrators(accounts: Accounts): Promise<string[]> {
  return (await accounts.list()).filter(({ role }) => role === "admin").map(({ name }) => name);
}

const LOSSES: [string, (accounts: Accounts, name: string) => Promise<unknown>][] = [
  ["removed", (accounts, name) => accounts.remove(name, "test")],
  ["demoted", (accounts, name) => accounts.setRole(name, "viewer", ["*"], "test")],
];

for (const [what, lose] of LOSSES)
  test(`of administrators that are ${what} on two hubs at once one is left`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const [one, other] = twoHubs();
      for (const name of ["ada", "bob", "cyd"]) await one.add({ name, role: "admin" }, "test");
      const losses = [lose(one, "ada"), lose(other, "bob"), lose(one, "cyd")];
      const codes = (await Promise.allSettled(losses)).flatMap((each) =>
        each.status === "rejected" ? [(each.reason as { code: string }).code] : [],
      );
      assert.deepEqual(codes, ["request_invalid"]);
      assert.equal((await administrators(one)).length, 1);
    }
  });

test("a change that a crash prevented keeps nobody from leaving, and one that is late fails", async () => {
  const bucket = new MemoryBucket();
  const [one, other] = twoHubs(new SlowBucket(bucket));
  for (const name of ["ada", "bob"]) await one.add({ name, role: "admin" }, "test");
  // The first change of an account after its announcement waits; the process that makes it might as well have died.
  const [isAnnounced, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const remove = bucket.delete.bind(bucket);
  bucket.delete = async (key, revision) => {
    bucket.delete = remove;
    isAnnounced.resolve();
    await mayGoOn.promise;
    return remove(key, revision);
  };
  const late = one.remove("ada", "test");
  await isAnnounced.promise;
  await other.remove("bob", "test");
  mayGoOn.resolve();
  await assert.rejects(late, { code: "request_invalid", message: /"ada" is the only administrator/ });
  assert.deepEqual(await administrators(one), ["ada"]);
});

test("an administrator who was demoted and promoted again counts", async () => {
  const [one] = twoHubs();
  for (const name of ["ada", "bob"]) await one.add({ name, role: "admin" }, "test");
  await one.setRole("ada", "viewer", ["*"], "test");
  await one.setRole("ada", "admin", ["*"], "test");
  await one.remove("bob", "test");
  assert.deepEqual(await administrators(one), ["ada"]);
  await assert.rejects(one.remove("ada", "test"), { code: "request_invalid" });
});

test("names of accounts that may not administer aren't looked up", async () => {
  const bucket = new MemoryBucket();
  const [one] = twoHubs(new SlowBucket(bucket));
  for (const name of ["v1", "v2", "v3", "v4"]) await one.add({ name, role: "viewer" }, "test");
  for (const name of ["ada", "bob", "cyd"]) await one.add({ name, role: "admin" }, "test");
  const get = bucket.get.bind(bucket);
  const read: string[] = [];
  bucket.get = (key) => {
    if (key.startsWith("account-name.")) read.push(key);
    return get(key);
  };
  assert.equal(await one.lackAdministrator(), false);
  assert.equal(read.length, 1, "the first administrator is enough");
  read.length = 0;
  await one.setRole("ada", "viewer", ["*"], "test");
  assert.equal(new Set(read).size, 3, "the account's own name, and those of two others");
});
