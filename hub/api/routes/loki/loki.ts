/**
 * The queries of Grafana's Loki data source: lines, numbers over time, labels and their values. docs/grafana.md lists
 * the supported part of LogQL.
 */

import type { ApiContext } from "#hub/api/context/api-context.ts";
import type { ApiRequest } from "#hub/api/http/request.ts";
import { type ApiResponse, json, type Route } from "#hub/api/http/route.ts";
import type { Series } from "#hub/api/logql/metric-math.ts";
import { keyOf } from "#hub/api/logql/metric-math.ts";
import { parseLogQl, parseSelector } from "#hub/api/logql/parser.ts";
import type { LogQuery, Matcher } from "#hub/api/logql/syntax.ts";
import { AppError } from "#proto/kit/errors.ts";
import { LogSource, type Span, type TimedEntry } from "./log-source.ts";
import { evaluate } from "./metric-query.ts";
import { limitOf, parameter, required, spanOf, stepsOf, timeOf } from "./parameters.ts";

/** Version reported to the data source, which chooses its features by it. */
const VERSION = "2.9.0";
/** Maximum number of a label's values that are listed. */
const MAX_VALUES = 1_000;
/** Maximum characters of the lines and labels of an answer. */
const MAX_ANSWER = 67_108_864;
/** Number of newest lines whose streams are listed as series. */
const MAX_SERIES_LINES = 5_000;

type Handle = (parts: ApiContext, request: ApiRequest) => ApiResponse | Promise<ApiResponse>;

const ROUTES: readonly (readonly [path: string, summary: string, handle: Handle])[] = [
  ["query_range", "Answers a LogQL query over a span of time.", queryRange],
  ["query", "Answers a LogQL metric query for a point in time.", queryInstant],
  ["labels", "Lists the labels of lines.", labels],
  ["label", "Lists the labels of lines.", labels],
  ["label/{name}/values", "Lists the values of a label.", labelValues],
  ["series", "Lists the streams of lines.", series],
  ["index/stats", "Counts the lines of a query.", stats],
  ["tail", "Sends the lines of a query as they come, over a WebSocket.", needsSocket],
  ["status/buildinfo", "Shows the version of Loki whose queries are answered.", buildInfo],
];

export function lokiRoutes(parts: ApiContext): Route[] {
  return ROUTES.map(([path, summary, handle]) => ({
    methods: ["GET", "POST"],
    paths: [`/loki/api/v1/${path}`],
    params: [],
    takesAnyParams: true,
    body: "any",
    action: "search",
    summary,
    // The data source shows the text of an error unchanged.
    answerError: (error) => ({
      status: error.status,
      headers: { "content-type": "text/plain; charset=utf-8" },
      text: error.message,
    }),
    handle: (request) => handle(parts, request),
  }));
}

async function queryRange(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const query = parseLogQl(required(request, "query"));
  const span = spanOf(request, parts.clock.now());
  const source = new LogSource(parts, request);
  if (query.kind === "log") return success("streams", await streams(source, query, span, request));
  const steps = stepsOf(request, span);
  const result = await evaluate(source, query, steps);
  const found = typeof result === "number" ? [{ labels: {}, points: steps.map(() => result) }] : result;
  const matrix: object[] = [];
  for (const { labels: metric, points } of found) {
    if (source.pace.isDue) await source.pace.pause();
    const values = points.flatMap((point, at) =>
      point === undefined ? [] : [[steps[at]! / 1000, numberText(point)]],
    );
    if (values.length > 0) matrix.push({ metric, values });
  }
  return success("matrix", matrix);
}

async function queryInstant(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const query = parseLogQl(required(request, "query"));
  if (query.kind === "log")
    throw new AppError(
      "request_invalid",
      "log queries are not supported as an instant query type, please change your query to a range query type",
    );
  const timeMs = timeOf(request, "time") ?? parts.clock.now();
  const result = await evaluate(new LogSource(parts, request), query, [timeMs]);
  if (typeof result === "number") return success("scalar", [timeMs / 1000, numberText(result)]);
  const isPresent = (each: Series): boolean => each.points[0] !== undefined;
  return success(
    "vector",
    result
      .filter(isPresent)
      .map(({ labels: metric, points }) => ({ metric, value: [timeMs / 1000, numberText(points[0]!)] })),
  );
}

