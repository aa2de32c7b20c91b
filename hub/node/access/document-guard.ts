/** Restricts documents to the indices that the sender of the current request may access. */

import type { Documents, WriteItem } from "#hub/api/ports/documents.ts";
import type { AppendRun } from "#hub/cluster/writes/append-run.ts";
import type { AppendResult, StoredDocument, WriteOptions, WriteResult } from "#hub/cluster/writes/writes.ts";
import { toAppError } from "#proto/kit/errors.ts";
import type { GuardedIndices } from "./index-guard.ts";

/** Documents of accessible indices; items of others fail individually. */
export class GuardedDocuments implements Documents {
  readonly #inner: Documents;
  readonly #indices: GuardedIndices;

  constructor(inner: Documents, indices: GuardedIndices) {
    this.#inner = inner;
    this.#indices = indices;
  }

  async write(items: readonly WriteItem[], options: WriteOptions): Promise<WriteResult[]> {
    const refusals = items.map((item) => this.#refusal(item));
    const allowed = items.filter((_item, position) => refusals[position] === undefined);
    const results = allowed.length === 0 ? [] : await this.#inner.write(allowed, options);
    const written = results.values();
    return refusals.map((refusal) => refusal ?? written.next().value!);
  }

  append(run: AppendRun, options: WriteOptions): Promise<AppendResult | null> {
    // `write` refuses the items individually.
    if (this.#refusal({ index: run.indexNames[0]!, id: undefined }) !== undefined)
      return Promise.resolve(null);
    return this.#inner.append(run, options);
  }

  async get(
    index: string,
    id: string,
    options: { readonly routing?: string },
  ): Promise<StoredDocument | null> {
    this.#indices.requireRead(index);
    return this.#inner.get(index, id, options);
  }

  #refusal({
    index,
    id,
  }: {
    readonly index: string;
    readonly id?: string | undefined;
  }): WriteResult | undefined {
    try {
      this.#indices.requireReach(index);
      return undefined;
    } catch (error) {
      return { index, id, error: toAppError(error) };
    }
  }
}
