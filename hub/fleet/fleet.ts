/** The connected agents: answers their hello, publishes committed ranges, and keeps their last status. */

import type { LogPort, ReceivedMessage } from "#hub/cluster/writes/log-port.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import { type Component, withDeadline } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { DAY_MS, MINUTE_MS } from "#proto/kit/units.ts";
import { AgentHello, AgentStatus, type tailrace, Watermark } from "#proto/messages.ts";
import { watermarkSubject } from "#proto/subjects.ts";
import { type SeenAgent, SeenAgents } from "./seen-agents.ts";
import type { CommittedRange, Watermarks } from "./watermarks.ts";

/** What the fleet needs from the RAW stream. */
export interface RawPort {
  /** Incarnation of RAW. */
  incarnation(): number;
  /** The newest incarnation that began with a hub restored from a snapshot; 0 if there is none. */
  restored(): number;
  /** Returns a message of RAW: its Nats-Msg-Id, or that it was purged, or that there is none. */
  message(sequence: number): Promise<{ readonly id: string } | "purged" | "missing">;
}

export interface FleetOptions {
  readonly log: Logger;
  readonly port: LogPort;
  readonly raw: RawPort;
  readonly watermarks: Watermarks;
  /** True if other hubs answer agents too. Default false. */
  readonly hasOthers?: () => boolean;
  /** Store of the agents across restarts. */
  readonly bucket: StateBucket;
  readonly now: () => number;
}

const PUBLISH_EVERY_MS = 1_000;
/** An agent silent for this long is shown as lost: three of its reports (agent/status.ts) are missing. */
const LOST_AFTER_MS = 35_000;
/** A silent agent is forgotten after this time. */
const FORGET_AFTER_MS = 7 * DAY_MS;
/** Interval at which changed agents are stored, and maximum time of the last round at a stop. */
const SAVE_EVERY_MS = MINUTE_MS;
const LAST_SAVE_MS = 3_000;
/** Maximum agents kept; those silent for longest are dropped first. */
const AGENT_LIMIT = 10_000;
/** Entries per watermark message: 2,000 × ~100 bytes stays far below the payload limit. */
const ENTRIES_PER_MESSAGE = 2_000;
/** Longest accepted status: a valid one has at most 50 files and an entry of some 100 bytes for each input. */
const MAX_STATUS_BYTES = 512 * 1024;
/** Maximum files that a hello may name (log.proto, AgentHello.file_keys). */
const MAX_FILE_KEYS = 10_000;
/** Latest time that Date can write, ms since 1970. */
const MAX_DATE_MS = 8.64e15;

/** The data of an agent that health and monitoring read. */
export interface FleetAgent {
  readonly name: string;
  /** "lost": silent for longer than allowed. */
  readonly health: string;
  readonly lagBytes: number;
  /** True if its lines wait because RAW has no space for them. */
  readonly isLogFull: boolean;
  /** ms since 1970. */
  readonly lastSeenMs: number;
  /** Its clock minus that of the hub's machine, ms; includes the time that a status takes to arrive. */
  readonly clockOffsetMs: number;
}

interface KnownAgent extends SeenAgent {
  /** As received, some kB: decoded again only when the files of an agent are requested. */
  readonly message: Uint8Array;
  /** Since the previous status; undefined if there is none of the same run. */
  readonly linesPerSecond: number | undefined;
  /** See FleetAgent; the smaller one of the last two statuses, because a status that waited for a connection arrives late. */
  readonly clockOffsetMs: number;
  /** Of the last status only. */
  readonly lastOffsetMs: number;
}

export class Fleet implements Component {
  readonly #options: FleetOptions;
  readonly #agents = new Map<string, KnownAgent>();
  readonly #unsubscribe: (() => void)[] = [];
  readonly #seen: SeenAgents;
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(options: FleetOptions) {
    this.#options = options;
    this.#seen = new SeenAgents(options.bucket, options.log);
  }

