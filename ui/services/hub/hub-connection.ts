/**
 * The one connection of a tab to its hub, opened when it is first needed. Requests go over its socket, or over HTTP if
 * it isn't open or can't send them. Searches show partial results as they arrive; watched answers are pushed by the
 * hub and any number of listeners share them.
 */

import { type Call, type HubMessage, USE_HTTP_STATUS } from "#proto/live.ts";
import { HubSocket } from "./hub-socket.ts";
import type { Answer, CallInit, Fetcher } from "./json-call.ts";

interface Pending {
  readonly address: string;
  readonly init: CallInit;
  /** Methods that change nothing. */
  readonly isSafe: boolean;
  readonly resolve: (answer: Answer | Promise<Answer>) => void;
  readonly reject: (reason: unknown) => void;
  /** Unsubscribes from the call's signal. */
  readonly release: () => void;
}

interface Watch {
  readonly path: string;
  readonly everyMs: number;
  readonly onChange: () => void;
}

/**
 * Requests that the socket carries: all except the sign-in and the connecting of accounts, whose answers set cookies.
 */
const CALLABLE = /^\/(?:es|api(?!\/(?:auth|live|connections)(?:[/?]|$)))\//;
const SEARCH = /^\/es\/([^/?]+)\/_search(?:\?|$)/;
/** Maximum of calls in flight; the hub allows as many. */
const MAX_CALLS = 16;

export class SocketCalls {
  readonly #socket: HubSocket;
  readonly #http: Fetcher;
  readonly #pending = new Map<number, Pending>();
  readonly #watches = new Map<number, Watch>();
  /** Answers that the hub keeps fresh, by their path. */
  readonly #pushed = new Map<string, Answer>();
  #last = 0;
  #isOffered = false;

  /** `http` sends the requests that the socket doesn't carry. */
  constructor(socket: HubSocket, http: Fetcher) {
    this.#socket = socket;
    this.#http = http;
    socket.listen({
      onMessage: (message, body) => this.#receive(message, body ?? ""),
      onClose: () => this.#closed(),
    });
  }

  /** Sends a request; rejects as fetch does. */
  readonly fetch: Fetcher = (address, init) => {
    const { method = "GET", signal } = init;
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    // A change may affect watched answers.
    if (method !== "GET" && !SEARCH.test(address)) this.forgetPushed();
    const pushed = method === "GET" ? this.#pushed.get(address) : undefined;
    if (pushed !== undefined) return Promise.resolve(pushed);
    return this.#isFit(address, init) ? this.#call(address, init) : this.#http(address, init);
  };

  /**
   * Has the answer to a GET pushed from now on, and calls `onChange` with each push; returns a function that
   * unsubscribes.
   */
  watch(path: string, everyMs: number, onChange: () => void): () => void {
    const sub = ++this.#last;
    const watch: Watch = { path, everyMs, onChange };
    this.#watches.set(sub, watch);
    this.#open(sub, watch);
    return () => {
      this.#watches.delete(sub);
      this.#pushed.delete(path);
      this.#socket.send({ t: "watch.close", sub });
    };
  }

  /** Makes the next requests go to the hub again, also for pushed answers. */
  forgetPushed(): void {
    this.#pushed.clear();
  }

  #isFit(address: string, { method, body }: CallInit): boolean {
    if (!this.#isOffered || !this.#socket.isOpen || this.#pending.size >= MAX_CALLS) return false;
    if (!CALLABLE.test(address) || (body !== undefined && typeof body !== "string")) return false;
    return method === undefined || ["GET", "POST", "PUT", "DELETE"].includes(method);
  }

  #call(address: string, init: CallInit): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const id = ++this.#last;
    const method = (init.method ?? "GET") as Call["method"];
    const body = init.body as string | undefined;
    const search = init.onPart === undefined ? null : SEARCH.exec(address);
    const isSent = this.#socket.send(
      search === null
        ? { t: "call", id, method, path: address, ...(body !== undefined && { body }) }
        : { t: "search", id, index: decodeURIComponent(search[1]!), body: body ?? "{}" },
    );
    // Too large for the socket.
    if (!isSent) return this.#http(address, init);
    const isSafe = method === "GET" || SEARCH.test(address);
    const onAbort = (): void => {
      this.#pending.delete(id);
      this.#socket.send({ t: "call.cancel", id });
      reject(init.signal?.reason);
    };
    // A page's signal outlives its calls.
    const release = (): void => init.signal?.removeEventListener("abort", onAbort);
    this.#pending.set(id, { address, init, isSafe, resolve, reject, release });
    init.signal?.addEventListener("abort", onAbort, { once: true });
    return promise;
  }

  #open(sub: number, { path, everyMs }: Watch): void {
    if (this.#isOffered) this.#socket.send({ t: "watch.open", sub, path, everyMs });
  }

  #receive(message: HubMessage, body: string): void {
    switch (message.t) {
      case "welcome":
        this.#isOffered = message.calls;
        for (const [sub, watch] of this.#watches) this.#open(sub, watch);
        break;
      case "answer":
        this.#answer(message.id, message.status, body);
        break;
      case "part":
        this.#pending.get(message.id)?.init.onPart?.(body, message.done, message.of);
        break;
      case "watched":
        this.#push(message.sub, message.status, body);
        break;
      default:
    }
  }

  #answer(id: number, status: number, body: string): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    this.#pending.delete(id);
    const { resolve, release, address, init } = pending;
    release();
    resolve(status === USE_HTTP_STATUS ? this.#http(address, init) : answerOf(status, body));
  }

  #push(sub: number, status: number, body: string): void {
    const watch = this.#watches.get(sub);
    if (watch === undefined || status === USE_HTTP_STATUS) return;
    this.#pushed.set(watch.path, answerOf(status, body));
    watch.onChange();
  }

  /** A read is repeated over HTTP; a change isn't, as it may have been made. */
  #closed(): void {
    this.#isOffered = false;
    this.#pushed.clear();
    const broken = [...this.#pending.values()];
    this.#pending.clear();
    for (const { address, init, isSafe, resolve, reject, release } of broken) {
      release();
      if (isSafe) resolve(this.#http(address, init));
      else reject(new TypeError("the connection broke before the answer came"));
    }
  }
}

export interface HubConnection {
  readonly socket: HubSocket;
  readonly calls: SocketCalls;
}

let connection: HubConnection | undefined;

/** Returns the tab's connection. */
export function hubConnection(): HubConnection {
  if (connection === undefined) {
    const socket = new HubSocket();
    connection = { socket, calls: new SocketCalls(socket, (address, init) => fetch(address, init)) };
  }
  return connection;
}

/** Sends a request over the tab's connection. */
export const hubFetch: Fetcher = (address, init) => hubConnection().calls.fetch(address, init);

function answerOf(status: number, body: string): Answer {
  return { ok: status >= 200 && status < 300, status, text: () => Promise.resolve(body) };
}
