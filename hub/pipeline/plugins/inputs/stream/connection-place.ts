/** Counts open connections by sender, and refuses those beyond the share of an address. */

import type { Server, Socket } from "node:net";
import type { IntakeShares } from "#hub/pipeline/plugins/input.ts";
import type { Holding } from "#proto/kit/fair-shares.ts";

/** Owner of the connections of all trusted proxies, which bring many senders. */
export const PROXIES_OWNER = "trusted proxies";

/** The slot that one connection takes. */
class ConnectionPlace {
  readonly #shares: IntakeShares;
  #held: Holding | undefined;

  constructor(shares: IntakeShares) {
    this.#shares = shares;
  }

  /** Takes the slot for `address`, in exchange for the one held before. Throws overloaded. */
  take(address: string): void {
    this.leave();
    const held = this.#shares.connections.holding(address);
    try {
      held.take(1);
    } catch (error) {
      this.#shares.onRefused(address, error as Error);
      throw error;
    }
    this.#held = held;
  }

  leave(): void {
    this.#held?.release();
    this.#held = undefined;
  }
}

/** The open connections of a server. */
export class ConnectionPlaces {
  readonly #shares: IntakeShares;
  /** By the sender's address and port, as TLS hides the socket that was accepted. */
  readonly #places = new Map<string, ConnectionPlace>();

  constructor(shares: IntakeShares) {
    this.#shares = shares;
  }

  /** Closes the connections beyond the share of their address. To be called before the server listens. */
  limit(server: Server): void {
    server.prependListener("connection", (socket: Socket) => {
      const key = peerOf(socket);
      const place = new ConnectionPlace(this.#shares);
      try {
        const { remoteAddress = "" } = socket;
        place.take(this.#shares.proxies.has(remoteAddress) ? PROXIES_OWNER : remoteAddress);
      } catch {
        socket.destroy();
        return;
      }
      this.#places.set(key, place);
      socket.once("close", () => {
        place.leave();
        if (this.#places.get(key) === place) this.#places.delete(key);
      });
    });
  }

  /** Counts a connection as one of `address`, for which its peer has opened it. Throws overloaded. */
  move(socket: Socket, address: string): void {
    this.#places.get(peerOf(socket))?.take(address);
  }
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
