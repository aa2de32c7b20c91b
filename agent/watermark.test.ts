import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { NatsConnection } from "@nats-io/transport-node";
import { checkAgentSettings } from "#agent/settings/config.ts";
import { SETTINGS_SCHEMA } from "#agent/settings/schema.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { parseSettings } from "#proto/kit/settings/settings.ts";
import { AgentHello, type tailrace, Watermark } from "#proto/messages.ts";
import { helloSubject, watermarkSubject } from "#proto/subjects.ts";
import { assemble, openRaw, readRaw } from "#test/harness/agent.ts";
import { startNats, type TestNats } from "#test/harness/nats.ts";
import { Agent } from "./agent.ts";

let server: TestNats;
let nats: NatsConnection;
const folder = mkdtempSync(join(tmpdir(), "tailrace-watermark-"));
const file = join(folder, "a.log");

before(async () => {
  server = await startNats();
  nats = await openRaw(server.url, server.token);
});

after(async () => {
  await nats.close();
  await server.stop();
  rmSync(folder, { recursive: true, force: true });
});

function agent(): Agent {
  const settings = {
    "shipper.inputs": [{ type: "log", paths: [file], rotated_wait: "10ms", scan_frequency: "50ms" }],
    "output.pipeline.servers": [server.url],
    "output.pipeline.token": server.token,
    "status.enabled": false,
    "path.data": join(folder, "data"),
  };
  return new Agent(
    checkAgentSettings(parseSettings(JSON.stringify(settings), "agent.yml", SETTINGS_SCHEMA, {})),
    silentLogger(),
  );
}

/** Resolves when `condition` holds; asked again and again, as the agent is not to be looked into. */
async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = AbortSignal.timeout(30_000);
  while (!(await condition())) {
    assert.ok(!deadline.aborted, "in vain");
    await pause(10);
  }
}

test("the agent requests watermarks, and resends from there when the hub's log has changed", async () => {
  writeFileSync(file, "1\n2\n3\n");
  const hellos: tailrace.AgentHello[] = [];
  let answer: tailrace.Watermark.$Properties = { incarnation: 1 };
  nats.subscribe("agent.*.hello", {
    callback: (_, message) => {
      hellos.push(AgentHello.decode(message.data));
      message.respond(Watermark.encode(answer).finish());
    },
  });
  const first = agent();
  await first.start();
  await until(async () => (await readRaw(nats)).length === 1);
  const [sent] = await readRaw(nats);
  const { fileKey = "", generation = 0 } = sent!.batch.block!.source!;
  const publish = (watermark: tailrace.Watermark.$Properties): void =>
    nats.publish(watermarkSubject(first.agentId), Watermark.encode(watermark).finish());
  await until(() => hellos.length === 2);

  // Marks of another generation or agent, and those whose beginning the hub doesn't know, move nothing.
  publish({
    incarnation: 1,
    committed: [
      { fileKey, generation: 7, offset: 6 },
      { fileKey, generation, offset: 6, from: 4 },
    ],
  });
  publish({ agentId: "another", incarnation: 1, committed: [{ fileKey, generation, offset: 6 }] });
  publish({ incarnation: 1, committed: [{ fileKey, generation, offset: 2 }] });
  publish({ incarnation: 2, committed: [] });
  await until(async () => (await readRaw(nats)).length === 2);
  const again = (await readRaw(nats))[1]!;
  assert.deepEqual([Number(again.batch.block!.from), again.data.toString()], [2, "2\n3\n"]);
  await first.stop();

  answer = { incarnation: 2, rewind: true, committed: [{ fileKey, generation, offset: 4 }] };
  hellos.length = 0;
  const second = agent();
  await second.start();
  await until(async () => (await readRaw(nats)).length === 3);
  const [empty, asking] = hellos;
  assert.deepEqual(empty!.fileKeys, [], "whether somebody listens is found out first");
  assert.deepEqual(asking!.fileKeys, [`${fileKey}/${generation}`]);
  assert.deepEqual([asking!.incarnation, Number(asking!.lastSequence)], [2, 2]);
  assert.match(asking!.lastMessageId!, new RegExp(`^${second.agentId}/1/\\d+/[\\w-]{16}$`));
  assert.equal((await readRaw(nats))[2]!.data.toString(), "3\n");

  // A hub restored from a snapshot knows nothing of what it had called committed.
  answer = { incarnation: 1_001, restored: 1_001 };
  publish(answer);
  await until(async () => (await readRaw(nats)).length === 4);
  assert.equal((await readRaw(nats))[3]!.data.toString(), "1\n2\n3\n");
  publish({ incarnation: 1_001, restored: 1_001, committed: [{ fileKey, generation: 0, offset: 6 }] });
  await second.stop();
  assert.equal((await readRaw(nats)).length, 4, "it is heard of once");
  assert.equal(helloSubject(second.agentId), `agent.${first.agentId}.hello`);
});

test("lines beyond one batch are shipped whole", async () => {
  const lines = "a line that is repeated\n".repeat(5_000);
  const before = (await readRaw(nats)).length;
  appendFileSync(file, lines);
  const third = agent();
  await third.start();
  await until(async () => (await readRaw(nats)).length > before);
  await until(async () =>
    [...assemble(await readRaw(nats)).values()].some((content) => content.toString().endsWith(lines)),
  );
  await third.stop();
});
