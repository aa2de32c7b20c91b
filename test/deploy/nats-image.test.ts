/** The log of the images as it is run: its settings, who may do what, and a hub and an agent that work through it. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { type TestContext, test } from "node:test";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { helloSubject, inboxPrefix, rawSubject, watermarkSubject } from "#proto/subjects.ts";
import { startAgent } from "#test/harness/agent.ts";
import { ask } from "#test/harness/http.ts";
import { startHub } from "#test/harness/hub.ts";
import { type NatsPlace, startNats, type TestNats } from "#test/harness/nats.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";
import { run, text, without } from "./tools.ts";

const skip = without("nats-server");
/** As `openssl rand -hex 32` gives them: the grammar of the settings would rather read numbers. */
const HUB_TOKEN = `12e4${"90ab".repeat(15)}`;
const AGENT_TOKEN = `7${"777f".repeat(15)}10k`;
const OWN = "11111111-1111-4111-8111-111111111111";
const FOREIGN = "22222222-2222-4222-8222-222222222222";

/** The settings of the image; versions before 2.10 don't know sync_interval. */
function settings(): string {
  const all = text("deploy/images/nats.conf");
  return /v2\.9\./.test(run("nats-server", ["-v"]).said)
    ? all.replace(/^ *sync_interval: always$/m, "")
    : all;
}

/** The same at a place of a test, with the tokens that the container's environment would give. */
function placed({ port, storeDir, portsDir }: NatsPlace): string {
  return settings()
    .replace(/^host: .*$/m, `host: "127.0.0.1"\nports_file_dir: ${JSON.stringify(portsDir)}`)
    .replace(/^port: .*$/m, `port: ${port}`)
    .replace(/^http: .*$/m, "")
    .replace(/^ *store_dir: .*$/m, `  store_dir: ${JSON.stringify(storeDir)}`)
    .replace(/^/, `TAILRACE_NATS_TOKEN: "${HUB_TOKEN}"\nTAILRACE_AGENT_TOKEN: "${AGENT_TOKEN}"\n`);
}

async function started(t: TestContext): Promise<{ server: TestNats; workspace: Workspace }> {
  const workspace = new Workspace(t);
  const server = await startNats({ dataDir: workspace.path("nats"), config: placed });
  workspace.defer(() => server.stop());
  return { server, workspace };
}

async function signedIn(
  { server, workspace }: Awaited<ReturnType<typeof started>>,
  user: string,
  pass: string,
  inbox?: string,
): Promise<NatsConnection> {
  const nats = await connect({
    servers: server.url,
    user,
    pass,
    ...(inbox !== undefined && { inboxPrefix: inbox }),
    maxReconnectAttempts: 0,
  });
  workspace.defer(() => nats.close());
  return nats;
}

/** Starts the log as the image does, to the point where its settings were read; `data` is the image's /data. */
function checked(config: string, tokens: NodeJS.ProcessEnv, data = "/nonexistent") {
  const env = { ...process.env, CONFIG: config, TAILRACE_NATS_DATA: data, ...tokens };
  return run("bash", ["-c", 'deploy/images/nats.sh -t -c <(printf "%s" "$CONFIG")'], { env });
}

test("nats-server takes the settings with the environment's tokens, and finds a mistake in them", {
  skip,
}, () => {
  const tokens = { TAILRACE_NATS_TOKEN: HUB_TOKEN, TAILRACE_AGENT_TOKEN: AGENT_TOKEN };
  const good = checked(settings(), tokens);
  assert.equal(good.status, 0, good.said);
  assert.notEqual(checked(settings().replace("max_payload", "max_paylod"), tokens).status, 0);
});

const refused = [
  ["without a token", { TAILRACE_AGENT_TOKEN: "" }, /TAILRACE_AGENT_TOKEN is missing/],
  ["with a token that would end its quotes", { TAILRACE_NATS_TOKEN: 'a"b' }, /TAILRACE_NATS_TOKEN may hold/],
  ["with one token for both", { TAILRACE_NATS_TOKEN: AGENT_TOKEN }, /must be another one/],
] as const;
for (const [how, tokens, why] of refused) {
  test(`the log doesn't start ${how}`, () => {
    const all = { TAILRACE_NATS_TOKEN: HUB_TOKEN, TAILRACE_AGENT_TOKEN: AGENT_TOKEN, ...tokens };
    const { status, said } = checked(settings(), all);
    assert.equal(status, 1);
    assert.match(said, why);
    assert.ok(!said.includes(AGENT_TOKEN), "no token is told");
  });
}

