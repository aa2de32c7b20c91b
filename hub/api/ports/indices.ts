/**
 * Ports of the HTTP interfaces to indices: their metadata, templates and shards. The hub passes implementations to the
 * server's constructor, tests pass fakes in memory.
 */

import type { AliasAction } from "#hub/cluster/catalog/aliases.ts";
import type {
  ComponentTemplate,
  ComposableTemplate,
  TemplateSet,
} from "#hub/cluster/catalog/composable-templates.ts";
import type { IndexMetadata } from "#hub/cluster/catalog/index-metadata.ts";
import type { ResolveOptions } from "#hub/cluster/catalog/index-names.ts";
import type { LifecyclePolicies } from "#hub/cluster/catalog/lifecycle-catalog.ts";
import type { IndexDefinition, IndexTemplate } from "#hub/cluster/catalog/templates.ts";
import type { JsonObject } from "#proto/kit/json.ts";

export type { AliasAction } from "#hub/cluster/catalog/aliases.ts";
export type { AliasOptions } from "#hub/cluster/catalog/index-metadata.ts";
export type { ResolveOptions } from "#hub/cluster/catalog/index-names.ts";
export type { LifecyclePolicies } from "#hub/cluster/catalog/lifecycle-catalog.ts";
export type { IndexDefinition, IndexTemplate } from "#hub/cluster/catalog/templates.ts";
export type { HostedShards as Shards } from "#hub/host/contract/hosted-shards.ts";

/** The metadata of one index. An immutable snapshot: a change creates a new object. */
export type IndexInfo = Omit<IndexMetadata, "returnedMs">;

/** Composable templates and their components, of 7.8 and later. */
export interface ComposableTemplates {
  set(): TemplateSet;
  /** Throws what `putComposable` throws, without storing anything. */
  check(name: string, template: ComposableTemplate): void;
  /** Throws mapping_parse, settings_invalid, request_invalid. */
  putComposable(name: string, template: ComposableTemplate): Promise<void>;
  deleteComposable(names: readonly string[]): Promise<void>;
  /** Throws mapping_parse, settings_invalid. */
  putComponent(name: string, component: ComponentTemplate): Promise<void>;
  /** Throws request_invalid if a template uses one of them. */
  deleteComponents(names: readonly string[]): Promise<void>;
}

/** Index metadata: reads are answered from the local copy, changes are durable when their promise resolves. */
export interface Indices {
  /** Returns all indices, sorted by name. */
  all(): IndexInfo[];
  /** Returns the index with exactly this name (not an alias). */
  get(name: string): IndexInfo | undefined;
  /**
   * Returns the indices that an expression selects (names, aliases, data streams, wildcards, exclusions, date math), sorted by
   * name. Throws index_missing.
   */
  resolve(expression: string | undefined, options: ResolveOptions): IndexInfo[];
  /** Throws index_name_invalid if `name` could never be the target of a write. */
  checkName(name: string): void;
  /**
   * Returns the settings of the index that `name` writes to, or those that it would be created with; dotted, without
   * "index.". Every principal that may write to `name` may read them.
   */
  settingsFor(name: string): Readonly<Record<string, unknown>>;
  /** Creates an index; matching templates apply first. Throws index_exists, index_name_invalid, mapping_parse, settings_invalid. */
  create(name: string, definition: IndexDefinition): Promise<IndexInfo>;
  /**
   * Creates an index with exactly this definition: templates don't apply. Its mapping is that of another index, of an earlier
   * version maybe: fields may have the names of metadata. `dataStream`: the stream that it is added to.
   * Throws what `create` throws.
   */
  createExact(name: string, definition: IndexDefinition, dataStream?: string): Promise<IndexInfo>;
  /** Throws what `replaceExact` would throw for the definition and the sender's rights, and changes nothing. */
  checkReplace(replaced: Pick<IndexInfo, "name" | "uuid">, definition: IndexDefinition): void;
  /** Like `createExact`, in place of an index, which is deleted unless the definition is refused. */
  replaceExact(
    replaced: Pick<IndexInfo, "name" | "uuid">,
    definition: IndexDefinition,
    dataStream?: string,
  ): Promise<IndexInfo>;
  /**
   * Returns the index `name`, creating it with its templates if it is missing; for an alias its write index. Throws
   * index_name_invalid.
   */
  ensure(name: string): Promise<IndexInfo>;
  /** Creates a data stream with its first index. Throws what `create` throws, request_invalid without a template. */
  createDataStream(name: string): Promise<IndexInfo>;
  /** Returns the name of the next index of a stream. Throws index_missing. */
  nextBackingName(stream: string): string;
  /** Adds the next index, called `name`, to a stream. Throws what `create` throws. */
  rollDataStream(stream: string, name: string, definition: IndexDefinition): Promise<IndexInfo>;
  /**
   * Deletes indices by their concrete names. Throws request_invalid if one has just got its name back from one that was
   * deleted; index_missing.
   */
  delete(names: readonly string[]): Promise<void>;
  /** Deletes this index; does nothing if its name is another one's, or nobody's. */
  deleteExactly(index: Pick<IndexInfo, "name" | "uuid">): Promise<void>;
  /** Merges `mapping` ({properties, dynamic, …}) into the index's. Throws mapping_conflict, mapping_parse. */
  putMapping(name: string, mapping: JsonObject): Promise<void>;
  /** Changes dynamic settings (dotted, without "index."; null removes). Throws settings_invalid. */
  putSettings(name: string, settings: Readonly<Record<string, unknown>>): Promise<void>;
  /** Opens or closes an index. */
  setState(name: string, state: "open" | "close"): Promise<void>;
  updateAliases(actions: readonly AliasAction[]): Promise<void>;
  readonly templateCatalog: ComposableTemplates;
  readonly lifecycles: LifecyclePolicies;
  /** Returns all legacy templates by name. */
  templates(): Readonly<Record<string, IndexTemplate>>;
  putTemplate(name: string, template: IndexTemplate): Promise<void>;
  deleteTemplates(names: readonly string[]): Promise<void>;
}
