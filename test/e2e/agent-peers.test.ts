/** Programs that people have send to the agent's inputs, and their lines are found on the hub. */

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type TestContext, test } from "node:test";
import { startAgent } from "#test/harness/agent.ts";
import { assertExactlyOnce } from "#test/harness/exactly-once.ts";
import { freePort } from "#test/harness/free-ports.ts";
import { TestHub } from "#test/harness/hub.ts";
import { SequenceLog } from "#test/harness/sequence-log.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

/** Starts a program that ends with the workspace. */
function run(workspace: Workspace, command: string, args: readonly string[]): void {
  const child = spawn(command, args, { stdio: "ignore" });
  child.on("error", () => undefined);
  workspace.defer(() => child.kill("SIGKILL"));
}

async function found(hub: TestHub, words: string): Promise<boolean> {
  const url = `${hub.dashboardUrl}/es/logs-*/_search?q=${encodeURIComponent(`message:"${words}"`)}`;
  const answer = (await (await fetch(url)).json()) as { hits?: { total?: number | { value: number } } };
  const total = answer.hits?.total ?? 0;
  return (typeof total === "number" ? total : total.value) > 0;
}

async function startHub(t: TestContext): Promise<{ workspace: Workspace; hub: TestHub }> {
  const workspace = new Workspace(t);
  const hub = new TestHub({ dataDir: workspace.path("hub-data") });
  workspace.defer(() => hub.destroy());
  await hub.start();
  return { workspace, hub };
}

function isInstalled(program: string): boolean {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin"];
  return folders.some((folder) => existsSync(join(folder, program)));
}

/** rsyslogd forwards what `logger` gives its socket, in three ways. */
function rsyslogConfig(socket: string, target: { udp: number; tcp: number }, folder: string): string {
  const forward = (more: string): string => `action(type="omfwd" target="127.0.0.1" ${more})\n`;
  return `global(workDirectory="${folder}")
module(load="imuxsock" SysSock.Use="off")
input(type="imuxsock" Socket="${socket}")
${forward(`port="${target.udp}" protocol="udp"`)}${forward(`port="${target.tcp}" protocol="tcp"`)}${forward(
  `port="${target.tcp}" protocol="tcp" TCP_Framing="octet-counted" template="RSYSLOG_SyslogProtocol23Format"`,
)}`;
}

/** Programs of others that lines are sent with. */
const PROGRAMS = ["logger", "nc", "redis-cli", "redis-server", "rsyslogd"];

const missing = PROGRAMS.filter((program) => !isInstalled(program));
const peers = {
  skip: missing.length > 0 && `not installed: ${missing.join(", ")}; bash test/tools.sh peers`,
};

test("logger, rsyslog, nc, redis-cli and a runtime's log folders reach the search page", peers, async (t) => {
  const { workspace, hub } = await startHub(t);
  const [udp, tcp, lines, redis] = [await freePort(), await freePort(), await freePort(), await freePort()];
  const logs = workspace.path("containers", "");
  const id = "0123456789abcdef".repeat(4);
  const docker = workspace.path("containers", id, `${id}-json.log`);
  const cri = workspace.path("pods", "shop_web-1_11111111-2222-3333-4444-555555555555", "web", "0.log");
  run(workspace, "redis-server", ["--port", String(redis), "--save", "", "--dir", workspace.folder]);
  const agent = await startAgent({
    folder: workspace.path("agent", ""),
    paths: [],
    natsUrl: hub.natsUrl,
    token: hub.token,
    settings: {
      "shipper.inputs": [
        { type: "syslog", id: "udp", host: `127.0.0.1:${udp}` },
        { type: "syslog", id: "tcp", protocol: "tcp", host: `127.0.0.1:${tcp}` },
        { type: "syslog", id: "socket", protocol: "unix", path: workspace.path("agent.sock") },
        { type: "tcp", id: "lines", host: `127.0.0.1:${lines}` },
        { type: "kvstore", id: "list", host: `127.0.0.1:${redis}`, key: "applog" },
        { type: "container", id: "docker", paths: [`${logs}/*/*-json.log`] },
        { type: "container", id: "cri", paths: [workspace.path("pods", "*", "*", "*.log")] },
      ],
    },
  });
  workspace.defer(() => agent.kill9());
  const socket = workspace.path("rsyslog.sock");
  const config = workspace.path("rsyslog.conf");
  writeFileSync(config, rsyslogConfig(socket, { udp, tcp }, workspace.path("rsyslog", "")));
  run(workspace, "/usr/sbin/rsyslogd", ["-n", "-f", config, "-i", workspace.path("rsyslog.pid")]);

  execFileSync("logger", ["-n", "127.0.0.1", "-P", String(udp), "-d", "peeralpha over udp"]);
  execFileSync("logger", ["-n", "127.0.0.1", "-P", String(tcp), "-T", "peerbravo over tcp"]);
  execFileSync("logger", [
    "-n",
    "127.0.0.1",
    "-P",
    String(tcp),
    "-T",
    "--octet-count",
    "peercharlie counted",
  ]);
  execFileSync("logger", ["-u", workspace.path("agent.sock"), "peerdelta over a socket"]);
  execFileSync("nc", ["-q", "1", "127.0.0.1", String(lines)], { input: "peerecho from nc\n" });
  await until("redis", () =>
    execFileSync("redis-cli", ["-p", String(redis), "rpush", "applog", "peerfoxtrot in a list"]),
  );
  await until("rsyslog", () => {
    execFileSync("logger", ["-u", socket, "peergolf through rsyslog"], { stdio: "ignore" });
    return true;
  });
  const time = new Date().toISOString();
  const part = (log: string): string => `${JSON.stringify({ log, stream: "stdout", time })}\n`;
  appendFileSync(docker, part("peerhotel ") + part("from docker\n"));
  appendFileSync(cri, `${time} stdout P peerindia \n${time} stdout F from cri\n`);
  const expected = [
    "peeralpha over udp",
    "peerbravo over tcp",
    "peercharlie counted",
    "peerdelta over a socket",
    "peerecho from nc",
    "peerfoxtrot in a list",
    "peergolf through rsyslog",
    "peerhotel from docker",
    "peerindia from cri",
  ];
  for (const words of expected) await until(words, () => found(hub, words));
});

test("straight into the search engine, with the hub killed twice: every line once", async (t) => {
  const { workspace, hub } = await startHub(t);
  const log = new SequenceLog("direct", "plain");
  const file = workspace.path("logs", "a.log");
  mkdirSync(workspace.path("agent", ""), { recursive: true });
  const agent = await startAgent({
    folder: workspace.path("agent", ""),
    paths: [`${file}*`],
    natsUrl: "",
    token: "",
    settings: {
      "output.pipeline.enabled": false,
      "output.search.hosts": [hub.searchUrl],
      "output.search.compression": "gzip",
    },
    input: { id: "direct", scan_frequency: "200ms" },
  });
  workspace.defer(() => agent.kill9());
  for (let round = 0; round < 3; round++) {
    for (let write = 0; write < 10; write++) appendFileSync(file, log.lines(100));
    if (round === 0) renameSync(file, `${file}.1`);
    if (round === 2) break;
    await hub.kill9();
    appendFileSync(file, log.lines(100));
    await hub.start();
  }
  await assertExactlyOnce(hub.searchUrl, [log]);
  assert.equal(await agent.stop(), 0);
});
