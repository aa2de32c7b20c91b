/** From one hub to three in place, as docs/cluster.md says: the single hub is started again beside two empty ones. */

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { DOC_STREAM } from "#proto/subjects.ts";
import { startAgent } from "#test/harness/agent.ts";
import { untilShared } from "#test/harness/cluster.ts";
import { clusteredNats, NO_CLUSTERED_NATS } from "#test/harness/clustered-nats.ts";
import { assertExactlyOnce } from "#test/harness/exactly-once.ts";
import { ask, request } from "#test/harness/http.ts";
import type { TestHub } from "#test/harness/hub.ts";
import { HubTrio, loseMachine } from "#test/harness/hub-trio.ts";
import { writeInBursts } from "#test/harness/line-writer.ts";
import { chooseSeed, randomFrom } from "#test/harness/random.ts";
import { count } from "#test/harness/search.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

const program = clusteredNats();
const options = { skip: program === undefined && NO_CLUSTERED_NATS, timeout: 480_000 };
const HUB = resolve(import.meta.dirname, "../../hub/bin/tailrace-hub");
const ARRIVAL = { deadlineMs: 120_000 };
const PASSWORD = "correct horse battery staple";

interface World {
  readonly trio: HubTrio;
  readonly single: TestHub;
  readonly log: SequenceLog;
  readonly write: (lines: number) => Promise<void>;
}

/** Makes the hubs, starts the first one alone, and an agent that knows all and reads the token from the first one's file. */
async function openWorld(t: TestContext): Promise<World> {
  const random = randomFrom(chooseSeed());
  const workspace = new Workspace(t);
  const trio = await HubTrio.make(workspace, program!);
  const single = trio.single({ "cluster.name": "alone" });
  await single.start();
  const path = workspace.path("logs", "app.log");
  const log = new SequenceLog("grown");
  writeFileSync(path, "");
  const agent = await startAgent({
    folder: workspace.path("web-1", ""),
    paths: [path],
    natsUrl: trio.natsUrls[0]!,
    token: "",
    settings: {
      "output.pipeline.servers": trio.natsUrls,
      "output.pipeline.token": undefined,
      "output.pipeline.token_file": single.tokenFile,
    },
    input: { id: "test", scan_frequency: "200ms" },
  });
  workspace.defer(() => agent.kill9());
  const write = (lines: number): Promise<void> => writeInBursts({ log, path, lines, random, rate: 1_000 });
  return { trio, single, log, write };
}

/** Runs a command on the data folder of a hub and returns what it prints. */
function run(hub: TestHub, args: readonly string[], input = ""): Promise<string> {
  return new Promise((done, fail) => {
    const child = execFile(HUB, [...args, "--path.data", hub.dataDir], (error, stdout, stderr) =>
      error === null ? done(stdout) : fail(new Error(`${args.join(" ")}: ${stderr}`)),
    );
    child.stdin!.end(input);
  });
}

/** What people made, beside lines: each is read again through every hub. */
async function makeState(hub: TestHub): Promise<void> {
  const { searchUrl, dashboardUrl } = hub;
  for (const version of [1, 2, 3]) await ask("PUT", `${searchUrl}/orders/_doc/1`, { version });
  await ask("PUT", `${searchUrl}/orders/_doc/2?version=17&version_type=external`, { version: 17 });
  await ask("PUT", `${searchUrl}/orders/_doc/3`, {});
  await ask("DELETE", `${searchUrl}/orders/_doc/3`);
  await ask("PUT", `${searchUrl}/_ingest/pipeline/mark`, { processors: [{ set: { field: "a", value: 1 } }] });
  await ask("PUT", `${searchUrl}/_index_template/orders`, { index_patterns: ["orders-*"] });
  await ask("POST", `${searchUrl}/_aliases`, { actions: [{ add: { index: "orders", alias: "sales" } }] });
  await ask("PUT", `${dashboardUrl}/api/pipelines/kept`, {
    text: 'filter { mutate { add_tag => ["kept"] } }',
  });
  await run(hub, ["user", "add", "ada", "--role", "viewer"], `${PASSWORD}\n${PASSWORD}\n`);
}

