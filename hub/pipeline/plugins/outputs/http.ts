/** Output http: events to an HTTP service. */

import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Static } from "typebox";
import { discardBody, HTTPS_CLIENT, httpsTls, TlsFetch } from "#hub/pipeline/connections/http-agents.ts";
import {
  defineOutput,
  type OutputRecord,
  type OutputWriter,
  type WriteRest,
  type WriterContext,
} from "#hub/pipeline/plugins/output.ts";
import { type Event, isHash, valueText } from "#proto/event.ts";
import { compileFormat } from "#proto/format.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { anyTable, flag, oneOf, optional, options, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const pack = promisify(gzip);

/** Requests at a time, and the longest that one may take. */
const PARALLEL = 8;

const OPTIONS = options({
  url: text("address to which events are sent, a format"),
  http_method: oneOf(
    ["post", "put", "patch", "delete", "get", "head"],
    "HTTP method of the requests",
    "post",
  ),
  headers: Type.Record(Type.String(), Type.String(), {
    description: "headers of the requests, values as formats",
    default: {},
  }),
  content_type: optional(text("Content-Type of the requests; default: that of the format")),
  format: oneOf(
    ["json", "json_batch", "form", "message"],
    "json: one event per request; json_batch: a list of events",
    "json",
  ),
  mapping: anyTable("fields to send instead of the event, values as formats"),
  message: optional(text("with format message, the body, a format")),
  http_compression: flag("compresses bodies with gzip", false),
  retry_failed: flag("retries temporary failures", true),
  retryable_codes: Type.Array(Type.Integer(), {
    default: [429, 500, 502, 503, 504],
    description: "statuses that are retried",
  }),
  ignorable_codes: Type.Array(Type.Integer(), {
    default: [],
    description: "statuses besides 2xx that count as success",
  }),
  request_timeout: Type.Number({
    default: 60,
    exclusiveMinimum: 0,
    description: "timeout of a request, s",
  }),
  connection: optional(text("name of a connected account whose access token is sent")),
  user: optional(text("user name to send (Basic)")),
  password: optional(text("password to send")),
  ...HTTPS_CLIENT,
});

type Options = Static<typeof OPTIONS>;

const TYPES: Readonly<Record<string, string>> = {
  json: "application/json",
  json_batch: "application/json",
  form: "application/x-www-form-urlencoded",
  message: "text/plain",
};

/** What a header may hold. */
const HEADER = /^[\t\x20-\x7e\x80-\xff]*$/;

/** Files are found from the folder that the hub was started in. */
const WRITTEN_PATH = (path: string): string => path;

/** Where a record goes: the address and headers that vary with the event. */
interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export const httpOutput = defineOutput({
  name: "http",
  description: "sends events to an HTTP service",
  options: OPTIONS,
  create(values, { report }) {
    httpsTls(values, WRITTEN_PATH); // a fault of its files shows at the start
    const url = compileFormat(values.url);
    const headers = Object.entries(values.headers).map(
      ([name, value]) => [name, compileFormat(value)] as const,
    );
    if (values.format === "message" && values.message === undefined)
      report("error", "message", "format message needs a message", 'write: message => "%{message}"');
    const body = bodyOf(values);
    return {
      shape(event) {
        const target: Target = {
          url: url(event),
          headers: Object.fromEntries(headers.map(([name, format]) => [name, format(event)])),
        };
        const fault = faultOf(target);
        if (fault !== undefined) return { refused: fault };
        return { target: JSON.stringify(target), body: Buffer.from(body(event)) };
      },
    };
  },
  writer: (values, context) => new HttpWriter(values, context),
});

/** Why a request can't be made, however often it is tried; undefined if it can. */
function faultOf({ url, headers }: Target): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:\/\/[^/]/.test(url))
    return `"${url.slice(0, 200)}" isn't an address of HTTP`;
  if (parsed.username !== "" || parsed.password !== "") return "the address has a name or password in it";
  const name = Object.keys(headers).find((each) => !HEADER.test(headers[each]!));
  return name === undefined ? undefined : `what the event makes of ${name} can't be sent as a header`;
}

function bodyOf({ format, mapping, message }: Options): (event: Event) => string {
  if (format === "message") {
    const write = compileFormat(message ?? "");
    return (event) => write(event);
  }
  const map = Object.keys(mapping).length === 0 ? undefined : mapped(mapping);
  const fields = (event: Event): JsonObject => (map === undefined ? event.fields : map(event));
  if (format !== "form") return (event) => JSON.stringify(fields(event));
  return (event) =>
    new URLSearchParams(
      Object.entries(fields(event)).map(([name, value]): [string, string] => [name, valueText(value)]),
    ).toString();
}

function mapped(mapping: Readonly<Record<string, unknown>>): (event: Event) => JsonObject {
  const members = Object.entries(mapping).map(([name, value]) => {
    return [name, mappedValue(value)] as const;
  });
  return (event) => Object.fromEntries(members.map(([name, write]) => [name, write(event)]));
}

