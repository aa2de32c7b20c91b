import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { connect as connectTo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { nkeys } from "@nats-io/transport-node";
import { TcpInput } from "#agent/inputs/tcp.ts";
import { checkAgentSettings } from "#agent/settings/config.ts";
import { SETTINGS_SCHEMA } from "#agent/settings/schema.ts";

import { silentLogger } from "#proto/kit/log.ts";
import { parseSettings } from "#proto/kit/settings/settings.ts";
import { findBinary } from "#test/harness/nats.ts";
import { until } from "#test/harness/until.ts";
import { Agent } from "./agent.ts";
import { setup } from "./commands/setup.ts";
import { FileSink } from "./outputs/json-lines.ts";
import { SegmentWriter } from "./spool/segment.ts";

const folder = mkdtempSync(join(tmpdir(), "tailrace-operation-"));
const running: Agent[] = [];
after(async () => {
  for (const agent of running) await agent.stop();
  rmSync(folder, { recursive: true, force: true });
});
let count = 0;
const newFolder = (): string => {
  const place = join(folder, String(count++));
  mkdirSync(place);
  return place;
};

function settingsOf(values: object) {
  return checkAgentSettings(parseSettings(JSON.stringify(values), "agent.yml", SETTINGS_SCHEMA, {}));
}

/** Lines that an agent with the output `file` has written. */
function shipped(place: string): string[] {
  const path = join(place, "out", "tailrace-agent.ndjson");
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, "utf8").split("\n").slice(0, -1);
  return lines.map((line) => (JSON.parse(line) as { message: string }).message);
}

async function startAgent(place: string, inputs: object[], more: object = {}) {
  const values = {
    "shipper.inputs": inputs,
    "output.file.path": join(place, "out"),
    "path.data": join(place, "data"),
    "status.enabled": false,
    ...more,
  };
  const agent = new Agent(settingsOf(values), silentLogger());
  running.push(agent);
  await agent.start();
  const reload = (changed: object[]): Promise<void> =>
    agent.reload(settingsOf({ ...values, "shipper.inputs": changed }));
  return { agent, reload };
}

const fileInput = (place: string, more: object = {}): object => ({
  type: "log",
  paths: [join(place, "*.log")],
  scan_frequency: "50ms",
  ...more,
});

test("the output to a file holds each line once, over a restart as well", async () => {
  const place = newFolder();
  const first = await startAgent(place, [fileInput(place)]);
  writeFileSync(join(place, "a.log"), "one\ntwo\n");
  await until("the lines", () => shipped(place).length === 2);
  await first.agent.stop();
  appendFileSync(join(place, "a.log"), "three\n");
  const second = await startAgent(place, [fileInput(place)]);
  await until("the line", () => shipped(place).length === 3);
  await second.agent.stop();
  assert.deepEqual(shipped(place), ["one", "two", "three"]);
});

test("the agent doesn't read what it writes itself", async () => {
  const place = newFolder();
  const { agent } = await startAgent(place, [
    fileInput(place, { paths: [join(place, "*.log"), join(place, "out/*")] }),
  ]);
  writeFileSync(join(place, "a.log"), "one\n");
  await until("the line", () => shipped(place).length === 1);
  writeFileSync(join(place, "b.log"), "two\n");
  await until("the other line", () => shipped(place).includes("two"));
  await agent.stop();
  assert.deepEqual(shipped(place), ["one", "two"]);
});

test("events name the version that receivers know", async () => {
  const place = newFolder();
  await startAgent(place, [fileInput(place)]);
  writeFileSync(join(place, "a.log"), "one\n");
  await until("the line", () => shipped(place).length === 1);
  const [line = ""] = readFileSync(join(place, "out", "tailrace-agent.ndjson"), "utf8").split("\n");
  assert.equal((JSON.parse(line) as { shipper: { version: string } }).shipper.version, "6.5.0");
});

