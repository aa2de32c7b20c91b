/** The catalog of indices, data streams and templates: resolves names; creates, changes and deletes indices. */

import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { type AliasAction, isAlias, withAlias, withoutAlias, writeIndexOf } from "./aliases.ts";
import { templateFor } from "./composable-templates.ts";
import {
  backingIndices,
  backingName,
  checkStreamName,
  generationOf,
  isDataStream,
  streamTemplate,
} from "./data-streams.ts";
import { decodeDateMath } from "./date-math-name.ts";
import type { IndexMetadata } from "./index-metadata.ts";
import { checkIndexName, indexMissing, type ResolveOptions, resolveIndices } from "./index-names.ts";
import { changeSettings, expandTo } from "./index-settings.ts";
import { IndexStore } from "./index-store.ts";
import { LifecycleCatalog } from "./lifecycle-catalog.ts";
import { checkLifecycleSettings } from "./lifecycle-policy.ts";
import { definitionOf, newIndex, streamTemplateFor, type Templates } from "./new-index.ts";
import { TemplateCatalog } from "./template-catalog.ts";
import type { IndexDefinition, IndexTemplate } from "./templates.ts";

export interface CatalogOptions {
  readonly bucket: StateBucket;
  readonly log: Logger;
  readonly now: () => number;
  /** Shards of an index whose definition and templates give no number. */
  readonly defaultShards?: number;
  readonly clock?: Clock;
}

/** Maximum of uuids remembered as read from the bucket; others are read again. */
const CAUGHT_UP_LIMIT = 1_000;

/** An empty definition. */
const EMPTY: IndexDefinition = { settings: {}, mappings: {}, aliases: {} };

export class IndexCatalog implements Component {
  /** Templates of new indices. */
  readonly templateCatalog: TemplateCatalog;
  readonly lifecycles: LifecycleCatalog;
  readonly #options: CatalogOptions;
  readonly #store: IndexStore;
  /** By uuid: the version of the mapping for which the bucket was read. */
  readonly #caughtUp = new Map<string, number>();