interface Found {
  readonly _version: number;
  readonly _seq_no: number;
  readonly _source: { readonly version: number };
}

async function assertState(hub: TestHub): Promise<void> {
  const { searchUrl, dashboardUrl } = hub;
  const read = (id: number) => ask<Found>("GET", `${searchUrl}/sales/_doc/${id}`);
  const [first, second] = [await read(1), await read(2)];
  assert.deepEqual([first._version, first._source.version], [3, 3]);
  assert.deepEqual([second._version, second._source.version], [17, 17]);
  assert.equal((await request("GET", `${searchUrl}/orders/_doc/3`)).status, 404);
  const older = `${searchUrl}/orders/_doc/2?version=16&version_type=external`;
  assert.equal((await request("PUT", older, {})).status, 409);
  await ask("GET", `${searchUrl}/_ingest/pipeline/mark`);
  await ask("GET", `${searchUrl}/_index_template/orders`);
  await ask("GET", `${dashboardUrl}/api/pipelines/kept`);
  assert.match(await run(hub, ["user", "list"]), /\bada\b/);
}

/** Purges DOC as after a quarter of an hour: hubs without documents must copy them from the first one. */
async function purgeDocs(hub: TestHub): Promise<void> {
  await ask("POST", `${hub.searchUrl}/_flush`);
  const { port } = new URL(hub.natsUrl);
  const nats = await connect({ servers: `127.0.0.1:${port}`, user: "tailrace", pass: hub.token });
  await (await jetstreamManager(nats)).streams.purge(DOC_STREAM);
  await nats.close();
}

test("a single hub with data becomes three, and one may be lost then", options, async (t) => {
  const { trio, single, log, write } = await openWorld(t);
  const { hubs } = trio;
  const [first, second] = hubs as [TestHub, TestHub, TestHub];
  await write(500);
  await until("the lines in the single hub", async () => (await count(single.searchUrl)) === 500, ARRIVAL);
  await makeState(single);
  await purgeDocs(single);
  await write(300); // some of them are committed, some only in RAW, some not sent
  await loseMachine(single);
  await write(200);
  await trio.start();
  await untilShared(hubs);
  await write(100);
  for (const hub of hubs) {
    await assertState(hub);
    await assertExactlyOnce(hub.searchUrl, [log], `on ${hub.dataDir}`);
  }
  assert.ok(!existsSync(join(first.dataDir, "nats", "store")), "the former store is gone");
  await loseMachine(first);
  await write(100);
  await until("all lines", async () => (await count(second.searchUrl)) >= log.count, ARRIVAL);
  await assertState(second);
  await assertExactlyOnce(second.searchUrl, [log], "after the loss of the first hub");
  await first.start();
  await untilShared(hubs);
  await assertExactlyOnce(first.searchUrl, [log], "on the first hub after its return");
});

test(
  "a single hub that is killed while its data goes to the cluster begins that again",
  options,
  async (t) => {
    const { trio, single, log, write } = await openWorld(t);
    const [first, ...others] = trio.hubs as [TestHub, TestHub, TestHub];
    await write(300);
    await makeState(single);
    await single.stop();
    const started = Promise.all(others.map((hub) => hub.start()));
    const interrupted = first.start();
    interrupted.catch(() => undefined); // it is killed
    const said = (text: string) => () => readFileSync(first.logFile, "utf8").includes(text);
    await until("a stream in the cluster's store", said("a stream is in the cluster's store"), {
      ...ARRIVAL,
      everyMs: 2,
    });
    await loseMachine(first);
    await assert.rejects(interrupted);
    await write(100);
    await first.start();
    await started;
    await untilShared(trio.hubs);
    for (const hub of trio.hubs) {
      await assertState(hub);
      await assertExactlyOnce(hub.searchUrl, [log], `on ${hub.dataDir}`);
    }
  },
);
