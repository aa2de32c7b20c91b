/**
 * An agent without files: its own connection to NATS, and the messages of a real one: hello, statuses, batches of lines to
 * RAW, watermarks. Many of them fit into one process.
 */

import { jetstream } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { connectionOptions } from "#agent/outputs/connection.ts";
import { AgentHello, AgentStatus, LogBatch, Watermark } from "#proto/messages.ts";
import {
  batchMessageId,
  helloSubject,
  inboxPrefix,
  partitionOf,
  rawSubject,
  statusSubject,
  watermarkSubject,
} from "#proto/subjects.ts";
import type { TestHub } from "#test/harness/hub.ts";
import { until } from "#test/harness/until.ts";

/** As real agents do. */
const STATUS_EVERY_MS = 10_000;
const ANSWER_MS = 30_000;
const HELLO_EVERY_MS = 250;

export class SimulatedAgent {
  readonly id: string;
  readonly #nats: NatsConnection;
  readonly #startedMs = Date.now();
  readonly #timer: NodeJS.Timeout;
  /** Bytes sent and committed by file. */
  readonly #sent = new Map<string, number>();
  readonly #committed = new Map<string, number>();
  #batches = 0;
  #lines = 0;

  private constructor(id: string, nats: NatsConnection) {
    this.id = id;
    this.#nats = nats;
    nats.subscribe(watermarkSubject(id), {
      callback: (_error, { data }) => {
        for (const { fileKey, offset } of Watermark.decode(data).committed)
          this.#committed.set(fileKey ?? "", Number(offset));
      },
    });
    this.#timer = setInterval(() => this.#status(), STATUS_EVERY_MS);
    this.#timer.unref();
  }

  /** Connects and says hello. */
  static async connect(hub: TestHub, number: number): Promise<SimulatedAgent> {
    const id = `6e7a0000-0000-4000-8000-${String(number).padStart(12, "0")}`;
    const settings = { servers: [hub.natsUrl], token: hub.token, inboxPrefix: inboxPrefix(id) };
    const agent = new SimulatedAgent(
      id,
      await connect({ ...connectionOptions(settings, id), reconnect: true }),
    );
    await agent.hello();
    agent.#status();
    return agent;
  }

  /** Asks how far its files are committed; repeats that while the hub starts. */
  async hello(): Promise<void> {
    const fileKeys = [...this.#sent.keys()].map((key) => `${key}/0`);
    const hello = AgentHello.encode({ ...this.#names, incarnation: 0, lastSequence: 0, fileKeys }).finish();
    await until(
      `the hub's answer to ${this.id}`,
      () => this.#nats.request(helloSubject(this.id), hello, { timeout: ANSWER_MS }),
      { everyMs: HELLO_EVERY_MS },
    );
  }

  /** Sends the lines of a file that follow those before; resolves when the log has them. */
  async send(fileKey: string, lines: readonly string[]): Promise<void> {
    const data = Buffer.from(`${lines.join("\n")}\n`);
    const from = this.#sent.get(fileKey) ?? 0;
    const to = from + data.length;
    const number = ++this.#batches;
    const source = {
      inputId: "files",
      inputType: "log",
      fileKey,
      generation: 0,
      path: `/var/log/${fileKey}.log`,
    };
    const block = { source, from, to, readTimeMs: Date.now(), dataBytes: data.length, data };
    const batch = LogBatch.encode({ ...this.#names, epoch: 1, number, block }).finish();
    this.#sent.set(fileKey, to);
    this.#lines += lines.length;
    await jetstream(this.#nats).publish(rawSubject(partitionOf(this.id, fileKey), this.id), batch, {
      msgID: batchMessageId(this.id, 1, number, "growth"),
      timeout: ANSWER_MS,
    });
  }

  /** True once the hub has reported everything that was sent as committed. */
  get allCommitted(): boolean {
    return [...this.#sent].every(([key, to]) => (this.#committed.get(key) ?? 0) >= to);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#nats.close();
  }

  get #names() {
    return {
      agentId: this.id,
      agentName: `web-${this.id.slice(-6)}`,
      agentVersion: "0.2.0",
      hostName: this.id,
    };
  }

  #status(): void {
    const files = [...this.#sent].map(([path, sentBytes]) => ({
      input: "files",
      path,
      place: "open",
      sentBytes,
    }));
    const status = AgentStatus.encode({
      ...this.#names,
      startedMs: this.#startedMs,
      timeMs: Date.now(),
      health: "ok",
      linesRead: this.#lines,
      openFiles: files.length,
      inputs: [{ id: "files", type: "log", files: files.length }],
      files,
    });
    if (!this.#nats.isClosed()) this.#nats.publish(statusSubject(this.id), status.finish());
  }
}
