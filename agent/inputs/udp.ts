/** Input `udp`: each datagram is an event. */

import { createSocket, type Socket } from "node:dgram";
import { isIPv6 } from "node:net";
import type { Static } from "typebox";
import { defineInput, type Input, type InputContext, type InputState } from "#agent/contract/input.ts";
import {
  addressSetting,
  cannotListen,
  parseAddress,
  peerFields,
  probeUdp,
} from "#agent/inputs/streams/addresses.ts";
import { StreamSink, spoolProperties } from "#agent/inputs/streams/stream-sink.ts";
import { DatagramDrops } from "#proto/kit/net/datagram-drops.ts";
import { Type } from "#proto/kit/schema.ts";
import { sizeSetting } from "#proto/kit/settings/kinds.ts";
import { parseSize } from "#proto/kit/units.ts";

const schema = Type.Object(
  {
    host: addressSetting(),
    max_message_size: sizeSetting({
      default: "10kb",
      description: "Longer datagrams are truncated.",
    }),
    read_buffer: sizeSetting({
      default: "4mb",
      description: "Size of the socket's receive buffer; datagrams of a larger burst are lost.",
    }),
    ...spoolProperties,
  },
  { additionalProperties: false },
);

const NEWLINE = 0x0a;

export const udpInput = defineInput({
  type: "udp",
  summary:
    "Receives datagrams. UDP can't slow a sender down: datagrams that arrive while the buffers are full are counted and lost.",
  heldSlots: 1,
  schema,
  validate(settings) {
    parseAddress(settings.host);
    parseSize(settings.max_message_size);
    parseSize(settings.read_buffer);
    parseSize(settings["spool.max_bytes"]);
  },
  create: (settings, context) => new UdpInput("udp", settings, context),
  probe: ({ host }) => probeUdp(host),
});

/** Also the datagram half of the input `syslog`. */
export class UdpInput implements Input {
  readonly #settings: Static<typeof schema>;
  readonly #sink: StreamSink;
  readonly #context: InputContext;
  #socket: Socket | undefined;
  #drops: DatagramDrops | undefined;

  constructor(type: string, settings: Static<typeof schema>, context: InputContext) {
    this.#settings = settings;
    this.#context = context;
    this.#sink = new StreamSink(type, context, { spoolBytes: parseSize(settings["spool.max_bytes"]) });
  }

  /** Port it listens on. */
  get port(): number {
    return this.#socket?.address().port ?? 0;
  }

  /** Throws port_taken. */
  async start(): Promise<void> {
    const { host, port } = parseAddress(this.#settings.host);
    const maxBytes = Math.min(parseSize(this.#settings.max_message_size), this.#sink.maxMessageBytes);
    this.#sink.open();
    const socket = createSocket(isIPv6(host) ? "udp6" : "udp4");
    this.#socket = socket;
    socket.on("message", (message, { address, port: from }) => {
      let end = Math.min(message.length, maxBytes);
      while (end > 0 && (message[end - 1] === NEWLINE || message[end - 1] === 0)) end--;
      if (end > 0) this.#sink.offer(message.subarray(0, end), peerFields(address, from));
    });
    const bound = Promise.withResolvers<void>();
    socket.once("error", bound.reject);
    socket.bind(port, host, bound.resolve);
    try {
      await bound.promise;
    } catch (error) {
      await this.#sink.stop();
      throw cannotListen(`input ${this.#context.id}`, `udp ${host}:${port}`, error);
    }
    socket.off("error", bound.reject);
    socket.on("error", (error) => this.#sink.fail("the UDP socket reports an error", error));
    this.#enlargeBuffer(socket);
    const { clock, metrics, id } = this.#context;
    this.#drops = new DatagramDrops(socket, clock, (count) => metrics.dropped.inc({ input: id }, count));
  }

  async stop(): Promise<void> {
    const socket = this.#socket;
    this.#socket = undefined;
    await this.#drops?.stop();
    if (socket !== undefined) await new Promise<void>((resolve) => socket.close(() => resolve()));
    await this.#sink.stop();
  }

  preserve(): void {
    this.#sink.preserve();
  }

  hasUnacknowledged(): boolean {
    return this.#sink.hasUnacknowledged;
  }

  state(): InputState {
    return this.#sink.state();
  }

  #enlargeBuffer(socket: Socket): void {
    const wanted = parseSize(this.#settings.read_buffer);
    socket.setRecvBufferSize(wanted);
    const got = socket.getRecvBufferSize();
    if (got < wanted) {
      this.#context.log.info(
        { wanted, got },
        "the system gives the UDP socket a smaller buffer; sysctl net.core.rmem_max allows more",
      );
    }
  }
}
