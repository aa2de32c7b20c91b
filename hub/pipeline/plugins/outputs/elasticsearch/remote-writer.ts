/**
 * Sends documents to another search engine through its bulk API: temporary failures are retried, permanent ones are
 * reported.
 */

import { readFileSync } from "node:fs";
import { clientTls } from "#hub/pipeline/connections/tls.ts";
import type { OutputRecord, OutputWriter, WriteRest, WriterContext } from "#hub/pipeline/plugins/output.ts";
import { parseJsonObject } from "#proto/codec/json.ts";
import { isHash } from "#proto/event.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { type BulkAction, type ElasticsearchOptions, hostUrls } from "./options.ts";
import type { SearchAnswer, SearchClient } from "./search-client.ts";

/** Statuses of a document that no further try changes. */
const HOPELESS: readonly number[] = [400, 404];

/** The document is as it should be: it was there, or it is newer. */
const CONFLICT = 409;

const NEWLINE = Buffer.from("\n");

interface Outcome {
  readonly again: number[];
  readonly refused: { place: number; reason: string }[];
}

export class RemoteWriter implements OutputWriter {
  readonly #values: ElasticsearchOptions;
  readonly #context: WriterContext;
  #client: SearchClient | undefined;
  #hasTemplate = false;

  constructor(values: ElasticsearchOptions, context: WriterContext) {
    this.#values = values;
    this.#context = context;
  }

  async write(records: readonly OutputRecord[], signal: AbortSignal): Promise<WriteRest> {
    const client = await this.#connected();
    if (!this.#hasTemplate) {
      await putTemplate(client, this.#values, signal);
      this.#hasTemplate = true;
    }
    const outcome: Outcome = { again: [], refused: [] };
    await this.#bulk(client, records, 0, outcome, signal);
    return outcome;
  }

  async stop(): Promise<void> {
    this.#client?.close();
    this.#client = undefined;
  }

  /**
   * Sends records, of which the first has the index `first`; what is too long for one request, or makes it none, goes
   * in halves.
   */
  async #bulk(
    client: SearchClient,
    records: readonly OutputRecord[],
    first: number,
    outcome: Outcome,
    signal: AbortSignal,
  ): Promise<void> {
    if (records.length === 0) return;
    const { bulk_path, parameters } = this.#values;
    const query = new URLSearchParams(parameters).toString();
    const body = { type: "application/x-ndjson", data: Buffer.concat(records.flatMap(bulkLines)) };
    const path = `${bulk_path ?? "/_bulk"}${query === "" ? "" : `?${query}`}`;
    const answer = await client.request("POST", path, body, signal);
    if (answer.status === 200) {
      this.#settle(answer, records, first, outcome);
      return;
    }
    if (answer.status !== 413 && answer.status !== 400) throw refusal(answer);
    if (records.length === 1) {
      outcome.refused.push({ place: first, reason: refusal(answer).message });
      return;
    }
    const half = records.length >> 1;
    await this.#bulk(client, records.slice(0, half), first, outcome, signal);
    await this.#bulk(client, records.slice(half), first + half, outcome, signal);
  }

