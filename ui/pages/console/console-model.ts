/** The console's state: metadata of the hub, requests, answers. */

import { msg, str } from "@lit/localize";
import { type Account, readOwn, writeOwn } from "#ui/services/browser/own-texts.ts";
import { type AnswerTable, answerTable } from "#ui/services/console/answer-table.ts";
import type { ConsoleFacts } from "#ui/services/console/completion.ts";
import type { ConsoleAnswer, ConsoleClient } from "#ui/services/console/console-client.ts";
import { type Description, type Endpoint, readEndpoints } from "#ui/services/console/endpoints.ts";
import { addToHistory, type PastRequest, readHistory, writeHistory } from "#ui/services/console/history.ts";
import { type ConsoleRequest, formatRequest, toCall } from "#ui/services/console/requests.ts";
import { knownViewer } from "#ui/services/hub/session-client.ts";
import { type FieldCapabilities, readFields } from "#ui/services/search/fields.ts";
import { formatCount } from "#ui/services/text/format.ts";

export interface Result {
  readonly request: ConsoleRequest;
  /** Undefined while it is loading. */
  readonly answer: ConsoleAnswer | undefined;
  /** Its rows, if it has some. */
  readonly table: AnswerTable | undefined;
}

/** Longer answers aren't read for rows: that would stall the page. */
const MAX_TABLE_BYTES = 3_000_000;
const TEXT_KEY = "console.text";
/** Content of a new console: the most common first requests. */
export const FIRST_TEXT = `# Ctrl+Enter runs the request at the cursor, or all that are selected.

GET logs-*/_search
{
  "query": { "match_all": {} }
}

GET _cat/indices?v

GET logs-*/_search
{
  "size": 0,
  "aggs": {
    "per_hour": {
      "date_histogram": { "field": "@timestamp", "interval": "hour" }
    }
  }
}

GET _analyze
{
  "tokenizer": "standard",
  "filter": ["lowercase", "unique"],
  "text": "Connection refused, connection lost"
}
`;

export class ConsoleModel implements ConsoleFacts {
  endpoints: readonly Endpoint[] = [];
  indices: readonly string[] = [];
  results: readonly Result[] = [];
  history: readonly PastRequest[] = [];
  isRunning = false;
  /** False if the browser can't keep the text. */
  isKept = true;

  #account: Account;
  readonly #client: ConsoleClient;
  readonly #onChange: () => void;
  readonly #onFacts: () => void;
  readonly #fields = new Map<string, readonly { name: string; type: string }[]>();
  #abort = new AbortController();

  /** `onFacts`: more suggestions are possible. */
  constructor(client: ConsoleClient, onChange: () => void, onFacts: () => void) {
    this.#client = client;
    this.#onChange = onChange;
    this.#onFacts = onFacts;
  }

  /** True while it isn't known whose text is kept. */
  get isOfNobody(): boolean {
    return this.#account === undefined;
  }

