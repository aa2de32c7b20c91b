/** The calling end of a link: requests to one other hub over one connection to its `transport.port`. */

import { connect, type TLSSocket } from "node:tls";
import type { ClusterCertificate } from "#hub/cluster/discovery/cluster-credentials.ts";
import { isOfAnother } from "#hub/cluster/discovery/hello-call.ts";
import { LINK_PROTOCOL } from "#hub/cluster/discovery/transport-listener.ts";
import { AppError } from "#proto/kit/errors.ts";
import { MIB } from "#proto/kit/units.ts";
import type { HubRequestOptions } from "./hub-transport.ts";
import {
  type Frame,
  FrameKind,
  FrameReader,
  MAX_FRAME_BYTES,
  packRequest,
  writeFrame,
} from "./link-frames.ts";

/** Time for the connection, the handshake and the hello. */
const OPEN_MS = 3_000;
/** Interval of pings, and how many without any byte from the other hub end the link. */
const PING_MS = 1_000;
const SILENT_PINGS = 3;
/** A frame also contains the subject. */
const MAX_MESSAGE_BYTES = MAX_FRAME_BYTES - 1_024;
/** Maximum of requests without an answer, and of bytes that the connection hasn't taken: further requests go another way. */
const MAX_WAITING = 512;
const MAX_UNSENT_BYTES = 16 * MIB;

/**
 * Why a link ended. `away`: nobody answers there. `foreign`: it has another secret. `other`: another hub answers there, or one
 * that has no links. `silent`: it stopped answering. `lost`: the connection broke. `closed`: this hub ended it.
 */
export type LinkEnd = "away" | "foreign" | "other" | "silent" | "lost" | "closed";

/** The link ended while a request had no answer: the other hub may have received it. */
export class LinkLost extends AppError {
  constructor(reason: string) {
    super("unavailable", `the connection to the other hub ended: ${reason}`);
  }
}

export interface LinkOptions {
  /** Id of the other hub. */
  readonly hub: string;
  readonly host: string;
  readonly port: number;
  readonly certificate: ClusterCertificate;
  readonly onOpen: () => void;
  /** Called once. */
  readonly onEnd: (end: LinkEnd, reason: string) => void;
}

interface Waiting {
  readonly answer: (data: Uint8Array | undefined) => void;
  readonly fail: (error: AppError) => void;
}

export class Link {
  readonly #options: LinkOptions;
  readonly #socket: TLSSocket;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #isOpen = false;
  /** Times that something arrived, and pings since the last time. */
  #arrivals = 0;
  #silent = 0;
  #end: LinkEnd | undefined;
  readonly #opening: NodeJS.Timeout;
  #pinging: NodeJS.Timeout | undefined;

