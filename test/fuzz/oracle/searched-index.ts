/** An index of a hub, over the search interface, with the documents that it should have. */

import type { Item, Json } from "./documents.ts";

export interface Hit {
  readonly _id: string;
  readonly _score: number | null;
  readonly _source?: Json;
  readonly sort?: readonly unknown[];
  readonly fields?: Json;
  readonly highlight?: Readonly<Record<string, readonly string[]>>;
  readonly inner_hits?: Readonly<Record<string, { readonly hits: Hits }>>;
}

export interface Hits {
  readonly total: number;
  readonly max_score: number | null;
  readonly hits: readonly Hit[];
}

export interface Answer {
  readonly hits: Hits;
  readonly aggregations?: Json;
  readonly _scroll_id?: string;
  readonly terminated_early?: boolean;
  readonly count?: number;
}

/** An answer that isn't a 2xx. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

/** Whole numbers that a double doesn't hold, as the sort value of a missing number, are given back as they came. */
function keepLargeNumbers(_key: string, value: unknown, { source }: { source?: string } = {}): unknown {
  const isRounded = typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? "");
  return isRounded ? (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(source!) : value;
}

/** One index, or several that are searched together. */
export class SearchedIndex {
  /** In the path of a request. */
  readonly name: string;
  /** Of all indices. */
  readonly shards: number;
  readonly #names: readonly string[];
  readonly #url: string;
  readonly #documents = new Map<string, Json>();
  #items: Item[] = [];

  /** `shards`: of each index. */
  constructor(url: string, names: readonly string[], shards: number) {
    this.#url = url;
    this.#names = names;
    this.name = names.join(",");
    this.shards = names.length * shards;
  }

  /** The documents that searches see. */
  get items(): readonly Item[] {
    return this.#items;
  }

  async create(mapping: Json): Promise<void> {
    const shards = this.shards / this.#names.length;
    const settings = {
      number_of_shards: shards,
      max_result_window: 100_000,
      "index.max_inner_result_window": 1_000,
    };
    for (const name of this.#names)
      await this.request("PUT", `/${name}`, { settings, mappings: { _doc: mapping } });
  }

  /** The index that has a document. */
  indexOf(id: string): string {
    return this.#names[Number(id) % this.#names.length]!;
  }

  /** Writes documents in one request; an id that is there already gets the new document. */
  async write(documents: Readonly<Record<string, Json>>): Promise<void> {
    const lines = Object.entries(documents).flatMap(([id, document]) => [
      { index: this.#place(id) },
      document,
    ]);
    await this.#bulk(lines);
    for (const [id, document] of Object.entries(documents)) this.#documents.set(id, document);
  }

  async delete(ids: readonly string[]): Promise<void> {
    await this.#bulk(ids.map((id) => ({ delete: this.#place(id) })));
    for (const id of ids) this.#documents.delete(id);
  }

  /** Changes fields of documents. */
  async update(changes: Readonly<Record<string, Json>>): Promise<void> {
    await this.#bulk(Object.entries(changes).flatMap(([id, doc]) => [{ update: this.#place(id) }, { doc }]));
    for (const [id, doc] of Object.entries(changes))
      this.#documents.set(id, { ...this.#documents.get(id)!, ...doc });
  }

  async refresh(): Promise<void> {
    await this.request("POST", `/${this.name}/_refresh`);
    this.#items = [...this.#documents].map(([id, root]) => ({ id, root }));
  }

  async mergeToOne(): Promise<void> {
    await this.request("POST", `/${this.name}/_forcemerge?max_num_segments=1`);
    await this.refresh();
  }

  async reopen(): Promise<void> {
    await this.request("POST", `/${this.name}/_close`);
    await this.request("POST", `/${this.name}/_open`);
    await this.refresh();
  }

  async search(body: Json, parameters = ""): Promise<Answer> {
    return (await this.request("POST", `/${this.name}/_search${parameters}`, body)) as Answer;
  }

  async request(method: string, path: string, body?: unknown): Promise<unknown> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const response = await fetch(this.#url + path, {
      method,
      headers: { "content-type": typeof body === "string" ? "application/x-ndjson" : "application/json" },
      ...(text === undefined ? {} : { body: text }),
    });
    const answer = await response.text();
    if (!response.ok) throw new Refused(response.status, answer);
    return JSON.parse(answer, keepLargeNumbers);
  }

  async remove(): Promise<void> {
    await this.request("DELETE", `/${this.name}`);
  }

  #place(id: string): Json {
    return { _index: this.indexOf(id), _id: id };
  }

  async #bulk(lines: readonly unknown[]): Promise<void> {
    if (lines.length === 0) return;
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const answer = (await this.request("POST", `/${this.#names[0]}/_doc/_bulk`, body)) as { errors: boolean };
    if (answer.errors) throw new Error(`documents are refused: ${JSON.stringify(answer).slice(0, 500)}`);
  }
}
