/**
 * An agent on another machine, played by two network namespaces that a virtual cable joins: enrolled by its one line it
 * ships over TLS to a hub that asks for credentials; without them it doesn't, and says why; revoked, it loses nothing.
 */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { after, before, suite, test } from "node:test";
import { issueCertificate, makeAuthority } from "#test/harness/certificates.ts";
import { Child, type ReadyLine } from "#test/harness/child.ts";
import { keepSecret } from "#test/harness/secrets.ts";
import { until } from "#test/harness/until.ts";
import { Workspace } from "#test/harness/workspace.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const HUB_MAIN = resolve(ROOT, "hub/main.ts");
const AGENT_MAIN = resolve(ROOT, "agent/main.ts");
/** Of a net for documentation, RFC 5737: nobody's. */
const HUB_ADDRESS = "192.0.2.1";
const AGENT_ADDRESS = "192.0.2.2";
const PORTS = { "http.port": 9200, "dashboard.port": 5601, "nats.port": 4222, "transport.port": 0 };
const ADMIN = "ada:correct horse battery";

/** Two hosts; names carry the process id so that runs don't meet. */
class TwoHosts {
  readonly hub = `trh${process.pid}`;
  readonly agent = `tra${process.pid}`;

  /** Returns why there can be none, or null. */
  static missing(): string | null {
    const name = `trp${process.pid}`;
    const made = spawnSync("ip", ["netns", "add", name], { encoding: "utf8" });
    if (made.status !== 0) return `ip netns add: ${made.error?.message ?? made.stderr.trim()}`;
    spawnSync("ip", ["netns", "delete", name]);
    return null;
  }

  join(): void {
    ip("netns", "add", this.hub);
    ip("netns", "add", this.agent);
    ip(
      "link",
      "add",
      "cable",
      "netns",
      this.hub,
      "type",
      "veth",
      "peer",
      "name",
      "cable",
      "netns",
      this.agent,
    );
    for (const [name, address] of [
      [this.hub, HUB_ADDRESS],
      [this.agent, AGENT_ADDRESS],
    ] as const) {
      ip("-n", name, "address", "add", `${address}/24`, "dev", "cable");
      ip("-n", name, "link", "set", "cable", "up");
      ip("-n", name, "link", "set", "lo", "up");
    }
  }

  part(): void {
    for (const name of [this.hub, this.agent]) spawnSync("ip", ["netns", "delete", name]);
  }
}

function ip(...args: string[]): void {
  execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"] });
}

const missing = TwoHosts.missing();

