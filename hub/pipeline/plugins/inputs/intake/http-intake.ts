/**
 * A listener for protocols of log intake over HTTP; one that serves several answers a wrong path with those it has.
 * The events of a request are limited, as all are created before the log accepts them.
 */

import { randomUUID } from "node:crypto";
import type { TlsOptions } from "node:tls";
import type { Static } from "typebox";
import { TLS_LISTENER } from "#hub/pipeline/connections/tls.ts";
import type { InputChannel, InputContext } from "#hub/pipeline/plugins/input.ts";
import {
  type HttpAnswer,
  type HttpRefusal,
  type HttpRequest,
  HttpServer,
  textRefusal,
} from "#hub/pipeline/plugins/inputs/stream/http-server.ts";
import { SIGN_IN, SignIn } from "#hub/pipeline/plugins/inputs/stream/sign-in.ts";
import type { Event } from "#proto/event.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import { options, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

/** Senders bring some thousands at a time; each takes about a kilobyte. */
const MAX_EVENTS = 250_000;

/** Resolves when the log has the events. */
export type TakeEvents = (events: readonly Event[]) => Promise<void>;

/** A request to one of a protocol's paths. */
export interface IntakeRequest extends HttpRequest {
  /** Without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  /** When it came, ms since 1970-01-01 UTC. */
  readonly nowMs: number;
}

/** A protocol of intake over HTTP. */
export interface IntakeProtocol {
  /** Its usual name. */
  readonly title: string;
  /** Where its events are posted, for the answer to a wrong path. */
  readonly example: string;
  /** Returns true for the paths it answers. */
  serves(path: string): boolean;
  /** Returns true for requests without credentials: they take nothing and reveal nothing. */
  isOpen?(method: string, path: string): boolean;
  /** Returns a refusal as its senders read it, where they don't go by the status alone. */
  refusal?(refusal: HttpRefusal): HttpAnswer;
  /** Answers when `take` has resolved; what it throws is the answer. */
  answer(request: IntakeRequest, take: TakeEvents): Promise<HttpAnswer>;
}

/** Returns the options of such a listener; `port`: that of the protocol by convention. */
export function intakeOptions(port: number) {
  return {
    host: text("address to listen on", "0.0.0.0"),
    port: Type.Integer({
      default: port,
      minimum: 0,
      maximum: 65535,
      description: "port to listen on",
    }),
    max_content_length: Type.Integer({
      default: 20_971_520,
      minimum: 1,
      description: "maximum size of a body, compressed or not, bytes",
    }),
    max_pending_requests: Type.Integer({
      default: 200,
      minimum: 1,
      description: "maximum number of concurrent requests; further ones are answered 429",
    }),
    ...SIGN_IN,
    ...TLS_LISTENER,
  };
}

const OPTIONS = options(intakeOptions(0));

/** Requests name a path only. */
const BASE = "http://intake";

export class HttpIntake implements Component {
  readonly #context: InputContext;
  readonly #protocols: readonly IntakeProtocol[];
  readonly #server: HttpServer;
  #channel: InputChannel | undefined;

  constructor(
    context: InputContext,
    values: Static<typeof OPTIONS>,
    tls: TlsOptions | undefined,
    protocols: readonly IntakeProtocol[],
  ) {
    this.#context = context;
    this.#protocols = protocols;
    this.#server = new HttpServer({
      host: values.host,
      port: values.port,
      tls,
      maxBodyBytes: values.max_content_length,
      maxRequests: values.max_pending_requests,
      signIn: new SignIn(values, context.mayIngest),
      shares: context.shares,
      isOpen: (method, url) => this.#protocolOf(pathOf(url))?.isOpen?.(method, pathOf(url)) === true,
      refusal: (url, refusal) => this.#protocolOf(pathOf(url))?.refusal?.(refusal) ?? textRefusal(refusal),
      serve: (request) => this.#serve(request),
    });
  }

  /** The port in use, if 0 let the system choose. */
  get port(): number {
    return this.#server.port;
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
    const url = URL.parse(request.url, BASE);
    if (url === null) return { status: 400, body: "this isn't a URL\n" };
    const { pathname: path, searchParams: query } = url;
    const protocol = this.#protocolOf(path);
    if (protocol === undefined) return this.#wrongPath(path);
    const nowMs = this.#context.clock.now();
    return protocol.answer({ ...request, path, query, nowMs }, async (events) => {
      if (events.length > 0) await this.#channel!.send(events.map((event) => ({ event })));
    });
  }

  /** A sender of the only protocol is to read that its path is wrong. */
  #wrongPath(path: string): HttpAnswer {
    const refusal = { status: 404, message: this.#directions(path), headers: {} };
    const [protocol, another] = this.#protocols;
    return (another === undefined ? protocol?.refusal?.(refusal) : undefined) ?? textRefusal(refusal);
  }

  #protocolOf(path: string): IntakeProtocol | undefined {
    return this.#protocols.find((each) => each.serves(path));
  }

  #directions(path: string): string {
    const known = this.#protocols.map(({ title, example }) => `  ${title}: POST ${example}`);
    return [`nothing is taken at ${path.slice(0, 200)}; this port takes`, ...known].join("\n");
  }
}

function pathOf(url: string): string {
  return URL.parse(url, BASE)?.pathname ?? "";
}

/** Returns true for a body of JSON, by its Content-Type. */
export function isJson(headers: HttpRequest["headers"]): boolean {
  return /^\s*application\/json\b/i.test(headers["content-type"] ?? "");
}

/** Throws request_too_large. */
export function checkEvents(count: number): void {
  if (count > MAX_EVENTS)
    throw new AppError("request_too_large", `a request may bring ${MAX_EVENTS} events; send fewer at a time`);
}