  /**
   * Loads what this account left in the browser: the history, and the text that it returns. What was typed before is
   * appended to that.
   */
  async loadOwn(typed: () => string): Promise<string> {
    this.#account = (await knownViewer())?.name;
    this.isKept = !this.isOfNobody;
    this.history = readHistory(this.#account);
    this.#onChange();
    const text = readOwn(this.#account, TEXT_KEY) ?? FIRST_TEXT;
    const more = typed();
    if (more === "" || more === FIRST_TEXT || more === text) return text;
    const whole = text === FIRST_TEXT ? more : `${text.trimEnd()}\n\n${more}`;
    this.writeText(whole);
    return whole;
  }

  /** Loads the facts for suggestions. What can't be loaded isn't suggested. */
  async loadFacts(): Promise<void> {
    const description = fetch("/api/openapi.json").then(
      (response) => response.json() as Promise<Description>,
    );
    await Promise.allSettled([
      description.then((found) => {
        this.endpoints = readEndpoints(found);
      }),
      this.#loadIndices(),
    ]);
    this.#onFacts();
  }

  fieldsOf(index: string): readonly { readonly name: string; readonly type: string }[] {
    const known = this.#fields.get(index);
    if (known !== undefined) return known;
    this.#fields.set(index, []);
    void this.#loadFields(index);
    return [];
  }

  /** Runs requests one after another; an error ends the series. */
  async run(requests: readonly ConsoleRequest[]): Promise<void> {
    this.stop();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    this.isRunning = true;
    this.results = [];
    for (const request of requests) {
      const before = this.results;
      this.results = [...before, { request, answer: undefined, table: undefined }];
      this.#onChange();
      let answer: ConsoleAnswer;
      try {
        answer = await this.#client.send(toCall(request), signal);
      } catch {
        return;
      }
      this.results = [...before, { request, answer, table: tableIn(answer) }];
      this.#remember(request, answer.status);
      if (answer.status === 0 || answer.status >= 500) break;
    }
    this.isRunning = false;
    this.#onChange();
    this.#forgetFacts(requests);
  }

  /** Cancels the running request. */
  stop(): void {
    this.#abort.abort();
    this.isRunning = false;
    this.results = this.results.filter(({ answer }) => answer !== undefined);
    this.#onChange();
  }

  forgetHistory(): void {
    this.history = [];
    writeHistory(this.#account, []);
    this.#onChange();
  }

  /**
   * Returns the indices that an expression denotes with their number of documents, as `name 1,234 documents`; [] if
   * that can't be determined.
   */
  async concerned(expression: string): Promise<string[]> {
    const answer = await this.#ask(`/_cat/indices/${expression}?format=json&h=index,docs.count`);
    if (!Array.isArray(answer)) return [];
    return (answer as { index: string; "docs.count": string }[]).map((row) =>
      msg(str`${row.index}  ${formatCount(Number(row["docs.count"]))} documents`),
    );
  }

  writeText(text: string): void {
    const isKept = writeOwn(this.#account, TEXT_KEY, text === FIRST_TEXT ? undefined : text);
    if (isKept === this.isKept) return;
    this.isKept = isKept;
    this.#onChange();
  }

  #remember(request: ConsoleRequest, status: number): void {
    const entry = { atMs: Date.now(), text: formatRequest(request), status };
    this.history = addToHistory(readHistory(this.#account), entry);
    writeHistory(this.#account, this.history);
  }

  /** Facts that the request changed are loaded again when they are needed. */
  #forgetFacts(requests: readonly ConsoleRequest[]): void {
    if (requests.every(({ method }) => method === "GET" || method === "HEAD")) return;
    this.#fields.clear();
    void this.#loadIndices();
  }

  async #loadIndices(): Promise<void> {
    const [indices, aliases] = await Promise.all([
      this.#ask("/_cat/indices?format=json&h=index"),
      this.#ask("/_cat/aliases?format=json&h=alias"),
    ]);
    const names = [
      ...((indices ?? []) as { index: string }[]).map(({ index }) => index),
      ...((aliases ?? []) as { alias: string }[]).map(({ alias }) => alias),
    ];
    this.indices = [...new Set(names)].toSorted();
  }

  async #loadFields(index: string): Promise<void> {
    const answer = await this.#ask(`/${index}/_field_caps?fields=*&ignore_unavailable=true`);
    const catalogue = readFields((answer ?? {}) as FieldCapabilities);
    const fields = [...catalogue.values()].flatMap(({ name, type, aggregatableName }) =>
      aggregatableName === undefined || aggregatableName === name
        ? [{ name, type }]
        : [
            { name, type },
            { name: aggregatableName, type: "keyword" },
          ],
    );
    this.#fields.set(index, fields);
    this.#onFacts();
  }

  async #ask(path: string): Promise<unknown> {
    const call = { method: "GET", path, body: undefined, contentType: undefined };
    const { status, text } = await this.#client.send(call, new AbortController().signal);
    return status === 200 ? (JSON.parse(text) as unknown) : undefined;
  }
}

function tableIn({ status, contentType, text, sizeBytes }: ConsoleAnswer): AnswerTable | undefined {
  if (status !== 200 || !contentType.includes("json") || sizeBytes > MAX_TABLE_BYTES) return undefined;
  return answerTable(text);
}
