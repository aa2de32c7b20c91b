/** An agent process and the RAW stream behind it, for tests. */

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, createWriteStream, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { zstdDecompressSync } from "node:zlib";
import { jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { withDeadline } from "#proto/kit/lifecycle.ts";
import { Compression, LogBatch, type tailrace } from "#proto/messages.ts";
import { RAW_STREAM } from "#proto/subjects.ts";
import { programUnderTest } from "./child.ts";

export interface AgentProcessOptions {
  /** Folder for settings, registry and output; made where it is missing. */
  readonly folder: string;
  readonly paths: readonly string[];
  readonly natsUrl: string;
  readonly token: string;
  /** Further settings, dotted. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Further settings of the log input. */
  readonly input?: Readonly<Record<string, unknown>>;
  /** User and group that it runs as; without it those of the test. */
  readonly uid?: number;
  /** Program and arguments that run it, for a process with other limits. */
  readonly wrapper?: readonly string[];
}

export interface AgentProcess {
  readonly pid: number;
  readonly agentId: string;
  readonly statusUrl: string;
  /** Ends it with SIGTERM; resolves with the exit status. */
  stop(): Promise<number | null>;
  /** Ends it as a crash would. */
  kill9(): Promise<void>;
}

const LAUNCHER = programUnderTest("agent");
/** It starts within 2 s; a loaded machine is slow. */
const READY_MS = 180_000;

/** Starts an agent and resolves when its inputs run. Its output is kept in <folder>/agent.out. */
export async function startAgent(options: AgentProcessOptions): Promise<AgentProcess> {
  mkdirSync(options.folder, { recursive: true });
  const config = join(options.folder, "agent.yml");
  const settings = {
    "shipper.inputs": [{ type: "log", paths: options.paths, ...options.input }],
    "output.pipeline.servers": [options.natsUrl],
    "output.pipeline.token": options.token,
    "status.port": 0,
    "path.data": join(options.folder, "data"),
    ...options.settings,
  };
  writeFileSync(config, JSON.stringify(settings), { mode: 0o600 }); // JSON is YAML
  const { uid } = options;
  if (uid !== undefined) for (const path of [options.folder, config]) chownSync(path, uid, uid);
  const [command, ...args] = [...(options.wrapper ?? []), LAUNCHER];
  const child = spawn(command, [...args, "run", "-c", config, "--ready-json"], {
    stdio: ["ignore", "pipe", "pipe"],
    ...(uid === undefined ? {} : { uid, gid: uid, env: { ...process.env, HOME: options.folder } }),
  });
  child.stderr.pipe(createWriteStream(join(options.folder, "agent.out"), { flags: "a" }));
  const end = (): void => void child.kill("SIGKILL");
  process.once("exit", end);
  child.once("exit", () => process.removeListener("exit", end));
  const { agent_id, status_port } = await ready(child, options.folder).catch((error: unknown) => {
    end(); // one that hangs would outlive the test
    throw error;
  });
  const finish = async (signal: NodeJS.Signals): Promise<number | null> => {
    if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
    const exit = once(child, "exit");
    child.kill(signal);
    const [code] = (await exit) as [number | null];
    return code;
  };
  return {
    pid: child.pid!,
    agentId: agent_id,
    statusUrl: `http://127.0.0.1:${status_port}`,
    stop: () => finish("SIGTERM"),
    kill9: async () => void (await finish("SIGKILL")),
  };
}

async function ready(
  child: ChildProcess,
  folder: string,
): Promise<{ agent_id: string; status_port: number }> {
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the agent ended with ${code}; see ${join(folder, "agent.out")}`);
  });
  ended.catch(() => undefined);
  const line = once(createInterface({ input: child.stdout! }), "line") as Promise<[string]>;
  const [text] = await withDeadline(Promise.race([line, ended]), READY_MS, "start of the agent");
  return JSON.parse(text) as { agent_id: string; status_port: number };
}

/** Connects and makes the RAW stream where it is missing. */
export async function openRaw(url: string, token: string): Promise<NatsConnection> {
  const nats = await connect({ servers: url, token, maxReconnectAttempts: -1, reconnectTimeWait: 50 });
  await addRaw(nats);
  return nats;
}

/** Makes the RAW stream where it is missing. */
export async function addRaw(nats: NatsConnection): Promise<void> {
  const manager = await jetstreamManager(nats);
  await manager.streams.add({
    name: RAW_STREAM,
    subjects: ["raw.>"],
    discard: "new",
    duplicate_window: 600_000_000_000,
  });
}

/** Questions on their way to the server at the same time: one after the other, ten thousand messages take 10 s. */
const ASKED_MAX = 100;
/** Answers on their way at the same time; more would take a busy server longer than it may. */
const ASKED_BYTES = 2 * 1_024 * 1_024;

/** Returns how many messages of a stream may be asked for at the same time. */
export function askedAtOnce({
  bytes,
  messages,
}: {
  readonly bytes: number;
  readonly messages: number;
}): number {
  const average = bytes / Math.max(1, messages);
  return Math.max(1, Math.min(ASKED_MAX, Math.floor(ASKED_BYTES / Math.max(1, average))));
}

/** A message of RAW, decoded; `data` uncompressed. */
export interface RawMessage {
  readonly sequence: number;
  readonly batch: tailrace.LogBatch;
  readonly data: Buffer;
}

/** Returns all messages of RAW in order. */
export async function readRaw(nats: NatsConnection): Promise<RawMessage[]> {
  const manager = await jetstreamManager(nats);
  const { state } = await manager.streams.info(RAW_STREAM);
  const messages: RawMessage[] = [];
  const atOnce = askedAtOnce(state);
  for (let from = Math.max(1, state.first_seq); from <= state.last_seq; from += atOnce) {
    const count = Math.min(atOnce, state.last_seq - from + 1);
    const sequences = Array.from({ length: count }, (_, at) => from + at);
    const found = await Promise.all(sequences.map((seq) => manager.streams.getMessage(RAW_STREAM, { seq })));
    for (const [at, message] of found.entries())
      if (message !== null) messages.push(decode(sequences[at]!, message.data));
  }
  return messages;
}

function decode(sequence: number, message: Uint8Array): RawMessage {
  const batch = LogBatch.decode(message);
  const bytes = Buffer.from(batch.block?.data ?? []);
  const data = batch.block?.compression === Compression.ZSTD ? zstdDecompressSync(bytes) : bytes;
  return { sequence, batch, data };
}

/** Returns the bytes of each "<file_key>/<generation>", put together by offset; throws where a gap is. */
export function assemble(messages: readonly RawMessage[]): Map<string, Buffer> {
  const parts = new Map<string, { from: number; data: Buffer }[]>();
  for (const { batch, data } of messages) {
    const source = batch.block?.source;
    const key = `${source?.fileKey}/${source?.generation}`;
    parts.set(key, [...(parts.get(key) ?? []), { from: Number(batch.block?.from), data }]);
  }
  const files = new Map<string, Buffer>();
  for (const [key, ranges] of parts) {
    const content = Buffer.alloc(Math.max(...ranges.map(({ from, data }) => from + data.length)));
    const covered = new Uint8Array(content.length);
    for (const { from, data } of ranges) {
      data.copy(content, from);
      covered.fill(1, from, from + data.length);
    }
    const first = covered.indexOf(1);
    const gap = covered.indexOf(0, first);
    if (gap >= 0) throw new Error(`${key}: byte ${gap} of ${content.length} is missing`);
    files.set(key, content.subarray(first));
  }
  return files;
}
