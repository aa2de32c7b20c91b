import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { connect as connectTo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { nkeys } from "@nats-io/transport-node";
import { Agent } from "#agent/agent.ts";
import { checkAgentSettings } from "#agent/config.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { parseSettings } from "#proto/kit/settings.ts";
import { type CertificateFiles, issueCertificate, makeAuthority } from "#test/harness/certificates.ts";
import { findBinary } from "#test/harness/nats.ts";
import { until } from "#test/harness/until.ts";
import { enroll } from "./commands/enroll.ts";
import { setup } from "./commands/setup.ts";
import { SETTINGS_SCHEMA } from "./settings.ts";

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

async function startAgent(place: string, inputs: object[]) {
  const values = {
    "shipper.inputs": inputs,
    "output.file.path": join(place, "out"),
    "path.data": join(place, "data"),
    "status.enabled": false,
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
  await agent.stop();
  assert.deepEqual(shipped(place).sort(), ["one", "two"]);
  assert.ok(existsSync(join(place, "part.log")));
});

test("syslog arrives over a socket of the file system, which a killed agent may have left behind", async () => {
  const place = newFolder();
  const path = join(folder, "log.sock");
  const { agent } = await startAgent(place, [{ type: "syslog", protocol: "unix", path }]);
  const socket = connectTo(path);
  socket.end("<13>Oct 11 22:14:15 host app: hello\n");
  await until("the message", () => shipped(place).length === 1);
  await agent.stop();
  assert.match(shipped(place)[0]!, /hello/);
});

test("enrolment takes the authority it was told of, and sends nothing to who shows that authority with a forged chain", async () => {
  const place = newFolder();
  const authority = makeAuthority(place, "ca");
  mkdirSync(join(place, "forged"));
  // The same name with another key: a chain by its names, not by its signatures.
  const forger = makeAuthority(join(place, "forged"), "ca");
  const asked: string[] = [];
  const answerOf = async (issued: CertificateFiles): Promise<Error> => {
    const chain = Buffer.concat([readFileSync(issued.certificate), readFileSync(authority.certificate)]);
    const server = createSecureServer({ cert: chain, key: readFileSync(issued.key) }, (request, response) => {
      asked.push(request.url ?? "");
      request.resume();
      response.writeHead(401).end('{"error":{"message":"token used"}}');
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
    const fingerprint = new X509Certificate(readFileSync(authority.certificate)).fingerprint256;
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const options = {
      url,
      token: "t",
      configPath: join(place, "agent.yml"),
      name: "",
      fingerprint,
      force: false,
    };
    const refused = await enroll(options).then(
      () => assert.fail("nobody may be enrolled"),
      (error: Error) => error,
    );
    server.closeAllConnections();
    server.close();
    return refused;
  };
  const forged = await answerOf(issueCertificate(join(place, "forged"), "hub", forger, ["127.0.0.1"]));
  assert.match(forged.message, /isn't the one that --ca-fingerprint names.*nothing was sent/);
  assert.deepEqual(asked, []);
  const real = await answerOf(issueCertificate(place, "hub", authority, ["127.0.0.1"]));
  assert.match(real.message, /refuses: token used/);
  assert.equal(asked.length, 1);
});

test("enrolment writes settings and a key that only its owner may read, and nothing where the hub refuses", async () => {
  const place = newFolder();
  const asked: Record<string, string>[] = [];
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      asked.push(JSON.parse(body) as Record<string, string>);
      const known = asked.at(-1)?.["token"] === "right";
      response.statusCode = known ? 200 : 401;
      const agent_id = "11111111-2222-4333-8444-555555555555";
      const answer = {
        name: "web-1",
        agent_id,
        servers: ["tls://hub:4222"],
        ca: "PEM",
        subject_prefix: "raw",
      };
      response.end(JSON.stringify(known ? answer : { error: { code: "forbidden", message: "token used" } }));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const options = {
    url,
    token: "right",
    configPath: join(place, "agent.yml"),
    name: "",
    fingerprint: "",
    force: false,
  };
  await assert.rejects(enroll({ ...options, token: "wrong" }), /refuses: token used/);
  assert.ok(!existsSync(join(place, "agent.nkey")));
  assert.match(await enroll(options), /enrolled as web-1.*tailrace-agent -c /s);
  await assert.rejects(enroll(options), /is there already; --force/);
  const installed = { ...options, configPath: join(place, "installed.yml"), dataFolder: join(place, "lib") };
  assert.match(await enroll(installed), /systemctl enable --now tailrace-agent/);
  assert.match(readFileSync(installed.configPath, "utf8"), new RegExp(`^path\\.data: "${place}/lib"$`, "m"));
  server.close();
  const seed = readFileSync(join(place, "agent.nkey"), "utf8").trim();
  assert.equal(nkeys.fromSeed(new TextEncoder().encode(seed)).getPublicKey(), asked.at(-1)?.["public_key"]);
  assert.equal(statSync(join(place, "agent.nkey")).mode & 0o777, 0o600);
  const text = readFileSync(join(place, "agent.yml"), "utf8");
  const settings = checkAgentSettings(parseSettings(text, "agent.yml", SETTINGS_SCHEMA, {}));
  assert.equal(settings.file.id, "11111111-2222-4333-8444-555555555555");
  assert.deepEqual(settings.file["output.pipeline.servers"], ["tls://hub:4222"]);
  assert.equal(readFileSync(settings.file["output.pipeline.tls.ca"]!, "utf8"), "PEM");
});

test("setup loads the template and the samples, and says which were there", async () => {
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

test("over TLS with an nkey the agent ships; when the credential is revoked it says why and keeps its place", async (t) => {
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
