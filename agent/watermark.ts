/**
 * Keeps agent and hub in agreement on what is committed. The hub sends for each file the offset that is in committed
 * segments; when its log was lost or rolled back, the agent goes back to that offset and resends.
 */

import type { LastAck } from "#agent/outputs/publisher.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { BackgroundTask, type Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Counter, Metrics } from "#proto/kit/metrics.ts";
import { AgentHello, type tailrace, Watermark } from "#proto/messages.ts";
import { helloSubject, watermarkSubject } from "#proto/subjects.ts";
import type { Connection } from "./outputs/connection.ts";
import type { AgentNames } from "./outputs/pipeline.ts";
import type { Registry } from "./registry/registry.ts";
import { type EarlierGeneration, sourceOf } from "./registry/row.ts";

export interface WatermarkOptions {
  readonly names: AgentNames;
  readonly connection: Connection;
  readonly registry: Registry;
  /** Makes all inputs go back to what is committed. */
  readonly rewind: () => void;
  /** The stream starts again: lower sequences than before are right. */
  readonly forgetSequences: () => void;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Wait for an answer, and between tries while there is none. */
const HELLO_TIMEOUT_MS = 2_000;
/** Watermarks are published once and may be missed; asking again fills the gap. */
const HELLO_EVERY_MS = 30_000;
/** Limit of AgentHello.file_keys. */
const KEYS_MAX = 10_000;

export class WatermarkClient implements Component {
  readonly #options: WatermarkOptions;
  readonly #task = new BackgroundTask();
  readonly #rewinds: Counter;
  #answered = false;
  #rouse = new AbortController();

  constructor(options: WatermarkOptions) {
    this.#options = options;
    const { connection, names, metrics } = options;
    this.#rewinds = metrics.counter(
      "tailrace_agent_rewinds_total",
      "Times the hub's log was lost or rolled back and data was sent again.",
    );
    connection.subscribe(watermarkSubject(names.agentId), ({ data }) => this.#receive(data));
    connection.onChange((up) => {
      this.#answered = false;
      if (up) this.#rouse.abort();
    });
  }

  start(): Promise<void> {
    this.#task.start((signal) => this.#run(signal));
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    const ended = this.#task.stop();
    this.#rouse.abort();
    await ended;
  }

  /** Records the last acknowledged batch, for the next hello. */
  acknowledged({ sequence, messageId }: LastAck): void {
    const { incarnation } = this.#options.registry.stream;
    this.#options.registry.setStream({ incarnation, sequence, messageId });
  }

  /** The log answered with a sequence it had given away before: it was rolled back. */
  rolledBack(sequence: number, floor: number): void {
    this.#options.log.warn({ sequence, expectedAbove: floor }, "the hub's log was rolled back");
    this.#rewind();
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, connection } = this.#options;
    while (!signal.aborted) {
      this.#rouse = new AbortController();
      let waitMs = HELLO_TIMEOUT_MS;
      if (connection.connected && (this.#answered || (await this.#isHeard()))) {
        await this.#hello();
        if (this.#answered) waitMs = HELLO_EVERY_MS;
      }
      await clock.sleep(waitMs, this.#rouse.signal);
    }
  }

  /** Finds out whether a hub listens: to ask it for ten thousand files every other second in vain would be dear. */
  async #isHeard(): Promise<boolean> {
    const { names, connection } = this.#options;
    const hello = AgentHello.encode({ ...names, incarnation: 0, lastSequence: 0, fileKeys: [] }).finish();
    try {
      await connection.nats.request(helloSubject(names.agentId), hello, { timeout: HELLO_TIMEOUT_MS });
      return true;
    } catch (error) {
      this.#options.log.debug({ error }, "no hub answers the hello");
      return false;
    }
  }

  /** Asks for all files with something uncommitted; one question suffices where there is none. */
  async #hello(): Promise<void> {
    const { names, registry, connection } = this.#options;
    const keys: string[] = [];
    for (const [key, row] of registry.rows()) {
      const { fileKey, generation } = sourceOf(key, row);
      if (row.committed < row.sent) keys.push(`${fileKey}/${generation}`);
    }
    try {
      for (let at = 0; at === 0 || at < keys.length; at += KEYS_MAX) {
        const { incarnation, sequence, messageId } = registry.stream;
        const hello = AgentHello.encode({
          ...names,
          incarnation,
          lastSequence: sequence,
          lastMessageId: messageId,
          fileKeys: keys.slice(at, at + KEYS_MAX),
        }).finish();
        const answer = await connection.nats.request(helloSubject(names.agentId), hello, {
          timeout: HELLO_TIMEOUT_MS,
        });
        this.#receive(answer.data);
        this.#answered = true;
      }
    } catch (error) {
      // The hub may be away or busy; shipping doesn't depend on it.
      this.#options.log.debug({ error }, "the hub did not answer the hello");
    }
  }

