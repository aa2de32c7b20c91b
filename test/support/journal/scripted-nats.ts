/** A server that speaks as nats-server does, and answers requests as the test says. */

import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { TestContext } from "node:test";

const INFO = {
  server_id: "scripted",
  version: "2.11.0",
  proto: 1,
  headers: true,
  max_payload: 1_048_576,
  cluster: "test",
};
const LINE_END = "\r\n";

export interface AnswerOptions {
  /** Reply subject in the message. */
  readonly reply?: string;
  /** Status of the headers, such as `100 Idle Heartbeat`. */
  readonly status?: string;
  /** Fields of the headers. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A message that a client published with a reply subject. */
export interface ScriptedRequest {
  readonly subject: string;
  /** Without headers. */
  readonly data: string;
  /** Sends a message to the reply subject. */
  readonly answer: (data: string, options?: AnswerOptions) => void;
}

/** Starts a server; returns its address. It ends with the test. */
export async function startScriptedNats(
  t: TestContext,
  onRequest: (request: ScriptedRequest) => void,
): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.write(`INFO ${JSON.stringify(INFO)}${LINE_END}`);
    serve(socket, onRequest);
  });
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `nats://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function serve(socket: Socket, onRequest: (request: ScriptedRequest) => void): void {
  /** Subject and number of each subscription. */
  const subscriptions: (readonly [subject: string, sid: string])[] = [];
  const send = (subject: string, data: string, { reply = "", status, headers }: AnswerOptions = {}): void => {
    const found = subscriptions.find(([pattern]) => fits(pattern, subject));
    if (found === undefined) return;
    const head = status === undefined && headers === undefined ? "" : headOf(status, headers);
    const sizes = head === "" ? `${data.length}` : `${head.length} ${head.length + data.length}`;
    const parts = [head === "" ? "MSG" : "HMSG", subject, found[1], ...(reply === "" ? [] : [reply]), sizes];
    socket.write(`${parts.join(" ")}${LINE_END}${head}${data}${LINE_END}`);
  };
  let read = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    read += chunk;
    for (let end = read.indexOf(LINE_END); end >= 0; end = read.indexOf(LINE_END)) {
      const [command = "", ...fields] = read.slice(0, end).split(" ");
      const isPublished = command === "PUB" || command === "HPUB";
      const size = isPublished ? Number(fields.at(-1)) : 0;
      const bodyStart = end + LINE_END.length;
      const next = isPublished ? bodyStart + size + LINE_END.length : bodyStart;
      if (read.length < next) return;
      const body = read.slice(bodyStart, bodyStart + size);
      read = read.slice(next);
      if (command === "PING") socket.write(`PONG${LINE_END}`);
      if (command === "SUB") subscriptions.push([fields[0]!, fields.at(-1)!]);
      if (!isPublished) continue;
      const [subject = "", reply = ""] = fields;
      const data = command === "HPUB" ? body.slice(Number(fields.at(-2))) : body;
      const answer: ScriptedRequest["answer"] = (text, options) => send(reply, text, options);
      onRequest({ subject, data, answer });
    }
  });
}

function headOf(status = "", headers: Readonly<Record<string, string>> = {}): string {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}${LINE_END}`);
  return `NATS/1.0 ${status}${LINE_END}${fields.join("")}${LINE_END}`;
}

/** Only a wildcard at the end is known: clients subscribe to no others. */
function fits(pattern: string, subject: string): boolean {
  return pattern.endsWith("*") ? subject.startsWith(pattern.slice(0, -1)) : pattern === subject;
}