test("changed inputs are taken over while lines are shipped: none is lost and none doubled", async () => {
  const place = newFolder();
  const { agent, reload } = await startAgent(place, [fileInput(place, { tags: ["a"] })]);
  const lines: string[] = [];
  for (let round = 0; round < 4; round++) {
    for (let line = 0; line < 50; line++) {
      lines.push(`${round}/${line}`);
      appendFileSync(join(place, "a.log"), `${round}/${line}\n`);
    }
    await reload([fileInput(place, { tags: [`round-${round}`] })]);
  }
  await until("all lines", () => shipped(place).length >= lines.length);
  await agent.stop();
  assert.deepEqual(shipped(place), lines);
});

test("a file is deleted after delete_grace once it is committed, another one stays", async () => {
  const place = newFolder();
  const { agent } = await startAgent(place, [
    fileInput(place, { delete_after_read: true, delete_grace: "100ms" }),
  ]);
  writeFileSync(join(place, "whole.log"), "one\n");
  writeFileSync(join(place, "part.log"), "two\nthr");
  await until("the deletion", () => !existsSync(join(place, "whole.log")));
  await until("both lines", () => shipped(place).length >= 2);
  await agent.stop();
  assert.deepEqual(shipped(place).sort(), ["one", "two"]);
  assert.ok(existsSync(join(place, "part.log")));
});

test("syslog arrives over a socket of the file system, whose file a killed agent may have left", async () => {
  const place = newFolder();
  const path = join(folder, "log.sock");
  const { agent } = await startAgent(place, [{ type: "syslog", protocol: "unix", path }]);
  const socket = connectTo(path);
  socket.end("<13>Oct 11 22:14:15 host app: hello\n");
  await until("the message", () => shipped(place).length === 1);
  await agent.stop();
  assert.match(shipped(place)[0]!, /hello/);
});

test("setup loads the template and the samples, and lists those that existed", async () => {
  const requests: string[] = [];
  const samples = {
    saved: [{ type: "dashboard", id: "a", title: "Access logs" }],
    existing: [{ type: "search", id: "b", title: "Errors in shipped lines" }],
  };
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    request.resume();
    response.end(request.url === "/api/samples" ? JSON.stringify(samples) : "{}");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { file } = settingsOf({ "shipper.inputs": [fileInput("/x")], "setup.dashboard.host": host });
  const told = await setup(file);
  server.close();
  assert.match(told, /template tailrace-agent loaded/);
  assert.match(told, /dashboard "Access logs" saved\nsearch "Errors in shipped lines" is there already/);
  assert.deepEqual(requests, ["PUT /es/_template/tailrace-agent", "POST /api/samples"]);
});

