/** Input http: events that clients post. */

import { randomUUID } from "node:crypto";
import type { TlsOptions } from "node:tls";
import type { Static } from "typebox";
import { listenerTls, TLS_LISTENER } from "#hub/pipeline/connections/tls.ts";
import { type CodecMaker, codecOption } from "#hub/pipeline/plugins/codec.ts";
import { isUtf8, toUtf8 } from "#hub/pipeline/plugins/codecs/plain.ts";
import { defineInput, type InputChannel, type InputContext } from "#hub/pipeline/plugins/input.ts";
import {
  type HttpAnswer,
  type HttpRequest,
  HttpServer,
} from "#hub/pipeline/plugins/inputs/stream/http-server.ts";
import { SIGN_IN, SignIn } from "#hub/pipeline/plugins/inputs/stream/sign-in.ts";
import type { Event } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import { oneOf, optional, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const OPTIONS = options({
  host: text("address to listen on", "0.0.0.0"),
  port: Type.Integer({ default: 8080, minimum: 0, maximum: 65535, description: "port to listen on" }),
  codec: codecOption("codec for bodies whose Content-Type has no codec in additional_codecs", "plain"),
  additional_codecs: Type.Record(Type.String(), Type.Unknown(), {
    description: "codecs by Content-Type",
    default: { "application/json": "json", "application/x-ndjson": "json_lines" },
  }),
  ...SIGN_IN,
  max_content_length: Type.Integer({
    default: 104_857_600,
    minimum: 1,
    description: "maximum size of a body, bytes",
  }),
  max_pending_requests: Type.Integer({
    default: 200,
    minimum: 1,
    description: "maximum number of concurrent requests; further ones are answered 429",
  }),
  response_code: Type.Enum([200, 201, 202, 204], {
    default: 200,
    description: "status of the answer once the events are in the log",
  }),
  response_headers: Type.Record(Type.String(), Type.String(), {
    description: "headers of an answer",
    default: { "Content-Type": "text/plain" },
  }),
  remote_host_target_field: optional(
    text("target field for the client's address; default: host.ip, or host if ECS is off"),
  ),
  request_headers_target_field: optional(
    text(
      "target field for the request's headers, with _ for -, as content_type, http_host, http_user_agent, http_accept, and of its first line request_method, request_path, http_version; default: [@metadata][input][http][request][headers], or headers if ECS is off",
    ),
  ),
  threads: withoutEffect("one thread reads all connections"),
  ecs_compatibility: oneOf(
    ["disabled", "v1", "v8"],
    "v1 and v8 name fields by the Elastic Common Schema",
    "v8",
  ),
  ...TLS_LISTENER,
});

type Options = Static<typeof OPTIONS>;

export const httpInput = defineInput({
  name: "http",
  description: "receives events from HTTP requests",
  options: OPTIONS,
  create(values, { codec, resolvePath, report }) {
    const fallback = codec(values.codec);
    const byType = new Map(
      Object.entries(values.additional_codecs).map(([type, each]) => [type.toLowerCase(), codec(each)]),
    );
    if ((values.user === undefined) !== (values.password === undefined))
      report("error", "user", "user and password go together", "give both, or neither");
    const tls = listenerTls(values, resolvePath);
    const codecOf = (type: string): CodecMaker => byType.get(type) ?? fallback;
    return (context) => new HttpInput(context, values, codecOf, tls);
  },
});

class HttpInput implements Component {
  readonly #context: InputContext;
  readonly #values: Options;
  readonly #codecOf: (type: string) => CodecMaker;
  readonly #server: HttpServer;
  #channel: InputChannel | undefined;

  constructor(
    context: InputContext,
    values: Options,
    codecOf: (type: string) => CodecMaker,
    tls: TlsOptions | undefined,
  ) {
    this.#context = context;
    this.#values = values;
    this.#codecOf = codecOf;
    const { host, port, max_content_length, max_pending_requests } = values;
    this.#server = new HttpServer({
      host,
      port,
      tls,
      maxBodyBytes: max_content_length,
      maxRequests: max_pending_requests,
      signIn: new SignIn(values, context.mayIngest),
      shares: context.shares,
      serve: (request) => this.#serve(request),
    });
  }

  async start(): Promise<void> {
    this.#channel = this.#context.open({ key: randomUUID() });
    await this.#server.start();
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    this.#channel?.close();
  }

  async #serve(request: HttpRequest): Promise<HttpAnswer> {
    const { response_code, response_headers } = this.#values;
    const type = (request.headers["content-type"] ?? "").split(";")[0]!.trim().toLowerCase();
    const makeCodec = this.#codecOf(type);
    const codec = makeCodec();
    const body = bodyOf(request, makeCodec);
    // Also of an empty body: a GET's data is in its query.
    const decoded = codec.decode(body, this.#context.clock.now());
    const events = [...decoded, ...(codec.flush?.() ?? [])];
    const headers = headerFields(request);
    for (const event of events) this.#decorate(event, request, headers);
    if (events.length > 0) await this.#channel!.send(events.map((event) => ({ event })));
    return { status: response_code, headers: response_headers, body: response_code === 204 ? "" : "ok" };
  }

  #decorate(event: Event, request: HttpRequest, headers: Readonly<Record<string, string>>): void {
    const { ecs_compatibility, remote_host_target_field, request_headers_target_field } = this.#values;
    const isLegacy = ecs_compatibility === "disabled";
    const setAbsent = (field: string, value: unknown): void => {
      const reference = fieldReference(field);
      if (value !== undefined && !event.has(reference)) event.trySet(reference, value);
    };
    setAbsent(remote_host_target_field ?? (isLegacy ? "host" : "[host][ip]"), request.remoteAddress);
    if (isLegacy) {
      setAbsent(request_headers_target_field ?? "headers", { ...headers });
      return;
    }
    const { domain, port } = authority(headers["http_host"]);
    setAbsent("[url][domain]", domain);
    setAbsent("[url][port]", port);
    const [path, ...query] = request.url.split("?");
    setAbsent("[url][path]", path);
    if (query.length > 0) setAbsent("[url][query]", query.join("?"));
    setAbsent("[http][request][method]", request.method);
    setAbsent("[http][request][mime_type]", headers["content_type"]);
    setAbsent("[http][request][body][bytes]", request.body.length);
    setAbsent("[http][version]", request.httpVersion);
    setAbsent("[user_agent][original]", headers["http_user_agent"]);
    setAbsent(request_headers_target_field ?? "[@metadata][input][http][request][headers]", {
      ...headers,
    });
  }
}

