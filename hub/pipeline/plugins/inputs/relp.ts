/** Input relp: syslog by the Reliable Event Logging Protocol, each message acknowledged when the log has it. */

import { randomUUID } from "node:crypto";
import type { TlsOptions } from "node:tls";
import type { Static } from "typebox";
import { listenerTls, TLS_LISTENER } from "#hub/pipeline/connections/tls.ts";
import { defineInput, type InputChannel, type InputContext } from "#hub/pipeline/plugins/input.ts";
import { type Connection, faultLog, Listener } from "#hub/pipeline/plugins/inputs/stream/listener.ts";
import {
  SYSLOG_FORMAT,
  SyslogCodec,
  senderField,
  setSender,
  syslogZone,
} from "#hub/pipeline/plugins/inputs/stream/syslog-codec.ts";
import { KeptBytes } from "#proto/kit/byte-parts.ts";
import type { TimeZone } from "#proto/kit/dates/time-zone.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import { options, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const OPTIONS = options({
  host: text("address to listen on", "0.0.0.0"),
  port: Type.Integer({
    default: 2514,
    minimum: 0,
    maximum: 65535,
    description: "port to listen on; RELP has no standard port",
  }),
  ...SYSLOG_FORMAT,
  ...TLS_LISTENER,
});

type Options = Static<typeof OPTIONS>;

export const relpInput = defineInput({
  name: "relp",
  description: "receives syslog over RELP, as sent by rsyslog's omrelp",
  options: OPTIONS,
  create(values, { report, resolvePath }) {
    const zone = syslogZone(values, report);
    const tls = listenerTls(values, resolvePath);
    return (context) => new RelpInput(context, values, zone, tls);
  },
});

class RelpInput implements Component {
  readonly #context: InputContext;
  readonly #values: Options;
  readonly #zone: TimeZone | undefined;
  readonly #listener: Listener;

  constructor(
    context: InputContext,
    values: Options,
    zone: TimeZone | undefined,
    tls: TlsOptions | undefined,
  ) {
    this.#context = context;
    this.#values = values;
    this.#zone = zone;
    this.#listener = new Listener({
      host: values.host,
      port: values.port,
      tls,
      shares: context.shares,
      serve: (connection) => this.#serve(connection),
      onFault: faultLog(context, "a connection ended early"),
    });
  }

  async start(): Promise<void> {
    await this.#listener.start();
  }

  async stop(): Promise<void> {
    await this.#listener.stop();
  }

  async #serve({ socket, chunks, held }: Connection): Promise<void> {
    const reader = new RelpReader();
    const codec = new SyslogCodec(this.#values, this.#zone);
    const channel = this.#context.open({ key: randomUUID() });
    try {
      for await (const chunk of chunks) {
        const frames = reader.push(chunk);
        await this.#take(frames, codec, channel, socket.remoteAddress ?? "");
        socket.write(frames.map(answerTo).join(""));
        if (frames.some(({ command }) => command === "close")) {
          socket.end("0 serverclose 0\n");
          return;
        }
        held(reader.pendingBytes);
      }
    } finally {
      channel.close();
    }
  }

  async #take(
    frames: readonly RelpFrame[],
    codec: SyslogCodec,
    channel: InputChannel,
    address: string,
  ): Promise<void> {
    const nowMs = this.#context.clock.now();
    const events = frames
      .filter(({ command }) => command === "syslog")
      .flatMap(({ data }) => codec.decode(data, nowMs));
    for (const event of events) setSender(event, senderField(this.#values), address);
    if (events.length > 0) await channel.send(events.map((event) => ({ event })));
  }
}

/** A frame: `TXNR SP COMMAND SP DATALEN [SP DATA] LF` (librelp, doc/relp.html). */
interface RelpFrame {
  readonly transaction: string;
  readonly command: string;
  readonly data: Buffer;
}

/** Longest data of a frame, and longest head. Bytes. */
const MAX_DATA_BYTES = 1024 * 1024;
const MAX_HEAD_BYTES = 9 + 1 + 32 + 1 + 9 + 1;

const HEAD = /^(\d{1,9}) ([A-Za-z]{1,32}) (\d{1,9})([ \n])/;
const LF = 0x0a;

/** Cuts a stream into frames. */
export class RelpReader {
  readonly #pending = new KeptBytes();
  /** It isn't parsed again before it has so many. */
  #neededBytes = 0;

  /** Bytes of the frame that isn't whole. */
  get pendingBytes(): number {
    return this.#pending.length;
  }

  /** Takes a chunk; returns the frames that it completed. Throws parsing for what isn't RELP. */
  push(chunk: Buffer): RelpFrame[] {
    if (this.#pending.length + chunk.length < this.#neededBytes) {
      this.#pending.keep(chunk);
      return [];
    }
    let bytes = this.#pending.take(chunk);
    const frames: RelpFrame[] = [];
    this.#neededBytes = 0;
    for (;;) {
      const head = HEAD.exec(bytes.toString("latin1", 0, MAX_HEAD_BYTES));
      if (head === null) break;
      const [whole, transaction = "", command = "", length = "", end] = head;
      const size = Number(length);
      if (size > MAX_DATA_BYTES) throw new AppError("parsing", `a frame of ${size} bytes is too long`);
      const isEmpty = end === "\n";
      if (isEmpty !== (size === 0) && size > 0) throw noRelp();
      const dataEnd = whole.length + size;
      if (!isEmpty && bytes.length <= dataEnd) {
        this.#neededBytes = dataEnd + 1;
        break;
      }
      if (!isEmpty && bytes[dataEnd] !== LF) throw noRelp();
      frames.push({ transaction, command, data: Buffer.from(bytes.subarray(whole.length, dataEnd)) });
      bytes = bytes.subarray(isEmpty ? whole.length : dataEnd + 1);
    }
    if (bytes.length >= MAX_HEAD_BYTES && HEAD.exec(bytes.toString("latin1", 0, MAX_HEAD_BYTES)) === null)
      throw noRelp();
    if (bytes.length > 0) this.#pending.keep(bytes);
    return frames;
  }
}

function noRelp(): AppError {
  return new AppError("parsing", "the connection doesn't speak RELP");
}

const OFFER = "200 OK\nrelp_version=0\nrelp_software=tailrace\ncommands=syslog";

/** Returns the answer to a frame whose message is in the log. */
function answerTo({ transaction, command }: RelpFrame): string {
  const known = ["open", "syslog", "close"].includes(command);
  const text = command === "open" ? OFFER : known ? "200 OK" : "500 unknown command";
  return `${transaction} rsp ${Buffer.byteLength(text)} ${text}\n`;
}
