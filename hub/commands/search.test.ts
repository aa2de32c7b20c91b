import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { parseHubCommand } from "#hub/cli.ts";
import { parseSearchCommand, runSearchCommand } from "./search.ts";

const NOW_MS = Date.UTC(2026, 0, 2);

/** A search interface that gives one answer; resolves with its port and what it is asked. */
async function answering(t: TestContext, status: number, answer: unknown) {
  const asked: { body: unknown; authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      asked.push({ body, authorization: request.headers.authorization });
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(answer));
    });
  });
  t.after(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { asked, port: (server.address() as AddressInfo).port };
}

test("lines come oldest first, and control characters of a log don't reach the terminal", async (t) => {
  const hits = ["\u001b[31mlate", "early"].map((message) => ({
    _source: { "@timestamp": "2026-01-01T00:00:00Z", host: { name: "web-1" }, message },
  }));
  const { asked, port } = await answering(t, 200, { hits: { hits } });
  const command = parseSearchCommand(["level:error", "--since", "1h", "-E", `http.port=${port}`]);
  assert.deepEqual(await runSearchCommand(command, { TAILRACE_API_KEY: "tlr_x" }, NOW_MS), {
    output: "2026-01-01T00:00:00Z web-1 early\n2026-01-01T00:00:00Z web-1  [31mlate\n",
    remark: "",
  });
  assert.equal(asked[0]?.authorization, "Bearer tlr_x");
  const range = { range: { "@timestamp": { gte: "2026-01-01T23:00:00.000Z" } } };
  assert.deepEqual(asked[0]?.body, {
    size: 500,
    // By offset where times are the same, so that the lines of a stack trace keep their order.
    sort: [
      { "@timestamp": { order: "desc", unmapped_type: "date" } },
      { "log.offset": { order: "desc", unmapped_type: "long" } },
    ],
    query: {
      bool: {
        filter: [
          {
            query_string: {
              query: "level:error",
              type: "cross_fields",
              default_operator: "AND",
              lenient: false,
            },
          },
          range,
        ],
      },
    },
  });
});

test("a span may be written out, and JSON holds nothing raw that steers a terminal", async (t) => {
  const { asked, port } = await answering(t, 200, {
    hits: { hits: [{ _source: { message: "a\u009b2J" } }] },
  });
  const span = ["--since", "2025-12-31T10:00:00Z", "--until", "12h", "--json"];
  const command = parseSearchCommand(["*", ...span, "-E", `http.port=${port}`]);
  const { output } = await runSearchCommand(command, {}, NOW_MS);
  assert.equal(output, '{"message":"a\\u009b2J"}\n');
  const { query } = asked[0]!.body as { query: { bool: { filter: object[] } } };
  const range = { gte: "2025-12-31T10:00:00.000Z", lt: "2026-01-01T12:00:00.000Z" };
  assert.deepEqual(query.bool.filter[1], { range: { "@timestamp": range } });
});

test("a search without hits names the time range that has lines", async (t) => {
  const port = await emptyBut(t, [{ _source: { "@timestamp": "2015-05-20T21:05:59.000Z" } }]);
  const command = parseSearchCommand(["error", "-E", `http.port=${port}`]);
  assert.deepEqual(await runSearchCommand(command, {}, NOW_MS), {
    output: "",
    remark:
      "no line of logs-* matches since 15m; the newest that does is of 2015-05-20T21:05:59.000Z: try --since 2015-05-19",
  });
  const { port: none } = await answering(t, 200, { hits: { hits: [] }, _shards: { total: 0 } });
  const misnamed = parseSearchCommand(["error", "--index", "logz-*", "-E", `http.port=${none}`]);
  assert.equal((await runSearchCommand(misnamed, {}, NOW_MS)).remark, "no index matches logz-*");
  const other = parseSearchCommand(["error", "-E", `http.port=${await emptyBut(t, [])}`]);
  assert.match((await runSearchCommand(other, {}, NOW_MS)).remark, /matches at any time/);
});

/** A search interface that finds nothing in a span of time, and `hits` without one; resolves with its port. */
async function emptyBut(t: TestContext, hits: readonly object[]): Promise<number> {
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      const found = JSON.stringify(body).includes('"range"') ? [] : hits;
      response.writeHead(200).end(JSON.stringify({ hits: { hits: found } }));
    });
  });
  t.after(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

test("a hub that requires sign-in is reported with the variable for the key", async (t) => {
  const { port } = await answering(t, 401, { error: { reason: "sign in" } });
  const command = parseSearchCommand(["-E", `http.port=${port}`]);
  await assert.rejects(runSearchCommand(command, {}, NOW_MS), {
    code: "unauthenticated",
    message: /sign in.*TAILRACE_API_KEY/,
  });
});

for (const [args, message] of [
  [["a", "b"], /unexpected argument "b"; quote the query/],
  [["--size", "0"], /--size 0: write a number from 1 to 10000/],
  [["--since", "soon"], /--since soon: write a time/],
  [["--until", "2026-02-31T25:00"], /--until 2026-02-31T25:00: write a time/],
] as const) {
  test(`search ${args.join(" ")} is refused with what to do`, () => {
    assert.throws(() => parseHubCommand(["search", ...args]), { code: "usage_invalid", message });
  });
}
