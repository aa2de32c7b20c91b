import assert from "node:assert/strict";
import { test } from "node:test";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { MemoryBucket } from "#test/support/kit/memory-bucket.ts";
import { StillClock } from "#test/support/kit/still-clock.ts";
import { MemberDirectory } from "./member-directory.ts";
import { encodeMember, type MemberRecord, memberKey } from "./member-record.ts";
import { removeMember } from "./remove-member.ts";

/** Hub a asks; b was lost, c lives, d was stopped, so that it has a server alone. */
async function world(servers = new Set(["a", "b", "c", "d"])) {
  const bucket = new MemoryBucket();
  for (const [name, state] of [
    ["a", "live"],
    ["b", "lost"],
    ["c", "live"],
  ] as const)
    await bucket.put(
      memberKey(`id-${name}`),
      encodeMember({ id: `id-${name}`, name, session: "1", state } as MemberRecord),
    );
  const directory = new MemberDirectory({
    bucket,
    clock: new StillClock(),
    log: silentLogger(),
    metrics: new Metrics(),
  });
  const removeServer = async (name: string): Promise<boolean> => servers.delete(name);
  const isServerUp = (): Promise<boolean> => Promise.resolve(false);
  return { bucket, servers, deps: { bucket, directory, own: "a", removeServer, isServerUp } };
}

test("a hub that was lost is removed with its record and its server", async () => {
  const { bucket, servers, deps } = await world();
  assert.deepEqual(await removeMember(deps, "b"), { member: true, server: true });
  assert.equal(await bucket.get(memberKey("id-b")), null);
  assert.deepEqual([...servers], ["a", "c", "d"]);
});

test("a hub that was stopped is removed with its server, and not twice", async () => {
  const { deps } = await world();
  assert.deepEqual(await removeMember(deps, "d"), { member: false, server: true });
  await assert.rejects(removeMember(deps, "d"), { code: "not_found" });
});

test("a hub that lives isn't removed, nor the one that is asked, nor the server of either", async () => {
  const { bucket, servers, deps } = await world();
  await assert.rejects(removeMember(deps, "c"), { code: "request_invalid", message: /stop it first/ });
  await assert.rejects(removeMember(deps, "a"), { code: "request_invalid", message: /another one/ });
  assert.deepEqual([(await bucket.keys()).length, servers.size], [3, 4]);
});

test("hubs on a NATS of their own forget the record alone", async () => {
  const { deps } = await world();
  const removal = await removeMember({ ...deps, removeServer: undefined }, "b");
  assert.deepEqual(removal, { member: true, server: false });
});

test("the server of a hub without a record isn't removed while it runs", async () => {
  const { servers, deps } = await world();
  const isServerUp = (name: string): Promise<boolean> => Promise.resolve(servers.has(name));
  await assert.rejects(removeMember({ ...deps, isServerUp }, "d"), {
    code: "request_invalid",
    message: /server of the hub d runs: stop the hub first/,
  });
  assert.ok(servers.has("d"));
});

test("a hub that comes back in this moment keeps its record and its server", async () => {
  const { bucket, servers, deps } = await world();
  const refresh = async (): Promise<void> => {
    await deps.directory.refresh();
    const back = { id: "id-b", name: "b", session: "2", state: "live" } as MemberRecord;
    await bucket.put(memberKey("id-b"), encodeMember(back));
  };
  const directory = { refresh, all: () => deps.directory.all() };
  await assert.rejects(removeMember({ ...deps, directory }, "b"), { code: "journal_conflict" });
  assert.notEqual(await bucket.get(memberKey("id-b")), null);
  assert.ok(servers.has("b"));
});

test("where the server can't be removed now, another call does it", async () => {
  const { bucket, deps } = await world();
  const removeServer = (): Promise<boolean> => Promise.reject(new Error("no leader"));
  await assert.rejects(removeMember({ ...deps, removeServer }, "b"), /no leader/);
  assert.equal(await bucket.get(memberKey("id-b")), null);
  assert.deepEqual(await removeMember(deps, "b"), { member: false, server: true });
});
