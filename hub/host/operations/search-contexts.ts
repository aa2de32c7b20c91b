/** Contexts of scrolls and of changes by query: snapshots that are read page by page. */

import type { SearchCursor } from "#hub/search/phases/contract.ts";
import type { SearchRequest } from "#hub/search/request/search-request.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { SearchedShards } from "./searched-shards.ts";

/** Contexts of a host, each of which keeps the files of its segments; callers have lower limits of their own. */
const MAX_CONTEXTS = 2_000;

/** The state of one walk. */
export interface SearchContext {
  readonly request: SearchRequest;
  readonly body: JsonObject;
  readonly opened: SearchedShards;
  /** Where the last page ended; undefined before it is known. */
  cursor: SearchCursor | undefined;
  /** Hits of the whole walk. */
  total: number | undefined;
  /** True where the last page was empty: so are all that follow. */
  isAtEnd: boolean;
}

/** The contexts of a host. */
export class SearchContexts {
  readonly #contexts = new Map<string, SearchContext>();

  get size(): number {
    return this.#contexts.size;
  }

  /** Keeps a context, whose shards are closed where it throws. Throws overloaded. */
  add(id: string, context: SearchContext): void {
    if (this.#contexts.size < MAX_CONTEXTS) {
      this.#contexts.set(id, context);
      return;
    }
    context.opened.close();
    throw new AppError("overloaded", `${MAX_CONTEXTS} contexts of scrolls and changes by query are open`);
  }

  /** Throws not_found. */
  get(id: string): SearchContext {
    const context = this.#contexts.get(id);
    if (context !== undefined) return context;
    throw new AppError("not_found", "the context was closed, or its shards were opened again");
  }

  close(ids: readonly string[]): void {
    for (const id of ids) {
      this.#contexts.get(id)?.opened.close();
      this.#contexts.delete(id);
    }
  }

  closeAll(): void {
    this.close([...this.#contexts.keys()]);
  }
}
