/** Counts the datagrams that the kernel drops because a socket's receive buffer is full, which no error reports. */

import type { Socket } from "node:dgram";
import { readFileSync } from "node:fs";
import { type AddressInfo, SocketAddress } from "node:net";
import { endianness } from "node:os";
import type { Clock } from "#proto/kit/clock.ts";

/** How often the kernel's count is read. */
const READ_EVERY_MS = 5_000;

/** Sockets of this process's network namespace, a line each (Linux, proc_net_udp(5)). */
const FILES = { IPv4: "/proc/self/net/udp", IPv6: "/proc/self/net/udp6" } as const;

/** Part of the help of metrics of drops. */
export const DROPS_HELP =
  process.platform === "linux"
    ? "including datagrams that the kernel dropped because the socket's buffer was full, read every 5 s"
    : "not including datagrams that the kernel drops, which this system doesn't count";

/** Watches a bound socket of its own address and port. */
export class DatagramDrops {
  readonly #address: AddressInfo;
  readonly #onDropped: (count: number) => void;
  readonly #stopping = new AbortController();
  readonly #reading: Promise<void>;
  #known = 0;

  /** `onDropped` gets the datagrams that were dropped since its last call. */
  constructor(socket: Socket, clock: Clock, onDropped: (count: number) => void) {
    this.#address = socket.address();
    this.#onDropped = onDropped;
    this.#reading = this.#read(clock);
  }

  /** To be called before the socket is closed. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#reading;
    this.#check();
  }

  async #read(clock: Clock): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted && this.#check()) await clock.sleep(READ_EVERY_MS, signal);
  }

  /** False if the system doesn't count them. */
  #check(): boolean {
    const dropped = kernelDrops(this.#address);
    if (dropped === undefined) return false;
    if (dropped > this.#known) this.#onDropped(dropped - this.#known);
    this.#known = dropped;
    return true;
  }
}

/** Returns how many datagrams the kernel dropped of those for a socket; undefined if the system doesn't count them. */
function kernelDrops({ address, port, family }: AddressInfo): number | undefined {
  let table: string;
  try {
    table = readFileSync(FILES[family === "IPv6" ? "IPv6" : "IPv4"], "latin1");
  } catch {
    return undefined;
  }
  const [withoutZone] = address.split("%");
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  for (const line of table.split("\n")) {
    if (!line.includes(suffix)) continue; // thousands of sockets take a few milliseconds
    const fields = line.trim().split(/\s+/);
    const [, local = ""] = fields;
    if (local.endsWith(suffix) && addressOf(local.slice(0, -suffix.length)) === withoutZone)
      return Number(fields.at(-1));
  }
  return undefined;
}

/** Returns the address that the kernel prints as words of the machine's byte order. */
function addressOf(hex: string): string {
  const bytes = Buffer.from(hex, "hex");
  if (endianness() === "LE") bytes.swap32();
  if (bytes.length === 4) return bytes.join(".");
  const groups = bytes.toString("hex").match(/.{4}/g)!.join(":");
  return new SocketAddress({ address: groups, family: "ipv6" }).address;
}
