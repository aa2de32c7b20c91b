/**
 * Limits the connections without a sign-in, for each address and in total; the others are reserved for signed-in
 * clients. At a limit the oldest such connection is closed in favour of the new one: a client that signs in immediately
 * gets through, and one that only holds connections open loses them.
 */

import type { Socket } from "node:net";

/** Connections without a sign-in. */
export interface AnonymousLimits {
  readonly anonymousPerAddress: number;
  readonly anonymousConnections: number;
}

export class ConnectionLimits {
  readonly #limits: AnonymousLimits;
  readonly #onEvicted: () => void;
  /** Connections without a sign-in, the oldest first, by their remote address and port. */
  readonly #anonymous = new Map<string, Socket>();
  readonly #byAddress = new Map<string, Map<string, Socket>>();
  readonly #signedIn = new WeakSet<object>();
  #open = 0;

  constructor(limits: AnonymousLimits, onEvicted: () => void) {
    this.#limits = limits;
    this.#onEvicted = onEvicted;
  }

  /** Number of open connections, including those before their TLS handshake. */
  get open(): number {
    return this.#open;
  }

  get anonymous(): number {
    return this.#anonymous.size;
  }

  /** Counts a TCP connection that was accepted, until it is closed. */
  add(socket: Socket): void {
    const { remoteAddress: address = "", remotePort } = socket;
    const key = `${address} ${remotePort}`;
    const ofAddress = this.#byAddress.get(address) ?? new Map<string, Socket>();
    if (ofAddress.size >= this.#limits.anonymousPerAddress) this.#evict(ofAddress);
    else if (this.#anonymous.size >= this.#limits.anonymousConnections) this.#evict(this.#anonymous);
    this.#byAddress.set(address, ofAddress.set(key, socket));
    this.#anonymous.set(key, socket);
    this.#open++;
    socket.once("close", () => {
      this.#open--;
      if (this.#anonymous.get(key) === socket) this.#forget(address, key);
    });
  }

  /** Exempts a connection from the limits. `socket`: that of a request, TCP or TLS. */
  signedIn(socket: Socket): void {
    if (this.#signedIn.has(socket)) return;
    this.#signedIn.add(socket);
    const { remoteAddress: address = "", remotePort } = socket;
    this.#forget(address, `${address} ${remotePort}`);
  }

  #evict(connections: ReadonlyMap<string, Socket>): void {
    const [oldest] = connections;
    if (oldest === undefined) return;
    const [key, socket] = oldest;
    this.#forget(socket.remoteAddress ?? key.slice(0, key.lastIndexOf(" ")), key);
    socket.destroy();
    this.#onEvicted();
  }

  #forget(address: string, key: string): void {
    this.#anonymous.delete(key);
    const ofAddress = this.#byAddress.get(address);
    ofAddress?.delete(key);
    if (ofAddress?.size === 0) this.#byAddress.delete(address);
  }
}
