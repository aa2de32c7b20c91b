/**
 * `npm start [-- FILE|GLOB …]`: NATS, hub and agent on this machine, reading the files given or the machine's
 * own logs. Shows where to look and how far it is; Ctrl-C stops everything and loses nothing.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { accessSync, constants, existsSync, globSync, statSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { systemClock } from "#proto/kit/clock.ts";

interface HubReady {
  readonly http: string;
  readonly dashboard: string;
  readonly nats: string;
  readonly token_file: string;
}

interface AgentReady {
  readonly status_port: number;
}

interface TimeRange {
  readonly from: string;
  readonly to: string;
}

const ROOT = resolve(import.meta.dirname, "..");
const DATA = resolve(process.env["TAILRACE_DATA"] ?? join(ROOT, "data"));
/** What is read where nothing is named: text logs people look at first. */
const MACHINE_LOGS = [
  "/var/log/*.log",
  "/var/log/syslog",
  "/var/log/messages",
  "/var/log/auth.log",
  "/var/log/*/*.log",
];
const POLL_MS = 250;
/** This many polls without news mean that all there was is searchable: two seconds, a refresh and a scan. */
const QUIET_POLLS = 8;
/** What lies unread in files that are being written all the time; more is work from before the start. */
const BUSY_LAG_BYTES = 64 * 1024;
const HELP = `Usage: npm start [-- FILE|GLOB …]

Runs Tailrace on this machine and reads the files named, or the machine's logs under /var/log.
Data is kept in ./data (TAILRACE_DATA chooses another folder); Ctrl-C stops and loses nothing.
Further settings come from hub.yml and agent.yml where they stand in the current folder.

Examples
  npm start
  npm start -- /var/log/nginx/access.log '/srv/app/logs/*.log'
`;

async function main(): Promise<void> {
  const paths = process.argv.slice(2);
  if (paths.some((path) => path === "--help" || path === "-h")) {
    process.stdout.write(HELP);
    return;
  }
  const files = chooseFiles(paths);
  await mkdir(DATA, { recursive: true });
  say(`data in ${DATA}`);
  const stack = new Stack();
  process.on("SIGINT", () => void stack.stop());
  process.on("SIGTERM", () => void stack.stop());
  const hub = await stack.startHub();
  say(`dashboard         ${hub.dashboard}`);
  say(`search interface  ${hub.http}`);
  const agent = await stack.startAgent(
    hub,
    files.map((file) => (paths.length === 0 ? file : resolve(file))),
  );
  await follow(hub, agent, files, stack);
  await stack.ended;
}

