/**
 * Reports the agent's state: to the hub every 10 s, and over /health and /metrics. The status message lists the most
 * urgent files, up to a limit.
 */

import type { Input, InputState } from "#agent/contract/input.ts";
import type { Output } from "#agent/contract/output.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import type { Health } from "#proto/kit/net/status-server.ts";
import { residentBytes } from "#proto/kit/process/process-memory.ts";
import { AgentStatus, type tailrace } from "#proto/messages.ts";
import { statusSubject } from "#proto/subjects.ts";
import type { FileState } from "./contract/input.ts";
import type { Connection } from "./outputs/connection.ts";
import type { AgentNames } from "./outputs/pipeline.ts";
import type { Registry } from "./registry/registry.ts";

/** Some 5 kB a message; the hub keeps the last one of each agent. */
const FILES_MAX = 50;
/** Longer paths lose their beginning: files differ at the end. */
const PATH_MAX = 400;

/** The files of an input. */
interface InputFiles {
  readonly id: string;
  readonly files: Iterable<FileState>;
}

/** A listed file with the input that reads it. */
interface Chosen {
  readonly input: string;
  readonly file: FileState;
}

/** The listed files, and the number of files that are left out. */
interface FileList {
  readonly files: tailrace.FileStatus.$Properties[];
  readonly filesMore: number;
}

/** An input with its name. */
export interface NamedInput {
  readonly id: string;
  readonly type: string;
  readonly input: Input;
}

export interface StatusOptions {
  readonly names: AgentNames;
  readonly inputs: readonly NamedInput[];
  readonly output: Output;
  readonly registry: Registry;
  /** Connection for the status messages; undefined without a hub. */
  readonly connection: Connection | undefined;
  readonly clock: Clock;
  readonly metrics: Metrics;
  /** Names spools that can't be sent; empty for none. */
  readonly spoolProblem: () => string;
}

const PUBLISH_EVERY_MS = 10_000;
/** Whoever has just connected a server waits to see it. */
const FIRST_PUBLISH_MS = 1_000;

export class Status implements Component {
  readonly #options: StatusOptions;
  readonly #startedMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: StatusOptions) {
    this.#options = options;
    this.#startedMs = options.clock.now();
    const { metrics } = options;
    let states: ReadonlyMap<string, InputState> | undefined;
    // An input with ten thousand files goes through all of them for its state: once for the gauges of a scrape.
    const statesOnce = (): ReadonlyMap<string, InputState> => {
      if (states === undefined) {
        states = new Map(options.inputs.map(({ id, input }) => [id, input.state()]));
        queueMicrotask(() => (states = undefined));
      }
      return states;
    };
    const gauge = (name: string, help: string, value: (state: InputState) => number): void => {
      metrics.gauge(name, help, ["input"], (each) => {
        for (const [id, state] of statesOnce()) each.set({ input: id }, value(state));
      });
    };
    gauge("tailrace_agent_open_files", "Files held open.", ({ files }) => files);
    gauge(
      "tailrace_agent_waiting_files",
      "Files with unread data that wait to be opened.",
      ({ waitingFiles }) => waitingFiles ?? 0,
    );
    gauge(
      "tailrace_agent_lag_bytes",
      "Bytes known that no acknowledgement covers.",
      ({ lagBytes }) => lagBytes,
    );
    gauge(
      "tailrace_agent_open_deleted_bytes",
      "Unread or uncommitted bytes in files that are deleted but held open.",
      (state) => state.openDeletedBytes,
    );
    gauge("tailrace_agent_lines_read", "Lines read since the start.", ({ linesRead }) => linesRead);
    gauge("tailrace_agent_bytes_read", "Bytes read since the start.", ({ bytesRead }) => bytesRead);
  }

  start(): Promise<void> {
    this.#timer = setTimeout(() => {
      this.#publish();
      this.#timer = setInterval(() => this.#publish(), PUBLISH_EVERY_MS);
    }, FIRST_PUBLISH_MS);
    return Promise.resolve();
  }

  stop(): Promise<void> {
    clearInterval(this.#timer);
    return Promise.resolve();
  }

  /** Degraded: it works, but needs attention. An agent that runs is never failed: a restart would not help. */
  health(): Health {
    const { inputs, registry, spoolProblem } = this.#options;
    const output = this.#options.output.state();
    const problems = inputs.map(({ input }) => input.problem?.() ?? "");
    const reason = [output.healthy ? "" : output.reason, registry.problem, spoolProblem(), ...problems]
      .filter((each) => each !== "")
      .join("; ");
    return reason === "" ? { status: "ok", reason } : { status: "degraded", reason };
  }

  #publish(): void {
    const { connection, names } = this.#options;
    if (!connection?.connected) return;
    connection.nats.publish(statusSubject(names.agentId), AgentStatus.encode(this.#message()).finish());
  }

  #message(): tailrace.AgentStatus.$Properties {
    const { names, inputs, clock } = this.#options;
    const states = inputs.map(({ id, type, input }) => ({ id, type, ...input.state() }));
    const sum = (value: (state: InputState) => number): number =>
      states.reduce((total, each) => total + value(each), 0);
    const health = this.health();
    const { isLogFull = false } = this.#options.output.state();
    const bytesRead = sum((state) => state.bytesRead);
    return {
      ...names,
      startedMs: this.#startedMs,
      timeMs: clock.now(),
      health: health.status,
      reason: health.reason,
      logIsFull: isLogFull,
      rssBytes: residentBytes(),
      linesRead: sum((state) => state.linesRead),
      bytesRead,
      bytesAcked: this.#options.output.ackedBytes,
      openFiles: sum((state) => state.files),
      lagBytes: sum((state) => state.lagBytes),
      openDeletedBytes: sum((state) => state.openDeletedBytes),
      inputs: states.map(({ id, type, files, lagBytes, errors, lastError }) => ({
        id,
        type,
        files,
        lagBytes,
        errors,
        lastError,
      })),
      ...fileList(inputs.map(({ id, input }) => ({ id, files: input.files?.() ?? [] }))),
    };
  }
}