suite("an agent on another host", { skip: missing ?? false }, () => {
  const workspace = new Workspace();
  const hosts = new TwoHosts();
  let hub: Child;
  const agents: Child[] = [];
  let ca = "";

  before(async () => {
    workspace.defer(() => hosts.part());
    hosts.join();
    const authority = makeAuthority(workspace.folder);
    ca = authority.certificate;
    const { certificate, key } = issueCertificate(workspace.folder, "hub", authority, [HUB_ADDRESS]);
    writeFileSync(certificate, readFileSync(certificate, "utf8") + readFileSync(ca, "utf8"));
    const data = workspace.path("hub-data");
    const settings = {
      ...PORTS,
      "network.host": HUB_ADDRESS,
      "auth.mode": "required",
      "public.url": `https://${HUB_ADDRESS}:5601`,
      "tls.certificate": certificate,
      "tls.key": key,
      "node.store.allow_mmap": false,
      "path.data": data,
    };
    run(
      hosts.hub,
      [HUB_MAIN, "user", "add", "ada", "--role", "admin", "--path.data", data],
      "correct horse battery\n",
    );
    hub = new Child({
      name: "hub",
      ...inside(hosts.hub, [
        HUB_MAIN,
        ...Object.entries(settings).flatMap(([name, value]) => ["-E", `${name}=${JSON.stringify(value)}`]),
        "--ready-json",
      ]),
      logFile: workspace.path("hub.log"),
    });
    workspace.defer(() => hub.end("SIGTERM"));
    workspace.defer(() => Promise.all(agents.map((agent) => agent.end("SIGKILL"))));
    await hub.ready(60_000);
  });
  after(() => workspace.close());

  /** Asks the hub from the agent's host and returns the answer as JSON. */
  function ask<T>(method: string, address: string, body?: unknown): T {
    const form =
      body === undefined ? [] : ["-H", "content-type: application/json", "-d", JSON.stringify(body)];
    const curl = [
      "curl",
      "-sS",
      "--cacert",
      ca,
      "-u",
      ADMIN,
      "-X",
      method,
      ...form,
      `https://${HUB_ADDRESS}:${address}`,
    ];
    const answer = execFileSync("ip", ["netns", "exec", hosts.agent, ...curl], { encoding: "utf8" });
    return (answer === "" ? null : JSON.parse(answer)) as T;
  }

  /** Returns the lines found in all indices, each once for each time it is there. */
  function lines(): string[] {
    const { hits } = ask<{ hits?: { hits: { _source: { message: string } }[] } }>(
      "GET",
      "9200/logs-*/_search?size=1000&q=message:line",
    );
    return (hits?.hits ?? []).map(({ _source }) => _source.message).sort();
  }

  async function startAgent(config: string): Promise<ReadyLine> {
    const agent = new Child({
      name: "agent",
      ...inside(hosts.agent, [AGENT_MAIN, "run", "-c", config, "-E", "status.port=0", "--ready-json"]),
      logFile: resolve(dirname(config), "agent.log"),
    });
    agents.push(agent);
    return agent.ready();
  }

  const logOf = (config: string): string => readFileSync(resolve(dirname(config), "agent.log"), "utf8");

  /** Reads the one log of the test, whatever the settings written at enrolment say. */
  function readOnly(config: string, path: string): void {
    const text = readFileSync(config, "utf8").replace(/paths: .*/, `paths: [${JSON.stringify(path)}]`);
    writeFileSync(config, text, { mode: 0o600 });
  }

  test("an enrolled agent ships over TLS, logs its revocation, and has lost nothing after enrolling again", async () => {
    const log = workspace.path("app", "app.log");
    const config = workspace.path("agent", "agent.yml");
    writeFileSync(log, "line 1\nline 2\n");
    enrol(config);
    readOnly(config, log);
    await startAgent(config);
    await until("the lines", () => lines().length === 2);
    assert.ok(!existsSync(resolve(dirname(config), "token")));

    const { agents: known } = ask<{ agents: { name: string; public_key: string }[] }>(
      "GET",
      "5601/api/auth/agents",
    );
    assert.deepEqual(
      known.map(({ name }) => name),
      ["web-1"],
    );
    ask("DELETE", `5601/api/auth/agents/${known[0]!.public_key}`);
    await until("the agent to say why", () =>
      /refuses the agent's credential|authorization/i.test(logOf(config)),
    );
    appendFileSync(log, "line 3\n");
    enrol(config, "--force");
    readOnly(config, log);
    await agents.at(-1)!.end("SIGTERM");
    await startAgent(config);
    await until("the line written meanwhile", () => lines().length === 3);
    assert.deepEqual(lines(), ["line 1", "line 2", "line 3"]);
  });

  test("without credentials nothing arrives, and the agent logs the reason", async () => {
    const log = workspace.path("stranger", "app.log");
    const config = workspace.path("stranger", "agent.yml");
    writeFileSync(log, "line of a stranger\n");
    const settings = {
      "shipper.inputs": [{ type: "log", paths: [log] }],
      "output.pipeline.servers": [`tls://${HUB_ADDRESS}:4222`],
      "output.pipeline.tls.ca": ca,
      "path.data": workspace.path("stranger", "data"),
    };
    writeFileSync(config, JSON.stringify(settings), { mode: 0o600 });
    await startAgent(config);
    await until("the agent to say why", () =>
      /refuses the agent's credential|authorization/i.test(logOf(config)),
    );
    assert.ok(!lines().includes("line of a stranger"));
  });

  test("a used token, an unknown one and an impostor's certificate are refused", () => {
    const { token } = ask<{ token: string }>("POST", "5601/api/auth/agents/enrolment", {});
    const url = `https://${HUB_ADDRESS}:5601`;
    const attempt = (given: string, fingerprint: string, name: string): string => {
      const config = workspace.path(name, "agent.yml");
      const args = [
        AGENT_MAIN,
        "enroll",
        url,
        given,
        "--config",
        config,
        "--name",
        name,
        "--ca-fingerprint",
        fingerprint,
      ];
      const { status, stderr } = spawnSync("ip", ["netns", "exec", hosts.agent, process.execPath, ...args], {
        encoding: "utf8",
      });
      assert.ok(status === 0 || !existsSync(config));
      return status === 0 ? "" : stderr;
    };
    const { command } = ask<{ command: string }>("POST", "5601/api/auth/agents/enrolment", {});
    const fingerprint = /--ca-fingerprint (\S+)/.exec(command)![1]!;
    assert.match(attempt(token, "0".repeat(64), "db-1"), /nothing was sent/);
    assert.equal(attempt(token, fingerprint, "db-1"), "");
    assert.match(attempt(token, fingerprint, "db-2"), /unknown, used or expired/);
    assert.match(attempt("unknown", fingerprint, "db-3"), /unknown, used or expired/);
  });

  /** Runs the line that the hub gives, as a person would on the agent's host. */
  function enrol(config: string, ...more: string[]): void {
    const { command } = ask<{ command: string }>("POST", "5601/api/auth/agents/enrolment", {});
    const [program, ...args] = command.split(" ");
    assert.equal(program, "tailrace-agent");
    keepSecret(args[2]!);
    run(hosts.agent, [AGENT_MAIN, ...args, "--config", config, "--name", "web-1", ...more]);
  }
});

function inside(host: string, args: readonly string[]): { command: string; args: string[] } {
  return { command: "ip", args: ["netns", "exec", host, process.execPath, ...args] };
}

function run(host: string, args: readonly string[], input = ""): string {
  const { command, args: all } = inside(host, args);
  return execFileSync(command, all, { encoding: "utf8", input, stdio: ["pipe", "pipe", "inherit"] });
}