/** Headers that existing configurations know by another name than with `_` for `-`. */
const RENAMED: Readonly<Record<string, string>> = {
  accept: "http_accept",
  host: "http_host",
  "user-agent": "http_user_agent",
};

/** Returns a request's headers but its password, and its first line, by the names that existing configurations know. */
function headerFields({ headers, method, url, httpVersion }: HttpRequest): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (name === "authorization" || value === undefined) continue;
    fields[RENAMED[name] ?? name.replaceAll("-", "_")] = String(value);
  }
  return { ...fields, request_method: method, request_path: url, http_version: `HTTP/${httpVersion}` };
}

/**
 * Returns the body in UTF-8 where the codec reads that. It is taken as it is where its type names no encoding, or one that
 * isn't known.
 */
function bodyOf({ headers, body }: HttpRequest, { charset: read = "" }: CodecMaker): Uint8Array {
  const charset = /;\s*charset="?([^\s;"]+)/i.exec(headers["content-type"] ?? "")?.[1];
  if (charset === undefined || !isUtf8(read)) return body;
  try {
    return toUtf8(charset)(body);
  } catch {
    return body;
  }
}

/** Returns the host and port of a header Host. */
function authority(host = ""): { domain?: string; port?: number } {
  const [, v6, name, port] = /^(?:\[([^\]]*)\]|([^:]+))(?::(\d{1,5}))?$/.exec(host) ?? [];
  const domain = v6 ?? name;
  return { ...(domain !== undefined && { domain }), ...(port !== undefined && { port: Number(port) }) };
}
