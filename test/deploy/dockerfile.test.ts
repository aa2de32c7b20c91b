import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { dockerfileFaults } from "./dockerfile.ts";
import { ROOT, text, without } from "./tools.ts";

const IMAGES = {
  agent: { root: true },
  hub: { root: false },
  nats: { root: false },
  "sample-app": { root: false },
};
const source = text("deploy/images/Dockerfile");

test("the Dockerfile is clean", () => {
  assert.deepEqual(dockerfileFaults(source, IMAGES), []);
});

test("what it copies from the checkout is there, and not left out", () => {
  const ignored = text("deploy/images/Dockerfile.dockerignore").split("\n");
  for (const [, path] of source.matchAll(/^COPY (?!--from)(?!\. )(\S+) /gm)) {
    assert.ok(existsSync(join(ROOT, path!)), path);
    assert.ok(!ignored.includes(path!.split("/")[0]!), path);
  }
  for (const needed of ["deploy", "agent", "hub", "proto", "ui", "package.json"]) {
    assert.ok(!ignored.includes(needed), needed);
  }
});

const PLANTED: readonly (readonly [what: string, from: string | RegExp, to: string, fault: RegExp])[] = [
  [
    "a base without a version",
    "DEBIAN=debian:12.12-slim",
    "DEBIAN=debian:latest",
    /base debian:latest must be named/,
  ],
  ["a hub that runs as root", "USER 10001:10001", "USER root", /image hub runs as root/],
  ["a user without a number", "USER 10003:10003", "USER app", /USER must be numbers/],
  [
    "a shell before the program",
    /^ENTRYPOINT .*tailrace-agent.*$/m,
    "ENTRYPOINT tailrace-agent run",
    /JSON list/,
  ],
  ["an image without a health check", /^HEALTHCHECK .*"5066".*$/m, "", /image agent has no HEALTHCHECK/],
  [
    "packages installed carelessly",
    "FROM runtime AS agent",
    "FROM runtime AS agent\nRUN apt-get install -y curl",
    /without update[\s\S]*without --no-install-recommends[\s\S]*without rm -rf/,
  ],
  ["packages without the lockfile", "npm ci", "npm install", /npm ci keeps to the lockfile/],
  ["a stage that isn't there", "--from=nats-server", "--from=nats-servr", /no stage nats-servr/],
  [
    "a program of others by its tag alone",
    /@sha256:\w+$/m,
    "",
    /nats-server is copied from as it is: name its base by digest/,
  ],
  ["a secret in the image", "ENV PORT=3001", "ENV NATS_TOKEN=abc PORT=3001", /secret/],
  ["an unknown instruction", "EXPOSE 3001", "EXPOS 3001", /unknown or unwanted instruction EXPOS/],
];

for (const [what, from, to, fault] of PLANTED) {
  test(`the check finds ${what}`, () => {
    const planted = source.replace(from, to);
    assert.notEqual(planted, source);
    assert.match(dockerfileFaults(planted, IMAGES).join("\n"), fault);
  });
}

test("the containers' health check succeeds on 200 only", { skip: without("bash") }, async () => {
  let status = 200;
  const server = createServer((_, response) => response.writeHead(status).end("x")).listen(0, "127.0.0.1");
  await once(server, "listening");
  const port = String((server.address() as AddressInfo).port);
  const check = () =>
    promisify(execFile)("bash", [join(ROOT, "deploy/images/healthcheck.sh"), port, "/health"]).then(
      () => true,
      () => false,
    );
  try {
    assert.equal(await check(), true);
    status = 503;
    assert.equal(await check(), false);
  } finally {
    server.close();
  }
  assert.equal(await check(), false, "nobody listens");
});
