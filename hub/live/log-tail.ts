/**
 * Tails of Grafana's Loki data source: one WebSocket, one query, lines as they pass the pipeline. Selectors are evaluated
 * while events pass, stages afterwards. Lines beyond the limits are dropped and named in `dropped_entries`.
 */

import { hash } from "node:crypto";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { FairShares } from "#proto/kit/fair-shares.ts";
import { isObject, type JsonObject } from "#proto/kit/json.ts";
import { CLOSE } from "#proto/live.ts";
import { EventDocument, type LiveEvent } from "./filter/event-document.ts";
import type { RunCall } from "./run-call.ts";
import { ViewerSocket, type ViewerSocketOptions } from "./viewer-socket.ts";

/** A passing document. */
export interface PassingDocument {
  readonly index: string;
  readonly source: JsonObject;
}

/** A line with the labels of its stream. */
export interface LabelledLine {
  readonly stream: Readonly<Record<string, string>>;
  readonly line: string;
}

/** A query of lines. */
export interface LogTailQuery {
  /** Lower-case letters that the JSON of each match contains; "": none are known. */
  readonly literal: string;
  /** Returns whether the selector matches a document. Throws request_invalid. */
  selects(document: PassingDocument): boolean;
  /** Returns the line after the stages, or undefined if they drop it. Throws request_invalid, cancelled. */
  line(document: PassingDocument): Promise<LabelledLine | undefined>;
  /** Labels of the stream before the stages. */
  labels(document: PassingDocument): Readonly<Record<string, string>>;
}

/** Compiles a query; `signal` ends its work. Throws request_invalid. */
export type CompileLogTail = (query: string, signal: AbortSignal) => LogTailQuery;

/** The parameters of a client's request. */
export interface LogTailRequest {
  readonly query: string;
  /** Start of the older lines that are sent first, as given; undefined: an hour ago. */
  readonly start: string | undefined;
  /** Maximum number of older lines. */
  readonly limit: number;
  /** How long lines wait for earlier ones, ms. */
  readonly delayMs: number;
}

export interface LogTailOptions extends ViewerSocketOptions {
  readonly request: LogTailRequest;
  readonly query: LogTailQuery;
  /** Ends the work of the query. */
  readonly ended: AbortController;
  /** Runs the query for older lines; undefined: no older lines are sent. */
  readonly run: RunCall | undefined;
  /** Resolves when searches find every event that passed before the call, or when that takes too long. */
  readonly makeSearchable: () => Promise<void>;
  /** Of the hub's tails. */
  readonly shares: FairShares;
  /** The set that contains the tail while it is open. */
  readonly tails: LogTails;
}

/** Longest delay that may be requested, s, as in Loki. */
const MAX_DELAY_S = 5;
/** Maximum dropped lines that one frame names. */
const MAX_DROPPED = 100;
/** Number of older lines: default and maximum, as for any query. */
const USUAL_LIMIT = 100;
const MAX_LIMIT = 5_000;

interface WaitingLine extends PassingDocument {
  readonly timestampMs: number;
  readonly sizeBytes: number;
}

/** Reads the parameters of the address. Throws request_invalid. */
export function logTailRequest(address: string): LogTailRequest {
  const params = new URL(address, "ws://hub").searchParams;
  const query = params.get("query") ?? "";
  if (query === "") throw new AppError("request_invalid", "the parameter query is missing");
  const number = (name: string, usual: number, most: number): number => {
    const value = Number(params.get(name) ?? usual);
    if (!Number.isInteger(value) || value < 0 || value > most)
      throw new AppError("request_invalid", `${name} must be a whole number from 0 to ${most}`);
    return value;
  };
  return {
    query,
    start: params.get("start") ?? undefined,
    limit: number("limit", USUAL_LIMIT, MAX_LIMIT),
    delayMs: number("delay_for", 0, MAX_DELAY_S) * 1_000,
  };
}

export class LogTail {
  readonly socket: ViewerSocket;
  readonly #options: LogTailOptions;
  readonly #query: LogTailQuery;
  readonly #ended: AbortController;
  #waiting: WaitingLine[] = [];
  #waitingBytes = 0;
  #dropped: object[] = [];
  /** Sent older lines, by the digest of stream, time and text: how often each may still arrive as a passing line. */
  readonly #older = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #isSending = true;
  #secondMs = Number.NEGATIVE_INFINITY;
  #rowsThisSecond = 0;

  /** Throws overloaded. */
  constructor(options: LogTailOptions) {
    options.shares.take(options.viewer.id);
    this.#options = options;
    this.#query = options.query;
    this.#ended = options.ended;
    this.socket = new ViewerSocket(options, () => this.release());
    options.socket.on("message", () => this.socket.end(CLOSE.badMessage, "a tail takes no messages"));
    options.tails.add(this);
  }