  constructor(options: CatalogOptions) {
    this.#options = options;
    this.templateCatalog = new TemplateCatalog(options.bucket);
    this.lifecycles = new LifecycleCatalog(options.bucket, () => this.#indices(), options.now);
    const takeOther = (key: string, value: Uint8Array | null, revision: number): void => {
      this.templateCatalog.take(key, value, revision);
      this.lifecycles.take(key, value, revision);
    };
    this.#store = new IndexStore(options.bucket, options.log, takeOther, options.clock);
  }

  /** Loads all entries, then follows changes. */
  start(): Promise<void> {
    return this.#store.start();
  }

  stop(): Promise<void> {
    return this.#store.stop();
  }

  /** Calls `listener` after each change: with the current index, or undefined when the index of `uuid` is gone. */
  onChange(listener: (index: IndexMetadata | undefined, uuid: string) => void): void {
    this.#store.onChange(listener);
  }

  /** See IndexStore. */
  withoutName(): IndexMetadata[] {
    return this.#store.withoutName();
  }

  all(): IndexMetadata[] {
    return [...this.#indices()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  get(name: string): IndexMetadata | undefined {
    return this.#store.indices.get(name);
  }

  byUuid(uuid: string): IndexMetadata | undefined {
    return this.#store.byUuid(uuid);
  }

  /**
   * Makes this copy as new as a message of the log. Returns undefined if the index of `uuid` is known with version
   * `mappingVersion` of its mapping or a later one, otherwise the promise of a read of the bucket: messages of a hub that
   * changed the metadata may arrive before the watch reports the change. The promise rejects with unavailable or timeout; it
   * also resolves if the index is gone.
   */
  catchUp(uuid: string, mappingVersion: number): Promise<void> | undefined {
    const index = this.#store.byUuid(uuid);
    if (index !== undefined && index.mapping.version >= mappingVersion) return undefined;
    const seen = this.#caughtUp.get(uuid) ?? -1;
    if (seen >= mappingVersion) return undefined;
    return this.#catchUp(uuid, mappingVersion);
  }

  resolve(expression: string | undefined, options: ResolveOptions): IndexMetadata[] {
    return resolveIndices(this.#store.indices, expression, options);
  }

  /** Throws index_name_invalid if `name` can never receive writes. */
  checkName(name: string): void {
    if (this.get(name) === undefined && !isAlias(this.#indices(), name)) checkIndexName(decodeDateMath(name));
  }

  /** Creates an index from its templates and `definition`. Throws index_exists, index_name_invalid, mapping_parse, settings_invalid. */
  async create(rawName: string, definition: IndexDefinition): Promise<IndexMetadata> {
    const name = decodeDateMath(rawName);
    checkIndexName(name);
    checkLifecycleSettings(definition.settings);
    this.#refuseTaken(name);
    const template = streamTemplateFor(name, this.templateCatalog.set());
    if (template === undefined) return this.#create(name, definition);
    throw new AppError(
      "request_invalid",
      `cannot create index with name [${name}], because it matches with template [${template.name}] that creates data streams only, use create data stream api instead`,
    );
  }

  /**
   * Creates an index of exactly this definition: templates don't apply. `dataStream`: it becomes one of the stream's.
   * Throws what `create` throws.
   */
  async createExact(
    rawName: string,
    definition: IndexDefinition,
    dataStream?: string,
  ): Promise<IndexMetadata> {
    const name = decodeDateMath(rawName);
    checkIndexName(name);
    this.#refuseTaken(name);
    return this.#add(newIndex({ name, definition, nowMs: this.#options.now(), dataStream }));
  }

  /** Throws what `replaceExact` throws for a definition. */
  checkReplace({ name }: Pick<IndexMetadata, "name">, definition: IndexDefinition): void {
    newIndex({ name, definition, nowMs: this.#options.now() });
  }

  /** Like `createExact`, in place of an index, which is deleted unless the definition is refused. */
  async replaceExact(
    replaced: Pick<IndexMetadata, "name" | "uuid">,
    definition: IndexDefinition,
    dataStream?: string,
  ): Promise<IndexMetadata> {
    const index = newIndex({ name: replaced.name, definition, nowMs: this.#options.now(), dataStream });
    await this.deleteExactly(replaced);
    return this.#add(index);
  }

  /**
   * Creates a data stream with its first index and returns that index. Throws what `create` throws, request_invalid
   * without a template.
   */
  async createDataStream(name: string): Promise<IndexMetadata> {
    checkIndexName(name);
    checkStreamName(name);
    this.#refuseTaken(name);
    streamTemplate(name, templateFor(name, this.templateCatalog.set().templates));
    return this.#create(backingName(name, 1, this.#options.now()), EMPTY, name);
  }

  /** Returns the name for the next index of a stream. Throws index_missing. */
  nextBackingName(stream: string): string {
    return backingName(stream, generationOf(this.#newestOf(stream)) + 1, this.#options.now());
  }

  /** Adds the index `name` to a stream; it takes over the aliases of the previous index. Throws what `create` throws. */
  async rollDataStream(stream: string, name: string, definition: IndexDefinition): Promise<IndexMetadata> {
    const aliases = { ...this.#newestOf(stream).aliases, ...definition.aliases };
    this.#refuseTaken(name);
    return this.#create(name, { ...definition, aliases }, stream);
  }

  /**
   * Returns the settings of the index that receives writes to `name`, or those with which it would be created; {} if it
   * can't be created.
   */
  settingsFor(rawName: string): Readonly<JsonObject> {
    try {
      const index = this.#writeIndexOf(rawName) ?? this.#writeIndexOf(decodeDateMath(rawName));
      return index?.settings.raw ?? definitionOf(decodeDateMath(rawName), this.#templates(), EMPTY).settings;
    } catch {
      // The write itself reports what is wrong with the name.
      return {};
    }
  }

  /** Returns the index that receives writes to `name`; created from templates if missing. Throws index_name_invalid. */
  async ensure(rawName: string): Promise<IndexMetadata> {
    const known = this.#writeIndexOf(rawName);
    if (known !== undefined) return known;
    const name = decodeDateMath(rawName);
    try {
      return this.#writeIndexOf(name) ?? (await this.#createByWriting(name));
    } catch (error) {
      const made = toAppError(error).code === "index_exists" ? this.#writeIndexOf(name) : undefined;
      if (made === undefined) throw error;
      return made;
    }
  }

  /** See Indices. */
  async delete(names: readonly string[]): Promise<void> {
    for (const name of names) this.#store.checkDeletable(name);
    for (const index of names.map((name) => this.get(name)!)) await this.deleteExactly(index);
  }

  /** Deletes this index; does nothing if its name is another one's, or nobody's. */
  deleteExactly(index: Pick<IndexMetadata, "name" | "uuid">): Promise<void> {
    return this.#store.delete(index, this.#options.now());
  }

  /** Reads an index from the bucket because another hub may just have changed it. */
  reload(name: string): Promise<void> {
    return this.#store.reload(name);
  }

  /** Merges `mapping` into the index's. Throws mapping_conflict, mapping_parse. */
  async putMapping(name: string, mapping: JsonObject): Promise<void> {
    await this.change(name, (index) => ({ ...index, mapping: index.mapping.merge(mapping) }));
  }

  /** Changes dynamic settings; null removes. Throws settings_invalid. */
  async putSettings(name: string, changes: Readonly<JsonObject>): Promise<void> {
    await this.change(name, (index) => ({ ...index, settings: changeSettings(index, changes) }));
  }

  /** Sets the number of replicas that an index's range means now, unless the range was removed meanwhile. */
  async expand(name: string, replicas: number): Promise<void> {
    await this.change(name, (index) => ({ ...index, settings: expandTo(index.settings, replicas) }));
  }

  async setState(name: string, state: "open" | "close"): Promise<void> {
    await this.change(name, (index) => ({ ...index, state }));
  }

  async updateAliases(actions: readonly AliasAction[]): Promise<void> {
    for (const action of actions) {
      if (action.kind === "remove_index") {
        await this.delete([action.index]);
      } else if (action.kind === "add") {
        if (this.get(action.alias) !== undefined || isDataStream(this.#indices(), action.alias)) {
          throw new AppError(
            "index_name_invalid",
            `Invalid alias name [${action.alias}], an index or data stream exists with the same name as the alias`,
          );
        }
        await this.change(action.index, (index) => withAlias(index, action.alias, action.info));
      } else {
        await this.change(action.index, (index) => withoutAlias(index, action.alias));
      }
    }
  }

  templates(): Readonly<Record<string, IndexTemplate>> {
    return this.templateCatalog.older();
  }

  putTemplate(name: string, template: IndexTemplate): Promise<void> {
    return this.templateCatalog.putOlder(name, template);
  }

  deleteTemplates(names: readonly string[]): Promise<void> {
    return this.templateCatalog.deleteOlder(names);
  }

  /** Changes an index by compare-and-set; `change` may run several times and must be pure. Throws index_missing. */
  change(name: string, change: (index: IndexMetadata) => IndexMetadata): Promise<IndexMetadata> {
    return this.#store.change(name, change);
  }

  /**
   * Restores an index that is still on a disk but that the bucket has lost, or has in an older form because its store was
   * rolled back. Returns false if the index was deleted deliberately. Throws data_corrupt if the bucket has another index of
   * that name and no record of a deletion: it isn't the bucket that this disk belongs to.
   */
  async restore(index: IndexMetadata): Promise<boolean> {
    const known = this.get(index.name);
    if (known?.uuid === index.uuid) {
      if (known.mapping.version < index.mapping.version) await this.change(index.name, () => index);
      return true;
    }
    if (await this.#store.isDeleted(index.uuid)) return false;
    if (known !== undefined) throw foreignIndex(index, known.uuid);
    await this.#store.add(index);
    this.#options.log.warn({ index: index.name }, "index metadata restored from the disk of this hub");
    return true;
  }

  /** Returns whether the index of `uuid` was deleted deliberately, according to the leader. Throws unavailable or timeout. */
  isDeleted(uuid: string): Promise<boolean> {
    return this.#store.isDeleted(uuid);
  }

  async #catchUp(uuid: string, mappingVersion: number): Promise<void> {
    await this.#store.catchUp(uuid);
    // A deleted index, or metadata that was rolled back, isn't looked up again for each message.
    if (this.#caughtUp.size >= CAUGHT_UP_LIMIT) this.#caughtUp.clear();
    this.#caughtUp.set(uuid, mappingVersion);
  }

  #indices(): Iterable<IndexMetadata> {
    return this.#store.indices.values();
  }

  #templates(): Templates {
    return { older: this.templates(), ...this.templateCatalog.set() };
  }

  #newestOf(stream: string): IndexMetadata {
    const newest = backingIndices(this.#indices(), stream).at(-1);
    if (newest === undefined) throw indexMissing(stream);
    return newest;
  }

  #writeIndexOf(name: string): IndexMetadata | undefined {
    const index = this.get(name) ?? writeIndexOf(this.#indices(), name);
    return index ?? backingIndices(this.#indices(), name).at(-1);
  }

  #createByWriting(name: string): Promise<IndexMetadata> {
    const found = templateFor(name, this.templateCatalog.set().templates);
    if (found?.template.allow_auto_create === false)
      throw new AppError(
        "index_missing",
        `no such index [${name}] and composable template [${found.name}] forbids index auto creation`,
        { data: { index: name } },
      );
    return found?.template.data_stream === undefined ? this.create(name, EMPTY) : this.createDataStream(name);
  }

  async #create(name: string, definition: IndexDefinition, dataStream?: string): Promise<IndexMetadata> {
    const { now, defaultShards } = this.#options;
    const templates = this.#templates();
    return this.#add(newIndex({ name, definition, templates, nowMs: now(), defaultShards, dataStream }));
  }

  async #add(index: IndexMetadata): Promise<IndexMetadata> {
    try {
      return await this.#store.add(index);
    } catch (error) {
      if (toAppError(error).code === "journal_conflict") this.#refuseTaken(index.name);
      throw error;
    }
  }

  #refuseTaken(name: string): void {
    const taken = this.get(name);
    if (taken !== undefined) {
      throw new AppError("index_exists", `index [${name}/${taken.uuid}] already exists`, {
        data: { index_uuid: taken.uuid, index: name },
      });
    }
    if (isAlias(this.#indices(), name)) {
      throw new AppError("index_name_invalid", `Invalid index name [${name}], already exists as alias`, {
        data: { index: name },
      });
    }
    if (isDataStream(this.#indices(), name))
      throw new AppError("index_exists", `data_stream [${name}] already exists`, { data: { index: name } });
  }
}

function foreignIndex({ name, uuid }: IndexMetadata, other: string): AppError {
  return new AppError(
    "data_corrupt",
    `the data folder holds the index [${name}] as ${uuid}, and the stored state has another one of that name, ${other}, and no deletion of the first; restore the state's files (nats/store) from the same backup as the folder, or move engine/${uuid} away to give it up`,
  );
}
