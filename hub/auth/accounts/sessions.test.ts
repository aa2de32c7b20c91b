import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { Records } from "#hub/auth/state/records.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import type { Account, Accounts } from "./accounts.ts";
import { Sessions } from "./sessions.ts";

const LIFE = { idleMs: 1_000_000, absoluteMs: 10_000_000 };

/** Counts reads, and how many of them were under way at once. */
class CountedBucket extends MemoryBucket {
  reads = 0;
  atOnce = 0;
  #underWay = 0;

  override async get(key: string): ReturnType<MemoryBucket["get"]> {
    this.reads++;
    this.atOnce = Math.max(this.atOnce, ++this.#underWay);
    await turn();
    this.#underWay--;
    return super.get(key);
  }
}

test("a sign-in reads the account's other sessions only where it must end one, and then all at once", async () => {
  const bucket = new CountedBucket();
  const clock = new StillClock();
  const accounts = { get: () => Promise.resolve({ epoch: 1 }) } as unknown as Accounts;
  const sessions = new Sessions({ bucket, clock }, accounts, LIFE);
  const secrets: string[] = [];
  const open = async (): Promise<void> => {
    await clock.advance(1_000);
    bucket.reads = bucket.atOnce = 0;
    secrets.push(await sessions.open("a", 1, { ip: "", userAgent: "" }));
  };
  for (let count = 0; count < 50; count++) {
    await open();
    assert.equal(bucket.reads, 0);
  }
  await open();
  assert.equal(bucket.atOnce, 50);
  const living = await Promise.all(secrets.map(async (secret) => (await sessions.find(secret)) !== null));
  assert.deepEqual(living, [false, ...Array.from({ length: 50 }, () => true)]);
  assert.equal((await sessions.list("a")).length, 50);
});

test("a session that is being opened stays in its account's list, whoever looks meanwhile", async () => {
  const bucket = new MemoryBucket();
  const accounts = { get: () => Promise.resolve({ epoch: 1 }) } as unknown as Accounts;
  const sessions = new Sessions({ bucket, clock: new StillClock() }, accounts, LIFE);
  // The log is slow to take the session itself.
  const isSlow = Promise.withResolvers<void>();
  const create = bucket.create.bind(bucket);
  bucket.create = async (key, value) => {
    await isSlow.promise;
    return create(key, value);
  };
  const opened = sessions.open("a", 1, { ip: "", userAgent: "" });
  await turn();
  assert.deepEqual(await sessions.list("a"), []);
  isSlow.resolve();
  const secret = await opened;
  assert.equal((await sessions.list("a")).length, 1);
  await sessions.endAll("a");
  assert.equal(await sessions.find(secret), null);
});

test("an entry without a session leaves the list once its session can't come any more", async () => {
  const bucket = new MemoryBucket();
  const clock = new StillClock();
  const accounts = { get: () => Promise.resolve({ epoch: 1 }) } as unknown as Accounts;
  const sessions = new Sessions({ bucket, clock }, accounts, LIFE);
  bucket.create = () => Promise.reject(new Error("no answer"));
  await assert.rejects(sessions.open("a", 1, { ip: "", userAgent: "" }), /no answer/);
  assert.deepEqual(await sessions.list("a"), []);
  assert.equal((await bucket.keys("session-of.a.")).length, 1);
  await clock.advance(15 * 60_000);
  assert.deepEqual(await sessions.list("a"), []);
  assert.deepEqual(await bucket.keys("session-of.a."), []);
});

test("a session that is used while it is ended ends all the same", async () => {
  const bucket = new MemoryBucket();
  const clock = new StillClock();
  const accounts = { get: () => Promise.resolve({ epoch: 1 }) } as unknown as Accounts;
  const sessions = new Sessions({ bucket, clock }, accounts, LIFE);
  const secret = await sessions.open("a", 1, { ip: "", userAgent: "" });
  const [listed] = await sessions.list("a");
  await clock.advance(LIFE.idleMs / 2);
  // Between the reading of the session and its deletion.
  const remove = bucket.delete.bind(bucket);
  bucket.delete = async (name, revision) => {
    bucket.delete = remove;
    assert.notEqual(await sessions.find(secret), null);
    return remove(name, revision);
  };
  await sessions.end(listed!.key);
  assert.equal(await sessions.find(secret), null);
  assert.deepEqual(await sessions.list("a"), []);
});

test("a browser that signs in again takes the place of its own session, and nobody else's ends", async () => {
  const bucket = new MemoryBucket();
  const clock = new StillClock();
  const accounts = { get: () => Promise.resolve({ epoch: 1 }) } as unknown as Accounts;
  const sessions = new Sessions({ bucket, clock }, accounts, LIFE);
  const secrets: string[] = [];
  const open = async (before?: string): Promise<string> => {
    await clock.advance(1_000);
    return sessions.open("a", 1, { ip: "", userAgent: "", ...(before !== undefined && { before }) });
  };
  for (let count = 0; count < 50; count++) secrets.push(await open());
  const lives = async (secret: string): Promise<boolean> => (await sessions.find(secret)) !== null;
  secrets.push(await open(secrets[7]));
  const living = await Promise.all(secrets.map(lives));
  assert.deepEqual(
    living.flatMap((isAlive, at) => (isAlive ? [] : [at])),
    [7],
  );
  // A session that is over already makes no room.
  await open(secrets[7]);
  assert.equal(await lives(secrets[0]!), false);
  assert.equal((await sessions.list("a")).length, 50);
});

test("a browser that signs in again waits for the end of its session, but not for that of its entry in the list", async () => {
  const bucket = new MemoryBucket();
  const accounts = { get: () => Promise.resolve({ epoch: 1 }) } as unknown as Accounts;
  const sessions = new Sessions({ bucket, clock: new StillClock() }, accounts, LIFE);
  const before = await sessions.open("a", 1, { ip: "", userAgent: "" });
  const isSlow = Promise.withResolvers<void>();
  const remove = bucket.delete.bind(bucket);
  bucket.delete = async (name, revision) => {
    if (name.startsWith("session-of.")) await isSlow.promise;
    return remove(name, revision);
  };
  const secret = await sessions.open("a", 1, { ip: "", userAgent: "", before });
  assert.equal(await sessions.find(before), null);
  assert.notEqual(await sessions.find(secret), null);
  assert.equal((await sessions.list("a")).length, 1);
  assert.equal((await bucket.keys("session-of.a.")).length, 2);
  isSlow.resolve();
  await sessions.stop();
  assert.equal((await bucket.keys("session-of.a.")).length, 1);
});

test("a session and its account are read at once by whoever has opened or read the session", async () => {
  const bucket = new CountedBucket();
  const store = { bucket, clock: new StillClock() };
  const stored = new Records<Account>(store, "account");
  const account = { name: "ann", role: "viewer", indices: [], createdAt: 0, epoch: 1 } as const;
  await stored.put("a", account);
  const accounts = { get: async (id: string) => (await stored.get(id))?.data ?? null } as Accounts;
  const atOnce = async (sessions: Sessions, secret: string): Promise<number> => {
    bucket.atOnce = 0;
    assert.deepEqual((await sessions.find(secret))?.account, account);
    return bucket.atOnce;
  };
  const [here, elsewhere] = [new Sessions(store, accounts, LIFE), new Sessions(store, accounts, LIFE)];
  const secret = await here.open("a", 1, { ip: "", userAgent: "" });
  assert.equal(await atOnce(here, secret), 2);
  assert.equal(await atOnce(elsewhere, secret), 1);
  assert.equal(await atOnce(elsewhere, secret), 2);
  await stored.delete("a");
  assert.equal(await here.find(secret), null);
});

test("a session that has changed since it was read is not ended by that reading", async () => {
  const bucket = new MemoryBucket();
  const clock = new StillClock();
  let epoch = 1;
  const accounts = { get: () => Promise.resolve({ epoch }) } as unknown as Accounts;
  const sessions = new Sessions({ bucket, clock }, accounts, LIFE);
  const secret = await sessions.open("a", 1, { ip: "", userAgent: "" });
  const [{ key } = { key: "" }] = await sessions.list("a");
  await clock.advance(LIFE.idleMs / 2);
  // A request notes the session's use before this reader, which sees another epoch, ends it.
  epoch = 2;
  const remove = bucket.delete.bind(bucket);
  bucket.delete = async (name, revision) => {
    bucket.delete = remove;
    epoch = 1;
    assert.notEqual(await sessions.find(secret), null);
    return remove(name, revision);
  };
  assert.equal(await sessions.get(key), null);
  assert.notEqual(await sessions.find(secret), null);
  epoch = 2;
  assert.equal(await sessions.find(secret), null);
  assert.deepEqual(await bucket.keys(), []);
});

test("a session whose end at the provider failed can be ended again", async () => {
  const accounts = { get: () => Promise.resolve({ epoch: 1 }) } as unknown as Accounts;
  const store = { bucket: new MemoryBucket(), clock: new StillClock() };
  const ended: string[] = [];
  const sessions = new Sessions(store, accounts, LIFE, (name) => {
    ended.push(name);
    return ended.length === 1 ? Promise.reject(new Error("no answer")) : Promise.resolve();
  });
  const secret = await sessions.open("a", 1, { ip: "", userAgent: "", atProvider: "there" });
  const [listed] = await sessions.list("a");
  await assert.rejects(sessions.endOwn("a", listed!.key), /no answer/);
  await sessions.endOwn("a", listed!.key);
  assert.deepEqual(ended, ["there", "there"]);
  assert.equal(await sessions.find(secret), null);
});
