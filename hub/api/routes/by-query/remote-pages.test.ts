import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import type { AppError } from "#proto/kit/errors.ts";
import { openRemotePages } from "./remote-pages.ts";

type Answer = (response: ServerResponse) => void;

const page =
  (...ids: string[]): Answer =>
  (response) => {
    const hits = ids.map((_id) => ({ _index: "a", _type: "d", _id, _source: {} }));
    response.end(JSON.stringify({ _scroll_id: "s", hits: { total: 2, hits } }));
  };
const busy: Answer = (response) => response.writeHead(429).end("{}");
const lost: Answer = (response) => response.destroy();

/** Starts a server that gives one answer after the other; requests beyond them get {}. */
async function serverOf(answers: Answer[]): Promise<Server> {
  const server = createServer((request, response) => {
    request.resume();
    const answer = request.method === "DELETE" ? undefined : answers.shift();
    if (answer === undefined) response.end("{}");
    else answer(response);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

async function read(answers: Answer[]): Promise<{ ids: string[]; retries: number }> {
  const server = await serverOf(answers);
  const { signal } = new AbortController();
  try {
    const origin = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const source = { origin, headers: {}, timeoutMs: 10_000, index: ["a"], body: {}, pageSize: 1 };
    const pages = await openRemotePages({ ...source, pausesMs: [0, 0] }, signal);
    const ids: string[] = [];
    for (let docs = await pages.next(signal); docs.length > 0; docs = await pages.next(signal))
      ids.push(...docs.map(({ id }) => id));
    await pages.close();
    return { ids, retries: pages.retries!() };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test("a remote page is asked for again where the other side was busy, and that is counted", async () => {
  const answers = [lost, busy, page("1"), busy, page("2"), page()];
  assert.deepEqual(await read(answers), { ids: ["1", "2"], retries: 3 });
});

test("a page whose answer was lost isn't asked for again: the other side may be past it", async () => {
  await assert.rejects(read([page("1"), lost, page()]), { code: "unavailable" });
});

test("a host that can't be connected to isn't asked again", async () => {
  const server = await serverOf([]);
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  const source = { headers: {}, timeoutMs: 10_000, index: ["a"], body: {}, pageSize: 1, pausesMs: [60_000] };
  for (const host of [`127.0.0.1:${port}`, "127.0.0.1:0"])
    await assert.rejects(
      openRemotePages({ ...source, origin: new URL(`http://${host}`) }, new AbortController().signal),
      (error: AppError) => error.code === "unavailable" && error.data["type"] === "connect_exception",
    );
});
