/** An output and a context for tests of inputs: batches stay here, acknowledged at once or by hand. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type InputContext, inputMetrics } from "#agent/contract/input.ts";
import type { Batch, Channel, Output, OutputState } from "#agent/contract/output.ts";
import { decodeEvents } from "#agent/contract/packed-events.ts";
import { SlotPool } from "#agent/contract/slot-pool.ts";
import { Registry } from "#agent/registry/registry.ts";
import type { Clock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import type { SourceFields } from "#proto/raw-encoder.ts";

/** A batch as the receiver would have it. */
export interface SentBatch {
  readonly source: SourceFields;
  /** Fields and tags of the input. */
  readonly fieldsJson: string;
  readonly from: number;
  readonly to: number;
  readonly data: Buffer;
  readonly events: boolean;
  readonly lastLineOpen: boolean;
  readonly firstLineContinued: boolean;
  ack(): void;
}

export class RecordingOutput implements Output {
  readonly slots: SlotPool;
  readonly maxBodyBytes = 4 * 1_024 * 1_024;
  readonly confirmsCommits: boolean;
  readonly ackedBytes = 0;
  readonly sent: SentBatch[] = [];
  /** False: batches wait for `ack`. */
  acking = true;
  #arrived: (() => void)[] = [];

  constructor(confirmsCommits: boolean, batchBytes: number, slots: number) {
    this.confirmsCommits = confirmsCommits;
    this.slots = new SlotPool(slots, 4_096 + batchBytes);
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }

  drained(): Promise<void> {
    return Promise.resolve();
  }

  state(): OutputState {
    return { healthy: true, reason: "" };
  }

  channel(source: SourceFields, fieldsJson: Uint8Array): Channel {
    const fields = Buffer.from(fieldsJson).toString();
    return { headroom: 4_096, tailroom: 0, send: (batch) => this.#take(source, fields, batch) };
  }

  /** Resolves when `condition` holds, looking whenever a batch arrives. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#arrived.push(resolve));
  }

  #take(source: SourceFields, fieldsJson: string, { slot, body, block, settle }: Batch): void {
    const data = Buffer.from(body.buffer.subarray(body.start, body.end));
    let done = false;
    const ack = (): void => {
      if (done) return;
      done = true;
      settle();
      slot.release();
    };
    const { from, to, lastLineOpen, firstLineContinued } = block;
    const { events } = body;
    this.sent.push({
      source,
      fieldsJson,
      from,
      to,
      data,
      events,
      lastLineOpen,
      firstLineContinued,
      ack,
    });
    if (this.acking) ack();
    for (const arrived of this.#arrived.splice(0)) arrived();
  }
}

/** Time that tests move. */
export class TestClock implements Clock {
  ms = 1_700_000_000_000;

  now(): number {
    return this.ms;
  }

  monotonic(): number {
    return this.ms;
  }

  sleep(_ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }));
  }
}

export interface TestContext extends InputContext {
  readonly output: RecordingOutput;
  readonly clock: TestClock;
  /** Removed by `dispose`. */
  readonly folder: string;
  /** Closes the registry and removes the folder. */
  dispose(): Promise<void>;
  /** Closes the registry and opens it again, as a restart does. */
  restart(): Promise<TestContext>;
}

export interface TestContextOptions {
  readonly confirmsCommits?: boolean;
  readonly batchBytes?: number;
  readonly slots?: number;
  readonly hasBirthTimes?: boolean;
  /** False: files seem to be on another machine. */
  readonly near?: boolean;
  readonly folder?: string;
}

/** Returns a context with a registry in a temporary folder. */
export async function testContext(options: TestContextOptions = {}): Promise<TestContext> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), "tailrace-input-"));
  const clock = new TestClock();
  const metrics = new Metrics();
  const log = silentLogger();
  const registry = new Registry({ folder: join(folder, "registry"), log, metrics, clock });
  await registry.start();
  const batchBytes = options.batchBytes ?? 128 * 1_024;
  return {
    id: "test",
    isInput: (id) => id === "test" || id === "other",
    fieldsJson: new Uint8Array(),
    output: new RecordingOutput(options.confirmsCommits ?? false, batchBytes, options.slots ?? 4),
    registry,
    metrics: inputMetrics(metrics),
    clock,
    log,
    lingerMs: 0,
    batchBytes,
    dataFolder: join(folder, "registry"),
    isOwnFile: () => false,
    hasBirthTimes: options.hasBirthTimes ?? true,
    isNear: () => options.near ?? true,
    onEnd: () => undefined,
    folder,
    async dispose() {
      await registry.stop();
      rmSync(folder, { recursive: true, force: true });
    },
    async restart() {
      await registry.stop();
      return await testContext({ ...options, folder });
    },
  };
}

/** An event as the receiver would have it. */
export interface SentEvent {
  readonly offset: number;
  readonly message: string;
  readonly fields: Record<string, unknown>;
  readonly timeMs: number;
}

/** Returns the events sent so far, in order. */
export function eventsOf({ output }: TestContext): SentEvent[] {
  return output.sent.flatMap(({ data, events }) =>
    events
      ? [...decodeEvents(data)].map(({ offset, message, fieldsJson, timeMs }) => ({
          offset,
          message: Buffer.from(message).toString(),
          fields: (fieldsJson.length === 0 ? {} : JSON.parse(Buffer.from(fieldsJson).toString())) as Record<
            string,
            unknown
          >,
          timeMs,
        }))
      : [],
  );
}
