/** Restricts composable templates and lifecycle policies to what the sender of the current request may access. */

import type { ComposableTemplates, Indices, LifecyclePolicies } from "#hub/api/ports/indices.ts";
import type {
  ComponentTemplate,
  ComposableTemplate,
  TemplateSet,
} from "#hub/cluster/catalog/composable-templates.ts";
import type { LifecycleFault, StoredPolicy } from "#hub/cluster/catalog/lifecycle-catalog.ts";
import { policyName } from "#hub/cluster/catalog/lifecycle-policy.ts";
import type { JsonObject } from "#proto/kit/json.ts";

/** Checks access to names for the sender of the current request. */
export interface NameReach {
  isReached(names: readonly string[]): boolean;
  /** Throws forbidden unless all are accessible. */
  requireAll(names: readonly string[]): void;
}

/**
 * A template may be seen and changed by those with access to all its patterns. Component templates may be seen by everyone
 * who may see templates, and changed by those with access to the templates that use them.
 */
export class GuardedTemplates implements ComposableTemplates {
  readonly #inner: ComposableTemplates;
  readonly #reach: NameReach;

  constructor(inner: ComposableTemplates, reach: NameReach) {
    this.#inner = inner;
    this.#reach = reach;
  }

  set(): TemplateSet {
    const { templates, components } = this.#inner.set();
    const own = Object.entries(templates).filter(([, { index_patterns: patterns }]) =>
      this.#reach.isReached(patterns),
    );
    return { templates: Object.fromEntries(own), components };
  }

  check(name: string, template: ComposableTemplate): void {
    this.#requirePatterns(name, template);
    this.#inner.check(name, template);
  }

  async putComposable(name: string, template: ComposableTemplate): Promise<void> {
    this.#requirePatterns(name, template);
    return this.#inner.putComposable(name, template);
  }

  async deleteComposable(names: readonly string[]): Promise<void> {
    const { templates } = this.#inner.set();
    this.#reach.requireAll(names.flatMap((name) => templates[name]?.index_patterns ?? []));
    return this.#inner.deleteComposable(names);
  }

  async putComponent(name: string, component: ComponentTemplate): Promise<void> {
    this.#requireUses([name]);
    this.#reach.requireAll(Object.keys(component.template.aliases ?? {}));
    return this.#inner.putComponent(name, component);
  }

  async deleteComponents(names: readonly string[]): Promise<void> {
    this.#requireUses(names);
    return this.#inner.deleteComponents(names);
  }

  #requirePatterns(name: string, template: ComposableTemplate): void {
    const { templates, components } = this.#inner.set();
    const before = templates[name]?.index_patterns ?? [];
    const parts = template.composed_of.map((part) => components[part]?.template);
    const aliases = [...parts, template.template].flatMap((part) => Object.keys(part?.aliases ?? {}));
    this.#reach.requireAll([...template.index_patterns, ...before, ...aliases]);
  }

  /** Throws forbidden unless the patterns of all templates that use one of `names` are accessible. */
  #requireUses(names: readonly string[]): void {
    const users = Object.values(this.#inner.set().templates).filter(({ composed_of: parts }) =>
      parts.some((part) => names.includes(part)),
    );
    this.#reach.requireAll(users.flatMap((user) => user.index_patterns));
  }
}

/**
 * A policy may be seen by everyone who may see indices, and changed by those with access to all indices that use it and to
 * the patterns of all templates that name it. Starting and stopping the execution of policies needs access to all indices.
 */
export class GuardedLifecycles implements LifecyclePolicies {
  readonly #inner: Indices;
  readonly #reach: NameReach;

  constructor(inner: Indices, reach: NameReach) {
    this.#inner = inner;
    this.#reach = reach;
  }

  get isStopped(): boolean {
    return this.#inner.lifecycles.isStopped;
  }

  all(): Readonly<Record<string, StoredPolicy>> {
    return this.#inner.lifecycles.all();
  }

  get(name: string): StoredPolicy | undefined {
    return this.#inner.lifecycles.get(name);
  }

  async put(name: string, policy: JsonObject): Promise<void> {
    this.#requireUsers(name);
    return this.#inner.lifecycles.put(name, policy);
  }

  async delete(name: string): Promise<void> {
    this.#requireUsers(name);
    return this.#inner.lifecycles.delete(name);
  }

  async setStopped(isStopped: boolean): Promise<void> {
    this.#reach.requireAll(["*"]);
    return this.#inner.lifecycles.setStopped(isStopped);
  }

  fault(index: { readonly name: string; readonly uuid: string }): LifecycleFault | undefined {
    return this.#inner.lifecycles.fault(index);
  }

  async clearFault(name: string): Promise<void> {
    this.#reach.requireAll([name]);
    return this.#inner.lifecycles.clearFault(name);
  }

  /** Throws forbidden unless all indices and templates that use the policy are accessible. */
  #requireUsers(name: string): void {
    const isUser = (settings: Readonly<JsonObject> = {}): boolean => settings["lifecycle.name"] === name;
    const { templates, components } = this.#inner.templateCatalog.set();
    const older = Object.values(this.#inner.templates()).filter(({ settings }) => isUser(settings));
    const newer = Object.values(templates).filter(({ template, composed_of: parts }) =>
      [template, ...parts.map((part) => components[part]?.template)].some((part) => isUser(part?.settings)),
    );
    this.#reach.requireAll([
      ...this.#inner.all().flatMap((index) => (policyName(index) === name ? [index.name] : [])),
      ...[...older, ...newer].flatMap((template) => template.index_patterns),
    ]);
  }
}
