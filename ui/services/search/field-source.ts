/** The fields of an index expression and their values, for who writes a filter. */

import { type FieldCatalogue, readFields, type TopValue } from "./fields.ts";
import type { SearchClient } from "./search-client.ts";
import { topValuesRequest } from "./search-request.ts";

/** Values are those of so long. */
const VALUES_OF_MS = 3_600_000;

export class FieldSource {
  readonly #client: SearchClient;
  #index: string | undefined;
  #fields: FieldCatalogue | undefined;

  constructor(client: SearchClient) {
    this.#client = client;
  }

  /** Undefined until they are known. */
  get fields(): FieldCatalogue | undefined {
    return this.#fields;
  }

  /** Learns the fields of an index expression; without them nothing is suggested. */
  async load(index: string): Promise<void> {
    if (index === this.#index) return;
    this.#index = index;
    try {
      const fields = readFields(await this.#client.fieldCapabilities(index));
      if (this.#index === index) this.#fields = fields;
    } catch {
      // A filter is written without suggestions, too.
      this.#index = undefined;
    }
  }

  /** Returns the most frequent values of a field; none where they can't be counted. */
  async valuesOf(name: string): Promise<readonly TopValue[]> {
    const countable = this.#fields?.get(name)?.aggregatableName;
    if (countable === undefined || this.#index === undefined) return [];
    const toMs = Date.now();
    const body = topValuesRequest(
      { query: "", filters: [] },
      { fromMs: toMs - VALUES_OF_MS, toMs },
      countable,
    );
    try {
      const { aggregations } = await this.#client.search(this.#index, body);
      return (aggregations?.values?.buckets ?? []).map((bucket) => ({
        value: bucket.key_as_string ?? String(bucket.key),
        count: bucket.doc_count,
      }));
    } catch {
      return [];
    }
  }
}