/** Returns the globs to read. Ends the process where a named file isn't there or can't be read. */
function chooseFiles(paths: readonly string[]): string[] {
  if (paths.length > 0) {
    for (const path of paths) {
      if (globSync(path).length === 0 && !/[*?[{]/.test(path)) fail(`there is no file ${path}`);
    }
    return [...paths];
  }
  const found = globSync(MACHINE_LOGS).filter(isReadable);
  if (found.length === 0) fail("no readable log under /var/log; name files: npm start -- FILE …");
  say(`reading ${found.length} logs under /var/log`);
  return found;
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The processes of this start: hub first, then agent; stopped the other way round. */
class Stack {
  #hub: ChildProcess | undefined;
  #agent: ChildProcess | undefined;
  #stopping: Promise<void> | undefined;
  readonly #ended = Promise.withResolvers<void>();

  /** Resolves when everything has ended. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get stopping(): boolean {
    return this.#stopping !== undefined;
  }

  async startHub(): Promise<HubReady> {
    this.#hub = this.#spawn("hub", ["-E", `path.data=${join(DATA, "hub")}`]);
    return (await this.#ready("hub", this.#hub)) as unknown as HubReady;
  }

  async startAgent(hub: HubReady, paths: readonly string[]): Promise<AgentReady> {
    const inputs = JSON.stringify([{ type: "log", id: "start", paths, scan_frequency: "1s" }]);
    const folder = join(DATA, "agent");
    const settings = {
      "shipper.inputs": inputs,
      "output.pipeline.servers": JSON.stringify([hub.nats]),
      "output.pipeline.token_file": hub.token_file,
      "path.data": folder,
      "status.port": "0",
    };
    this.#agent = this.#spawn(
      "agent",
      Object.entries(settings).flatMap(([key, value]) => ["-E", `${key}=${value}`]),
    );
    return (await this.#ready("agent", this.#agent)) as unknown as AgentReady;
  }

  stop(): Promise<void> {
    this.#stopping ??= this.#stopAll();
    return this.#stopping;
  }

  async #stopAll(): Promise<void> {
    say("stopping …");
    await end(this.#agent);
    await end(this.#hub);
    say("stopped; everything read so far is kept");
    this.#ended.resolve();
  }

  #spawn(name: string, args: readonly string[]): ChildProcess {
    const own = resolve(`${name}.yml`);
    const settings = existsSync(own) ? own : join(DATA, `${name}.yml`);
    if (settings !== own) writeFileSync(settings, "# empty: npm start gives the settings\n");
    const child = spawn(
      join(ROOT, name, "bin", `tailrace-${name}`),
      ["run", "-c", settings, ...args, "--ready-json"],
      {
        stdio: ["ignore", "pipe", "inherit"],
        detached: true,
      },
    );
    child.on("exit", (code) => {
      if (this.stopping) return;
      process.exitCode = code ?? 1;
      say(`the ${name} ended (status ${code}); its reason stands above`);
      void this.stop();
    });
    return child;
  }

  async #ready(name: string, child: ChildProcess): Promise<Record<string, unknown>> {
    const { promise, resolve: settle } = Promise.withResolvers<Record<string, unknown> | undefined>();
    const lines = createInterface({ input: child.stdout! });
    lines.on("line", (line) => {
      if (line.startsWith('{"ready":true')) settle(JSON.parse(line) as Record<string, unknown>);
      // What a person must see, such as the link that makes the first administrator.
      else say(line.trim());
    });
    lines.once("close", () => settle(undefined));
    const ready = await promise;
    if (ready !== undefined) return ready;
    await this.stop();
    return fail(`the ${name} did not start`);
  }
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await exited;
}

/** Shows how many lines are searchable until all that was there at the start is, then where to look. */
async function follow(
  hub: HubReady,
  agent: AgentReady,
  globs: readonly string[],
  stack: Stack,
): Promise<void> {
  const bytes = globSync([...globs]).reduce(
    (sum, path) => sum + (isReadable(path) ? statSync(path).size : 0),
    0,
  );
  if (await asksForSignIn(hub)) {
    say(`sign in to look at them: ${hub.dashboard}/`);
    return;
  }
  let last = -1;
  for (let quiet = 0; quiet < QUIET_POLLS && !stack.stopping; ) {
    const count = await documents(hub);
    // Logs that are written all the time never stand still: there it is enough that the agent has caught up.
    const settled = count === last || ((await lagBytes(agent)) ?? Infinity) < BUSY_LAG_BYTES;
    quiet = settled && (count > 0 || bytes === 0) ? quiet + 1 : 0;
    last = count;
    progress(`${count.toLocaleString("en")} lines searchable`);
    await systemClock.sleep(POLL_MS);
  }
  if (stack.stopping) return;
  process.stdout.write("\n");
  const range = await timeRange(hub);
  const where = range === undefined ? "" : `#/discover?from=${range.from}&to=${range.to}`;
  say(`look at them here: ${hub.dashboard}/${where}`);
  say("new lines appear as they are written; Ctrl-C stops");
}

/** Returns true where `auth.mode` is required: then only people who sign in may count lines. */
async function asksForSignIn(hub: HubReady): Promise<boolean> {
  return (await fetch(`${hub.http}/`)).status === 401;
}

async function documents(hub: HubReady): Promise<number> {
  const answer = await ask<{ count: number }>(`${hub.http}/logs-*/_count`);
  return answer?.count ?? 0;
}

/** Returns how many bytes the agent knows of that the hub has not confirmed; undefined while it doesn't say. */
async function lagBytes(agent: AgentReady): Promise<number | undefined> {
  try {
    const response = await fetch(`http://127.0.0.1:${agent.status_port}/metrics`);
    const values = (await response.text()).matchAll(/^tailrace_agent_lag_bytes\{.*\} (\d+)$/gm);
    return [...values].reduce((sum, [, value]) => sum + Number(value), 0);
  } catch {
    return undefined;
  }
}

/** Returns the first and last time of what is indexed, widened to whole seconds. */
async function timeRange(hub: HubReady): Promise<TimeRange | undefined> {
  const aggs = { first: { min: { field: "@timestamp" } }, last: { max: { field: "@timestamp" } } };
  const answer = await ask<{
    aggregations?: { first: { value: number | null }; last: { value: number | null } };
  }>(`${hub.http}/logs-*/_search`, { size: 0, aggs });
  const first = answer?.aggregations?.first.value;
  const last = answer?.aggregations?.last.value;
  if (typeof first !== "number" || typeof last !== "number") return undefined;
  return {
    from: new Date(Math.floor(first / 1000) * 1000).toISOString(),
    to: new Date(last + 1000).toISOString(),
  };
}

async function ask<T>(url: string, body?: unknown): Promise<T | undefined> {
  try {
    const init =
      body === undefined
        ? {}
        : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await fetch(url, init);
    return response.ok ? ((await response.json()) as T) : undefined;
  } catch {
    return undefined;
  }
}

function progress(text: string): void {
  if (process.stdout.isTTY) process.stdout.write(`\r\u001b[2Ktailrace: ${text}`);
}

function say(text: string): void {
  process.stdout.write(`tailrace: ${text}\n`);
}

function fail(text: string): never {
  process.stderr.write(`tailrace: ${text}\n`);
  process.exit(2);
}

await main();
