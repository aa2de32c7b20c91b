/** The output to a hub: batches into the durable log over NATS, acknowledged by the log itself. */

import { constants, zstdCompressSync } from "node:zlib";
import { createInbox, headers, type NatsConnection } from "@nats-io/transport-node";
import type { Batch, Channel, Output, OutputState } from "#agent/contract/output.ts";
import { SlotPool } from "#agent/contract/slot-pool.ts";
import type { Clock } from "#proto/kit/clock.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { Metrics } from "#proto/kit/metrics.ts";
import { Compression } from "#proto/messages.ts";
import { BatchEncoder, encodeSource, type SourceFields } from "#proto/raw-encoder.ts";
import { inboxPrefix, partitionOf, RAW_STREAM, rawSubject } from "#proto/subjects.ts";
import { readAcknowledgement } from "./acknowledgement.ts";
import type { Connection } from "./connection.ts";
import { Lane } from "./lane.ts";
import { Publisher, type PublisherOptions, type Wire, type WireMessage } from "./publisher.ts";

/** Identity of the sender. */
export interface AgentNames {
  readonly agentId: string;
  readonly agentName: string;
  readonly agentVersion: string;
  readonly hostName: string;
}

export interface PipelineOutputOptions
  extends Pick<PublisherOptions, "epoch" | "onAck" | "onRollback" | "renewEpoch"> {
  readonly names: AgentNames;
  readonly compression: "none" | "zstd";
  readonly batchBytes: number;
  readonly inFlight: number;
  readonly ackTimeoutMs: number;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

/** Free bytes before a body; names and a path of ordinary length fit, longer ones cost a copy. */
const HEADROOM_BYTES = 4_096;
/** Free bytes after a body, for the end of the protocol's frame. */
const TAILROOM_BYTES = 2;
/** Headers and what NATS adds to a message, subtracted from the server's limit. */
const ENVELOPE_BYTES = 65_536;
/** Assumed until the server sends its own limit: NATS's default. */
const DEFAULT_MAX_PAYLOAD_BYTES = 1_048_576;

/** Level 1: three times smaller at 400 MB/s; higher levels cost more time than they save network. */
const ZSTD_OPTIONS = {
  // A batch then compresses into one piece or two instead of ten that must be put together.
  chunkSize: 131_072,
  // Tables for a window of 256 KiB, the size of a batch: larger ones are only cleared, never filled.
  params: { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_windowLog]: 18 },
};

const LINE_END = Buffer.from("\r\n");

export class PipelineOutput implements Output, Wire {
  readonly slots: SlotPool;
  readonly confirmsCommits = true;
  readonly #connection: Connection;
  readonly #options: PipelineOutputOptions;
  readonly #publisher: Publisher;
  readonly #inbox: string;