  /** Connects. */
  constructor(options: LinkOptions) {
    this.#options = options;
    const { host, port, certificate } = options;
    this.#socket = connect({
      host,
      port,
      ca: certificate.authority,
      cert: certificate.certificate,
      key: certificate.key,
      minVersion: "TLSv1.3",
      ALPNProtocols: [LINK_PROTOCOL],
      checkServerIdentity: () => undefined, // the hello names the hub
    });
    const reader = new FrameReader((frame) => this.#take(frame));
    this.#opening = setTimeout(() => this.#finish("away", `no answer in ${OPEN_MS} ms`), OPEN_MS).unref();
    this.#socket.setNoDelay(true);
    this.#socket.on("data", (chunk: Buffer) => this.#read(reader, chunk));
    this.#socket.on("error", (error) =>
      this.#finish(this.#isOpen ? "lost" : isOfAnother(error) ? "foreign" : "away", error.message),
    );
    this.#socket.on("close", () => this.#finish(this.#isOpen ? "lost" : "away", "it ended the connection"));
  }

  /** Returns whether a message of `bytes` can be sent now. */
  takes(bytes: number): boolean {
    return (
      this.#isOpen &&
      this.#waiting.size < MAX_WAITING &&
      bytes <= MAX_MESSAGE_BYTES &&
      this.#socket.writableLength + bytes <= MAX_UNSENT_BYTES
    );
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Resolves with the answer; undefined if the hub doesn't serve the subject. Throws timeout, cancelled, LinkLost. */
  request(
    subject: string,
    message: Uint8Array,
    { timeoutMs, signal }: HubRequestOptions,
  ): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(cancelled());
        return;
      }
      const id = this.#nextId();
      const before = this.#arrivals;
      const settle = (): void => {
        this.#waiting.delete(id);
        clearTimeout(timer);
        signal?.removeEventListener("abort", cancel);
      };
      const fail = (error: AppError): void => {
        settle();
        reject(error);
      };
      const cancel = (): void => fail(cancelled());
      const expire = (): void => {
        // This request fails first, as its time is over: it must not be sent again, unlike those that wait with it.
        fail(new AppError("timeout", `no answer to a request to ${subject} within ${timeoutMs} ms`));
        this.#checkSilence(before, timeoutMs);
      };
      const timer = setTimeout(expire, timeoutMs);
      signal?.addEventListener("abort", cancel, { once: true });
      this.#waiting.set(id, {
        answer: (data) => {
          settle();
          resolve(data);
        },
        fail,
      });
      writeFrame(this.#socket, FrameKind.REQUEST, id, packRequest(subject, message));
    });
  }

  /** Ends the link if nothing has arrived since `arrivals`, not even the answer to a ping sent a second ago. */
  #checkSilence(arrivals: number, timeoutMs: number): void {
    if (this.#arrivals === arrivals && this.#silent > 1)
      this.#finish("silent", `nothing came for ${timeoutMs} ms`);
  }

  close(): void {
    this.#finish("closed", "this hub closed it");
  }

  #read(reader: FrameReader, chunk: Buffer): void {
    this.#arrivals++;
    this.#silent = 0;
    try {
      reader.push(chunk);
    } catch (error) {
      this.#finish(this.#isOpen ? "lost" : "other", (error as Error).message);
    }
  }

  #take({ kind, id, data }: Frame): void {
    if (this.#end !== undefined) return; // the chunk that ended the link had more frames
    if (!this.#isOpen) this.#open(kind, data);
    else if (kind === FrameKind.ANSWER) this.#waiting.get(id)?.answer(data);
    else if (kind === FrameKind.UNSERVED) this.#waiting.get(id)?.answer(undefined);
  }

  #open(kind: number, data: Buffer): void {
    const hub = kind === FrameKind.HELLO ? data.toString() : "";
    if (hub !== this.#options.hub) {
      this.#finish("other", hub === "" ? "it has no links" : `the hub there is ${hub}`);
      return;
    }
    this.#isOpen = true;
    clearTimeout(this.#opening);
    this.#pinging = setInterval(() => this.#ping(), PING_MS).unref();
    this.#options.onOpen();
  }

  /** A pause of this process counts as one ping: what arrived meanwhile is read before the next one. */
  #ping(): void {
    if (++this.#silent > SILENT_PINGS) this.#finish("silent", `nothing came for ${SILENT_PINGS} s`);
    else writeFrame(this.#socket, FrameKind.PING);
  }

  #nextId(): number {
    this.#lastId = this.#lastId === 0xffff_ffff ? 1 : this.#lastId + 1;
    return this.#lastId;
  }

  #finish(end: LinkEnd, reason: string): void {
    if (this.#end !== undefined) return;
    this.#end = end;
    this.#isOpen = false;
    clearTimeout(this.#opening);
    clearInterval(this.#pinging);
    this.#socket.destroy();
    const lost = new LinkLost(reason);
    for (const { fail } of this.#waiting.values()) fail(lost);
    this.#options.onEnd(end, reason);
  }
}

function cancelled(): AppError {
  return new AppError("cancelled", "the request to another hub was cancelled");
}
