import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { nkeys } from "@nats-io/transport-node";
import { checkAgentSettings } from "#agent/settings/config.ts";
import { SETTINGS_SCHEMA } from "#agent/settings/schema.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { parseSettings } from "#proto/kit/settings/settings.ts";
import { type CertificateFiles, issueCertificate, makeAuthority } from "#test/harness/certificates.ts";
import type { Finding } from "./check-output.ts";
import { enroll, waitForAdmission } from "./enroll.ts";

const folder = mkdtempSync(join(tmpdir(), "tailrace-enroll-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const newFolder = (): string => mkdtempSync(join(folder, "place-"));

test("enrolment trusts the pinned authority, and sends nothing to a server that presents it in a forged chain", async () => {
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
      program: "tailrace-agent",
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
    program: "agent/bin/tailrace-agent",
  };
  await assert.rejects(enroll({ ...options, token: "wrong" }), /refuses: token used/);
  assert.ok(!existsSync(join(place, "agent.nkey")));
  assert.match(await enroll(options), /enrolled as web-1.* {2}agent\/bin\/tailrace-agent -c /s);
  await assert.rejects(enroll(options), /already exists; --force/);
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

const ADMITTED: Finding = { target: "nats://hub", ok: true, isReached: true, text: "connected" };
const REFUSED: Finding = { target: "nats://hub", ok: false, isReached: true, text: "refused" };
const UNREACHED: Finding = { target: "nats://far", ok: false, isReached: false, text: "no answer" };

/** A clock whose sleeps pass at once. */
function quickClock(): Clock {
  let nowMs = 0;
  return {
    now: () => nowMs,
    monotonic: () => nowMs,
    sleep: async (ms) => {
      nowMs += ms;
    },
  };
}

test("an enrolment waits until a server admits the key", async () => {
  const answers = [[REFUSED], [UNREACHED, REFUSED], [UNREACHED, ADMITTED]];
  assert.equal(await waitForAdmission(async () => answers.shift()!, quickClock()), "");
  assert.deepEqual(answers, []);
});

test("servers that can't be reached are named and not waited for", async () => {
  let asked = 0;
  const text = await waitForAdmission(() => {
    asked++;
    return Promise.resolve([UNREACHED]);
  }, quickClock());
  assert.match(text, /cannot reach the hub's log from here yet: nats:\/\/far: no answer/);
  assert.equal(asked, 1);
});

test("a key that no server admits is an error that names the server", async () => {
  await assert.rejects(
    waitForAdmission(() => Promise.resolve([REFUSED]), quickClock()),
    { code: "unavailable", message: /nats:\/\/hub does not accept the key: refused/ },
  );
});