  constructor(connection: Connection, options: PipelineOutputOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#inbox = createInbox(inboxPrefix(options.names.agentId));
    this.slots = new SlotPool(options.inFlight, HEADROOM_BYTES + options.batchBytes + TAILROOM_BYTES);
    this.#publisher = new Publisher(this, { ...options, agentId: options.names.agentId });
    connection.subscribe(`${this.#inbox}.*`, ({ subject, data, status }) => {
      connection.answered();
      const [number, attempt] = subject
        .slice(this.#inbox.length + 1)
        .split("-")
        .map(Number);
      this.#publisher.acknowledge(number!, attempt!, readAcknowledgement(status, data));
    });
    connection.onChange((up) => {
      if (up) this.#publisher.reconnected();
    });
  }

  get connected(): boolean {
    return this.#connection.connected;
  }

  get maxBodyBytes(): number {
    return (this.#connection.maxPayloadBytes ?? DEFAULT_MAX_PAYLOAD_BYTES) - ENVELOPE_BYTES;
  }

  get ackedBytes(): number {
    return this.#publisher.ackedBytes;
  }

  /** The stream has begun again: sequences lower than before are valid. */
  forgetSequences(): void {
    this.#publisher.forgetSequences();
  }

  start(): Promise<void> {
    return Promise.resolve();
  }

  stop(): Promise<void> {
    this.#publisher.stop();
    return Promise.resolve();
  }

  drained(signal: AbortSignal): Promise<void> {
    return this.#publisher.drained(signal);
  }

  state(): OutputState {
    if (!this.#connection.connected) return { healthy: false, reason: this.#connection.problem };
    return this.#publisher.state();
  }

  publish({ subject, data, messageId, number, attempt, frame }: WireMessage): void {
    const { nats } = this.#connection;
    const reply = `${this.#inbox}.${number}-${attempt}`;
    const lines = [`Nats-Msg-Id: ${messageId}`, `Nats-Expected-Stream: ${RAW_STREAM}`];
    if (frame !== null && publishInPlace(nats, { subject, reply, headers: lines }, data, frame)) return;
    const fields = headers();
    fields.set("Nats-Msg-Id", messageId);
    fields.set("Nats-Expected-Stream", RAW_STREAM);
    nats.publish(subject, data, { reply, headers: fields });
  }

  channel(source: SourceFields, fieldsJson: Uint8Array): Channel {
    const { names, compression } = this.#options;
    const encoder = new BatchEncoder({ ...names, fieldsJson });
    const encodedSource = encodeSource(source);
    const lane = new Lane(rawSubject(partitionOf(names.agentId, source.fileKey), names.agentId));
    return {
      headroom: HEADROOM_BYTES,
      tailroom: TAILROOM_BYTES,
      send: (batch) => {
        const { block, body } = compression === "zstd" ? compress(batch) : batch;
        this.#publisher.send(lane, {
          slot: batch.slot,
          bodyBytes: batch.body.end - batch.body.start,
          encode: (epoch, number) => encoder.encode(epoch, number, encodedSource, block, body),
          settle: batch.settle,
        });
      },
    };
  }
}

/** Replaces the body by a zstd frame, in the same buffer, if that is smaller. */
function compress({ block, body }: Batch): Pick<Batch, "block" | "body"> {
  if (body.events) return { block, body };
  const { buffer, start, end } = body;
  const frame = zstdCompressSync(buffer.subarray(start, end), ZSTD_OPTIONS);
  const isSmaller = frame.length < end - start;
  if (isSmaller) frame.copy(buffer, start);
  const compressed = { ...body, end: start + frame.length };
  // The collector comes late for memory outside the heap: 40 MB of frames would wait for it.
  if (frame.buffer instanceof ArrayBuffer && frame.buffer.byteLength >= ZSTD_OPTIONS.chunkSize)
    frame.buffer.transfer(0);
  return isSmaller
    ? { block: { ...block, compression: Compression.ZSTD }, body: compressed }
    : { block, body };
}

/** Part of the client's connection that takes a finished protocol frame. Not part of its public interface. */
interface FrameSender {
  readonly protocol?: { sendCommand?(frame: Uint8Array): void };
}

/** The start of a frame: HPUB line (NATS client protocol) and headers. */
interface FrameFields {
  readonly subject: string;
  readonly reply: string;
  /** Header lines without the end, such as "Nats-Msg-Id: 1". */
  readonly headers: readonly string[];
}

/**
 * Sends `message`, a part of `frame`, without copying it; returns false if that is not possible, and nothing is sent.
 * The client library would copy each batch into a new buffer, and the garbage collector would spend more time on those
 * than the agent on everything else. So the protocol's line and headers are written directly before the message, into
 * free bytes reserved in its buffer.
 *
 * The buffer then belongs to the socket until the server has read all of it. That is certain once the batch is
 * acknowledged, but only for the first attempt: a retry could still be in the socket's queue when the answer to an
 * earlier attempt arrives. Retries are therefore copied.
 */
function publishInPlace(nats: NatsConnection, fields: FrameFields, message: Buffer, frame: Buffer): boolean {
  const { protocol } = nats as FrameSender;
  if (protocol?.sendCommand === undefined || message.buffer !== frame.buffer) return false;
  const headers = `NATS/1.0\r\n${fields.headers.join("\r\n")}\r\n\r\n`;
  const total = headers.length + message.length;
  if (total > (nats.info?.max_payload ?? 0)) return false; // publish() reports this error
  const head = `HPUB ${fields.subject} ${fields.reply} ${headers.length} ${total}\r\n${headers}`;
  const start = message.byteOffset - frame.byteOffset - head.length;
  const end = message.byteOffset - frame.byteOffset + message.length;
  if (start < 0 || end + LINE_END.length > frame.length) return false;
  frame.write(head, start, "latin1");
  LINE_END.copy(frame, end);
  protocol.sendCommand(frame.subarray(start, end + LINE_END.length));
  return true;
}
