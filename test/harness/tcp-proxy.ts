/** A TCP link that a test can cut, silence in one direction or both, delay or slow down. Bytes that were accepted are never lost. */

import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";

/** `up`: from the client to the server. */
export type Direction = "up" | "down";

/** One connection, and what it does with each direction. */
interface Link {
  readonly client: Socket;
  readonly server: Socket;
}

export class TcpProxy {
  readonly #target: number;
  readonly #listener: Server;
  readonly #links = new Set<Link>();
  #isCut = false;
  #silent: ReadonlySet<Direction> = new Set();
  #delayMs = 0;
  #bytesPerSecond = Number.POSITIVE_INFINITY;

  private constructor(target: number) {
    this.#target = target;
    this.#listener = createServer((client) => this.#accept(client));
  }

  /** Listens on a port of the system's choice and connects to the port `target` of this machine. */
  static async start(target: number): Promise<TcpProxy> {
    const proxy = new TcpProxy(target);
    proxy.#listener.listen(0, "127.0.0.1");
    await once(proxy.#listener, "listening");
    return proxy;
  }

  get port(): number {
    return (this.#listener.address() as AddressInfo).port;
  }

  /** Connections that are open. */
  get connections(): number {
    return this.#links.size;
  }

  /** Ends every connection, and each new one at once. */
  cut(): void {
    this.#isCut = true;
    for (const link of this.#links) end(link);
  }

  /** Holds the bytes of these directions back; connections stay open. */
  silence(...directions: readonly Direction[]): void {
    this.#silent = new Set(directions);
    for (const link of this.#links) this.#flow(link);
  }

  /** Delays every byte by so many ms. */
  delay(ms: number): void {
    this.#delayMs = ms;
  }

  /** Passes so many bytes a second in each direction of each connection; senders wait. */
  slow(bytesPerSecond: number): void {
    this.#bytesPerSecond = bytesPerSecond;
  }

  /** Lets everything pass again. */
  heal(): void {
    this.#isCut = false;
    this.#delayMs = 0;
    this.#bytesPerSecond = Number.POSITIVE_INFINITY;
    this.silence();
  }

  async stop(): Promise<void> {
    this.cut();
    this.#listener.close();
    await once(this.#listener, "close");
  }

  #accept(client: Socket): void {
    if (this.#isCut) {
      client.resetAndDestroy();
      return;
    }
    const link: Link = { client, server: connect(this.#target, "127.0.0.1") };
    this.#links.add(link);
    for (const socket of [link.client, link.server]) {
      socket.setNoDelay(true);
      socket.on("error", () => end(link));
      socket.on("close", () => {
        this.#links.delete(link);
        end(link);
      });
    }
    this.#pipe(link.client, link.server, "up");
    this.#pipe(link.server, link.client, "down");
    this.#flow(link);
  }

  #pipe(from: Socket, to: Socket, direction: Direction): void {
    /** Bytes that wait, in their order: a timer passes the oldest, so none overtakes another when the delay changes. */
    const waiting: Buffer[] = [];
    const pass = (): void => {
      const bytes = waiting.shift()!;
      if (!to.destroyed) to.write(bytes);
    };
    from.on("data", (bytes: Buffer) => {
      waiting.push(bytes);
      if (this.#delayMs === 0 && waiting.length === 1) pass();
      else setTimeout(pass, this.#delayMs);
      const takesMs = (bytes.length / this.#bytesPerSecond) * 1_000;
      if (takesMs === 0) return;
      from.pause();
      setTimeout(() => this.#silent.has(direction) || from.resume(), takesMs);
    });
  }

  #flow({ client, server }: Link): void {
    for (const [socket, direction] of [
      [client, "up"],
      [server, "down"],
    ] as const) {
      if (this.#silent.has(direction)) socket.pause();
      else socket.resume();
    }
  }
}

function end({ client, server }: Link): void {
  client.destroy();
  server.destroy();
}
