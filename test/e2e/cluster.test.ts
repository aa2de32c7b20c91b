import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { DEFAULT_LIMITS, type HubMessage, LIVE_PATH } from "#proto/live.ts";
import { DOC_STREAM } from "#proto/subjects.ts";
import { TestCluster, untilShared } from "#test/harness/cluster.ts";
import { assertExactlyOnce } from "#test/harness/exactly-once.ts";
import { ask, readMetric, request } from "#test/harness/http.ts";
import type { TestHub } from "#test/harness/hub.ts";
import { writeInBursts } from "#test/harness/line-writer.ts";
import { chooseSeed, randomFrom } from "#test/harness/random.ts";
import { count, refreshed } from "#test/harness/search.ts";
import { readMark, SequenceLog } from "#test/harness/sequence-log.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { Client } from "#test/support/live/live-harness.ts";

/** Files of an agent, so that each hub processes some of them. */
const FILES = 12;
/** Until the lines of a dead hub's partitions are searchable: 25 s on a busy machine, and time to index and search. */
const TAKE_OVER_MS = 90_000;

interface Health {
  readonly status: string;
  readonly parts: readonly { readonly part: string; readonly level: string; readonly reason: string }[];
}

interface ClusterHealth {
  readonly number_of_nodes: number;
  readonly status: string;
}

async function clusterHealth(hub: TestHub): Promise<{ status: string; reason: string }> {
  const { body } = await request<Health>("GET", `${hub.dashboardUrl}/health`);
  const part = body.parts.find((each) => each.part === "cluster");
  return { status: body.status, reason: part?.reason ?? "" };
}

/** The live tail of one hub shows lines of every file, whichever hub processes it. */
async function assertTailOfAll(
  hub: TestHub,
  logs: readonly SequenceLog[],
  writeMore: () => Promise<unknown>,
): Promise<void> {
  const client = new Client(new URL(LIVE_PATH, hub.dashboardUrl).href, { origin: hub.dashboardUrl });
  const writers = new Set<string>();
  client.socket.on("message", (data) => {
    const message = JSON.parse((data as Buffer).toString()) as HubMessage;
    if (message.t !== "tail.rows") return;
    for (const row of message.rows) writers.add(readMark(row[4])?.writer ?? "");
  });
  await client.next("welcome");
  // Rows of one hub alone must not use all of it while the other stands still.
  client.open({ credit: DEFAULT_LIMITS.creditRows });
  await client.next("tail.opened");
  await until("lines of every file in the live tail", async () => {
    await writeMore();
    return logs.every(({ writer }) => writers.has(writer));
  });
  client.socket.close();
}

/** What is written through one hub is read by its id through the other, and found there after a refresh. */
async function assertReadElsewhere(first: TestHub, second: TestHub): Promise<void> {
  const found = async (hub: TestHub): Promise<number> => count(hub.searchUrl, undefined, "orders");
  for (let n = 1; n <= 20; n += 2) {
    await ask("PUT", `${first.searchUrl}/orders/_doc/${n}`, { n });
    const { _source } = await ask<{ _source: unknown }>("GET", `${second.searchUrl}/orders/_doc/${n}`);
    assert.deepEqual(_source, { n });
    await refreshed(second.searchUrl, "orders");
    assert.deepEqual([await found(first), await found(second)], [n, n]);
    const refresh = n % 4 === 1 ? "wait_for" : "true";
    await ask("PUT", `${second.searchUrl}/orders/_doc/${n + 1}?refresh=${refresh}`, { n });
    assert.deepEqual([await found(first), await found(second)], [n + 1, n + 1]);
  }
}

/** A search that names a hub runs there, whichever hub it is sent to. */
async function assertSearchElsewhere(first: TestHub, second: TestHub): Promise<void> {
  const answered = async (): Promise<number> =>
    (await readMetric(`${second.dashboardUrl}/metrics`, "tailrace_cluster_calls_answered_total")) ??
    Number.NaN;
  const search = (preference: string) =>
    request<{ _shards: { total: number; failed: number }; hits: { total: number; hits: unknown[] } }>(
      "POST",
      `${first.searchUrl}/orders/_search?size=15&preference=${preference}`,
      { sort: ["n"], aggs: { sum: { sum: { field: "n" } } } },
    );
  const here = await search("_local");
  const before = await answered();
  const there = await search("_only_nodes:hub-b");
  assert.ok((await answered()) > before);
  assert.deepEqual(there.body._shards, here.body._shards);
  assert.deepEqual(there.body.hits, here.body.hits);
  assert.equal((await search("_only_nodes:hub-c")).status, 400);
}

