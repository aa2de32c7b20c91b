/** The templates of the cluster: legacy ones, which are merged, and composable ones with their components. */

import { checkMappingNames } from "#hub/engine/mapping/field-names.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import {
  type ComponentTemplate,
  type ComposableTemplate,
  checkPriority,
  compose,
  missingComponents,
  type TemplateSet,
} from "./composable-templates.ts";
import {
  COMPONENT_PREFIX,
  COMPOSABLE_PREFIX,
  encodeName,
  nameIn,
  parseMapping,
  TEMPLATE_PREFIX,
} from "./index-metadata.ts";
import { checkTemplateSettings } from "./index-settings.ts";
import type { IndexDefinition, IndexTemplate } from "./templates.ts";

export class TemplateCatalog {
  readonly #older: NamedRecords<IndexTemplate>;
  readonly #composable: NamedRecords<ComposableTemplate>;
  readonly #components: NamedRecords<ComponentTemplate>;

  constructor(bucket: StateBucket) {
    this.#older = new NamedRecords(bucket, TEMPLATE_PREFIX);
    this.#composable = new NamedRecords(bucket, COMPOSABLE_PREFIX);
    this.#components = new NamedRecords(bucket, COMPONENT_PREFIX);
  }

  /** Legacy templates by name. */
  older(): Readonly<Record<string, IndexTemplate>> {
    return this.#older.all();
  }

  /** Throws mapping_parse, settings_invalid. */
  async putOlder(name: string, template: IndexTemplate): Promise<void> {
    checkTemplateSettings(template.settings);
    parseMapping(name, template.settings, template.mappings);
    await this.#older.put(name, template);
  }

  deleteOlder(names: readonly string[]): Promise<void> {
    return this.#older.delete(names);
  }

  /** Composable templates and their components, by name. */
  set(): TemplateSet {
    return { templates: this.#composable.all(), components: this.#components.all() };
  }

  /**
   * Throws mapping_parse, settings_invalid, and request_invalid if it is ambiguous with another or lacks a component.
   */
  async putComposable(name: string, template: ComposableTemplate): Promise<void> {
    this.check(name, template);
    await this.#composable.put(name, template);
  }

  /** Throws what `putComposable` throws; nothing is stored. */
  check(name: string, template: ComposableTemplate): void {
    checkTemplateSettings(template.template?.settings ?? {});
    const { templates, components } = this.set();
    const missing = missingComponents(template, components);
    if (missing.length > 0) {
      throw new AppError(
        "request_invalid",
        `index_template [${name}] invalid, cause [index template [${name}] specifies component templates [${missing.join(", ")}] that do not exist]`,
        { data: { type: "invalid_index_template_exception" } },
      );
    }
    checkPriority(name, template, templates);
    checkMappingNames(template.template?.mappings);
    checkDefinition(name, compose(template, components));
  }

  deleteComposable(names: readonly string[]): Promise<void> {
    return this.#composable.delete(names);
  }

  /** Throws mapping_parse, settings_invalid, also if a template that uses it would become invalid. */
  async putComponent(name: string, component: ComponentTemplate): Promise<void> {
    const { templates, components } = this.set();
    const { settings = {}, mappings = {}, aliases = {} } = component.template;
    checkTemplateSettings(settings);
    checkMappingNames(mappings);
    checkDefinition(name, { settings, mappings, aliases });
    const changed = { ...components, [name]: component };
    for (const [user, template] of Object.entries(templates))
      if (template.composed_of.includes(name)) checkDefinition(user, compose(template, changed));
    await this.#components.put(name, component);
  }

  /** Throws request_invalid if a template uses one of them. */
  async deleteComponents(names: readonly string[]): Promise<void> {
    const users = Object.entries(this.set().templates).filter(([, { composed_of: parts }]) =>
      parts.some((part) => names.includes(part)),
    );
    if (users.length > 0) {
      const used = names.filter((name) => users.some(([, { composed_of: parts }]) => parts.includes(name)));
      throw new AppError(
        "request_invalid",
        `component templates [${used.join(", ")}] cannot be removed as they are still in use by index templates ` +
          `[${users.map(([user]) => user).join(", ")}]`,
      );
    }
    await this.#components.delete(names);
  }

  /** Applies a change of the bucket; see NamedRecords. */
  take(key: string, value: Uint8Array | null, revision: number): void {
    for (const records of [this.#older, this.#composable, this.#components])
      records.take(key, value, revision);
  }
}

/** Parts that were stored earlier may have names that are refused now. */
function checkDefinition(name: string, { settings, mappings }: IndexDefinition): void {
  parseMapping(name, settings, mappings, { takesMetadataNames: true });
}

export class NamedRecords<T> {
  readonly #bucket: StateBucket;
  readonly #prefix: string;
  readonly #records = new Map<string, T>();
  readonly #revisions = new Map<string, number>();

  /** `prefix` of the keys, different for each kind. */
  constructor(bucket: StateBucket, prefix: string) {
    this.#bucket = bucket;
    this.#prefix = prefix;
  }

  /** By name. */
  all(): Readonly<Record<string, T>> {
    return Object.fromEntries(this.#records);
  }

  get(name: string): T | undefined {
    return this.#records.get(name);
  }

  /** Stores `record`, which must be JSON. */
  async put(name: string, record: T): Promise<void> {
    const key = this.#prefix + encodeName(name);
    const bytes = Buffer.from(JSON.stringify(record));
    const seen = this.#revisions.get(key) ?? 0;
    const revision = await this.#bucket.put(key, bytes);
    if (revision <= seen) this.#revisions.delete(key); // the bucket was lost: its revisions start over
    this.take(key, bytes, revision);
  }

  async delete(names: readonly string[]): Promise<void> {
    for (const name of names) {
      await this.#bucket.delete(this.#prefix + encodeName(name));
      this.#records.delete(name);
    }
  }

  /** Reads one record from the bucket because its last change may not have arrived here yet. */
  async reload(name: string): Promise<void> {
    const entry = await this.#bucket.get(this.#prefix + encodeName(name));
    if (entry === null) this.#records.delete(name);
    else this.take(entry.key, entry.value, entry.revision);
  }

  /** Applies a change of the bucket; `value` null: removed. Older revisions and other keys have no effect. */
  take(key: string, value: Uint8Array | null, revision: number): void {
    const name = nameIn(key, this.#prefix);
    if (name === undefined || revision <= (this.#revisions.get(key) ?? 0)) return;
    if (value === null) {
      this.#records.delete(name);
      return;
    }
    this.#revisions.set(key, revision);
    this.#records.set(name, JSON.parse(Buffer.from(value).toString()) as T);
  }
}
