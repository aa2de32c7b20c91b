/**
 * Requests over one connection without waiting for the answers before: a client that costs less than the server it asks.
 * Knows only what the hub sends: answers with a content-length.
 */

import { connect, type Socket } from "node:net";

export interface PlainRequest {
  readonly method: string;
  /** With its parameters, as it is sent. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface PlainAnswer {
  readonly status: number;
  readonly text: string;
}

interface Waiting {
  readonly request: PlainRequest;
  readonly done: (answer: PlainAnswer) => void;
  readonly fail: (error: Error) => void;
  readonly sentMs: number;
}

const HEAD_END = Buffer.from("\r\n\r\n");
/** How often it is looked whether an answer is late. */
const LOOK_MS = 1_000;

/** One connection, made again where the server ends it; what had no answer then is asked again. */
export class PipelinedHttp {
  readonly #host: string;
  readonly #port: number;
  readonly #answerMs: number;
  readonly #timer: NodeJS.Timeout;
  #socket: Socket;
  #waiting: Waiting[] = [];
  #received: Buffer = Buffer.alloc(0);
  /** Requests that go out with the next write. */
  #unsent = "";
  #closed = false;

  /** `answerMs`: no answer may take longer. */
  constructor(url: string, answerMs: number) {
    const { hostname, port } = new URL(url);
    this.#host = hostname;
    this.#port = Number(port);
    this.#answerMs = answerMs;
    this.#socket = this.#connect();
    this.#timer = setInterval(() => this.#checkLate(), LOOK_MS).unref();
  }

  /** Rejects where the answer is late or isn't HTTP. */
  send(request: PlainRequest): Promise<PlainAnswer> {
    return new Promise((done, fail) => {
      const waiting = { request, done, fail, sentMs: performance.now() };
      this.#waiting.push(waiting);
      this.#write(request);
    });
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
    this.#socket.destroy();
    this.#failAll(new Error("the client was closed"));
  }

  #connect(): Socket {
    const socket = connect(this.#port, this.#host);
    socket.setNoDelay(true);
    socket.on("data", (chunk) => this.#take(chunk));
    // What ends a connection is told by "close".
    socket.on("error", () => undefined);
    socket.on("close", () => this.#reconnect(socket));
    return socket;
  }

  #reconnect(socket: Socket): void {
    if (this.#closed || socket !== this.#socket) return;
    this.#received = Buffer.alloc(0);
    this.#unsent = "";
    this.#socket = this.#connect();
    for (const { request } of this.#waiting) this.#write(request);
  }

  #write({ method, path, headers, body }: PlainRequest): void {
    let head = `${method} ${path} HTTP/1.1\r\nhost: ${this.#host}:${this.#port}\r\n`;
    for (const [name, value] of Object.entries(headers)) head += `${name}: ${value}\r\n`;
    // What is asked in one turn goes out at once.
    if (this.#unsent === "") queueMicrotask(() => this.#flush());
    this.#unsent += `${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
  }

  #flush(): void {
    this.#socket.write(this.#unsent);
    this.#unsent = "";
  }

  #take(chunk: Buffer): void {
    this.#received = this.#received.length === 0 ? chunk : Buffer.concat([this.#received, chunk]);
    for (let answer = this.#next(); answer !== undefined; answer = this.#next())
      this.#waiting.shift()?.done(answer);
  }

  /** The following whole answer, or undefined. */
  #next(): PlainAnswer | undefined {
    const end = this.#received.indexOf(HEAD_END);
    const [asked] = this.#waiting;
    if (end < 0 || asked === undefined) return undefined;
    const head = this.#received.toString("latin1", 0, end);
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1]);
    if (Number.isNaN(status)) {
      this.#failAll(new Error(`no HTTP answer: ${head.slice(0, 200)}`));
      return undefined;
    }
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
    const start = end + HEAD_END.length;
    const stop = start + (asked.request.method === "HEAD" ? 0 : length);
    if (this.#received.length < stop) return undefined;
    const text = this.#received.toString("utf8", start, stop);
    this.#received = this.#received.subarray(stop);
    return { status, text };
  }

  #checkLate(): void {
    const [first] = this.#waiting;
    if (first === undefined || performance.now() - first.sentMs < this.#answerMs) return;
    const { method, path, body } = first.request;
    this.#failAll(
      new Error(`${method} ${path}: no answer within ${this.#answerMs} ms to ${body.slice(0, 1500)}`),
    );
    this.#socket.destroy();
  }

  #failAll(error: Error): void {
    const failed = this.#waiting;
    this.#waiting = [];
    for (const { fail } of failed) fail(error);
  }
}
