/**
 * A small application that writes logs as applications do: `access.log` in the combined format and `app.log` with a
 * line of JSON per event, in the folder LOG_DIR (default ./logs). SIGHUP reopens both, as logrotate needs.
 *
 *   PORT=3001 LOG_DIR=/logs node server.ts
 */

import { createWriteStream, mkdirSync, type WriteStream } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";

const PORT = Number(process.env["PORT"] ?? 3001);
const FOLDER = process.env["LOG_DIR"] ?? "logs";
/** A client that doesn't send a request within this time is disconnected. */
const REQUEST_TIMEOUT_MS = 5_000;
/** Longest part of a request that goes into a line. */
const TEXT_MAX = 2_048;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const PAGES: Readonly<Record<string, string>> = {
  "/": "Welcome. Try /orders, /slow and /broken.\n",
  "/orders": '[{"order":1,"state":"shipped"},{"order":2,"state":"open"}]\n',
  "/health": "ok\n",
};
const SLOW_MS = 250;

let access = open("access.log");
let application = open("app.log");

/** Bytes of the body of an answer that was written whole. */
const sizes = new WeakMap<ServerResponse, number>();

const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (request, response) => {
  const started = performance.now();
  response.on("close", () => note(request, response, performance.now() - started));
  answer(request, response);
});

function answer(request: IncomingMessage, response: ServerResponse): void {
  const path = (request.url ?? "/").split("?", 1)[0]!;
  const page = PAGES[path];
  if (page !== undefined) send(response, 200, page);
  else if (path === "/slow") setTimeout(() => send(response, 200, "late\n"), SLOW_MS);
  else if (path === "/broken") {
    log("error", "order could not be read", { path, error: "Error: connection refused\n    at readOrder" });
    send(response, 500, "something broke\n");
  } else send(response, 404, "there is no such page\n");
}

function send(response: ServerResponse, status: number, body: string): void {
  const sizeBytes = Buffer.byteLength(body);
  const isHead = response.req.method === "HEAD";
  if (!isHead) sizes.set(response, sizeBytes);
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8", "content-length": sizeBytes });
  response.end(isHead ? undefined : body);
}

/** One line of the combined log format (httpd.apache.org/docs/2.4/logs.html), one event of the application's own. */
function note(request: IncomingMessage, response: ServerResponse, tookMs: number): void {
  const { method, url, httpVersion, headers, socket } = request;
  // Headers given to writeHead alone are not kept for getHeader.
  const size = String(sizes.get(response) ?? "-");
  const status = response.statusCode;
  const line = [
    socket.remoteAddress?.replace(/^::ffff:/, "") ?? "-",
    `- - [${clfTime(new Date())}]`,
    `"${method} ${quoted(url)} HTTP/${httpVersion}" ${status} ${size}`,
    `"${quoted(headers.referer)}" "${quoted(headers["user-agent"])}"`,
  ];
  access.write(`${line.join(" ")}\n`);
  log(status < 500 ? "info" : "warn", "request answered", {
    path: quoted(url),
    status,
    took_ms: Math.round(tookMs),
  });
}

function log(level: string, message: string, fields: object): void {
  const event = { "@timestamp": new Date().toISOString(), level, message, ...fields };
  application.write(`${JSON.stringify(event)}\n`);
}

/** Quotes, backslashes and control characters of a client must not make fields or lines of their own. */
function quoted(text = "-"): string {
  return text
    .slice(0, TEXT_MAX)
    .replace(/["\\]/g, "\\$&")
    .replace(/[^\x20-\x7e]/g, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

/** 10/Oct/2000:13:55:36 +0000 */
function clfTime(time: Date): string {
  const day = String(time.getUTCDate()).padStart(2, "0");
  return `${day}/${MONTHS[time.getUTCMonth()]}/${time.getUTCFullYear()}:${time.toISOString().slice(11, 19)} +0000`;
}

function open(name: string): WriteStream {
  mkdirSync(FOLDER, { recursive: true });
  const stream = createWriteStream(join(FOLDER, name), { flags: "a" });
  stream.on("error", (error) => process.stderr.write(`sample-app: cannot write ${name}: ${error.message}\n`));
  return stream;
}

process.on("SIGHUP", () => {
  access.end();
  application.end();
  access = open("access.log");
  application = open("app.log");
});

function stop(): void {
  server.close(() => {
    access.end();
    application.end();
  });
  server.closeIdleConnections();
}

process.once("SIGTERM", stop);
process.once("SIGINT", stop);
server.listen(PORT, () => {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : PORT;
  process.stdout.write(`sample-app: listens on port ${port}, logs in ${FOLDER}\n`);
  log("info", "application started", { port });
});
