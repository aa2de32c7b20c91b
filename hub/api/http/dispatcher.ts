/** Dispatches requests: route, principal, body, handler, answer. An error of any step becomes an error body. */

import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeader, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { promisify } from "node:util";
import { constants, gzip } from "node:zlib";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { warnOfParameters } from "#hub/api/compat/interface-compatibility.ts";
import { requestedVersion, versionNumber, warningAgent } from "#hub/api/compat/version.ts";
import { keyOf, mayDo, NOBODY, type Principal, requirePerson } from "#hub/auth/accounts/principal.ts";
import { gatherWarnings } from "#hub/search/options/request-version.ts";
import { AppError, type ErrorCode, toAppError } from "#proto/kit/errors.ts";
import type { Logger } from "#proto/kit/log.ts";
import {
  type AnswerOptions,
  answerFormat,
  checkBodyType,
  PLAIN_ANSWER,
  type RenderedAnswer,
  renderAnswer,
} from "./answer.ts";
import type { ApiMetrics } from "./api-metrics.ts";
import { errorIn, isByRights, plainErrorBody, withTraces } from "./error-body.ts";
import { withReadable } from "./human-values.ts";
import { ApiRequest, checkParameters, type Method, opaqueId, parseQuery } from "./request.ts";
import type { BodyReader, ReadBody } from "./request-body.ts";
import { asOwner } from "./request-owner.ts";
import {
  type AccessControl,
  type ApiResponse,
  bodyLimitOf,
  type IncomingCredentials,
  type Route,
  rightsOf,
} from "./route.ts";
import { type Match, Router } from "./router.ts";