function mappedValue(value: unknown): (event: Event) => unknown {
  if (isHash(value)) return mapped(value);
  if (!Array.isArray(value)) return compileFormat(valueText(value));
  const items = value.map(mappedValue);
  return (event) => items.map((item) => item(event));
}

class HttpWriter implements OutputWriter {
  readonly parallel = 1;
  readonly #values: Options;
  readonly #context: WriterContext;
  #client: TlsFetch | undefined;

  constructor(values: Options, context: WriterContext) {
    this.#values = values;
    this.#context = context;
  }

  async write(records: readonly OutputRecord[], signal: AbortSignal): Promise<WriteRest | undefined> {
    this.#client ??= new TlsFetch(httpsTls(this.#values, WRITTEN_PATH));
    const isBatch = this.#values.format === "json_batch";
    const requests = isBatch
      ? [...Map.groupBy(records.keys(), (place) => records[place]!.target).values()]
      : [...records.keys()].map((place) => [place]);
    const again: number[] = [];
    const refused: { place: number; reason: string }[] = [];
    for (let at = 0; at < requests.length; at += PARALLEL) {
      const some = requests.slice(at, at + PARALLEL);
      const results = await Promise.all(
        some.map((places) =>
          this.#request(
            places.map((place) => records[place]!),
            signal,
          ),
        ),
      );
      for (const [index, result] of results.entries()) {
        if (result === "again") again.push(...some[index]!);
        else if (result !== undefined)
          refused.push(...some[index]!.map((place) => ({ place, reason: result.reason })));
      }
      if (signal.aborted) throw new AppError("cancelled", "the output is stopped");
    }
    return { again, refused };
  }

  async stop(): Promise<void> {
    this.#client?.close();
    this.#client = undefined;
  }

  async #request(
    records: readonly OutputRecord[],
    signal: AbortSignal,
  ): Promise<"again" | { reason: string } | undefined> {
    const { url, headers } = JSON.parse(records[0]!.target) as Target;
    const { format, http_method, request_timeout, retryable_codes, ignorable_codes, retry_failed } =
      this.#values;
    const bodies = records.map(({ body }) => body);
    const whole =
      format === "json_batch"
        ? Buffer.from(`[${bodies.map((body) => Buffer.from(body).toString()).join(",")}]`)
        : bodies[0]!;
    const client = this.#client!;
    let status: number;
    try {
      const address = new URL(url);
      this.#context.checkTarget(address.hostname);
      const body = this.#values.http_compression ? await pack(whole) : whole;
      const answer = await this.#sendAuthorized(address.host, (authorization) =>
        client.fetch(address, {
          method: http_method.toUpperCase(),
          headers: this.#headers(authorization, headers),
          redirect: "manual",
          signal: AbortSignal.any([signal, AbortSignal.timeout(request_timeout * 1000)]),
          ...(http_method !== "get" && http_method !== "head" && { body }),
        }),
      );
      await discardBody(answer);
      ({ status } = answer);
    } catch (error) {
      if (error instanceof AppError && !error.retryable) return { reason: error.message };
      if (isBadPort(error)) return { reason: `${url} has a port that HTTP must not be sent to` };
      return retry_failed ? "again" : { reason: `${url} can't be reached` };
    }
    if ((status >= 200 && status < 300) || ignorable_codes.includes(status)) return undefined;
    if (retry_failed && retryable_codes.includes(status)) return "again";
    return { reason: `${url} answered ${status}` };
  }

  /** Sends; where the account's token is refused, once more with a new one (RFC 6750 section 3.1). */
  async #sendAuthorized(
    host: string,
    send: (authorization: Record<string, string>) => Promise<Response>,
  ): Promise<Response> {
    const { connection, user, password } = this.#values;
    if (connection === undefined) {
      if (user === undefined) return send({});
      return send({ Authorization: `Basic ${Buffer.from(`${user}:${password ?? ""}`).toString("base64")}` });
    }
    const token = await this.#context.bearer(connection, host);
    const answer = await send({ Authorization: `Bearer ${token}` });
    if (answer.status !== 401) return answer;
    await discardBody(answer);
    return send({ Authorization: `Bearer ${await this.#context.bearer(connection, host, token)}` });
  }

  /** Returns the headers of a request; one that the pipeline names, in any case, replaces the output's own. */
  #headers(authorization: Readonly<Record<string, string>>, given: Target["headers"]): Headers {
    const { content_type, format, http_compression } = this.#values;
    const headers = new Headers({ "Content-Type": content_type ?? TYPES[format]!, ...authorization });
    if (http_compression) headers.set("Content-Encoding", "gzip");
    for (const [name, value] of Object.entries(given)) headers.set(name, value);
    return headers;
  }
}

/** Whether `fetch` refused a port, as the Fetch standard has it (section 2.9). */
function isBadPort(error: unknown): boolean {
  return error instanceof TypeError && error.cause instanceof Error && error.cause.message === "bad port";
}
