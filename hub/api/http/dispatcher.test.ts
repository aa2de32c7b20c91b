import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { fastify } from "fastify";
import { pino } from "pino";
import { ANONYMOUS, NOBODY } from "#hub/auth/accounts/principal.ts";
import { RawJson } from "#hub/search/options/raw-json.ts";
import { AppError } from "#proto/kit/errors.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { apiMetrics } from "./api-metrics.ts";
import { Dispatcher } from "./dispatcher.ts";
import { hubErrorBody } from "./error-body.ts";
import { BodyReader } from "./request-body.ts";
import { json, type Route } from "./route.ts";

const ROUTE: Route = {
  methods: ["GET"],
  paths: ["/callback/{id}"],
  params: [],
  action: [],
  summary: "Fails.",
  handle: () => {
    throw new AppError("internal", "something failed");
  },
};

async function answerOf(
  route: Route,
  url: string,
): Promise<{ status: number; headers: object; body: string; logs: string }> {
  const logs: string[] = [];
  const sink = new PassThrough().on("data", (chunk: Buffer) => logs.push(chunk.toString()));
  const metrics = new Metrics();
  const app = fastify();
  const dispatcher = new Dispatcher({
    routes: [route],
    access: {
      authenticate: ({ headers }) =>
        headers["authorization"] === undefined
          ? Promise.reject(new AppError("unauthenticated", "sign in"))
          : Promise.resolve(ANONYMOUS),
      authorize: () => undefined,
    },
    bodies: new BodyReader(metrics),
    metrics: apiMetrics(metrics),
    log: pino({}, sink),
    errorBody: hubErrorBody,
    compatVersion: "6.5.4",
    onSignedIn: () => undefined,
  });
  await app.register(dispatcher.plugin(""));
  const { statusCode, headers, body } = await app.inject({ url });
  await app.close();
  return { status: statusCode, headers, body, logs: logs.join("") };
}

test("a route for anybody runs without a sign-in and without rights", async () => {
  const handle: Route["handle"] = ({ principal }) => json({ rights: principal.actions.size });
  assert.equal((await answerOf({ ...ROUTE, handle }, "/callback/1")).status, 401);
  const open = await answerOf({ ...ROUTE, caller: "anybody", handle }, "/callback/1");
  assert.deepEqual(JSON.parse(open.body), { rights: NOBODY.actions.size });
});

test("bytes of an answer are given back once they were sent, unless they weren't as they are", async () => {
  const bytes = Buffer.from('{"items":[1]}');
  let released = 0;
  const handle: Route["handle"] = () => ({ ...json(new RawJson(bytes)), release: () => released++ });
  const route = { ...ROUTE, caller: "anybody", handle } as const;
  assert.equal((await answerOf(route, "/callback/1")).body, bytes.toString());
  assert.equal(released, 1);
  assert.equal((await answerOf(route, "/callback/1?filter_path=items")).body, bytes.toString());
  assert.equal(released, 1);
});

test("the log of a failed request has no part of a secret address", async () => {
  const url = "/callback/secret-1?code=secret-2&x=%zz";
  const { status, logs } = await answerOf({ ...ROUTE, caller: "anybody", hasSecretUri: true }, url);
  assert.equal(status, 500);
  assert.match(logs, /\/callback\/\{id\}/);
  assert.doesNotMatch(logs, /secret-/);
});

test("headers of a route are sent with its errors too, which it may write itself", async () => {
  const { status, headers, body } = await answerOf(
    {
      ...ROUTE,
      caller: "anybody",
      headers: { "cache-control": "no-store" },
      answerError: ({ code }) => json({ error: code }, 418),
    },
    "/callback/1",
  );
  assert.deepEqual([status, JSON.parse(body)], [418, { error: "internal" }]);
  assert.equal((headers as Record<string, string>)["cache-control"], "no-store");
});