export interface DispatcherOptions {
  readonly routes: readonly Route[];
  readonly access: AccessControl;
  readonly bodies: BodyReader;
  readonly metrics: ApiMetrics;
  readonly log: Logger;
  /** Returns the body of an error's answer. */
  readonly errorBody: (error: AppError) => unknown;
  /** Version to answer in unless a request asks for another. */
  readonly compatVersion: string;
  /** Called with the connection of each request that was authorised. */
  readonly onSignedIn: (socket: Socket) => void;
  /** Called with each request whose path, body and parameters its route takes. */
  readonly onUsed?: (method: Method, route: Route) => void;
  /** Sent with every answer. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Status in metrics of a request whose client has disconnected. */
const CLIENT_GONE = 499;
/** Browsers must not guess another content type. */
const HEADERS: Readonly<Record<string, string>> = { "x-content-type-options": "nosniff" };
/** Codes with a status of 500 and above that clients cause; they aren't logged as failures. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  "request_invalid",
  "window_too_large",
  "aggregation_failed",
  "not_offered",
  "script_failed",
  "too_many_buckets",
]);
/** Smallest answer that is compressed. */
const MIN_PACKED_BYTES = 4_096;
/** Longest unread body that is skipped to keep its connection; with a longer one the connection is closed. */
const MAX_SKIPPED_BYTES = 1024 * 1024;

const pack = promisify(gzip);

export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #router: Router;
  readonly #configured: number;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#router = new Router(options.routes);
    this.#configured = versionNumber(options.compatVersion);
  }

  /**
   * Returns a fastify plugin that answers everything below `prefix` ("" or "/es"). fastify handles a request up to
   * here; see docs/decisions/0011-own-dispatcher.md.
   */
  plugin(
    prefix: string,
    paths: readonly string[] = prefix === "" ? ["/", "/*"] : ["", "/", "/*"],
  ): (app: FastifyInstance) => Promise<void> {
    return (app) => {
      const onRequest = (request: FastifyRequest, reply: FastifyReply): void => {
        reply.hijack();
        void this.#dispatch(request, reply.raw, prefix);
      };
      for (const path of paths) app.all(prefix + path, { onRequest }, () => undefined);
      // Methods that fastify doesn't know.
      if (paths.includes("/*") && prefix === "") app.setNotFoundHandler(onRequest);
      return Promise.resolve();
    };
  }

  /** Never rejects. */
  async #dispatch(request: FastifyRequest, response: ServerResponse, prefix: string): Promise<void> {
    const uri = originForm(request.raw.url ?? "").slice(prefix.length) || "/";
    const gone = new AbortController();
    response.on("close", () => {
      if (!response.writableFinished) gone.abort();
    });
    const turn = new RequestContext(uri.startsWith("/") ? uri : `/${uri}`);
    const timer = this.#options.metrics.begin();
    let answer: RenderedAnswer;
    try {
      const given = await this.#answer(turn, request, gone.signal);
      answer = renderAnswer(given, turn.answer);
      this.#note(turn, request, given.refusal);
    } catch (error) {
      this.#note(turn, request, toAppError(error));
      answer = this.#errorAnswer(toAppError(error), turn, request.headers);
    } finally {
      turn.release();
    }
    timer(turn.match?.route.paths[0] ?? "none", response.destroyed ? CLIENT_GONE : answer.status);
    try {
      await this.#send(answer, turn, request.raw, response);
    } catch (err) {
      this.#options.log.error({ err, uri: turn.loggedUri }, "an answer could not be sent");
      response.destroy();
    }
  }

  async #answer(
    turn: RequestContext,
    { raw, ip }: FastifyRequest,
    signal: AbortSignal,
  ): Promise<ApiResponse> {
    const { access, bodies } = this.#options;
    const found = this.#router.find(raw.method ?? "GET", turn.path);
    if (found.kind === "route") turn.match = found;
    const query = turn.match?.route.hasSecretUri === true ? {} : turn.readQuery(raw);
    if (found.kind === "nothing") return noHandler(raw, turn.uri);
    if (found.kind === "other_methods") return wrongMethod(raw, turn.uri, found.allowed);
    const { route } = found;
    const principal = await senderOf(route, access, { method: raw.method ?? "", headers: raw.headers, ip });
    if (principal !== NOBODY) {
      turn.principal = principal;
      this.#admit(route, principal, raw.socket);
    }
    const owner = ownerOf(principal, ip);
    turn.body = await bodies.read(raw, bodyLimitOf(route), owner);
    const body = bodyOf(turn.body.bytes, query, raw, route);
    const path = { ...found.path, ...takeSegments(query, found.absent) };
    if (route.takesAnyParams !== true) checkParameters(turn.path, query, route.params);
    this.#options.onUsed?.(raw.method as Method, route);
    const request = new ApiRequest({
      method: raw.method as Method,
      uri: turn.uri,
      path,
      query,
      headers: raw.headers,
      ip,
      body,
      principal,
      may: (action) => mayDo(principal, action),
      signal,
    });
    turn.version = requestedVersion(this.#configured, raw.headers);
    const answer = await gatherWarnings(turn.warnings, turn.version, () => {
      warnOfParameters(turn.path, query);
      return asOwner(owner, () => route.handle(request));
    });
    const isReadable = route.action === "monitor" && request.flag("human") === true;
    return isReadable ? { ...answer, json: withReadable(answer.json) } : answer;
  }

  /**
   * Throws forbidden unless `principal` may use the route. Synchronous: `AccessControl.authorize` may set the sender for
   * the rest of the calling request (AsyncLocalStorage).
   */
  #admit(route: Route, principal: Principal, socket: Socket): void {
    this.#options.access.authorize(principal, rightsOf(route));
    if (route.caller === "person") requirePerson(principal);
    this.#options.onSignedIn(socket);
  }

  /** Writes to the audit log what a signed-in principal was refused, and the actions that a route marks as audited. */
  #note({ match, path, principal }: RequestContext, { ip, raw }: FastifyRequest, error?: AppError): void {
    const audited = match?.route.audited;
    if (principal === undefined || (error === undefined ? audited === undefined : !isByRights(error))) return;
    const shown = match?.route.hasSecretUri === true ? match.route.paths.join(" ") : path;
    const event = { principal, ip, subject: `${raw.method ?? ""} ${shown}` };
    const { access } = this.#options;
    if (error === undefined) access.note?.({ ...event, action: audited!, outcome: "ok" });
    else access.note?.({ ...event, action: "request_refused", outcome: "refused", reason: error.message });
  }

  #errorAnswer(given: AppError, turn: RequestContext, headers: IncomingHttpHeaders): RenderedAnswer {
    const error = errorIn(given, turn.version);
    const { log, errorBody } = this.#options;
    const answerError = turn.match?.route.answerError;
    if (error.status >= 500 && !error.retryable && !REFUSALS.has(error.code)) {
      log.error({ err: error.cause ?? error, uri: turn.loggedUri, detail: error.detail }, "a request failed");
    }
    if (answerError !== undefined) {
      const answer = answerError(error, headers);
      return renderAnswer({ ...answer, headers: { ...challenge(error), ...answer.headers } }, turn.answer);
    }
    if (error.code === "media_type") {
      return renderAnswer(
        { status: error.status, json: plainErrorBody(error.message, error.status) },
        turn.answer,
      );
    }
    return renderAnswer(
      {
        status: error.status,
        json: turn.tracesErrors ? withTraces(errorBody(error)) : errorBody(error),
        headers: challenge(error),
      },
      turn.answer,
    );
  }

  async #send(
    answer: RenderedAnswer,
    { warnings, version, match }: RequestContext,
    message: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const headers: Record<string, OutgoingHttpHeader> = {
      ...HEADERS,
      ...this.#options.headers,
      ...match?.route.headers,
      ...answer.headers,
    };
    if (warnings.size > 0)
      headers["warning"] = warningHeaders(warnings, warningAgent(this.#options.compatVersion, version));
    const id = opaqueId(message.headers);
    if (id !== undefined) headers["x-opaque-id"] = id;
    if (!skipsRest(message)) headers["connection"] = "close";
    let { body } = answer;
    if (isWorthPacking(Buffer.byteLength(body), message.headers)) {
      body = await pack(body, { level: constants.Z_BEST_SPEED });
      headers["content-encoding"] = "gzip";
      headers["vary"] = "accept-encoding";
    }
    headers["content-length"] = Buffer.byteLength(body);
    response.writeHead(answer.status, headers);
    // A text is sent in one piece with the head; bytes are sent after it.
    if (answer.release !== undefined) response.once("finish", answer.release);
    response.end(body);
  }
}

