/** One run of an agent under measurement: a nats-server, files, and a group that limits its memory where one can be made. */

import { mkdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "#proto/kit/clock.ts";
import { MIB } from "#proto/kit/units.ts";
import { openRaw } from "#test/harness/agent.ts";
import { Child, programUnderTest } from "#test/harness/child.ts";
import { readMetric } from "#test/harness/http.ts";
import { startNats } from "#test/harness/nats.ts";
import { cpuSeconds, peakResidentBytes, residentBytes } from "#test/harness/processes.ts";
import { until } from "#test/harness/until.ts";
import type { Workspace } from "#test/harness/workspace.ts";

const DEADLINE_MS = 300_000;
/** Times the data, so that the stream is never the limit. */
const STORE_FACTOR = 3;
const CONTROL_GROUPS = "/sys/fs/cgroup/memory";

export interface AgentRunOptions {
  /** Tells runs apart. */
  readonly name: string;
  /** Bytes that will be shipped. */
  readonly bytes: number;
  /** Settings of the input beside its paths. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** Settings beside the input. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Memory that the agent may have, bytes. */
  readonly memoryBytes?: number;
  /** host:port of a search interface that gets the lines instead of the log. */
  readonly search?: string;
}

/** An agent that ships what is moved into its folder. */
export class AgentRun {
  readonly pid: number;
  /** From the start of the process until it said that it is ready, ms. */
  readonly startMs: number;
  /** "cgroup" where the memory is limited by the system, "none" where it can't be or isn't. */
  readonly limitedBy: "cgroup" | "none";
  readonly #child: Child;
  readonly #status: string;
  readonly #folder: string;
  readonly #startSeconds: number;

  private constructor(
    child: Child,
    status: string,
    folder: string,
    startMs: number,
    limitedBy: "cgroup" | "none",
  ) {
    this.pid = child.pid;
    this.startMs = startMs;
    this.limitedBy = limitedBy;
    this.#child = child;
    this.#status = status;
    this.#folder = folder;
    this.#startSeconds = cpuSeconds(child.pid);
  }

  static async start(workspace: Workspace, options: AgentRunOptions): Promise<AgentRun> {
    const place = (name: string): string => workspace.path(options.name, name);
    const output =
      options.search === undefined
        ? await startLog(workspace, options.bytes, place("token"))
        : { "output.search.hosts": [options.search] };
    const folder = place("read");
    mkdirSync(folder);
    const settings = {
      "shipper.inputs": [{ type: "log", id: "bench", paths: [join(folder, "**/*.log")], ...options.input }],
      ...output,
      "path.data": place("agent-data"),
      "status.port": 0,
      ...options.settings,
    };
    const config = place("agent.yml");
    writeFileSync(config, JSON.stringify(settings));
    const group = options.memoryBytes === undefined ? null : limit(workspace, options.memoryBytes);
    const run = `exec "${programUnderTest("agent")}" run -c "${config}" --ready-json`;
    const startedMs = systemClock.monotonic();
    const child = new Child({
      name: "agent",
      command: "sh",
      args: ["-c", group === null ? run : `echo $$ > "${group}/cgroup.procs" && ${run}`],
      logFile: place("agent.log"),
    });
    workspace.defer(() => child.end("SIGKILL"));
    const { status_port } = await child.ready();
    const startMs = systemClock.monotonic() - startedMs;
    const status = `http://127.0.0.1:${Number(status_port)}`;
    return new AgentRun(child, status, folder, startMs, group === null ? "none" : "cgroup");
  }

  get running(): boolean {
    return this.#child.running;
  }

  /** CPU-seconds since the agent was ready. */
  get seconds(): number {
    return cpuSeconds(this.pid) - this.#startSeconds;
  }

  get peakMib(): number {
    return peakResidentBytes(this.pid) / MIB;
  }

  get residentMib(): number {
    return residentBytes(this.pid) / MIB;
  }

  /** Gives the agent a file or a folder, made elsewhere on the same disk; returns where it is now. */
  give(path: string, name: string): string {
    const to = join(this.#folder, name);
    renameSync(path, to);
    return to;
  }

  /** Resolves when so many bytes are read and the receiver has acknowledged them; early where the agent ended. */
  async shipped(bytes: number): Promise<void> {
    const isDone = async (): Promise<boolean> => {
      if (!this.running) return true;
      return ((await this.metric("tailrace_agent_bytes_acked_total")) ?? 0) >= bytes;
    };
    await until("the acknowledgement of all bytes", isDone, { deadlineMs: DEADLINE_MS, everyMs: 100 });
  }

  metric(name: string): Promise<number | undefined> {
    return readMetric(`${this.#status}/metrics`, name);
  }

  async end(): Promise<void> {
    await this.#child.end("SIGKILL");
  }
}

/** Starts a nats-server with the hub's log; returns the agent's settings for it. */
async function startLog(
  workspace: Workspace,
  bytes: number,
  tokenFile: string,
): Promise<Readonly<Record<string, unknown>>> {
  const nats = await startNats({ maxFileBytes: bytes * STORE_FACTOR + 64 * MIB });
  workspace.defer(() => nats.stop());
  await (await openRaw(nats.url, nats.token)).close();
  writeFileSync(tokenFile, nats.token, { mode: 0o600 });
  return { "output.pipeline.servers": [nats.url], "output.pipeline.token_file": tokenFile };
}

/** Makes a group with a memory limit; null where that isn't allowed. */
function limit(workspace: Workspace, bytes: number): string | null {
  const group = join(CONTROL_GROUPS, `tailrace-bench-${process.pid}`);
  try {
    mkdirSync(group);
    workspace.defer(() => rmdirSync(group));
    writeFileSync(join(group, "memory.limit_in_bytes"), String(bytes));
    return readFileSync(join(group, "memory.limit_in_bytes"), "utf8").trim() === "" ? null : group;
  } catch {
    return null;
  }
}