interface World {
  readonly cluster: TestCluster;
  readonly logs: readonly SequenceLog[];
  /** Appends so many lines to each file. */
  readonly write: (lines: number, rate: number) => Promise<unknown>;
}

/** Starts a nats-server and an agent that reads several files. */
async function openWorld(t: TestContext): Promise<World> {
  const random = randomFrom(chooseSeed());
  const workspace = new Workspace(t);
  const cluster = await TestCluster.start(workspace);
  const logs = Array.from({ length: FILES }, (_, at) => new SequenceLog(`file-${at}`));
  const paths = logs.map((log) => workspace.path("logs", `${log.writer}.log`));
  const write = (lines: number, rate: number): Promise<unknown> =>
    Promise.all(logs.map((log, at) => writeInBursts({ log, path: paths[at]!, lines, random, rate })));
  // The first hub makes the streams that the agent needs.
  await cluster.startHub("hub-a");
  await cluster.startAgent("web-1", paths);
  return { cluster, logs, write };
}

function untilAllFound(hub: TestHub, logs: readonly SequenceLog[]): Promise<unknown> {
  const expected = logs.reduce((sum, log) => sum + log.count, 0);
  return until("all lines", async () => (await count(hub.searchUrl)) >= expected, {
    deadlineMs: TAKE_OVER_MS,
  });
}

test("two hubs on one NATS are one cluster, and one goes on after kill -9 of the other", async (t) => {
  const { cluster, logs, write } = await openWorld(t);
  const [first] = cluster.hubs as [TestHub];
  await write(100, 500);
  const second = await cluster.startHub("hub-b");
  await untilShared([first, second]);
  await write(100, 500);
  await untilAllFound(second, logs);
  await ask("PUT", `${second.searchUrl}/orders`, { settings: { number_of_replicas: 1 } });
  await assertReadElsewhere(first, second);
  await assertSearchElsewhere(first, second);
  await assertTailOfAll(second, logs, () => write(1, 500));
  const info = await ask<ClusterHealth>("GET", `${second.searchUrl}/_cluster/health/orders`);
  assert.deepEqual([info.number_of_nodes, info.status], [2, "green"]);
  const nodes = await ask<string>("GET", `${second.searchUrl}/_cat/nodes?h=name,master&s=name`);
  assert.match(nodes, /hub-a \*\s+hub-b -/);

  await second.kill9();
  await write(100, 500);
  const startedMs = performance.now();
  await untilAllFound(first, logs);
  t.diagnostic(
    `all lines were found ${Math.round(performance.now() - startedMs)} ms after the last was written`,
  );
  const health = await until("the health naming the missing hub", async () => {
    const found = await clusterHealth(first);
    return found.reason.includes("hub-b") ? found : false;
  });
  assert.equal(health.status, "degraded");
  const alone = await ask<ClusterHealth>("GET", `${first.searchUrl}/_cluster/health/orders`);
  assert.deepEqual([alone.number_of_nodes, alone.status], [1, "yellow"]);
  await assertExactlyOnce(first.searchUrl, logs, "after the death of hub-b");
});

test("the hub that has the duties is replaced too, and gets its share back when it returns", async (t) => {
  const { cluster, logs, write } = await openWorld(t);
  const second = await cluster.startHub("hub-b");
  const [first] = cluster.hubs as [TestHub];
  await untilShared([first, second]);
  await write(100, 500);
  await first.kill9();
  await write(100, 500);
  await untilAllFound(second, logs);
  await first.start();
  await untilShared([first, second]);
  await write(50, 500);
  await until("the health being ok again", async () => (await clusterHealth(second)).status === "ok");
  for (const hub of [second, first]) await assertExactlyOnce(hub.searchUrl, logs, `on ${hub.dataDir}`);
});

test("a hub that stood still beyond its lease changes nothing when it goes on", async (t) => {
  const { cluster, logs, write } = await openWorld(t);
  const second = await cluster.startHub("hub-b");
  const [first] = cluster.hubs as [TestHub];
  await untilShared([first, second]);
  const writing = write(200, 200);
  await until("the first lines", async () => (await count(second.searchUrl)) > 0);
  first.signal("SIGSTOP");
  await writing;
  await untilShared([second], TAKE_OVER_MS);
  await write(50, 500);
  first.signal("SIGCONT");
  await untilShared([first, second]);
  await write(50, 500);
  for (const hub of [second, first]) {
    await assertExactlyOnce(hub.searchUrl, logs, `on ${hub.dataDir}`);
    await until("the health being ok again", async () => (await clusterHealth(hub)).status === "ok");
  }
});

