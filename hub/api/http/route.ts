/**
 * Routes. Each file of `routes/` exports functions that return lists of routes, which `search-interface.ts` and `server.ts`
 * join. The dispatcher does parsing, limits, errors and formats.
 */

import type { IncomingHttpHeaders } from "node:http";
import type { Static, TSchema } from "typebox";
import type { Action, Principal } from "#hub/auth/accounts/principal.ts";
import type { AuditAction } from "#hub/auth/audit/audit.ts";
import { AppError } from "#proto/kit/errors.ts";
import { schemaFault } from "#proto/kit/schema.ts";
import type { ApiRequest, Method } from "./request.ts";

/** What a body may contain: a JSON value, lines of JSON, the fields of a form, or any text. */
export type BodyKind = "json" | "ndjson" | "form" | "any";

/** One operation of an interface. */
export interface Route {
  readonly methods: readonly Method[];
  /** Each with a leading slash; `{name}` matches one segment: "/{index}/_doc/{id}". */
  readonly paths: readonly string[];
  /** Query parameters, without those that every route accepts. */
  readonly params: readonly string[];
  /** True: parameters aren't checked. */
  readonly takesAnyParams?: boolean;
  /** True: the query may contain credentials. `handle` reads it from `uri`, and logs name the path pattern instead. */
  readonly hasSecretUri?: boolean;
  /**
   * The right that the route needs; several: all of them; none: a sign-in is enough. Which roles have it: ROLE_ACTIONS in
   * hub/auth/accounts/principal.ts.
   */
  readonly action: Action | readonly Action[];
  /** "anybody": without a sign-in. "person": not with a key or token. Absent: every principal with the rights. */
  readonly caller?: "anybody" | "person";
  /** Maximum body size, bytes, both compressed and decompressed; absent: depends on the right, see bodyLimitOf. */
  readonly maxBodyBytes?: number;
  /** One sentence for the interface's description. */
  readonly summary: string;
  /** Name of its success in the audit log; absent: the route writes no entry. */
  readonly audited?: AuditAction;
  /** Default "json". */
  readonly body?: BodyKind;
  /** Schema of the body, for the description; see `routeWithBody`. */
  readonly schema?: TSchema;
  /** Sent with every answer, including errors. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Returns the answer for an error; absent: that of the interface. */
  readonly answerError?: (error: AppError, headers: IncomingHttpHeaders) => ApiResponse;
  /** Returns the answer or throws an AppError, from which the error body is made. */
  handle(request: ApiRequest): ApiResponse | Promise<ApiResponse>;
}

/** Headers of an answer; a list is sent as several headers of the name. */
export type ResponseHeaders = Readonly<Record<string, string | string[]>>;

/** Answers of a route. Exactly one of `json`, `text` and `bytes`, or none for an empty body. */
export interface ApiResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers?: ResponseHeaders;
  /** A value for `writeJson`: may hold RawJson and bigint. */
  readonly json?: unknown;
  readonly text?: string;
  readonly bytes?: Uint8Array;
  /** Called once the answer was sent unchanged as RawJson: nothing reads its bytes again. */
  readonly release?: () => void;
  /** Why a part of the request is refused, for the audit log. */
  readonly refusal?: AppError | undefined;
}

/** Resolves the principal of a request. Throws unauthenticated or forbidden. */
export interface AccessControl {
  authenticate(request: IncomingCredentials): Promise<Principal>;
  /** Throws forbidden if `principal` may not do each of `actions`. The rest of the calling request runs with them. */
  authorize(principal: Principal, actions: readonly Action[]): void;
  /** Writes to the audit log what a principal changed, or that it was refused. Must not throw or wait. */
  note?(event: AccessEvent): void;
}

/** An action of a signed-in principal, done or refused. */
export interface AccessEvent {
  readonly action: AuditAction;
  readonly outcome: "ok" | "refused";
  readonly principal: Principal;
  readonly ip: string;
  /** Method and path, without a query. */
  readonly subject: string;
  /** Why it was refused. */
  readonly reason?: string;
}

/** The parts of a request that authentication uses. */
export interface IncomingCredentials {
  readonly method: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly ip: string;
}

/** Returns the rights that a route needs. */
export function rightsOf({ action }: Route): readonly Action[] {
  return typeof action === "string" ? [action] : action;
}

/**
 * Returns a route whose body must fit `schema`; an absent body is {}. Other bodies are refused with request_invalid,
 * which names the property at fault.
 */
export function routeWithBody<T extends TSchema>(
  route: Omit<Route, "handle"> & {
    readonly schema: T;
    handle(request: ApiRequest, body: NoInfer<Static<T>>): ApiResponse | Promise<ApiResponse>;
  },
): Route {
  return {
    ...route,
    handle: (request) => route.handle(request, checkedBody(route.schema, request.value() ?? {})),
  };
}

function checkedBody<T extends TSchema>(schema: T, body: unknown): NoInfer<Static<T>> {
  const fault = schemaFault(schema, body);
  if (fault === undefined) return body as NoInfer<Static<T>>;
  const where = fault.path.join(".") || "the body";
  throw new AppError("request_invalid", `${where} ${fault.message}${fault.hint}`);
}

const MIB = 1024 * 1024;
/**
 * Largest body of any route: http.max_content_length of 6.5. At most half of MAX_BODIES_BYTES (request-body.ts), which is
 * what one owner gets: a larger body would be refused as overloaded, whatever its route allows.
 */
export const MAX_BODY_BYTES = 100 * MIB;
/** Searches may list many ids and terms, definitions of indices many fields. */
const LARGE_BODY_BYTES = 10 * MIB;

/** Returns the maximum body size of a route, bytes. */
export function bodyLimitOf(route: Route): number {
  const { maxBodyBytes } = route;
  if (maxBodyBytes !== undefined) return maxBodyBytes;
  const isLarge = rightsOf(route).some((action) => action === "search" || action === "index_manage");
  return isLarge ? LARGE_BODY_BYTES : MIB;
}

/** Returns an answer with a JSON body. */
export function json(value: unknown, status = 200): ApiResponse {
  return { status, json: value };
}

/** Returns an answer without a body. */
export function empty(status: number): ApiResponse {
  return { status };
}

/**
 * Returns the answer that redirects a browser (303: by GET). Characters that a header can't contain are escaped;
 * `location` must be an address or a path of this hub.
 */
export function redirect(location: string, cookies: string[] = []): ApiResponse {
  const escaped = location.toWellFormed().replace(/[^\x21-\x7e]/gu, encodeURIComponent);
  const headers = { "cache-control": "no-store", location: escaped };
  return { status: 303, headers: cookies.length === 0 ? headers : { ...headers, "set-cookie": cookies } };
}
