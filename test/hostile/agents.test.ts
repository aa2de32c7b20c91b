/** An agent with a key of its own that speaks for another one, or reads what others send. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { after, before, suite, test } from "node:test";
import { jetstream } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { connectionOptions } from "#agent/outputs/connection.ts";
import { LogBatch } from "#proto/messages.ts";
import { inboxPrefix, rawSubject, watermarkSubject } from "#proto/subjects.ts";
import { Child } from "#test/harness/child.ts";
import { encodeBlock } from "#test/harness/pipeline-log.ts";
import { until } from "#test/harness/until.ts";
import { SecuredHub } from "./secured-hub.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const HUB = join(ROOT, "hub/bin/tailrace-hub");
const AGENT = join(ROOT, "agent/bin/tailrace-agent");
const PARTITION = 7;

interface Enrolled {
  readonly id: string;
  readonly config: string;
  readonly text: string;
}

suite("agents that speak for others", () => {
  let target: SecuredHub;
  let a: Enrolled;
  let b: Enrolled;
  let connection: NatsConnection;
  before(async () => {
    target = await SecuredHub.start();
    a = enrol("a");
    b = enrol("b");
    connection = await signIn(a);
  });
  after(async () => {
    await connection.close();
    await target.close();
  });

  function enrol(name: string): Enrolled {
    const printed = execFileSync(HUB, ["agent", "invite", "--json", "--path.data", target.hub.dataDir], {
      encoding: "utf8",
    });
    const [, command, ...args] = (JSON.parse(printed) as { command: string }).command.split(" ");
    const folder = target.workspace.path(name);
    mkdirSync(folder);
    const config = join(folder, "agent.yml");
    execFileSync(AGENT, [command!, ...args, "--config", config, "--name", name], { stdio: "ignore" });
    const text = readFileSync(config, "utf8");
    return { id: /^id: "(.+)"$/m.exec(text)![1]!, config, text };
  }

  function signIn({ id, text }: Enrolled): Promise<NatsConnection> {
    const setting = (name: string): string => new RegExp(`${name}: \\[?"([^"]+)"`).exec(text)![1]!;
    const options = connectionOptions(
      {
        servers: [setting("servers")],
        nkeySeedFile: setting("nkey_seed_file"),
        tlsCa: setting("tls.ca"),
        inboxPrefix: inboxPrefix(id),
      },
      "hostile",
    );
    return until("the key is known to nats-server", () =>
      connect({ ...options, ignoreAuthErrorAbort: false, reconnect: false }),
    );
  }

  async function forgedMessages(): Promise<number> {
    const { text } = await target.request("/metrics", { role: "admin", dashboard: true });
    return Number(/^tailrace_pipeline_forged_messages_total(?:\{.*\})? (\d+)/m.exec(text)?.[1] ?? 0);
  }

  async function found(word: string): Promise<number> {
    await target.request("/_refresh", { method: "POST", role: "admin" });
    const { text } = await target.request(`/_count?q=message:${encodeURIComponent(word)}`, {
      role: "viewer",
    });
    return (JSON.parse(text) as { count: number }).count;
  }

  const publish = (subject: string, data: Uint8Array, msgID: string): Promise<unknown> =>
    jetstream(connection).publish(subject, data, { msgID, timeout: 10_000 });

  test("a batch that names another agent is refused and counted; the next honest one is taken", async () => {
    const before = await forgedMessages();
    const subject = rawSubject(PARTITION, a.id);
    await publish(subject, encodeBlock({ text: "forgedname\n", agentId: b.id }), "1");
    await publish(subject, encodeBlock({ text: "forgedpipe\n", agentId: a.id, pipelineId: "main" }), "2");
    await publish(subject, encodeBlock({ text: "honest\n", agentId: a.id }), "3");
    await until("the honest line is found", async () => (await found("honest")) === 1);
    assert.equal((await forgedMessages()) - before, 2);
    assert.equal(await found("forgedname"), 0);
    assert.equal(await found("forgedpipe"), 0);
  });

  test("another agent's subjects, and those of the hub, can neither be written nor read", async () => {
    const writes = [
      rawSubject(PARTITION, b.id),
      "doc.0.x.0",
      "$KV.auth.account.x",
      "$JS.API.STREAM.DELETE.RAW",
    ];
    const reads = ["raw.>", "doc.>", "$KV.>", "_INBOX.>", watermarkSubject(b.id)];
    const refused = new Set<string>();
    const received: string[] = [];
    for (const subject of reads) {
      const callback = (error: Error | null): void => {
        if (error === null) received.push(subject);
        else refused.add(subject);
      };
      connection.subscribe(subject, { callback });
    }
    await until("reading was refused", () => refused.size === reads.length);
    const refusals = connection.status()[Symbol.asyncIterator]();
    for (const subject of writes) {
      connection.publish(subject, encodeBlock({ text: "stolen\n" }));
      const { value } = (await refusals.next()) as { value: { type: string; error: Error } };
      assert.match(value.error.message, /permissions violation/i, subject);
    }
    assert.deepEqual(received, []);
    assert.equal(await found("stolen"), 0);
  });

  test("neither an event nor a line says which agent or container it came from", async () => {
    const subject = rawSubject(PARTITION, a.id);
    const forged = { shipper: { id: b.id }, "shipper.id": b.id, kubernetes: { pod: { name: "other" } } };
    const line = JSON.stringify({
      message: "forgedline",
      "shipper.id": b.id,
      "kubernetes.pod.name": "other",
    });
    const fieldsJson = Buffer.from(JSON.stringify({ kubernetes: { pod: { name: "mine" } } }));
    const ofPod = (data: Uint8Array): Uint8Array =>
      LogBatch.encode(Object.assign(LogBatch.decode(data), { fieldsJson })).finish();
    const message = Buffer.from("forgedevent");
    const event = { offset: 0, message, length: 11, fieldsJson: Buffer.from(JSON.stringify(forged)) };
    const events = { data: Buffer.alloc(0), events: [event] };
    const sent = { agentId: a.id, text: `${line}\n` };
    await publish(subject, ofPod(encodeBlock({ ...sent, fileKey: "lines" })), "4");
    await publish(subject, ofPod(encodeBlock({ ...sent, fileKey: "events", properties: events })), "5");
    for (const word of ["forgedline", "forgedevent"]) {
      await until(`${word} is found`, async () => (await found(word)) === 1);
      const of = async (query: string): Promise<number> => found(`${word} AND ${query}`);
      assert.equal(await of(`shipper.id:"${b.id}"`), 0, word);
      assert.equal(await of(`kubernetes.pod.name:other`), 0, word);
      assert.equal(await of(`kubernetes.pod.name:mine`), 1, word);
      assert.equal(await of(`shipper.id:"${a.id}"`), 1, word);
    }
  });

  test("an agent reads neither a linked folder below a wildcard nor through it", async () => {
    const logs = target.workspace.path("apps");
    const secrets = target.workspace.path("secrets");
    for (const folder of [join(logs, "own"), secrets]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(logs, "own/app.log"), "ownline\n");
    writeFileSync(join(secrets, "app.log"), "secretline\n");
    symlinkSync(secrets, join(logs, "linked"));
    symlinkSync(join(secrets, "app.log"), join(logs, "own/linked.log"));
    writeFileSync(b.config, b.text.replace(/paths: .*/, `paths: ["${logs}/*/*.log"]`), { mode: 0o600 });
    const agent = new Child({
      name: "b",
      command: AGENT,
      args: ["run", "-c", b.config, "-E", "status.port=0", "--ready-json"],
      logFile: join(dirname(b.config), "agent.log"),
    });
    await agent.ready();
    try {
      await until("the agent's own line is found", async () => (await found("ownline")) === 1);
      writeFileSync(join(logs, "own/later.log"), "laterline\n");
      await until("a later scan is done", async () => (await found("laterline")) === 1);
      assert.equal(await found("secretline"), 0);
    } finally {
      await agent.end("SIGTERM");
    }
  });
});