test("over TLS with an nkey the agent ships; when the credential is revoked it logs the reason and keeps its offsets", async (t) => {
  const place = mkdtempSync(join(folder, "tls-"));
  const pem = (name: string): string => join(place, name);
  execFileSync(
    "openssl",
    [
      "req",
      "-x509",
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:P-256",
      "-nodes",
      "-days",
      "2",
      "-subj",
      "/CN=127.0.0.1",
      "-addext",
      "subjectAltName=IP:127.0.0.1",
      "-keyout",
      pem("key.pem"),
      "-out",
      pem("cert.pem"),
    ],
    { stdio: "ignore" },
  );
  const pair = nkeys.createUser();
  writeFileSync(pem("seed"), new TextDecoder().decode(pair.getSeed()), { mode: 0o600 });
  const configure = (users: string): void =>
    writeFileSync(
      pem("nats.conf"),
      `host: 127.0.0.1\nport: -1\nports_file_dir: "${place}"\ntls { cert_file: "${pem("cert.pem")}", key_file: "${pem("key.pem")}" }\n` +
        `jetstream { store_dir: "${pem("store")}" }\nauthorization { users = [ { user: "hub", password: "hub" } ${users} ] }\n`,
    );
  configure(`, { nkey: ${pair.getPublicKey()} }`);
  const server = spawn(findBinary(), ["-c", pem("nats.conf")], { stdio: "ignore" });
  t.after(() => server.kill("SIGKILL"));
  const ports = pem(`nats-server_${server.pid}.ports`);
  const port = await until("the server", () => {
    const { nats } = JSON.parse(readFileSync(ports, "utf8")) as { nats: string[] };
    return new URL(nats[0]!.replace(/^tls|^nats/, "http")).port;
  });
  const agent = new Agent(
    settingsOf({
      "shipper.inputs": [fileInput(place)],
      "output.pipeline.servers": [`tls://127.0.0.1:${port}`],
      "output.pipeline.nkey_seed_file": pem("seed"),
      "output.pipeline.tls.ca": pem("cert.pem"),
      "path.data": join(place, "data"),
      shutdown_timeout: "100ms",
      "status.port": 0,
    }),
    silentLogger(),
  );
  await agent.start();
  running.push(agent);
  const health = async () =>
    (await (await fetch(`http://127.0.0.1:${agent.statusPort}/health`)).json()) as {
      status: string;
      reason: string;
    };
  await until("the connection", async () => (await health()).status === "ok");
  configure("");
  spawnSync("kill", ["-HUP", String(server.pid)]);
  const { reason } = await until("the refusal", async () => {
    const answer = await health();
    return /revoked/.test(answer.reason) && answer;
  });
  assert.match(reason, /refuses the agent's credential.*revoked.*nothing is lost/);
  configure(`, { nkey: ${pair.getPublicKey()} }`);
  spawnSync("kill", ["-HUP", String(server.pid)]);
  await until("the connection", async () => (await health()).status === "ok");
});

test("an input whose port is taken waits for it; the others run, health names it, and the agent stops", async (t) => {
  const place = newFolder();
  const occupant = createServer().listen(0, "127.0.0.1");
  t.after(() => occupant.close());
  await once(occupant, "listening");
  const { port } = occupant.address() as AddressInfo;
  writeFileSync(join(place, "a.log"), "one\n");
  const settings = settingsOf({
    "shipper.inputs": [fileInput(place), { type: "tcp", id: "lines", host: `127.0.0.1:${port}` }],
    "output.file.path": join(place, "out"),
    "path.data": join(place, "data"),
    "status.port": 0,
  });
  const agent = new Agent(settings, silentLogger());
  await agent.start();
  await until("the other input's line", () => shipped(place).length === 1);
  const health = async () => (await fetch(`http://127.0.0.1:${agent.statusPort}/health`)).json();
  const degraded = (await health()) as { status: string; reason: string };
  assert.equal(degraded.status, "degraded");
  assert.match(degraded.reason, /input lines cannot listen on tcp .*another process/);
  occupant.close();
  await once(occupant, "close");
  await until("the input to run", async () => ((await health()) as { status: string }).status === "ok");
  const socket = connectTo(port, "127.0.0.1");
  socket.end("two\n");
  await until("its line", () => shipped(place).includes("two"));
  await agent.stop();
});

test("an agent stops while an input of it waits for its port", async (t) => {
  const place = newFolder();
  const occupant = createServer().listen(0, "127.0.0.1");
  t.after(() => occupant.close());
  await once(occupant, "listening");
  const { port } = occupant.address() as AddressInfo;
  const { agent } = await startAgent(place, [
    fileInput(place),
    { type: "tcp", id: "lines", host: `127.0.0.1:${port}` },
  ]);
  await agent.stop();
});

/** Leaves a spool of a former input below `path.data`. */
function leaveSpool(place: string, id: string, origin?: object): void {
  const spool = join(place, "data", "spool", id);
  mkdirSync(spool, { recursive: true });
  const writer = new SegmentWriter(join(spool, `000000000001-${randomUUID()}.spool`));
  writer.append({ message: Buffer.from(id), timeMs: 1, fieldsJson: Buffer.from("{}") });
  writer.close();
  if (origin !== undefined) writeFileSync(join(spool, "origin.json"), JSON.stringify(origin));
}

test("lines that wait on disk for a former input are sent; health names those whose input is unknown", async () => {
  const place = newFolder();
  leaveSpool(place, "tcp-0a1b2c3d", { input: "tcp-0a1b2c3d", type: "tcp", fields: '{"tags":["a"]}' });
  leaveSpool(place, "tcp-1a1b2c3d");
  const values = {
    "shipper.inputs": [{ type: "tcp", host: "127.0.0.1:0" }],
    "output.file.path": join(place, "out"),
    "path.data": join(place, "data"),
    "status.port": 0,
  };
  const agent = new Agent(settingsOf(values), silentLogger());
  running.push(agent);
  await agent.start();
  await until("the line", () => shipped(place).length === 1);
  const health = async () =>
    (await (await fetch(`http://127.0.0.1:${agent.statusPort}/health`)).json()) as Record<string, string>;
  assert.match(
    (await health())["reason"]!,
    /spool\/tcp-1a1b2c3d holds lines .* give their input a spool and the id: tcp-1a1b2c3d;/,
  );
  const named = [{ type: "tcp", host: "127.0.0.1:0", id: "tcp-1a1b2c3d" }];
  await agent.reload(settingsOf({ ...values, "shipper.inputs": named }));
  await until("the other line", () => shipped(place).length === 2);
  assert.equal((await health())["status"], "ok");
  assert.deepEqual(shipped(place), ["tcp-0a1b2c3d", "tcp-1a1b2c3d"]);
});

for (const [what, input] of [
  ["has no spool any more", { type: "tcp", host: "127.0.0.1:0", "spool.max_bytes": 0 }],
  ["is of a type without a spool", { type: "log", paths: [join(folder, "none", "*.log")] }],
] as const)
  test(`lines that wait on disk for an input that ${what} are sent`, async () => {
    const place = newFolder();
    leaveSpool(place, "lines", { input: "lines", type: "tcp", fields: "" });
    const { reload } = await startAgent(place, [{ ...input, id: "lines" }]);
    await until("the line", () => shipped(place).length === 1);
    await until("the end of the spool", () => !existsSync(join(place, "data", "spool", "lines")));
    // A reload doesn't send them again, and an input with a spool takes the folder.
    await reload([{ type: "tcp", host: "127.0.0.1:0", id: "lines" }]);
    assert.deepEqual(shipped(place), ["lines"]);
    assert.ok(existsSync(join(place, "data", "spool", "lines", "origin.json")));
  });

test("lines of an input that a reload ended before their acknowledgement arrive after a restart", async (t) => {
  const place = newFolder();
  const sink = t.mock.method(FileSink.prototype, "write", () => {
    throw new Error("ENOSPC: no space left on device");
  });
  const lines = { type: "syslog", protocol: "unix", path: join(folder, "reload.sock"), id: "lines" };
  const { agent, reload } = await startAgent(place, [fileInput(place), lines], { shutdown_timeout: "100ms" });
  connectTo(lines.path).end("one\n");
  await until("the attempt to write", () => sink.mock.callCount() > 0);
  await reload([fileInput(place)]);
  await agent.stop();
  sink.mock.restore();
  await startAgent(place, [fileInput(place)]);
  await until("the line", () => shipped(place).length === 1);
  assert.deepEqual(shipped(place), ["one"]);
});

test("a reload doesn't wait for an input that hangs at its end", async (t) => {
  const place = newFolder();
  const lines = { type: "tcp", id: "lines", host: "127.0.0.1:0" };
  const { reload } = await startAgent(place, [fileInput(place), lines]);
  const { value } = Object.getOwnPropertyDescriptor(TcpInput.prototype, "stop")!;
  t.mock.method(TcpInput.prototype, "stop", async function hang(this: TcpInput) {
    await (value as (this: TcpInput) => Promise<void>).call(this);
    await new Promise(() => undefined);
  });
  const other = mkdtempSync(join(place, "other-"));
  await reload([fileInput(place), { ...fileInput(other), id: "other" }]);
  writeFileSync(join(other, "a.log"), "one\n");
  await until("the new input's line", () => shipped(place).includes("one"));
});