  #receive(data: Uint8Array): void {
    let watermark: tailrace.Watermark;
    try {
      watermark = Watermark.decode(data);
    } catch (error) {
      this.#options.log.warn({ error }, "the hub sent a watermark that can't be read");
      return;
    }
    const { registry, names } = this.#options;
    // An agent may want the answers to it sent to another: what they say of its files would release those of this one.
    if (watermark.agentId !== "" && watermark.agentId !== names.agentId) {
      this.#options.log.warn(
        { agent: watermark.agentId },
        "a watermark of another agent came here; it counts for nothing",
      );
      return;
    }
    const known = registry.stream.incarnation;
    const restored = watermark.restored ?? 0;
    if (known !== 0 && known < restored && restored <= watermark.incarnation) this.#beginAnew(restored);
    const renewed = known !== 0 && watermark.incarnation !== 0 && watermark.incarnation !== known;
    const back = watermark.rewind || renewed;
    for (const committed of watermark.committed) this.#commit(committed, back);
    if (watermark.incarnation !== 0 && watermark.incarnation !== known) {
      registry.setStream({ ...registry.stream, incarnation: watermark.incarnation });
    }
    if (!back) return;
    this.#options.log.warn(
      { incarnation: watermark.incarnation, before: known },
      "the hub's log is another one than before",
    );
    this.#rewind();
  }

  /** Moves a file's mark. Backwards only where the hub's log was lost: what it lists then is all it has. */
  #commit(committed: tailrace.ICommitted, back: boolean): void {
    const fileKey = committed.fileKey ?? "";
    const offset = Number(committed.offset ?? 0);
    const { registry } = this.#options;
    const generation = committed.generation ?? 0;
    for (const [key, row] of registry.rowsOf({ fileKey, generation })) {
      if (Number(committed.from ?? 0) > row.committed || (offset <= row.committed && !back)) continue;
      row.committed = offset;
      registry.touch(key);
    }
    const row = registry.get(fileKey);
    const isMeant = ({ source }: EarlierGeneration): boolean =>
      source.fileKey === fileKey && source.generation === generation;
    if (row === undefined || !row.earlier.some(isMeant)) return;
    row.earlier = row.earlier.map((each) =>
      isMeant(each) && (offset > each.committed || back) ? { ...each, committed: offset } : each,
    );
    registry.touch(fileKey);
  }

  /** A snapshot lacks everything committed after it, so the agent's own marks are worthless. */
  #beginAnew(incarnation: number): void {
    const { registry, log } = this.#options;
    for (const [key, row] of registry.rows()) {
      row.committed = 0;
      registry.touch(key);
    }
    log.warn(
      { incarnation },
      "the hub was restored from a snapshot; all files are sent again from their start",
    );
  }

  #rewind(): void {
    this.#rewinds.inc();
    const { registry, forgetSequences, rewind } = this.#options;
    registry.setStream({ ...registry.stream, sequence: 0, messageId: "" });
    forgetSequences();
    rewind();
  }
}
