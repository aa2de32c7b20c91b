/** Posts batches of records to a collector of logs over HTTP: in order, bounded, each until it is taken or refused. */

import type { Static } from "typebox";
import { clientTls, TLS_CLIENT } from "#hub/pipeline/connections/tls.ts";
import type {
  OutputContext,
  OutputRecord,
  OutputWriter,
  WriteRest,
  WriterContext,
} from "#hub/pipeline/plugins/output.ts";
import {
  type SearchAnswer,
  SearchClient,
} from "#hub/pipeline/plugins/outputs/elasticsearch/search-client.ts";
import { AppError } from "#proto/kit/errors.ts";
import { flag, optional, options, table, text } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

const { ssl_enabled: _schemeTells, ...TLS } = TLS_CLIENT;

/** Level of gzip: packing must not cost more than making the batch. */
const COMPRESSION_LEVEL = 3;

/** Part of an answer that a message quotes. */
const REASON_LENGTH = 300;

/** Statuses by which a server refuses what it was sent, not the sender or the target. */
const REFUSALS = new Set([400, 406, 413, 415, 422]);

/** Options of every output that pushes. */
export const PUSH_OPTIONS = {
  url: text("address of the server; the protocol's path is added if the address has none"),
  headers: table("headers of each request"),
  user: optional(text("user name to send (Basic)")),
  password: optional(text("password to send")),
  token: optional(text("token to send")),
  connection: optional(text("name of a connected account whose access token is sent")),
  batch_events: Type.Integer({
    default: 1_000,
    minimum: 1,
    maximum: 2_048,
    description: "maximum number of events per request",
  }),
  batch_bytes: Type.Integer({
    default: 1_048_576,
    minimum: 1_024,
    maximum: 4_194_304,
    description: "maximum size of the events of a request, bytes, unless a single one is longer",
  }),
  http_compression: flag("compresses bodies with gzip", false),
  request_timeout: Type.Number({
    default: 60,
    exclusiveMinimum: 0,
    description: "timeout of a request, s",
  }),
  ...TLS,
};

const OPTIONS = options(PUSH_OPTIONS);
type Options = Static<typeof OPTIONS>;

/** How a protocol frames batches. */
export interface PushProtocol {
  /** Where batches are posted when the address has no path. */
  readonly path: string;
  readonly contentType: string;
  /** Word before the token in Authorization. */
  readonly tokenScheme: string;
  /** Returns what must be the same for records of one request, as headers. */
  headersOf(target: string): Readonly<Record<string, string>>;
  body(records: readonly OutputRecord[]): Uint8Array;
  /** Returns why a server that answered 2xx left out records; undefined: it took all. */
  leftOut?(answer: SearchAnswer): string | undefined;
}

/** Reports an address that can't be one, and credentials that exclude each other. */
export function checkPushOptions(values: Options, { report }: OutputContext): void {
  const { url, user, password, token, connection } = values;
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    report("error", "url", `"${url}" isn't an address of HTTP`, 'write: url => "https://host:port"');
  if ((user === undefined) !== (password === undefined))
    report("error", "user", "user and password go together", "give both, or neither");
  if ([user, token, connection].filter((each) => each !== undefined).length > 1)
    report("error", "token", "there are several ways to sign in", "keep one of user, token and connection");
}

type Result = "taken" | { readonly again: AppError } | { readonly refused: string };

export class PushWriter implements OutputWriter {
  readonly parallel = 1;
  readonly #values: Options;
  readonly #context: WriterContext;
  readonly #protocol: PushProtocol;
  readonly #url: URL;
  readonly #client: SearchClient;
  #token = "";