/**
 * Takes named segments of other paths out of the parameters: `/_cat/indices?index=logs` is `/_cat/indices/logs`. An empty one
 * is as good as none.
 */
function takeSegments(query: Record<string, string>, names: readonly string[]): Record<string, string> {
  const given = names.filter((name) => query[name] !== undefined);
  const segments = given.filter((name) => query[name] !== "").map((name) => [name, query[name]!]);
  for (const name of given) delete query[name];
  return Object.fromEntries(segments) as Record<string, string>;
}

/** Throws unauthenticated, forbidden. */
function senderOf(
  { caller }: Route,
  access: AccessControl,
  credentials: IncomingCredentials,
): Principal | Promise<Principal> {
  return caller === "anybody" ? NOBODY : access.authenticate(credentials);
}

/** Returns whether an answer is compressed. It isn't if the request was larger than the answer. */
function isWorthPacking(sizeBytes: number, headers: IncomingHttpHeaders): boolean {
  const isAccepted = /\bgzip\b/.test(String(headers["accept-encoding"]));
  return isAccepted && sizeBytes >= Math.max(MIN_PACKED_BYTES, Number(headers["content-length"] ?? 0));
}

/** Removes the scheme and the host that clients of proxies put before a path (RFC 9112 section 3.2.2). */
function originForm(url: string): string {
  return url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?]*/i, "");
}

/** Skips the rest of a body that was refused unread; returns false if it may be long. */
function skipsRest(message: IncomingMessage): boolean {
  if (message.complete) return true;
  if (!(Number(message.headers["content-length"]) <= MAX_SKIPPED_BYTES)) return false;
  message.resume();
  return true;
}

