import assert from "node:assert/strict";
import { test } from "node:test";
import type { Fetcher } from "#ui/services/hub/json-call.ts";
import { LogDocument } from "#ui/services/search/log-document.ts";
import { SearchClient } from "#ui/services/search/search-client.ts";
import { SurroundingLines } from "./surrounding-lines.ts";

type Body = {
  readonly size: number;
  readonly sort: Record<string, { order: string }>[];
  readonly search_after: number[];
};

const FILE = 40;

/** A hub that holds one file of lines, some of which share a millisecond. */
function fileHub(): { client: SearchClient; asked: Body[] } {
  const asked: Body[] = [];
  const hits = Array.from({ length: FILE }, (_, number) => hit(number));
  const fetcher: Fetcher = (_, init) => {
    const body = JSON.parse(init.body as string) as Body;
    asked.push(body);
    const sign = body.sort[0]!["@timestamp"]!.order === "asc" ? 1 : -1;
    const isBehind = ([ms, offset]: readonly number[]): boolean => {
      const [fromMs, fromOffset] = body.search_after;
      return sign * (ms! - fromMs! || offset! - fromOffset!) > 0;
    };
    const ordered = sign > 0 ? hits : hits.toReversed();
    const found = ordered.filter(({ sort }) => isBehind(sort)).slice(0, body.size);
    return Promise.resolve(Response.json({ took: 1, timed_out: false, hits: { total: FILE, hits: found } }));
  };
  return { client: new SearchClient(fetcher), asked };
}

function hit(number: number) {
  const atMs = 1_000 + Math.floor(number / 3);
  const log = { offset: number * 100, file: { path: "/var/log/a.log" } };
  const source = {
    "@timestamp": new Date(atMs).toISOString(),
    message: `line ${number}`,
    host: { name: "h" },
    log,
  };
  return { _index: "logs", _id: `id${number}`, _source: source, sort: [atMs, log.offset] };
}

const messages = (lines: readonly LogDocument[]): string[] => lines.map(({ message }) => message);
const signal = new AbortController().signal;

test("the lines around a line come in the order they were written, also those of its own millisecond", async () => {
  const { client } = fileHub();
  const around = new SurroundingLines(new LogDocument(hit(20)), client, "logs-*");
  await Promise.all([around.load("before", signal), around.load("after", signal)]);
  assert.deepEqual(
    messages(around.before),
    Array.from({ length: 10 }, (_, at) => `line ${10 + at}`),
  );
  assert.deepEqual(
    messages(around.after),
    Array.from({ length: 10 }, (_, at) => `line ${21 + at}`),
  );
  await around.load("before", signal);
  assert.equal(around.before.length, 20);
  await around.load("after", signal);
  assert.equal(messages(around.after).at(-1), "line 39");
  assert.equal(around.hasMoreAfter, false);
  assert.equal(around.before.at(-1)!.timestampMs, 1_006);
});

test("only lines of the same host and file are asked for, at whatever time", async () => {
  const { client, asked } = fileHub();
  await new SurroundingLines(new LogDocument(hit(5)), client, "logs-*").load("after", signal);
  const { query } = asked[0] as unknown as { query: { bool: { filter: unknown[] } } };
  assert.deepEqual(query.bool.filter, [
    { match_phrase: { "host.name": "h" } },
    { match_phrase: { "log.file.path": "/var/log/a.log" } },
  ]);
});