test("an input that polls runs on one hub, and on the other after kill -9 of that one", async (t) => {
  const random = randomFrom(chooseSeed());
  const workspace = new Workspace(t);
  const cluster = await TestCluster.start(workspace);
  const [path, config] = [workspace.path("logs", "polled.log"), workspace.path("polled.conf")];
  const log = new SequenceLog("polled");
  const write = (lines: number): Promise<void> => writeInBursts({ log, path, lines, random, rate: 1_000 });
  await write(200);
  writeFileSync(
    config,
    `input { file { path => "${path}" start_position => "beginning" stat_interval => 0.2 } }
     output { elasticsearch { index => "logs-polled" } }`,
  );
  const settings = { "path.config": [config] };
  const first = await cluster.startHub("hub-a", settings);
  const second = await cluster.startHub("hub-b", settings);
  await untilShared([first, second]);
  await untilAllFound(second, [log]);
  await first.kill9();
  await write(200);
  await untilAllFound(second, [log]);
  await assertExactlyOnce(second.searchUrl, [log]);
});

/** Removes everything from DOC, as the janitor does 15 minutes after every hub has committed it. */
async function purgeDoc({ nats: { url, token } }: TestCluster): Promise<void> {
  const connection = await connect({ servers: url, token });
  await (await jetstreamManager(connection)).streams.purge(DOC_STREAM);
  await connection.close();
}

test("a hub whose data folder was deleted takes its copies from another one", async (t) => {
  const workspace = new Workspace(t);
  const cluster = await TestCluster.start(workspace);
  const first = await cluster.startHub("hub-a");
  const second = await cluster.startHub("hub-b", { "hub.threads": 2 });
  const put = (n: number): Promise<unknown> =>
    ask("PUT", `${first.searchUrl}/orders/_doc/${n}?routing=${n}`, { n, text: `order ${n}` });
  for (let n = 0; n < 30; n++) await put(n);
  await ask("POST", `${first.searchUrl}/_flush`);
  await second.kill9();
  rmSync(second.dataDir, { recursive: true });
  await purgeDoc(cluster);
  for (let n = 20; n < 40; n++) await put(n);
  await second.start();
  const documents = async (hub: TestHub): Promise<unknown> => {
    await refreshed(hub.searchUrl, "orders");
    type Found = { hits: { hits: { _id: string; _version: number; _seq_no: number }[] } };
    const body = { size: 100, version: true, seq_no_primary_term: true };
    const { hits } = await ask<Found>("POST", `${hub.searchUrl}/orders/_search`, body);
    return hits.hits.map(({ _id, _version, _seq_no }) => `${_id} ${_version} ${_seq_no}`).toSorted();
  };
  assert.deepEqual(await documents(second), await documents(first));
  assert.equal(await count(second.searchUrl, undefined, "orders"), 40);
  for (const hub of [first, second])
    await until("the health being ok", async () => (await clusterHealth(hub)).status === "ok", {
      deadlineMs: TAKE_OVER_MS,
    });
  // The killed one is forgotten once its lease is over.
  const names = (): Promise<string> => ask("GET", `${first.searchUrl}/_cat/nodes?h=name&s=name`);
  await until("one hub of each name", async () => (await names()).trim() === "hub-a\nhub-b", {
    deadlineMs: TAKE_OVER_MS,
  });
});

test("a hub refuses a NATS of another cluster, a data folder of another NATS, and a name that is taken", async (t) => {
  const workspace = new Workspace(t);
  const [cluster, other] = [await TestCluster.start(workspace), await TestCluster.start(new Workspace(t))];
  const first = await cluster.startHub("hub-a");
  await assert.rejects(cluster.startHub("hub-b", { "cluster.name": "other" }), /cluster\.name/);
  await assert.rejects(cluster.startHub("hub-c", { "node.name": "hub-a" }), /node\.name of its own/);
  await first.stop();
  const moved = cluster.hub("hub-a", { "nats.servers": [other.nats.url], "nats.token": other.nats.token });
  await other.startHub("hub-z");
  await assert.rejects(moved.start(), /belongs to another cluster/);
});