  async start(): Promise<void> {
    const { port, log } = this.#options;
    for (const { atMs, status } of await this.#seen.load())
      this.#agents.set(status.agentId, {
        atMs,
        status,
        message: AgentStatus.encode(status).finish(),
        linesPerSecond: undefined,
        clockOffsetMs: 0,
        lastOffsetMs: 0,
      });
    this.#unsubscribe.push(
      port.subscribe("agent.*.hello", (message) => {
        this.#hello(message).catch((error: unknown) =>
          log.warn({ err: toAppError(error) }, "cannot answer an agent's hello"),
        );
      }),
      port.subscribe("agent.*.status", (message) => this.#status(message)),
    );
    this.#timers.push(
      setInterval(() => this.#publish(), PUBLISH_EVERY_MS),
      setInterval(() => void this.#seen.save(), SAVE_EVERY_MS),
    );
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers.splice(0)) clearInterval(timer);
    for (const unsubscribe of this.#unsubscribe.splice(0)) unsubscribe();
    const saved = this.#seen.save(AGENT_LIMIT);
    await withDeadline(saved, LAST_SAVE_MS, "storing the agents").catch((error: unknown) =>
      this.#options.log.debug({ err: error }, "not all agents are stored"),
    );
  }

  /** Returns every known agent as JSON, sorted by name. */
  agents(): Record<string, unknown>[] {
    return [...this.#agents.values()]
      .map((agent) => agentJson(agent, this.#options.now()))
      .sort((a, b) => (String(a["name"]) < String(b["name"]) ? -1 : 1));
  }

  /** Returns an agent with its files, files that need attention first; undefined if it is unknown. */
  agent(id: string): Record<string, unknown> | undefined {
    const known = this.#agents.get(id);
    if (known === undefined) return undefined;
    const { files, filesMore } = AgentStatus.decode(known.message);
    return {
      ...agentJson(known, this.#options.now()),
      files: files.map((file) => ({
        input: file.input,
        path: file.path,
        place: file.place,
        size_bytes: file.sizeBytes,
        sent_bytes: file.sentBytes,
        committed_bytes: file.committedBytes,
        unfinished_bytes: file.unfinishedBytes,
        last_error: file.lastError,
      })),
      files_more: filesMore,
    };
  }

  /**
   * Forgets an agent that was taken out of service; returns false for an unknown one. An agent that reports again is known
   * again.
   */
  forget(id: string): boolean {
    if (!this.#agents.delete(id)) return false;
    this.#seen.change(id, undefined);
    return true;
  }

  /** Returns the health of every agent. */
  health(): FleetAgent[] {
    const nowMs = this.#options.now();
    return [...this.#agents.values()].map(({ atMs, status, clockOffsetMs }) => ({
      name: status.agentName,
      health: healthOf(status, atMs, nowMs),
      lagBytes: status.lagBytes,
      isLogFull: status.logIsFull,
      lastSeenMs: atMs,
      clockOffsetMs,
    }));
  }

  async #hello(message: ReceivedMessage): Promise<void> {
    const hello = AgentHello.decode(message.data);
    if (message.subject !== `agent.${hello.agentId}.hello`) return;
    if (hello.fileKeys.length > MAX_FILE_KEYS)
      throw new AppError("request_invalid", `a hello names more than ${MAX_FILE_KEYS} files`);
    const { raw, watermarks, port, hasOthers } = this.#options;
    const incarnation = raw.incarnation();
    let rewind = false;
    if (hello.lastSequence > 0 && hello.incarnation === incarnation) {
      const found = await raw.message(hello.lastSequence);
      rewind = found === "missing" || (found !== "purged" && found.id !== hello.lastMessageId);
    }
    const keys = hello.fileKeys.map((key) => `${hello.agentId}/${key}`);
    const committed = watermarks.of(hello.agentId, keys);
    message.respond(this.#watermark(hello.agentId, committed, rewind));
    // The agent takes the first hub's answer; each hub knows the files of its own partitions.
    if (committed.length > 0 && hasOthers?.() === true)
      port.send(watermarkSubject(hello.agentId), this.#watermark(hello.agentId, committed, false));
  }

  #status(message: ReceivedMessage): void {
    if (message.data.length > MAX_STATUS_BYTES) {
      const { subject, data } = message;
      this.#options.log.warn({ subject, bytes: data.length }, "a status is too long and is left out");
      return;
    }
    const status = AgentStatus.decode(message.data);
    if (message.subject !== `agent.${status.agentId}.status`) return;
    const atMs = this.#options.now();
    const before = this.#agents.get(status.agentId);
    const linesPerSecond = rateBetween(before?.status, status);
    const lastOffsetMs = status.timeMs - atMs;
    const offsets = [lastOffsetMs, before?.lastOffsetMs ?? 0];
    const [clockOffsetMs] = offsets.sort((a, b) => Math.abs(a) - Math.abs(b)) as [number, number];
    this.#agents.delete(status.agentId);
    status.files = [];
    const bytes = message.data.slice();
    const known = { atMs, status, message: bytes, linesPerSecond, clockOffsetMs, lastOffsetMs };
    this.#agents.set(status.agentId, known);
    this.#seen.change(status.agentId, { atMs, status });
    for (const [agentId, oldest] of this.#agents) {
      if (this.#agents.size <= AGENT_LIMIT && atMs - oldest.atMs < FORGET_AFTER_MS) break;
      this.#agents.delete(agentId);
      this.#seen.change(agentId, undefined);
    }
  }

  #publish(): void {
    for (const [agentId, ranges] of this.#options.watermarks.takeMoved()) {
      for (let at = 0; at < ranges.length; at += ENTRIES_PER_MESSAGE) {
        const part = ranges.slice(at, at + ENTRIES_PER_MESSAGE);
        this.#options.port.send(watermarkSubject(agentId), this.#watermark(agentId, part, false));
      }
    }
  }

  #watermark(agentId: string, committed: readonly CommittedRange[], rewind: boolean): Uint8Array {
    const { raw } = this.#options;
    const [incarnation, restored] = [raw.incarnation(), raw.restored()];
    return Watermark.encode({ agentId, incarnation, restored, rewind, committed: [...committed] }).finish();
  }
}

function healthOf({ health }: tailrace.AgentStatus, atMs: number, nowMs: number): string {
  return nowMs - atMs > LOST_AFTER_MS ? "lost" : health;
}

/** Returns the lines read per second, by the agent's own clock; undefined for statuses of two runs. */
function rateBetween(
  before: tailrace.AgentStatus | undefined,
  { startedMs, timeMs, linesRead }: tailrace.AgentStatus,
): number | undefined {
  if (before === undefined || before.startedMs !== startedMs || timeMs <= before.timeMs) return undefined;
  return Math.max(0, linesRead - before.linesRead) / ((timeMs - before.timeMs) / 1_000);
}

/** Converts the status of an agent to JSON. */
function agentJson({ status, atMs, linesPerSecond }: KnownAgent, nowMs: number): Record<string, unknown> {
  const health = healthOf(status, atMs, nowMs);
  return {
    id: status.agentId,
    name: status.agentName,
    version: status.agentVersion,
    host: status.hostName,
    health,
    reason: health === "lost" ? "no status received since last_seen" : status.reason,
    last_seen: new Date(atMs).toISOString(),
    started: new Date(Math.min(status.startedMs, MAX_DATE_MS)).toISOString(),
    rss_bytes: status.rssBytes,
    lines_read: status.linesRead,
    lines_per_second: health === "lost" ? 0 : (linesPerSecond ?? null),
    bytes_read: status.bytesRead,
    bytes_acked: status.bytesAcked,
    open_files: status.openFiles,
    lag_bytes: status.lagBytes,
    open_deleted_bytes: status.openDeletedBytes,
    inputs: status.inputs.map(({ id, type, files, lagBytes, errors, lastError }) => ({
      id,
      type,
      files,
      lag_bytes: lagBytes,
      errors,
      last_error: lastError,
    })),
  };
}
