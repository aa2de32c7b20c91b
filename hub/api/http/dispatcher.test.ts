import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { fastify } from "fastify";
import { pino } from "pino";
import { ANONYMOUS, NOBODY } from "#hub/auth/accounts/principal.ts";
import { RawJson } from "#hub/search/options/json-writer.ts";
import { AppError } from "#proto/kit/errors.ts";
import { Metrics } from "#proto/kit/metrics.ts";
import { apiMetrics } from "./api-metrics.ts";
import { Dispatcher } from "./dispatcher.ts";
import { errorBody, hubErrorBody } from "./error-body.ts";
import { BodyReader } from "./request-body.ts";
import { type AccessEvent, json, type Route } from "./route.ts";

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
  {
    headers = {},
    noted = [],
    errorBody: printError = hubErrorBody,
  }: {
    readonly headers?: Record<string, string>;
    readonly noted?: AccessEvent[];
    readonly errorBody?: (error: AppError) => unknown;
  } = {},
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
      note: (event) => void noted.push(event),
    },
    bodies: new BodyReader(metrics),
    metrics: apiMetrics(metrics),
    log: pino({}, sink),
    errorBody: printError,
    compatVersion: "6.5.4",
    onSignedIn: () => undefined,
  });
  await app.register(dispatcher.plugin(""));
  const answer = await app.inject({ url, headers });
  await app.close();
  return { status: answer.statusCode, headers: answer.headers, body: answer.body, logs: logs.join("") };
}

test("refusals and audited changes of those signed in are noted, without the query", async () => {
  const noted: AccessEvent[] = [];
  const headers = { authorization: "some" };
  const asked = (route: Partial<Route>, path: string) =>
    answerOf({ ...ROUTE, ...route }, path, { headers, noted });
  const refuse = (code: "forbidden" | "not_found") => () => {
    throw new AppError(code, "you may not");
  };
  await asked({ handle: refuse("forbidden"), audited: "pipeline_changed" }, "/callback/1?pretty=true");
  await asked({ handle: refuse("not_found"), audited: "pipeline_changed" }, "/callback/2");
  await asked({ handle: () => json({}), audited: "pipeline_changed" }, "/callback/3");
  await asked({ handle: () => json({}) }, "/callback/4");
  const refusal = new AppError("forbidden", "not this part");
  await asked({ handle: () => ({ ...json({}), refusal }) }, "/callback/6");
  const block = new AppError("forbidden", "blocked", { data: { type: "cluster_block_exception" } });
  await asked({ handle: () => ({ ...json({}), refusal: block }) }, "/callback/7");
  await answerOf({ ...ROUTE, handle: refuse("forbidden"), caller: "anybody" }, "/callback/5", { noted });
  const shown = noted.map(({ action, outcome, principal, subject, reason }) => [
    action,
    outcome,
    principal.name,
    subject,
    reason,
  ]);
  assert.deepEqual(shown, [
    ["request_refused", "refused", "anonymous", "GET /callback/1", "you may not"],
    ["pipeline_changed", "ok", "anonymous", "GET /callback/3", undefined],
    ["request_refused", "refused", "anonymous", "GET /callback/6", "not this part"],
  ]);
});

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

test("human=true adds texts to statistics, and error_trace=true traces to errors", async () => {
  const route = { ...ROUTE, caller: "anybody", action: "monitor" } as const;
  const statistics: Route["handle"] = () => json({ size_in_bytes: 2048 });
  const body = (error: AppError): unknown => errorBody(error, { nodeId: "node" });
  const bodyOf = async (url: string, handle: Route["handle"]): Promise<unknown> =>
    JSON.parse((await answerOf({ ...route, handle }, url, { errorBody: body })).body);
  assert.deepEqual(await bodyOf("/callback/1?human", statistics), { size: "2kb", size_in_bytes: 2048 });
  assert.deepEqual(await bodyOf("/callback/1?human=false", statistics), { size_in_bytes: 2048 });
  const missing: Route["handle"] = () => {
    throw new AppError("index_missing", "no such index", { data: { index: "none" } });
  };
  const traced = (await bodyOf("/callback/1?error_trace=true", missing)) as {
    error: { stack_trace?: string; root_cause: { stack_trace?: string }[] };
  };
  const trace = "[none] IndexNotFoundException[no such index]";
  assert.equal(traced.error.stack_trace, trace);
  assert.equal(traced.error.root_cause[0]!.stack_trace, trace);
  const plain = await bodyOf("/callback/1", missing);
  assert.doesNotMatch(JSON.stringify(plain), /stack_trace/);
});
