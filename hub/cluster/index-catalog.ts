/**
 * The indices and templates of the cluster. The truth is the bucket `indices`, changed by compare-and-set; this
 * hub's copy follows it by a watch. Reads are answered from the copy, changes are in it when they resolve.
 */

import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { type AliasAction, isAlias, withAlias, withoutAlias, writeIndexOf } from "./aliases.ts";
import { DELETED_PREFIX, INDEX_PREFIX, indexKey, nameIn } from "./catalog-keys.ts";
import { decodeIndex, encodeIndex, type IndexMetadata } from "./index-metadata.ts";
import {
  checkIndexName,
  decodeDateMath,
  indexMissing,
  type ResolveOptions,
  resolveIndices,
} from "./index-names.ts";
import { changeSettings } from "./index-settings.ts";
import { newIndex } from "./new-index.ts";
import { TemplateCatalog } from "./template-catalog.ts";
import type { IndexDefinition, IndexTemplate } from "./templates.ts";

type JsonObject = Record<string, unknown>;

interface Known {
  readonly index: IndexMetadata;
  readonly revision: number;
}

export interface CatalogOptions {
  readonly bucket: StateBucket;
  readonly log: Logger;
  readonly now: () => number;
  /** Shards of an index that neither its definition nor a template gives a number. */
  readonly defaultShards?: number;
}

/** Tries of one change against others that change the same index. */
const CHANGE_TRIES = 20;

export class IndexCatalog implements Component {
  readonly #options: CatalogOptions;
  readonly #indices = new Map<string, IndexMetadata>();
  readonly #byUuid = new Map<string, IndexMetadata>();
  readonly #revisions = new Map<string, number>();
  readonly #templates: TemplateCatalog;
  readonly #listeners = new Set<(index: IndexMetadata | undefined, uuid: string) => void>();
  readonly #abort = new AbortController();
  #following: Promise<void> = Promise.resolve();

  constructor(options: CatalogOptions) {
    this.#options = options;
    this.#templates = new TemplateCatalog(options.bucket);
  }

  /** Loads everything there is, then follows changes. */
  async start(): Promise<void> {
    const { bucket } = this.#options;
    for (const key of await bucket.keys()) {
      const entry = await bucket.get(key);
      if (entry !== null) this.#take(key, entry.value, entry.revision);
    }
    this.#following = this.#follow();
  }

  async stop(): Promise<void> {
    this.#abort.abort();
    await this.#following;
  }

  /** Calls `listener` after each change: with the index as it is now, or undefined when the one of `uuid` is gone. */
  onChange(listener: (index: IndexMetadata | undefined, uuid: string) => void): void {
    this.#listeners.add(listener);
  }