  /**
   * Sends the older lines, including those that have just passed, then the lines that arrived meanwhile, then each line as
   * it arrives.
   */
  async start(): Promise<void> {
    try {
      await this.#sendOlder();
      this.#isSending = false;
      this.#schedule();
    } catch (cause) {
      if (!this.#ended.signal.aborted) this.socket.end(CLOSE.badMessage, toAppError(cause).message);
    }
  }

  /** Takes a passing event; its bytes may change afterwards. Never throws: leaves out an event that it can't show. */
  accept(document: EventDocument): void {
    try {
      this.#accept(document);
    } catch (error) {
      this.#lose({}, document.event.timestampMs, error);
    }
  }

  #accept(document: EventDocument): void {
    const { viewer, limits, metrics } = this.#options;
    const { index, timestampMs, source } = document.event;
    if (this.#ended.signal.aborted || !viewer.mayRead(index)) return;
    const { literal } = this.#query;
    if (literal !== "" && !document.isDecoded && !document.mayContain(literal)) return;
    const line = { index, source: document.fields as JsonObject, timestampMs, sizeBytes: source.byteLength };
    if (!this.#selects(line)) return;
    metrics.rowsMatched.inc();
    if (!this.#isWithinRate()) {
      this.#drop(line, "rate_cap");
      return;
    }
    this.#waiting.push(line);
    this.#waitingBytes += line.sizeBytes;
    while (
      this.#waiting.length > limits.ringRows ||
      (this.#waitingBytes > limits.ringSizeBytes && this.#waiting.length > 1)
    ) {
      const oldest = this.#waiting.shift()!;
      this.#waitingBytes -= oldest.sizeBytes;
      this.#drop(oldest, "slow_client");
    }
    this.#schedule();
  }

  /** Marks that lines are missing here. */
  markMissing(): void {
    this.#addDropped({}, Date.now());
  }

  /** Announces the hub's stop and closes. */
  closeForRestart(reason: string): void {
    this.socket.end(CLOSE.goingAway, reason);
  }

  /** Ends the tail; a second call does nothing. */
  release(): void {
    if (this.#ended.signal.aborted) return;
    this.#ended.abort();
    clearTimeout(this.#timer);
    this.#waiting = [];
    this.#options.tails.delete(this);
    this.#options.shares.give(this.#options.viewer.id);
  }

  #schedule(): void {
    if (this.#isSending || this.#timer !== undefined || this.#ended.signal.aborted) return;
    if (this.#waiting.length === 0 && this.#dropped.length === 0) return;
    const { limits, request } = this.#options;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#isSending = true;
      this.#send()
        .catch((error: unknown) => this.#lose({}, Date.now(), error))
        .finally(() => {
          this.#isSending = false;
          this.#schedule();
        });
    }, request.delayMs + limits.batchDelayMs);
  }

  /** Sends waiting lines in the order of time, as far as the socket takes them. */
  async #send(): Promise<void> {
    const { limits, metrics } = this.#options;
    while (this.#waiting.length + this.#dropped.length > 0 && this.socket.isReady()) {
      const batch = this.#waiting.splice(0, limits.batchRows);
      for (const { sizeBytes } of batch) this.#waitingBytes -= sizeBytes;
      batch.sort((a, b) => a.timestampMs - b.timestampMs);
      const frame = new StreamFrame();
      for (const each of batch) {
        const found = await this.#lineOf(each);
        if (this.#ended.signal.aborted) return;
        if (found !== undefined && !this.#wasSent(found, each.timestampMs))
          frame.add(found, `${each.timestampMs}000000`);
      }
      const dropped = this.#dropped;
      this.#dropped = [];
      if (frame.lines === 0 && dropped.length === 0) continue;
      metrics.rowsSent.inc(frame.lines);
      this.socket.send(frame.text(dropped));
    }
  }

  /** Leaves out a line that the stages refuse because it is too long for their expressions. */
  async #lineOf(line: WaitingLine): Promise<LabelledLine | undefined> {
    try {
      return await this.#query.line(line);
    } catch (error) {
      if (!this.#ended.signal.aborted) this.#lose(this.#query.labels(line), line.timestampMs, error);
      return undefined;
    }
  }

  /** Leaves out an event whose values are too long for the expressions of the selector: the pipeline must continue. */
  #selects(line: WaitingLine): boolean {
    try {
      return this.#query.selects(line);
    } catch (error) {
      this.#lose(this.#query.labels(line), line.timestampMs, error);
      return false;
    }
  }

  /** Leaves out a line that can't be shown. An error other than a query's refusal is a fault of the hub, and is logged. */
  #lose(labels: object, timestampMs: number, error: unknown): void {
    this.#options.metrics.rowsSkipped.inc({ reason: "failed" });
    if (!(error instanceof AppError)) this.#options.log.warn({ err: error }, "a tail left a line out");
    this.#addDropped(labels, timestampMs);
  }

  #wasSent({ stream, line }: LabelledLine, timestampMs: number): boolean {
    if (this.#older.size === 0) return false;
    const key = keyOf(stream, `${timestampMs}000000`, line);
    const times = this.#older.get(key) ?? 0;
    if (times > 1) this.#older.set(key, times - 1);
    else this.#older.delete(key);
    return times > 0;
  }

  async #sendOlder(): Promise<void> {
    const { request, run } = this.#options;
    if (run === undefined || request.limit === 0) return;
    const params = new URLSearchParams({ query: request.query, limit: String(request.limit) });
    if (request.start !== undefined) params.set("start", request.start);
    // This tail gets events that pass from now on; searches may not find earlier ones yet.
    await this.#options.makeSearchable();
    const path = `/es/loki/api/v1/query_range?${params.toString()}`;
    const { status, body } = await run({ method: "GET", path }, this.#ended.signal);
    if (status !== 200) throw new AppError("request_invalid", body);
    const frame = new StreamFrame();
    for (const { stream, values } of streamsIn(JSON.parse(body)))
      for (const [time, line] of values.toReversed()) {
        frame.add({ stream, line }, time);
        const key = keyOf(stream, time, line);
        this.#older.set(key, (this.#older.get(key) ?? 0) + 1);
      }
    if (frame.lines > 0) this.socket.send(frame.text([]));
  }

  #drop(line: WaitingLine, reason: "rate_cap" | "slow_client"): void {
    this.#options.metrics.rowsSkipped.inc({ reason });
    this.#addDropped(this.#query.labels(line), line.timestampMs);
  }

  #addDropped(labels: object, timestampMs: number): void {
    if (this.#dropped.length < MAX_DROPPED) this.#dropped.push({ labels, timestamp: `${timestampMs}000000` });
    this.#schedule();
  }

  #isWithinRate(): boolean {
    const nowMs = performance.now();
    if (nowMs - this.#secondMs >= 1_000) {
      this.#secondMs = nowMs;
      this.#rowsThisSecond = 0;
    }
    return ++this.#rowsThisSecond <= this.#options.limits.defaultRate;
  }
}

/** Lines of one message, by stream. */
class StreamFrame {
  readonly #streams = new Map<string, { stream: LabelledLine["stream"]; values: [string, string][] }>();
  lines = 0;

  /** `time`: ns since 1970-01-01 UTC, in digits. */
  add({ stream, line }: LabelledLine, time: string): void {
    const key = JSON.stringify(stream);
    let found = this.#streams.get(key);
    if (found === undefined) this.#streams.set(key, (found = { stream, values: [] }));
    found.values.push([time, line]);
    this.lines += 1;
  }

  text(dropped: readonly object[]): string {
    return JSON.stringify({ streams: [...this.#streams.values()], dropped_entries: dropped });
  }
}

/** A digest instead of the text: thousands of lines may be long ones. */
function keyOf(stream: LabelledLine["stream"], time: string, line: string): string {
  const labels = Object.entries(stream).sort(([a], [b]) => (a < b ? -1 : 1));
  return hash("sha256", JSON.stringify([labels, time, line]), "base64");
}

interface Stream {
  readonly stream: Record<string, string>;
  readonly values: readonly (readonly [string, string])[];
}

function streamsIn(answer: unknown): readonly Stream[] {
  const data = isObject(answer) ? answer["data"] : undefined;
  return isObject(data) && Array.isArray(data["result"]) ? (data["result"] as Stream[]) : [];
}

/** The open tails of a hub. */
export class LogTails {
  readonly #tails = new Set<LogTail>();

  get size(): number {
    return this.#tails.size;
  }

  add(tail: LogTail): void {
    this.#tails.add(tail);
  }

  delete(tail: LogTail): void {
    this.#tails.delete(tail);
  }

  /** Takes events in order. Their bytes may change after it returns. */
  offer(events: readonly LiveEvent[]): void {
    if (this.#tails.size === 0) return;
    for (const event of events) {
      const document = new EventDocument(event);
      for (const tail of this.#tails) tail.accept(document);
    }
  }

  /** Marks in every tail that lines are missing. */
  missed(): void {
    for (const tail of this.#tails) tail.markMissing();
  }
}
