import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { type Clock, systemClock } from "#proto/kit/clock.ts";
import { silentLogger } from "#proto/kit/log.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { BulkClient } from "./bulk-client.ts";
import { SearchOutput } from "./search.ts";

interface Bulk {
  readonly action: { index: { _index: string; _type: string; _id: string } };
  readonly source: Record<string, unknown>;
}

type Answer = (documents: Bulk[]) => { status: number; body: object };

const accepted: Answer = (documents) => ({
  status: 200,
  body: { errors: false, items: documents.map(() => ({ index: { status: 201 } })) },
});

function readBulk(body: string): Bulk[] {
  const lines = body.trimEnd().split("\n");
  return Array.from({ length: lines.length / 2 }, (_, index) => ({
    action: JSON.parse(lines[2 * index]!) as Bulk["action"],
    source: JSON.parse(lines[2 * index + 1]!) as Bulk["source"],
  }));
}

/** A search engine that answers each request with the next of `answers`, the last one again and again. */
async function engine(
  answers: Answer[],
): Promise<{ server: Server; host: string; requests: Bulk[][]; headers: string[] }> {
  const requests: Bulk[][] = [];
  const headers: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const documents = readBulk(Buffer.concat(chunks).toString());
      const answer = answers[Math.min(requests.length, answers.length - 1)]!(documents);
      requests.push(documents);
      headers.push(request.headers.authorization ?? "");
      response
        .writeHead(answer.status, { "content-type": "application/json" })
        .end(JSON.stringify(answer.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { server, host: `127.0.0.1:${(server.address() as AddressInfo).port}`, requests, headers };
}

function outputTo(host: string, clock: Clock = systemClock): SearchOutput {
  return new SearchOutput({
    names: { agentId: "id", agentName: "web-1", agentVersion: "1", hostName: "host" },
    settings: { hosts: [host], index: "logs-%{+yyyy.MM.dd}", username: "u", password: "p" },
    batchBytes: 1_024,
    inFlight: 2,
    timeoutMs: 5_000,
    clock,
    log: silentLogger(),
    metrics: new Metrics(),
  });
}

/** Sends `text` as a block of a file and resolves when it is settled. */
async function ship(host: string, text: string, output = outputTo(host)): Promise<void> {
  const fieldsJson = Buffer.from(JSON.stringify({ fields: { team: "a" }, tags: ["t"] }));
  const channel = output.channel(
    { inputId: "i", inputType: "log", fileKey: "1-2-3", generation: 0, path: "/l/a.log" },
    fieldsJson,
  );
  const slot = (await output.slots.acquire(new AbortController().signal))!;
  const end = slot.buffer.write(text);
  const settled = Promise.withResolvers<void>();
  channel.send({
    slot,
    body: { buffer: slot.buffer, start: 0, end, events: false },
    block: {
      from: 100,
      to: 100 + end,
      readTimeMs: Date.UTC(2026, 10, 21),
      lastLineOpen: false,
      firstLineContinued: false,
      compression: 0,
      dataBytes: end,
    },
    settle: settled.resolve,
  });
  await settled.promise;
  await output.stop();
}

test("each line becomes a document of the day's index, with its place in the file", async () => {
  const { server, host, requests, headers } = await engine([accepted]);
  await ship(host, "one\r\n\ntwo\n");
  server.close();
  const [[one, two]] = requests as [[Bulk, Bulk]];
  assert.equal(requests[0]!.length, 2);
  assert.equal(one.action.index._index, "logs-2026.11.21");
  assert.match(one.action.index._id, /^[\w-]{20}$/);
  assert.notEqual(one.action.index._id, two.action.index._id);
  assert.deepEqual(one.source, {
    "@timestamp": "2026-11-21T00:00:00.000Z",
    message: "one",
    host: { name: "host" },
    shipper: { id: "id", name: "web-1", version: "1" },
    input: { type: "log" },
    fields: { team: "a" },
    tags: ["t"],
    log: { file: { path: "/l/a.log" }, offset: 100 },
  });
  assert.deepEqual([two.source["message"], (two.source["log"] as { offset: number }).offset], ["two", 106]);
  assert.equal(headers[0], `Basic ${Buffer.from("u:p").toString("base64")}`);
});

test("what fails for now is sent again under the same ids, and only that", async () => {
  const { server, host, requests } = await engine([
    () => ({ status: 503, body: {} }),
    () => ({
      status: 200,
      body: {
        errors: true,
        items: [{ index: { status: 201 } }, { index: { status: 429, error: { reason: "busy" } } }],
      },
    }),
    accepted,
  ]);
  await ship(host, "one\ntwo\n");
  server.close();
  assert.deepEqual(
    requests.map((documents) => documents.map(({ source }) => source["message"])),
    [["one", "two"], ["one", "two"], ["two"]],
  );
  assert.equal(requests[0]![1]!.action.index._id, requests[2]![0]!.action.index._id);
});

test("an engine that takes no document for a while makes the output unhealthy until it does", async () => {
  let monotonicMs = 0;
  const states: string[] = [];
  const note = (): void => {
    states.push(output.state().reason);
    monotonicMs += 6_000;
  };
  const busy: Answer = (documents) => {
    note();
    const item = { index: { status: 429, error: { reason: "queue is full" } } };
    return { status: 200, body: { errors: true, items: documents.map(() => item) } };
  };
  const free: Answer = (documents) => {
    note();
    return accepted(documents);
  };
  const { server, host } = await engine([busy, busy, free]);
  const output = outputTo(host, { ...systemClock, monotonic: () => monotonicMs });
  await ship(host, "one\n", output);
  server.close();
  assert.deepEqual(states, [
    "",
    "",
    "the search engine doesn't store documents at present: 429 queue is full",
  ]);
  assert.equal(output.state().healthy, true);
});

test("a document that will never be taken doesn't hold up the others", async () => {
  const refused = { index: { status: 400, error: { reason: "mapper_parsing_exception" } } };
  const { server, host, requests } = await engine([
    () => ({ status: 200, body: { errors: true, items: [refused, { index: { status: 201 } }] } }),
  ]);
  await ship(host, "one\ntwo\n");
  server.close();
  assert.equal(requests.length, 1);
});

test("an answer that is no JSON counts as a failure, and the request is repeated", async () => {
  let first = true;
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.end(first ? "<html>" : '{"errors":false}'));
    request.on("end", () => (first = false));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  await ship(`127.0.0.1:${(server.address() as AddressInfo).port}`, "one\n");
  server.close();
});

test("a body that is too large for the engine is sent in halves; one document that is, is left out", async () => {
  const { server, host, requests } = await engine([
    (documents) =>
      documents.length > 1 || documents[0]!.source["message"] === "two"
        ? { status: 413, body: {} }
        : accepted(documents),
  ]);
  await ship(host, "one\ntwo\nthree\n");
  server.close();
  assert.deepEqual(
    requests.map((documents) => documents.map(({ source }) => source["message"])),
    [["one", "two", "three"], ["one"], ["two", "three"], ["two"], ["three"]],
  );
});

test("an engine that refuses filter_path is asked for whole answers", async () => {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? "");
    const isRefused = request.url !== "/_bulk";
    request
      .resume()
      .on("end", () => response.writeHead(isRefused ? 400 : 200).end('{"took":1,"errors":false}'));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  await ship(`127.0.0.1:${(server.address() as AddressInfo).port}`, "one\n");
  server.close();
  assert.deepEqual(paths, ["/_bulk?filter_path=errors,items.*.status,items.*.error.reason", "/_bulk"]);
});

test("a file with authorities that can't be read is named with its setting", () => {
  const settings = { hosts: ["https://h:9200"], index: "i", tlsCa: "/nonexistent/ca.pem" };
  const { signal } = new AbortController();
  const onFault = (): void => assert.fail("it is read once");
  assert.throws(() => new BulkClient({ settings, connections: 1, timeoutMs: 1_000, signal, onFault }), {
    code: "settings_invalid",
    message: /^output\.search\.tls\.ca: ENOENT.*ca\.pem/,
  });
});