/** Returns the files with errors, then those with most bytes to send, to commit, then those that are open. */
export function fileList(inputs: Iterable<InputFiles>): FileList {
  const chosen: Chosen[] = [];
  let count = 0;
  for (const { id, files } of inputs) {
    for (const file of files) {
      count++;
      choose(chosen, id, file);
    }
  }
  return {
    files: chosen.map(({ input, file }) => ({
      input,
      path: file.path.length > PATH_MAX ? `…${file.path.slice(1 - PATH_MAX)}` : file.path,
      place: file.place,
      sizeBytes: file.sizeBytes,
      sentBytes: file.sentBytes,
      committedBytes: file.committedBytes,
      unfinishedBytes: file.unfinishedBytes,
      lastError: file.lastError.slice(0, PATH_MAX),
    })),
    filesMore: count - chosen.length,
  };
}

/** Inserts a file among the most urgent ones: an agent may have ten thousand, and most are like the last. */
function choose(chosen: Chosen[], input: string, file: FileState): void {
  const last = chosen.at(-1);
  if (chosen.length >= FILES_MAX && last !== undefined && byUrgency(last.file, file) < 0) return;
  const at = chosen.findIndex((each) => byUrgency(file, each.file) < 0);
  chosen.splice(at < 0 ? chosen.length : at, 0, { input, file });
  if (chosen.length > FILES_MAX) chosen.pop();
}

/** Negative: `a` comes first. */
function byUrgency(a: FileState, b: FileState): number {
  return (
    Number(b.lastError !== "") - Number(a.lastError !== "") ||
    endedBytes(b) - b.sentBytes - (endedBytes(a) - a.sentBytes) ||
    endedBytes(b) - b.committedBytes - (endedBytes(a) - a.committedBytes) ||
    Number(b.place !== "closed") - Number(a.place !== "closed") ||
    (a.path < b.path ? -1 : 1)
  );
}

/** Returns the size of a file's ended lines: the rest can't be sent yet. */
function endedBytes({ sizeBytes, unfinishedBytes }: FileState): number {
  return sizeBytes - unfinishedBytes;
}
