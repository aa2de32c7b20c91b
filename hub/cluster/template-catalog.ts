/** The index templates of the cluster: the truth is the bucket of the index catalog, this hub's copy follows it. */

import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { nameIn, TEMPLATE_PREFIX, templateKey } from "./catalog-keys.ts";
import { parseMapping } from "./index-metadata.ts";
import type { IndexTemplate } from "./templates.ts";

export class TemplateCatalog {
  readonly #bucket: StateBucket;
  readonly #templates = new Map<string, IndexTemplate>();
  readonly #revisions = new Map<string, number>();

  constructor(bucket: StateBucket) {
    this.#bucket = bucket;
  }

  /** By name. */
  all(): Readonly<Record<string, IndexTemplate>> {
    return Object.fromEntries(this.#templates);
  }

  /** Throws mapping_parse, settings_invalid. */
  async put(name: string, template: IndexTemplate): Promise<void> {
    parseMapping(name, template.settings, template.mappings);
    const bytes = Buffer.from(JSON.stringify(template));
    this.take(templateKey(name), bytes, await this.#bucket.put(templateKey(name), bytes));
  }

  async delete(names: readonly string[]): Promise<void> {
    for (const name of names) {
      await this.#bucket.delete(templateKey(name));
      this.#templates.delete(name);
    }
  }

  /** Takes in a key of the bucket; `value` null: it was removed. Older revisions and other keys change nothing. */
  take(key: string, value: Uint8Array | null, revision: number): void {
    const name = nameIn(key, TEMPLATE_PREFIX);
    if (name === undefined || revision <= (this.#revisions.get(key) ?? 0)) return;
    if (value === null) {
      this.#templates.delete(name);
      return;
    }
    this.#revisions.set(key, revision);
    this.#templates.set(name, JSON.parse(Buffer.from(value).toString()) as IndexTemplate);
  }
}