  constructor(values: Options, context: WriterContext, protocol: PushProtocol) {
    this.#values = values;
    this.#context = context;
    this.#protocol = protocol;
    this.#url = new URL(values.url);
    if (this.#url.pathname === "/") this.#url.pathname = protocol.path;
    this.#client = new SearchClient({
      hosts: [new URL(this.#url.origin)],
      headers: values.headers,
      authorization: (host, isRejected) => this.#authorization(host, isRejected),
      tls: clientTls({ ...values, ssl_enabled: true }, (path) => path),
      timeoutMs: values.request_timeout * 1000,
      compressionLevel: values.http_compression ? COMPRESSION_LEVEL : 0,
      checkTarget: context.checkTarget,
    });
  }

  /** Throws unavailable if the server took nothing, with its reason. */
  async write(records: readonly OutputRecord[], signal: AbortSignal): Promise<WriteRest> {
    const again: number[] = [];
    const refused: { place: number; reason: string }[] = [];
    let failure: AppError | undefined;
    for (const places of this.#requests(records)) {
      const rest = await this.#deliver(places, records, signal, refused);
      again.push(...rest.places);
      failure ??= rest.failure;
    }
    if (failure !== undefined && again.length === records.length) throw failure;
    return { again, refused };
  }

  async stop(): Promise<void> {
    this.#client.close();
  }

  /** Returns the indexes of records by the headers that they need, in their order. */
  #requests(records: readonly OutputRecord[]): readonly number[][] {
    const groups = Map.groupBy(records.keys(), (place) =>
      JSON.stringify(this.#protocol.headersOf(records[place]!.target)),
    );
    return [...groups.values()];
  }

  /** Sends records batch by batch; the first that isn't taken holds up those after it, so that their order stays. */
  async #deliver(
    places: readonly number[],
    records: readonly OutputRecord[],
    signal: AbortSignal,
    refused: { place: number; reason: string }[],
  ): Promise<{ readonly places: readonly number[]; readonly failure?: AppError }> {
    const waiting = this.#batches(places, records);
    for (let batch = waiting.shift(); batch !== undefined; batch = waiting.shift()) {
      const result = await this.#send(
        batch.map((place) => records[place]!),
        signal,
      );
      if (result === "taken") continue;
      if ("again" in result) return { places: [...batch, ...waiting.flat()], failure: result.again };
      // One record can be the reason why all are refused: halves find it.
      const half = Math.ceil(batch.length / 2);
      if (batch.length === 1) refused.push({ place: batch[0]!, reason: result.refused });
      else waiting.unshift(batch.slice(0, half), batch.slice(half));
    }
    return { places: [] };
  }

  #batches(places: readonly number[], records: readonly OutputRecord[]): number[][] {
    const { batch_events, batch_bytes } = this.#values;
    const batches: number[][] = [];
    let bytes = Number.POSITIVE_INFINITY;
    for (const place of places) {
      const { length } = records[place]!.body;
      if (bytes + length > batch_bytes || batches.at(-1)!.length >= batch_events) {
        batches.push([]);
        bytes = 0;
      }
      batches.at(-1)!.push(place);
      bytes += length;
    }
    return batches;
  }

  async #send(records: readonly OutputRecord[], signal: AbortSignal): Promise<Result> {
    const { contentType: type } = this.#protocol;
    const { pathname, search, host } = this.#url;
    let answer: SearchAnswer;
    try {
      answer = await this.#client.request(
        "POST",
        pathname + search,
        { type, data: this.#protocol.body(records) },
        signal,
        this.#protocol.headersOf(records[0]!.target),
      );
    } catch (error) {
      if (signal.aborted) throw new AppError("cancelled", "the output is stopped", { cause: error });
      if (!(error instanceof AppError) || error.code === "forbidden") throw error;
      // An account that must be connected again isn't a fault of the events.
      return {
        again: error.retryable ? error : new AppError("unavailable", error.message, { cause: error }),
      };
    }
    const { status } = answer;
    const reason = `${host} answered ${status}: ${answer.body.trim().slice(0, REASON_LENGTH)}`;
    if (REFUSALS.has(status)) return { refused: reason };
    if (status < 200 || status >= 300) return { again: new AppError("unavailable", reason + remedy(status)) };
    return this.#leftOut(answer, records.length);
  }

  /** A server may leave out records of a batch without saying which; sent again, the others would be there twice. */
  #leftOut(answer: SearchAnswer, count: number): Result {
    const reason = this.#protocol.leftOut?.(answer);
    if (reason === undefined) return "taken";
    if (count === 1) return { refused: reason };
    this.#context.log.error({ output: this.#context.id, events: count, reason }, "a server left out events");
    return "taken";
  }

  async #authorization(host: URL, isRejected: boolean): Promise<string | undefined> {
    const { user, password, token, connection } = this.#values;
    if (user !== undefined) return `Basic ${Buffer.from(`${user}:${password ?? ""}`).toString("base64")}`;
    if (token !== undefined) return `${this.#protocol.tokenScheme} ${token}`;
    if (connection === undefined) return undefined;
    this.#token = await this.#context.bearer(connection, host.host, isRejected ? this.#token : undefined);
    return `Bearer ${this.#token}`;
  }
}

/** Events wait for what people can fix, as they do for a server that is away. */
function remedy(status: number): string {
  if (status === 401 || status === 403) return " (look at the output's token, or user and password)";
  return status === 404 || status === 405 ? " (look at the output's url)" : "";
}
