/** Requests that are broken below HTTP's surface: heads, lengths, packings, and connections that end half-way. */

import { connect } from "node:net";
import type { Random } from "#test/support/engine/random.ts";

const HOST = "host: 127.0.0.1\r\n";
const JSON_HEAD = `${HOST}content-type: application/json\r\n`;

/** What a damaged request is made of; some are wrong as they stand. */
const REQUESTS: readonly string[] = [
  `GET / HTTP/1.1\r\n${HOST}\r\n`,
  `GET /_search HTTP/1.0\r\n\r\n`,
  `GET /lines/_search?q=${"a".repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`,
  `GET /${"a".repeat(20_000)} HTTP/1.1\r\n${HOST}\r\n`,
  `GET /lines/_search HTTP/1.1\r\n${HOST}x: ${"y".repeat(40_000)}\r\n\r\n`,
  `GET http://127.0.0.1/lines/_count HTTP/1.1\r\n${HOST}\r\n`,
  `GET /%ff%fe/_search HTTP/1.1\r\n${HOST}\r\n`,
  `PROPFIND /lines HTTP/1.1\r\n${HOST}\r\n`,
  `OPTIONS * HTTP/1.1\r\n${HOST}\r\n`,
  `POST /lines/_search HTTP/1.1\r\n${JSON_HEAD}content-length: 12\r\n\r\n{"size":"1"}`,
  `POST /lines/_search HTTP/1.1\r\n${JSON_HEAD}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`,
  `POST /lines/_search HTTP/1.1\r\n${JSON_HEAD}content-length: -1\r\n\r\n{}`,
  `POST /lines/_search HTTP/1.1\r\n${JSON_HEAD}content-length: 900\r\n\r\n{"query":`,
  `POST /lines/_search HTTP/1.1\r\n${JSON_HEAD}content-length: 999999999999\r\n\r\n{}`,
  `POST /lines/_search HTTP/1.1\r\n${JSON_HEAD}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
  `POST /lines/_search HTTP/1.1\r\n${JSON_HEAD}transfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n{}`,
  `POST /lines/_search HTTP/1.1\r\n${JSON_HEAD}transfer-encoding: chunked\r\ncontent-length: 2\r\n\r\n{}`,
  `POST /lines/_search HTTP/1.1\r\n${JSON_HEAD}transfer-encoding: gzip\r\n\r\n{}`,
  `POST /lines/_search HTTP/1.1\r\n${JSON_HEAD}content-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}`,
  `POST /lines/_search HTTP/1.1\r\n${JSON_HEAD}content-encoding: br\r\ncontent-length: 2\r\n\r\n{}`,
  `POST /lines/_search HTTP/1.1\r\n${JSON_HEAD}content-encoding: zip\r\ncontent-length: 2\r\n\r\n{}`,
  `POST /lines/_search HTTP/1.1\r\n${JSON_HEAD}expect: 100-continue\r\ncontent-length: 2\r\n\r\n{}`,
  `POST /lines/_search HTTP/1.1\r\n${JSON_HEAD}expect: nonsense\r\ncontent-length: 2\r\n\r\n{}`,
  `POST /_bulk HTTP/1.1\r\n${JSON_HEAD}content-length: 30\r\n\r\n{"index":{"_index":"lines"}}\n{`,
  `GET / HTTP/1.1\r\n${HOST}connection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\r\n`,
  `GET / HTTP/1.1\r\n${HOST}authorization: Basic ::\r\norigin: null\r\n\r\n`,
];
const PIECES = ["\u0000", "\r", "\n", "\r\n\r\n", " ", ":", "%", "\u00ff", "0", "-", "HTTP/3.0", "\t"];

/** Makes what a client sends on one connection, each character a byte. */
export function brokenConversation(random: Random): string {
  let text = random.pick(REQUESTS);
  while (random.oneIn(2)) text = damaged(text, random);
  return text;
}

function damaged(text: string, random: Random): string {
  // Heads are short: that is where most of what can go wrong is.
  const at = random.below(random.oneIn(3) ? text.length + 1 : Math.min(text.length + 1, 150));
  switch (random.below(4)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(0, at) + random.pick(PIECES) + text.slice(at + random.below(3));
    case 2:
      return text.slice(0, at) + text.slice(at + 1 + random.below(10));
    default:
      return text + random.pick(REQUESTS);
  }
}

/** Sends all of `text`, then nothing more; resolves with what came back until the other side closed. Rejects when it doesn't. */
export function converse(url: string, text: string, closedMs: number): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const { hostname, port } = new URL(url);
  let received = "";
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const timer = setTimeout(() => {
    reject(new Error(`the connection wasn't closed within ${closedMs} ms; until then came: ${received}`));
    socket.destroy();
  }, closedMs);
  socket.setEncoding("latin1").on("data", (chunk: string) => (received += chunk));
  // A connection may be reset: what came before is what was answered.
  socket.on("error", () => undefined);
  socket.on("end", () => socket.destroy());
  socket.on("close", () => {
    clearTimeout(timer);
    resolve(received);
  });
  socket.end(text, "latin1");
  return promise;
}

/** What is wrong with the answers of a conversation; undefined: nothing. */
export function faultOfConversation(received: string): string | undefined {
  if (received === "") return undefined;
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  if (!received.startsWith("HTTP/1.1 ")) return "no HTTP answer";
  const failed = statuses.find((status) => status >= 500);
  return failed === undefined ? undefined : `${failed} for what a client got wrong`;
}
