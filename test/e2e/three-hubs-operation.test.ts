/** Three hubs that store the log together: what the last one does, commands, and hubs that don't belong to them. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { untilShared } from "#test/harness/cluster.ts";
import { clusteredNats, NO_CLUSTERED_NATS } from "#test/harness/clustered-nats.ts";
import { ask, request } from "#test/harness/http.ts";
import type { TestHub } from "#test/harness/hub.ts";
import { HubTrio, loseMachine } from "#test/harness/hub-trio.ts";
import { count, refreshed } from "#test/harness/search.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

const program = clusteredNats();
const options = { skip: program === undefined && NO_CLUSTERED_NATS, timeout: 240_000 };
const HUB = resolve(import.meta.dirname, "../../hub/bin/tailrace-hub");

async function openTrio(t: TestContext): Promise<{ workspace: Workspace; trio: HubTrio }> {
  const workspace = new Workspace(t);
  const trio = await HubTrio.make(workspace, program!);
  await trio.start();
  await untilShared(trio.hubs);
  return { workspace, trio };
}

async function untilHealthIs(hub: TestHub, expected: string): Promise<void> {
  await until(
    `the health being ${expected}`,
    async () =>
      (await request<{ status: string }>("GET", `${hub.dashboardUrl}/health`)).body.status === expected,
    { deadlineMs: 60_000 },
  );
}

/** The hub answers from its copies, and says that it can't know what others wrote. */
async function assertSaysWhatItMayLack(hub: TestHub): Promise<void> {
  type Answer = {
    readonly count: number;
    readonly _shards: {
      readonly total: number;
      readonly failed: number;
      readonly failures?: readonly { reason: { reason: string } }[];
    };
  };
  await until("an answer that says what it may lack", async () => {
    const { count: found, _shards: shards } = await ask<Answer>("POST", `${hub.searchUrl}/orders/_count`);
    assert.equal(found, 1);
    const [failure] = shards.failures ?? [];
    assert.equal(shards.failed, shards.total);
    assert.match(failure?.reason.reason ?? "", /may lack what other hubs wrote/);
    return true;
  });
}

test(
  "the last of three hubs is failing and answers searches, until another one is back",
  options,
  async (t) => {
    const { trio } = await openTrio(t);
    const [last, second, third] = trio.hubs as [TestHub, TestHub, TestHub];
    await ask("PUT", `${second.searchUrl}/orders/_doc/1?refresh=true`, { n: 1 });
    await Promise.all([second, third].map(loseMachine));
    await untilHealthIs(last, "failing");
    await assertSaysWhatItMayLack(last);
    const server = last.natsPids();
    await second.start();
    await untilShared([last, second]);
    await ask("PUT", `${last.searchUrl}/orders/_doc/2?refresh=true`, { n: 2 });
    await refreshed(second.searchUrl, "orders");
    assert.equal(await count(second.searchUrl, undefined, "orders"), 2);
    assert.deepEqual(last.natsPids(), server, "a server that lacks its peers isn't restarted");
    await third.start();
    await untilShared(trio.hubs);
    for (const hub of trio.hubs) await untilHealthIs(hub, "ok");
  },
);