test("the agents' token stores lines and reaches nothing else of the log", { skip }, async (t) => {
  const log = await started(t);
  const hub = await signedIn(log, "tailrace", HUB_TOKEN);
  const manager = await jetstreamManager(hub);
  await manager.streams.add({ name: "RAW", subjects: ["raw.>"] });
  await manager.streams.add({ name: "KV_auth", subjects: ["$KV.auth.>"] });
  await jetstream(hub).publish("$KV.auth.account", "kept");
  hub.subscribe(helloSubject("*"), { callback: (_, message) => void message.respond("welcome") });
  const agent = await signedIn(log, "agent", AGENT_TOKEN, inboxPrefix(OWN));
  const heard = agent.subscribe(watermarkSubject(OWN), { max: 1 });
  assert.equal((await agent.request(helloSubject(OWN), "")).string(), "welcome");
  assert.equal((await agent.request(rawSubject(7, OWN), "batch")).json<{ seq: number }>().seq, 1);
  hub.publish(watermarkSubject(OWN), "committed");
  for await (const message of heard) assert.equal(message.string(), "committed");

  const forbidden = [
    "$JS.API.STREAM.PURGE.RAW",
    "$JS.API.STREAM.NAMES",
    "$KV.auth.account",
    watermarkSubject(FOREIGN),
  ];
  for (const subject of forbidden)
    await assert.rejects(agent.request(subject, "", { timeout: 300 }), subject);
  for (const subject of [">", "raw.>", "doc.>", "$JS.>", "_INBOX.>"]) {
    let refused = false;
    agent.subscribe(subject, { callback: (error) => void (refused ||= error !== null) });
    await agent.flush();
    await agent.flush();
    assert.ok(refused, subject);
  }
  for (const reply of ["$KV.auth.account", "$JS.API.STREAM.PURGE.KV_auth", "$JS.API.STREAM.PURGE.RAW"])
    agent.publish(rawSubject(7, OWN), "batch", { reply });
  assert.equal((await agent.request(rawSubject(7, OWN), "last")).json<{ seq: number }>().seq, 5);
  const kept = await manager.streams.getMessage("KV_auth", { last_by_subj: "$KV.auth.account" });
  assert.equal(kept?.string(), "kept");
  assert.equal((await manager.streams.info("RAW")).state.messages, 5);
});

test("a volume from before the log had accounts is the hub's, once and for all", { skip }, async (t) => {
  const workspace = new Workspace(t);
  const dataDir = workspace.path("nats");
  const before = await startNats({ dataDir });
  workspace.defer(() => before.stop());
  const plain = await connect({ servers: before.url, token: before.token });
  await (await jetstreamManager(plain)).streams.add({ name: "RAW", subjects: ["raw.>"] });
  await jetstream(plain).publish("raw.1.a", "kept");
  await plain.close();
  await before.stop();
  const tokens = { TAILRACE_NATS_TOKEN: HUB_TOKEN, TAILRACE_AGENT_TOKEN: AGENT_TOKEN };
  const first = checked(settings(), tokens, dataDir);
  assert.match(first.said, /streams of an earlier version are the hub's/);
  assert.doesNotMatch(checked(settings(), tokens, dataDir).said, /earlier version/);
  const server = await startNats({ dataDir, config: placed });
  workspace.defer(() => server.stop());
  const hub = await signedIn({ server, workspace }, "tailrace", HUB_TOKEN);
  const kept = await (await jetstreamManager(hub)).streams.getMessage("RAW", { seq: 1 });
  assert.equal(kept?.string(), "kept");
});

test("a token is refused for the other user, and so is a connection without one", { skip }, async (t) => {
  const log = await started(t);
  const wrong = [
    ["tailrace", AGENT_TOKEN],
    ["agent", HUB_TOKEN],
    ["agent", ""],
    ["", ""],
  ] as const;
  for (const [user, pass] of wrong) await assert.rejects(signedIn(log, user, pass), /Authorization/i);
  await assert.rejects(connect({ servers: log.server.url, maxReconnectAttempts: 0 }), /Authorization/i);
});

test("a hub and an agent work through it", { skip }, async (t) => {
  const { server, workspace } = await started(t);
  const hub = await startHub({
    dataDir: workspace.path("hub", "data"),
    settings: { "nats.servers": [server.url], "nats.token": HUB_TOKEN },
  });
  workspace.defer(() => hub.destroy());
  const file = workspace.path("logs", "a.log");
  writeFileSync(file, "one\ntwo\nthree\n");
  const agent = await startAgent({
    folder: workspace.path("agent"),
    natsUrl: server.url,
    token: AGENT_TOKEN,
    paths: [file],
    settings: { "output.pipeline.username": "agent" },
  });
  workspace.defer(() => agent.stop());
  const count = async (): Promise<number> =>
    (await ask<{ count: number }>("GET", `${hub.searchUrl}/logs-*/_count`)).count;
  await until("three lines", async () => (await count()) === 3);
  assert.equal(await agent.stop(), 0);
});
