/**
 * Stands for the hub behind RAW, in the test's own process: reads the stream in order, drops what it has of each
 * source as the index does, and tells agents what is committed. Sees everything an agent can do wrong with ranges.
 */

import { zstdDecompressSync } from "node:zlib";
import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/transport-node";
import { systemClock } from "#proto/kit/clock.ts";
import { IntervalSet } from "#proto/kit/interval-set.ts";
import { AgentHello, Compression, LogBatch, type tailrace, Watermark } from "#proto/messages.ts";
import { helloSubject, RAW_STREAM, watermarkSubject } from "#proto/subjects.ts";
import { askedAtOnce } from "./agent.ts";

const POLL_MS = 20;
const NEWLINE = 0x0a;

/** A line as it was indexed. */
export interface FoldedLine {
  /** "<agent id>/<file_key>/<generation>". */
  readonly source: string;
  readonly offset: number;
  readonly path: string;
  readonly text: string;
}

interface Known {
  readonly ranges: IntervalSet;
  readonly from: number;
}

export class FoldingHub {
  /** Everything indexed, in order. */
  readonly lines: FoldedLine[] = [];
  /** Messages read, repeats included. */
  messages = 0;
  /** Lines that were dropped as repeats. */
  repeats = 0;
  /** Times the stream was found rolled back or lost. */
  rollbacks = 0;
  /** True: it is away, reads nothing and answers nobody. */
  away = false;
  readonly #nats: NatsConnection;
  readonly #onLine: (line: FoldedLine) => void;
  readonly #known = new Map<string, Known>();
  readonly #moved = new Set<string>();
  readonly #agents = new Set<string>();
  readonly #stop = new AbortController();
  /** Message ids by sequence, from 1: what the stream must still hold, or it was rolled back. */
  readonly #ids: string[] = [""];
  #incarnation = 1;
  #task: Promise<void> | undefined;

  /** `onLine` hears of each line when it is indexed. */
  constructor(nats: NatsConnection, onLine: (line: FoldedLine) => void = () => undefined) {
    this.#nats = nats;
    this.#onLine = onLine;
  }

  start(): void {
    this.#nats.subscribe(helloSubject("*"), {
      callback: (error, message) => {
        if (error !== null || this.away) return;
        const hello = AgentHello.decode(message.data);
        message.respond(Watermark.encode(this.#answer(hello)).finish());
      },
    });
    this.#task = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#task;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        if (!this.away) await this.#readOn();
        if (!this.away) this.#publish();
      } catch {
        // the server is away; the next turn finds it again
      }
      await systemClock.sleep(POLL_MS, signal);
    }
  }

  async #readOn(): Promise<void> {
    const manager = await jetstreamManager(this.#nats, { checkAPI: false });
    const { state } = await manager.streams.info(RAW_STREAM);
    const read = async (sequence: number) =>
      sequence > state.last_seq ? null : await manager.streams.getMessage(RAW_STREAM, { seq: sequence });
    const isKept = async (sequence: number) =>
      (await read(sequence))?.header.get("Nats-Msg-Id") === this.#ids[sequence];
    if (this.#ids.length > 1 && !(await isKept(this.#ids.length - 1))) {
      while (this.#ids.length > 1 && !(await isKept(this.#ids.length - 1))) this.#ids.pop();
      this.#beginIncarnation();
    }
    while (this.#ids.length <= state.last_seq && !this.#stop.signal.aborted && !this.away) {
      const count = Math.min(askedAtOnce(state), state.last_seq - this.#ids.length + 1);
      const sequences = Array.from({ length: count }, (_, at) => this.#ids.length + at);
      for (const message of await Promise.all(sequences.map(read))) {
        if (this.away) return;
        if (message !== null) this.#fold(LogBatch.decode(message.data));
        this.#ids.push(message?.header.get("Nats-Msg-Id") ?? "");
      }
    }
  }

  /** The stream has lost messages: agents go back to what is committed. */
  #beginIncarnation(): void {
    this.#incarnation++;
    this.rollbacks++;
    for (const source of this.#known.keys()) this.#moved.add(source);
  }

  #fold({ agentId, block }: tailrace.LogBatch): void {
    this.messages++;
    this.#agents.add(agentId);
    const source = `${agentId}/${block?.source?.fileKey}/${block?.source?.generation}`;
    const path = block?.source?.path ?? "";
    const from = Number(block?.from);
    const to = Number(block?.to);
    const known = this.#known.get(source) ?? { ranges: new IntervalSet(), from };
    this.#known.set(source, known);
    for (const [offset, text] of linesOf(block!)) {
      if (known.ranges.has(offset)) {
        this.repeats++;
        continue;
      }
      const line = { source, offset, path, text };
      this.lines.push(line);
      this.#onLine(line);
    }
    known.ranges.add(from, to);
    this.#moved.add(source);
  }

  #publish(): void {
    for (const agentId of this.#agents) {
      const committed = [...this.#moved]
        .filter((key) => key.startsWith(`${agentId}/`))
        .map((key) => this.#committed(key));
      if (committed.length === 0) continue;
      const message = { incarnation: this.#incarnation, committed };
      this.#nats.publish(watermarkSubject(agentId), Watermark.encode(message).finish());
    }
    this.#moved.clear();
  }

  #answer(hello: tailrace.AgentHello): tailrace.Watermark.$Properties {
    this.#agents.add(hello.agentId);
    const rewind = hello.incarnation !== 0 && hello.incarnation !== this.#incarnation;
    const committed = hello.fileKeys
      .map((key) => `${hello.agentId}/${key}`)
      .map((key) => this.#committed(key));
    return { incarnation: this.#incarnation, rewind, committed };
  }

  #committed(key: string): tailrace.ICommitted {
    const [, fileKey = "", generation = ""] = key.split("/");
    const known = this.#known.get(key);
    const from = known?.from ?? 0;
    const offset = known?.ranges.contiguousEnd(from) ?? 0;
    return { fileKey, generation: Number(generation), from, offset };
  }
}

/** Yields the offset and the text of each line or event of a block. */
function* linesOf(block: tailrace.ILogBlock): Generator<[offset: number, text: string]> {
  for (const { offset, message } of block.events ?? [])
    yield [Number(offset ?? 0), Buffer.from(message ?? []).toString()];
  const packed = Buffer.from(block.data ?? []);
  const data = block.compression === Compression.ZSTD ? zstdDecompressSync(packed) : packed;
  for (let at = 0; at < data.length; ) {
    const newline = data.indexOf(NEWLINE, at);
    const end = newline < 0 ? data.length : newline;
    if (end > at) yield [Number(block.from) + at, data.toString("utf8", at, end)];
    at = end + 1;
  }
}