/** The current request: what has been parsed of it so far, so that errors are answered in the requested format. */
class RequestContext {
  readonly uri: string;
  readonly path: string;
  answer: AnswerOptions = PLAIN_ANSWER;
  tracesErrors = false;
  match: Match | undefined;
  body: ReadBody | undefined;
  /** The signed-in principal. */
  principal: Principal | undefined;
  /** Version of the answer; 0 before it is known. */
  version = 0;
  /** Texts of the Warning headers. */
  readonly warnings = new Set<string>();

  constructor(uri: string) {
    this.uri = uri;
    const mark = uri.indexOf("?");
    this.path = mark < 0 ? uri : uri.slice(0, mark);
  }

  /** The URI for logs, without credentials. */
  get loggedUri(): string {
    const route = this.match?.route;
    return route?.hasSecretUri === true ? route.paths.join(" ") : this.uri;
  }

  /** Throws request_invalid. */
  readQuery({ headers }: IncomingMessage): Record<string, string> {
    const query = parseQuery(this.uri.slice(this.path.length + 1));
    const pretty = query["pretty"] !== undefined && query["pretty"] !== "false";
    this.answer = { pretty, filterPath: query["filter_path"], format: undefined };
    this.tracesErrors = ["", "true"].includes(query["error_trace"] ?? "false");
    this.answer = { ...this.answer, format: answerFormat(query["format"], headers.accept) };
    return query;
  }

  release(): void {
    this.body?.release();
  }
}

/** Maximum characters of a warning: clients accept headers of only a few kB. */
const MAX_WARNING_LENGTH = 1000;

/** RFC 7234 section 5.5: code, agent, quoted text. Characters that a header can't contain are escaped. */
function warningHeaders(warnings: ReadonlySet<string>, agent: string): string[] {
  const date = new Date().toUTCString();
  return [...warnings].map((text) => {
    const short = text.slice(0, MAX_WARNING_LENGTH).toWellFormed();
    const quoted = short.replace(/[\\"]/g, "\\$&").replace(/[^\x20-\x7e]/gu, encodeURIComponent);
    return `299 ${agent} "${quoted}" "${date}"`;
  });
}

/** Returns the owner that a body is charged to: the address if authentication is off, else the principal. */
function ownerOf(principal: Principal, ip: string): string {
  return principal.kind === "anonymous" ? ip : keyOf(principal);
}

/** Returns the body, or the parameter `source` in place of one. Throws media_type. */
function bodyOf(
  body: Buffer,
  query: Readonly<Record<string, string>>,
  { headers }: IncomingMessage,
  route: Route,
): Buffer {
  const kind = route.body ?? "json";
  if (body.length > 0) {
    checkBodyType(headers["content-type"], kind);
    return body;
  }
  const source = query["source"];
  if (source === undefined || route.params.includes("source")) return body;
  const type = query["source_content_type"];
  if (type === undefined)
    throw new AppError("request_invalid", "source and source_content_type parameters are required", {
      data: { type: "illegal_state_exception" },
    });
  checkBodyType(type, kind);
  return Buffer.from(source);
}

function noHandler({ method }: IncomingMessage, uri: string): ApiResponse {
  if (method === "OPTIONS") return { status: 200 };
  return { status: 400, json: plainErrorBody(`no handler found for uri [${uri}] and method [${method}]`) };
}

function wrongMethod({ method }: IncomingMessage, uri: string, allowed: readonly Method[]): ApiResponse {
  const headers = { allow: allowed.join(",") };
  if (method === "OPTIONS") return { status: 200, headers };
  const message = `Incorrect HTTP method for uri [${uri}] and method [${method}], allowed: [${allowed.join(", ")}]`;
  return { status: 405, headers, json: plainErrorBody(message, 405) };
}

function challenge({ data }: AppError): Record<string, string> {
  const { wwwAuthenticate, retryAfterSeconds } = data;
  return {
    ...(typeof wwwAuthenticate === "string" && { "www-authenticate": wwwAuthenticate }),
    ...(typeof retryAfterSeconds === "number" && { "retry-after": String(retryAfterSeconds) }),
  };
}
