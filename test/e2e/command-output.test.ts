/** No command of hub and agent ends before its output is taken, whoever takes it. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { after, before, test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { Workspace } from "#test/harness/workspace.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const workspace = new Workspace();
const HITS = 3_000;
const EVENTS = 2_000;
/** A pipe takes this much by itself; below it nothing can be lost. */
const PIPE_BYTES = 64 * 1024;

const SEARCH_ANSWER = JSON.stringify({
  hits: {
    hits: Array.from({ length: HITS }, (_, number) => ({
      _source: { "@timestamp": "2026-01-31T12:00:00.000Z", message: `line ${number} of a long answer` },
    })),
  },
  _shards: { total: 1 },
});

/** Both interfaces of a hub, as far as the commands here ask them. */
const hub = createServer((request, response) => {
  const { url = "" } = request;
  response.setHeader("content-type", "application/json");
  if (url.includes("_search")) response.end(SEARCH_ANSWER);
  else if (url === "/api/status") response.end('{"streams":{}}');
  else response.end("[]");
});

const pipeline = workspace.path("pipeline.conf");
const sample = workspace.path("sample.log");
const agentSettings = workspace.path("agent.yml");
const data = workspace.path("data");

before(async () => {
  writeFileSync(pipeline, 'filter { mutate { add_field => { "made" => "by the test" } } }\n');
  writeFileSync(sample, "a line that becomes an event\n".repeat(EVENTS));
  writeFileSync(
    agentSettings,
    `shipper.inputs:\n  - type: log\n    paths: [/nonexistent/*.log]\npath.data: ${data}\noutput.pipeline.servers: [nats://127.0.0.1:1]\n`,
  );
  hub.listen(0, "127.0.0.1");
  await once(hub, "listening");
});
after(async () => {
  hub.close();
  await workspace.close();
});

const HUB = "hub/main.ts";
const AGENT = "agent/main.ts";

/** `isLong`: prints more than a pipe takes by itself. */
const COMMANDS: readonly {
  readonly name: string;
  readonly program: string;
  readonly args: () => string[];
  readonly isLong?: true;
}[] = [
  { name: "hub help", program: HUB, args: () => ["help"] },
  { name: "hub --version", program: HUB, args: () => ["--version"] },
  { name: "hub --print-settings", program: HUB, args: () => ["--print-settings"] },
  { name: "hub --print-schema", program: HUB, args: () => ["--print-schema"] },
  { name: "hub --print-compatibility", program: HUB, args: () => ["--print-compatibility"] },
  { name: "hub pipeline plugins", program: HUB, args: () => ["pipeline", "plugins"], isLong: true },
  { name: "hub pipeline check", program: HUB, args: () => ["pipeline", "check", pipeline] },
  {
    name: "hub pipeline run",
    program: HUB,
    args: () => ["pipeline", "run", pipeline, "--input", sample],
    isLong: true,
  },
  {
    name: "hub search",
    program: HUB,
    args: () => ["search", "*", "--size", String(HITS), ...reached("http")],
    isLong: true,
  },
  { name: "hub journal", program: HUB, args: () => ["journal", ...reached("dashboard")] },
  { name: "agent --help", program: AGENT, args: () => ["--help"] },
  { name: "agent --print-settings", program: AGENT, args: () => ["--print-settings"] },
  { name: "agent --print-schema", program: AGENT, args: () => ["--print-schema"] },
  { name: "agent test config", program: AGENT, args: () => ["test", "config", "-c", agentSettings] },
];

function reached(part: "http" | "dashboard"): string[] {
  const { port } = hub.address() as AddressInfo;
  return ["--path.data", data, "-E", "http.host=127.0.0.1", "-E", `${part}.port=${port}`];
}

/** Starts a command whose standard output is `stdout`. */
function start(program: string, args: readonly string[], stdout: "pipe" | number) {
  const child = spawn(process.execPath, [program, ...args], { cwd: ROOT, stdio: ["ignore", stdout, "pipe"] });
  let complaints = "";
  child.stderr!.setEncoding("utf8").on("data", (text: string) => {
    complaints += text;
  });
  const closed = once(child, "close") as Promise<[number | null]>;
  return { child, ended: closed.then(([status]) => ({ status, complaints })) };
}

async function intoFile(path: string, program: string, args: readonly string[]) {
  const file = openSync(path, "w");
  const { ended } = start(program, args, file);
  closeSync(file);
  return ended;
}

for (const { name, program, args, isLong } of COMMANDS) {
  test(`${name}: a slow pipe gets all of the output`, async () => {
    const whole = workspace.path("whole.txt");
    assert.equal((await intoFile(whole, program, args())).status, 0, name);
    const expected = readFileSync(whole);
    if (isLong) assert.ok(expected.length > PIPE_BYTES, `it prints ${expected.length} bytes`);
    const { child, ended } = start(program, args(), "pipe");
    const chunks: Buffer[] = [];
    for await (const chunk of child.stdout!) {
      chunks.push(chunk as Buffer);
      await setImmediate();
    }
    const { status, complaints } = await ended;
    // Times in it differ, lengths don't.
    assert.equal(Buffer.concat(chunks).length, expected.length);
    assert.equal(status, 0, complaints);
  });

  test(`${name}: a closed pipe ends it without an error`, async () => {
    const { child, ended } = start(program, args(), "pipe");
    child.stdout!.destroy();
    assert.deepEqual(await ended, { status: 0, complaints: "" }, name);
  });

  test(`${name}: a full disk is an error`, {
    skip: !existsSync("/dev/full"),
  }, async () => {
    const { status, complaints } = await intoFile("/dev/full", program, args());
    assert.deepEqual([status, complaints.split("\n").length], [1, 2], `${name}: ${complaints}`);
    assert.match(complaints, /^tailrace-(hub|agent): cannot write the output: no space is left/);
  });
}