test(
  "commands reach the log through a running hub, and refuse the store of a stopped one",
  options,
  async (t) => {
    const { workspace, trio } = await openTrio(t);
    const [first] = trio.hubs as [TestHub];
    const run = (...args: string[]) => promisify(execFile)(HUB, [...args, "--path.data", first.dataDir]);
    const copies = workspace.path("copies");
    await run("snapshot", "create", copies);
    const { stdout } = await run("snapshot", "list", copies);
    assert.notEqual(stdout.trim(), "");
    await Promise.all(trio.hubs.map((hub) => hub.stop()));
    await assert.rejects(run("user", "list"), /stores its log together with others, and isn't running/);
    await trio.start();
    await untilShared(trio.hubs);
  },
);

test(
  "a hub that waits for the others is stopped like any other, and its server with it",
  options,
  async (t) => {
    const { trio } = await openTrio(t);
    const [alone] = trio.hubs as [TestHub];
    await Promise.all(trio.hubs.map((hub) => hub.stop()));
    const before = readFileSync(alone.logFile, "utf8").length;
    const log = (): string => readFileSync(alone.logFile, "utf8").slice(before);
    const starting = assert.rejects(alone.start(), /ended \(status 0\) before it was ready/);
    await until("the wait for the others", () => log().includes("waiting for leaders"), {
      deadlineMs: 60_000,
    });
    assert.equal(alone.natsPids().length, 1);
    await alone.stop();
    await starting;
    assert.deepEqual(alone.natsPids(), []);
    assert.doesNotMatch(log(), /internal error|tailrace-hub: /);
    assert.match(log(), /hub stopped/);
    await trio.start();
    await untilShared(trio.hubs);
  },
);

/** Resolves when each stream has three replicas that are up to date, none of them on `server`. */
async function untilReplicatedWithout(server: string, { natsUrl, token }: TestHub): Promise<void> {
  const nats = await connect({ servers: natsUrl, user: "tailrace", pass: token });
  const { streams } = await jetstreamManager(nats);
  await until(
    `three replicas of each stream, none on ${server}`,
    async () => {
      for await (const { config, cluster } of streams.list()) {
        const { leader = "", replicas = [] } = cluster ?? {};
        const names = [leader, ...replicas.map(({ name }) => name)];
        const isWhole = leader !== "" && replicas.every(({ current }) => current);
        if (!isWhole || names.length !== config.num_replicas || names.includes(server)) return false;
      }
      return true;
    },
    { deadlineMs: 60_000, everyMs: 500 },
  );
  await nats.close();
}

test("of four hubs one is removed for good, and then any other one may be lost", options, async (t) => {
  const workspace = new Workspace(t);
  const four = await HubTrio.make(workspace, program!, 4);
  await four.start();
  await untilShared(four.hubs);
  const [first, second, lost, removed] = four.hubs as [TestHub, TestHub, TestHub, TestHub];
  const remove = () =>
    request<{ error?: string }>("DELETE", `${first.dashboardUrl}/api/cluster/members/hub-4`);
  await ask("PUT", `${second.searchUrl}/orders/_doc/1?refresh=true`, { n: 1 });
  assert.equal((await remove()).status, 400);
  await removed.stop();
  const removal = await until("the removal", async () => {
    const answer = await remove();
    return answer.status === 200 && answer.body;
  });
  assert.deepEqual(removal, { member: false, server: true });
  assert.equal((await remove()).status, 404);
  await untilReplicatedWithout("hub-4", first);
  await loseMachine(lost);
  await until(
    "a document that is written",
    async () => {
      const answer = await fetch(`${first.searchUrl}/orders/_doc/2?timeout=2s`, {
        method: "PUT",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ n: 2 }),
      });
      await answer.arrayBuffer();
      return answer.ok;
    },
    { deadlineMs: 60_000 },
  );
  await refreshed(second.searchUrl, "orders");
  assert.equal(await count(second.searchUrl, undefined, "orders"), 2);
});

test("a hub with another secret, name or cluster doesn't get in, and disturbs nobody", options, async (t) => {
  const { workspace, trio } = await openTrio(t);
  const lost = trio.hubs[2]!;
  await loseMachine(lost);
  for (const [name, settings, message] of [
    ["stranger", { "cluster.secret": "x".repeat(44) }, /another cluster\.secret/],
    ["hub-1", {}, /set node\.name to a name of its own/],
    ["other", { "cluster.name": "other" }, /set the same cluster\.name/],
  ] as const) {
    const hub = trio.intruder(workspace, name, settings);
    await assert.rejects(hub.start(), message);
  }
  await ask("PUT", `${trio.hubs[0]!.searchUrl}/orders/_doc/1`, {});
  await lost.start();
  await untilShared(trio.hubs);
});