/** Returns lines grouped by their final labels. */
async function streams(
  source: LogSource,
  query: LogQuery,
  span: Span,
  request: ApiRequest,
): Promise<object[]> {
  if (query.stages.some(({ kind }) => kind === "unwrap"))
    throw new AppError(
      "request_invalid",
      "parse error : unwrap belongs into a function over a range, such as sum_over_time",
    );
  const limit = limitOf(request);
  const direction = parameter(request, "direction")?.toLowerCase() ?? "backward";
  if (direction !== "backward" && direction !== "forward")
    throw new AppError("request_invalid", `invalid direction '${direction}'`);
  const found = new Map<string, { stream: Record<string, string>; values: [string, string][] }>();
  let count = 0;
  let size = 0;
  const add = (entry: TimedEntry): boolean => {
    const stream = Object.fromEntries(entry.labels);
    const key = keyOf(stream);
    const known = found.get(key);
    size += entry.line.length + (known === undefined ? key.length : 0);
    if (size > MAX_ANSWER)
      throw new AppError(
        "request_invalid",
        `the answer would have more than ${MAX_ANSWER} characters: lower the limit of lines`,
      );
    const group = known ?? { stream, values: [] };
    found.set(key, group);
    group.values.push([`${entry.timeMs}000000`, entry.line]);
    return ++count < limit;
  };
  const order = direction === "backward" ? "desc" : "asc";
  const pageSize = query.stages.length === 0 ? Math.max(limit, 1_000) : undefined;
  await source.read(query, span, order, add, pageSize);
  return [...found.values()];
}

function success(resultType: string, result: unknown): ApiResponse {
  return json({ status: "success", data: { resultType, result, stats: {} } });
}

/** Returns a float in Go's format: no exponent; NaN and +Inf by name. */
function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

function labels(parts: ApiContext, request: ApiRequest): ApiResponse {
  return json({ status: "success", data: new LogSource(parts, request).fields.names });
}

async function labelValues(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const source = new LogSource(parts, request);
  const filter = await source.filter(matchersOf(request, "query"), spanOf(request, parts.clock.now()));
  const values = await source.values(request.segment("name"), filter, MAX_VALUES + 1);
  const data = values.slice(0, MAX_VALUES);
  const warnings = [`the label has more than ${MAX_VALUES} values in this time: only that many are listed`];
  return json({ status: "success", data, ...(values.length > MAX_VALUES && { warnings }) });
}

/** Returns the matchers of a parameter; none if it is absent. */
function matchersOf(request: ApiRequest, name: string): readonly Matcher[] {
  const text = parameter(request, name);
  return text === undefined || text === "" ? [] : parseSelector(text);
}

async function series(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const source = new LogSource(parts, request);
  const name = parameter(request, "match[]") === undefined ? "match" : "match[]";
  const query: LogQuery = { kind: "log", matchers: matchersOf(request, name), stages: [] };
  const found = new Map<string, Record<string, string>>();
  let count = 0;
  await source.read(query, spanOf(request, parts.clock.now()), "desc", ({ stream }) => {
    if (++count > MAX_SERIES_LINES) return false;
    const own = Object.fromEntries(stream);
    found.set(keyOf(own), own);
    return true;
  });
  const warnings = [`only the newest ${MAX_SERIES_LINES} lines were looked at: narrow the time range`];
  return json({
    status: "success",
    data: [...found.values()],
    ...(count > MAX_SERIES_LINES && { warnings }),
  });
}

async function stats(parts: ApiContext, request: ApiRequest): Promise<ApiResponse> {
  const source = new LogSource(parts, request);
  const query = parseLogQl(required(request, "query"));
  if (query.kind !== "log") throw new AppError("request_invalid", "only label matchers are supported");
  const filter = await source.filter(query.matchers, spanOf(request, parts.clock.now()));
  const found = await source.search({ size: 0, query: filter, track_total_hits: true });
  const entries = found?.total ?? 0;
  // Sizes aren't kept by stream: `streams` only tells whether there are any, chunks and bytes are unknown.
  return json({ streams: entries > 0 ? 1 : 0, chunks: 0, entries, bytes: 0 });
}

/** The upgrade to a WebSocket is handled elsewhere, not by this route. */
function needsSocket(): ApiResponse {
  throw new AppError(
    "request_invalid",
    "lines are tailed over a WebSocket: the request has no Upgrade header",
  );
}

function buildInfo(): ApiResponse {
  return json({ version: VERSION, revision: "", branch: "", buildUser: "", buildDate: "", goVersion: "" });
}