  all(): IndexMetadata[] {
    return [...this.#indices.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  get(name: string): IndexMetadata | undefined {
    return this.#indices.get(name);
  }

  byUuid(uuid: string): IndexMetadata | undefined {
    return this.#byUuid.get(uuid);
  }

  resolve(expression: string | undefined, options: ResolveOptions): IndexMetadata[] {
    return resolveIndices(this.#indices, expression, options);
  }

  /** Throws index_name_invalid where no write could ever go to `name`. */
  checkName(name: string): void {
    if (!this.#indices.has(name) && !isAlias(this.#indices.values(), name))
      checkIndexName(decodeDateMath(name));
  }

  /** Creates an index from its templates and `definition`. Throws index_exists, index_name_invalid, mapping_parse, settings_invalid. */
  async create(rawName: string, definition: IndexDefinition): Promise<IndexMetadata> {
    const name = decodeDateMath(rawName);
    checkIndexName(name);
    this.#refuseTaken(name);
    const templates = Object.values(this.#templates.all());
    const index = newIndex(name, templates, definition, this.#options.now(), this.#options.defaultShards);
    try {
      const bytes = encodeIndex(index);
      this.#take(indexKey(name), bytes, await this.#options.bucket.create(indexKey(name), bytes));
    } catch (error) {
      if (toAppError(error).code !== "journal_conflict") throw error;
      await this.#reload(name);
      this.#refuseTaken(name);
      throw error;
    }
    return this.#indices.get(name)!;
  }

  /** Returns the index that writes to `name` go to; made from templates where there is none. Throws index_name_invalid. */
  async ensure(rawName: string): Promise<IndexMetadata> {
    const known = this.#indices.get(rawName) ?? writeIndexOf(this.#indices.values(), rawName);
    if (known !== undefined) return known;
    const name = decodeDateMath(rawName);
    try {
      return (
        this.#indices.get(name) ?? (await this.create(name, { settings: {}, mappings: {}, aliases: {} }))
      );
    } catch (error) {
      const made = toAppError(error).code === "index_exists" ? this.#indices.get(name) : undefined;
      if (made === undefined) throw error;
      return made;
    }
  }

  async delete(names: readonly string[]): Promise<void> {
    for (const name of names) {
      const index = this.#indices.get(name);
      if (index === undefined) throw indexMissing(name);
      await this.#options.bucket.put(DELETED_PREFIX + index.uuid, Buffer.from(String(this.#options.now())));
      await this.#options.bucket.delete(indexKey(name));
      this.#drop(name);
    }
  }

  /** Merges `mapping` into the index's. Throws mapping_conflict, mapping_parse. */
  async putMapping(name: string, mapping: JsonObject): Promise<void> {
    await this.change(name, (index) => ({ ...index, mapping: index.mapping.merge(mapping) }));
  }

  /** Changes dynamic settings; null removes. Throws settings_invalid. */
  async putSettings(name: string, changes: Readonly<JsonObject>): Promise<void> {
    await this.change(name, (index) => ({ ...index, settings: changeSettings(index, changes) }));
  }

  async setState(name: string, state: "open" | "close"): Promise<void> {
    await this.change(name, (index) => ({ ...index, state }));
  }

  async updateAliases(actions: readonly AliasAction[]): Promise<void> {
    for (const action of actions) {
      if (action.kind === "remove_index") {
        await this.delete([action.index]);
      } else if (action.kind === "add") {
        if (this.#indices.has(action.alias)) {
          throw new AppError(
            "index_name_invalid",
            `Invalid alias name [${action.alias}], an index exists with the same name as the alias`,
          );
        }
        await this.change(action.index, (index) => withAlias(index, action.alias, action.info));
      } else {
        await this.change(action.index, (index) => withoutAlias(index, action.alias));
      }
    }
  }

  templates(): Readonly<Record<string, IndexTemplate>> {
    return this.#templates.all();
  }

  putTemplate(name: string, template: IndexTemplate): Promise<void> {
    return this.#templates.put(name, template);
  }

  deleteTemplates(names: readonly string[]): Promise<void> {
    return this.#templates.delete(names);
  }

  /** Changes an index by compare-and-set; `change` may run several times and must be pure. Throws index_missing. */
  async change(name: string, change: (index: IndexMetadata) => IndexMetadata): Promise<IndexMetadata> {
    for (let tries = 1; ; tries++) {
      const known = this.#known(name);
      const next = change(known.index);
      if (next === known.index) return next;
      const bytes = encodeIndex(next);
      try {
        this.#take(
          indexKey(name),
          bytes,
          await this.#options.bucket.update(indexKey(name), bytes, known.revision),
        );
        return this.#indices.get(name)!;
      } catch (error) {
        if (toAppError(error).code !== "journal_conflict" || tries === CHANGE_TRIES) throw error;
        await this.#reload(name);
      }
    }
  }

  /**
   * Takes back an index that a disk still holds but the bucket has lost or knows in an older form (its store
   * was rolled back). Returns false where the index was deleted on purpose.
   */
  async restore(index: IndexMetadata): Promise<boolean> {
    const known = this.#indices.get(index.name);
    if (known?.uuid === index.uuid) {
      if (known.mapping.version < index.mapping.version) await this.change(index.name, () => index);
      return true;
    }
    if ((await this.#options.bucket.get(DELETED_PREFIX + index.uuid)) !== null) return false;
    if (known !== undefined) return false;
    const bytes = encodeIndex(index);
    this.#take(indexKey(index.name), bytes, await this.#options.bucket.create(indexKey(index.name), bytes));
    this.#options.log.warn({ index: index.name }, "index metadata restored from the disk of this hub");
    return true;
  }

  #refuseTaken(name: string): void {
    const taken = this.#indices.get(name);
    if (taken !== undefined) {
      throw new AppError("index_exists", `index [${name}/${taken.uuid}] already exists`, {
        data: { index_uuid: taken.uuid, index: name },
      });
    }
    if (isAlias(this.#indices.values(), name)) {
      throw new AppError("index_name_invalid", `Invalid index name [${name}], already exists as alias`, {
        data: { index: name },
      });
    }
  }

  #known(name: string): Known {
    const index = this.#indices.get(name);
    if (index === undefined) throw indexMissing(name);
    return { index, revision: this.#revisions.get(indexKey(name))! };
  }

  async #reload(name: string): Promise<void> {
    const entry = await this.#options.bucket.get(indexKey(name));
    if (entry === null) this.#drop(name);
    else this.#take(entry.key, entry.value, entry.revision);
  }

  async #follow(): Promise<void> {
    for await (const { key, value, revision } of this.#options.bucket.watch(this.#abort.signal)) {
      if (value !== null) this.#take(key, value, revision);
      else if (revision > (this.#revisions.get(key) ?? 0)) this.#forget(key, revision);
    }
  }

  #take(key: string, value: Uint8Array, revision: number): void {
    this.#templates.take(key, value, revision);
    if (revision <= (this.#revisions.get(key) ?? 0)) return;
    this.#revisions.set(key, revision);
    if (!key.startsWith(INDEX_PREFIX)) return;
    const index = decodeIndex(value);
    const before = this.#indices.get(index.name);
    this.#indices.set(index.name, index);
    if (before !== undefined && before.uuid !== index.uuid) this.#tell(undefined, before.uuid);
    this.#byUuid.set(index.uuid, index);
    this.#tell(index, index.uuid);
  }

  #forget(key: string, revision: number): void {
    this.#templates.take(key, null, revision);
    const name = nameIn(key, INDEX_PREFIX);
    if (name !== undefined) this.#drop(name);
  }

  #drop(name: string): void {
    const index = this.#indices.get(name);
    if (index === undefined) return;
    this.#indices.delete(name);
    this.#tell(undefined, index.uuid);
  }

  #tell(index: IndexMetadata | undefined, uuid: string): void {
    if (index === undefined) this.#byUuid.delete(uuid);
    for (const listener of this.#listeners) listener(index, uuid);
  }
}