  #settle({ body }: SearchAnswer, records: readonly OutputRecord[], first: number, outcome: Outcome): void {
    const items = parseJsonObject(body)?.["items"];
    if (!Array.isArray(items) || items.length !== records.length)
      throw new AppError("unavailable", "the answer to a bulk request has no result for each document");
    for (const [at, item] of items.entries()) {
      const result = resultOf(item);
      const status = Number(result["status"]);
      // An update that met another one isn't made yet.
      const isThere = status === CONFLICT && !(isHash(item) && "update" in item);
      if ((status >= 200 && status < 300) || isThere) continue;
      const isHopeless = HOPELESS.includes(status) || this.#values.dlq_custom_codes.includes(status);
      // A document that is to be removed and isn't there is removed.
      if (status === 404 && result["result"] === "not_found") continue;
      if (isHopeless)
        outcome.refused.push({ place: first + at, reason: `status ${status}: ${reasonOf(result)}` });
      else outcome.again.push(first + at);
    }
  }

  /** Loads the client with the first records: threads that only shape documents need no HTTP. */
  async #connected(): Promise<SearchClient> {
    const values = this.#values;
    const { SearchClient } = await import("./search-client.ts");
    this.#client ??= new SearchClient({
      hosts: hostUrls(values),
      headers: values.custom_headers,
      authorization: (host, isRejected) => this.#authorization(host, isRejected),
      tls: clientTls(
        {
          ...values,
          ssl_enabled: true,
          ssl_certificate_authorities:
            values.cacert === undefined ? values.ssl_certificate_authorities : [values.cacert],
          ssl_verification_mode:
            values.ssl_certificate_verification === false ? "none" : values.ssl_verification_mode,
        },
        (path) => path,
      ),
      timeoutMs: values.timeout * 1000,
      compressionLevel: values.http_compression === false ? 0 : values.compression_level,
      checkTarget: this.#context.checkTarget,
    });
    return this.#client;
  }

  #token = "";

  async #authorization(host: URL, isRejected: boolean): Promise<string | undefined> {
    const { api_key, user, password, connection } = this.#values;
    if (connection !== undefined) {
      this.#token = await this.#context.bearer(connection, host.host, ...(isRejected ? [this.#token] : []));
      return `Bearer ${this.#token}`;
    }
    if (api_key !== undefined)
      return `ApiKey ${api_key.includes(":") ? Buffer.from(api_key).toString("base64") : api_key}`;
    const name = user ?? decodeURIComponent(host.username);
    if (name === "") return undefined;
    const secret = password ?? decodeURIComponent(host.password);
    return `Basic ${Buffer.from(`${name}:${secret}`).toString("base64")}`;
  }
}

function bulkLines({ target, body, id }: OutputRecord): Uint8Array[] {
  const action = JSON.parse(target) as BulkAction;
  // An id of its own makes that a document which is sent once more is the same one.
  const line = {
    [action.name]: { _index: action.index, _id: action.id === "" ? id : action.id, ...action.members },
  };
  const lines = [Buffer.from(JSON.stringify(line)), NEWLINE];
  return action.name === "delete" ? lines : [...lines, body, NEWLINE];
}

function resultOf(item: unknown): JsonObject {
  const [result] = isHash(item) ? Object.values(item) : [];
  return isHash(result) ? result : {};
}

function reasonOf({ error }: JsonObject): string {
  if (!isHash(error)) return JSON.stringify(error ?? "no reason was given").slice(0, 500);
  const cause = isHash(error["caused_by"]) ? `: ${String(error["caused_by"]["reason"])}` : "";
  return `${String(error["type"])}: ${String(error["reason"])}${cause}`.slice(0, 500);
}

/** Returns why a whole request failed, as what is tried again. */
function refusal({ status, body }: SearchAnswer): AppError {
  const { error } = parseJsonObject(body) ?? {};
  const reason = error === undefined ? "" : `: ${reasonOf({ error })}`;
  const remedy =
    status === 401 || status === 403 ? "; check user and password, or api_key, and what they may do" : "";
  return new AppError("unavailable", `the search engine answered ${status}${reason}${remedy}`);
}

/** From this version on, templates that are put together are what `auto` means. */
const COMPOSABLE_FROM = 8;

/** Puts the template that the options name, unless there is one and it is to stay. Throws unavailable. */
async function putTemplate(
  client: SearchClient,
  { manage_template, template, template_name, template_overwrite, template_api }: ElasticsearchOptions,
  signal: AbortSignal,
): Promise<void> {
  if (!manage_template || template === undefined) return;
  const isComposable =
    template_api === "composable" ||
    (template_api === "auto" && (await majorVersion(client, signal)) >= COMPOSABLE_FROM);
  const path = `/${isComposable ? "_index_template" : "_template"}/${encodeURIComponent(template_name)}`;
  if (!template_overwrite && (await client.request("HEAD", path, undefined, signal)).status === 200) return;
  const body = { type: "application/json", data: readFileSync(template) };
  const { status, body: answer } = await client.request("PUT", path, body, signal);
  if (status !== 200)
    throw new AppError(
      "unavailable",
      `the search engine answered ${status} to the template ${template}: ${answer.slice(0, 500)}`,
    );
}

async function majorVersion(client: SearchClient, signal: AbortSignal): Promise<number> {
  const { body } = await client.request("GET", "/", undefined, signal);
  const version = parseJsonObject(body)?.["version"];
  return isHash(version) ? Number.parseInt(String(version["number"]), 10) : 0;
}
