import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { type WebSocket, WebSocketServer } from "ws";
import { parseHubCommand } from "#hub/cli.ts";
import { CLOSE, type ClientMessage, type HubMessage, LIVE_PATH, LIVE_PROTOCOL } from "#proto/live.ts";
import { parseTailCommand, runTailCommand } from "./tail.ts";

type Answer = (send: (message: HubMessage) => void, message: ClientMessage, socket: WebSocket) => void;

/** A live socket with scripted answers; records the requests and their keys. */
async function listening(t: TestContext, answer: Answer) {
  const asked: ClientMessage[] = [];
  const keys: (string | undefined)[] = [];
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, path: LIVE_PATH });
  server.on("connection", (socket, request) => {
    assert.equal(socket.protocol, LIVE_PROTOCOL);
    keys.push(request.headers.authorization);
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as ClientMessage;
      asked.push(message);
      answer((reply) => socket.send(JSON.stringify(reply)), message, socket);
    });
  });
  t.after(() => server.close());
  await once(server, "listening");
  return { asked, keys, port: (server.address() as AddressInfo).port };
}

function rows(cursor: string, messages: readonly string[]): HubMessage {
  return {
    t: "tail.rows",
    sub: 1,
    seq: 1,
    cursor,
    srcs: [["logs-1", "web-1", "/a.log"]],
    rows: messages.map((message) => ["id", 0, 3, 0, message, null, 0]),
  };
}

/** Runs `tail ARGS` until so many lines and remarks were printed. */
async function tailed(port: number, args: readonly string[], outputs: number, key = "") {
  const printed: string[] = [];
  const stopped = new AbortController();
  const take = (text: string): void => {
    if (printed.push(text) === outputs) stopped.abort();
  };
  const command = parseTailCommand(["--last", "0", ...args, "-E", `dashboard.port=${port}`]);
  await runTailCommand(
    command,
    { TAILRACE_API_KEY: key },
    { line: take, remark: (text) => take(`(${text})`) },
    stopped.signal,
  );
  return printed;
}

test("lines are printed as sent, without control characters, and skipped lines are reported", async (t) => {
  const { asked, keys, port } = await listening(t, (send, message) => {
    if (message.t !== "tail.open") return;
    send(rows("c1", ["one", "\u001b[31mtwo"]));
    send({ t: "tail.gap", sub: 1, n: 7, fromTs: 0, toTs: 0, why: "slow_client" });
  });
  assert.deepEqual(await tailed(port, ["level:error"], 3, "tlr_x"), [
    "1970-01-01T00:00:00.000Z web-1 one",
    "1970-01-01T00:00:00.000Z web-1  [31mtwo",
    "(7 lines were left out (slow client))",
  ]);
  assert.deepEqual(keys, ["Bearer tlr_x"]);
  assert.deepEqual(asked[1], {
    t: "tail.open",
    sub: 1,
    index: ["logs-*"],
    q: "level:error",
    from: { last: 0 },
    credit: 5_000,
  });
});

test("a broken connection is reopened and continues after the last line", async (t) => {
  const { asked, port } = await listening(t, (send, message, socket) => {
    if (message.t !== "tail.open") return;
    send(rows(message.from === "c1" ? "c2" : "c1", [String(message.from === "c1")]));
    if (message.from !== "c1") socket.close(CLOSE.goingAway);
  });
  const printed = await tailed(port, ["--json"], 3);
  assert.match(printed[0]!, /"message":"false"/);
  assert.match(printed[1]!, /broke; reconnecting/);
  assert.match(printed[2]!, /"message":"true"/);
  assert.equal(asked.filter(({ t: type }) => type === "tail.open").length, 2);
});

test("credit is granted again when half of it is used", async (t) => {
  const { asked, port } = await listening(t, (send, message) => {
    if (message.t === "tail.open") send(rows("c1", Array<string>(3_000).fill("x")));
    else if (message.t === "tail.credit") send(rows("c2", ["last"]));
  });
  await tailed(port, [], 3_001);
  assert.deepEqual(asked.at(-1), { t: "tail.credit", sub: 1, add: 3_000 });
});

test("what the hub refuses ends the command with the reason", async (t) => {
  const { port } = await listening(t, (send, message) => {
    if (message.t === "tail.open") send({ t: "error", sub: 1, code: "filter", message: "no", hint: "write" });
  });
  await assert.rejects(tailed(port, ["a:("], 1), { code: "request_invalid", message: /refused: no; write/ });
  const ended = await listening(t, (_send, _message, socket) => socket.close(CLOSE.signedOut, "over"));
  await assert.rejects(tailed(ended.port, [], 1), { code: "unauthenticated", message: /TAILRACE_API_KEY/ });
  await assert.rejects(tailed(1, [], 1), { code: "unavailable", message: /no hub answers at 127.0.0.1:1;/ });
});

test("a tail whose output is closed while it connects ends without a complaint", async (t) => {
  const server = createServer();
  server.on("upgrade", () => stopped.abort());
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const stopped = new AbortController();
  const command = parseTailCommand(["--last", "0", "-E", `dashboard.port=${port}`]);
  const refuse = (text: string): void => assert.fail(text);
  await runTailCommand(command, {}, { line: refuse, remark: refuse }, stopped.signal);
});

test("the newest stored lines come first", async (t) => {
  const hits = ["late", "early"].map((message) => ({ _source: { "@timestamp": "2026-01-01", message } }));
  const search = createServer((request, response) => {
    void json(request).then((body) => response.end(JSON.stringify({ hits: { hits }, body })));
  });
  t.after(() => search.close());
  await once(search.listen(0, "127.0.0.1"), "listening");
  const { port } = await listening(t, (send, message) => {
    if (message.t === "tail.open") send(rows("c1", ["new"]));
  });
  const stored = ["--last", "2", "-E", `http.port=${(search.address() as AddressInfo).port}`];
  assert.deepEqual(await tailed(port, stored, 3), [
    "2026-01-01 early",
    "2026-01-01 late",
    "1970-01-01T00:00:00.000Z web-1 new",
  ]);
});

test("tail is refused with what to do", () => {
  assert.throws(() => parseHubCommand(["tail", "a", "b"]), { message: /quote the query/ });
  assert.throws(() => parseHubCommand(["tail", "--last", "-1"]), { code: "usage_invalid" });
});
