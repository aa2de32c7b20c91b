/**
 * Restricts indices to those that the sender of the current request may access. Routes name indices in many ways
 * (wildcards, aliases, bodies of `_bulk`, `_mget`, `_msearch` …). The check is in the functions that all of them call, so
 * that no route can omit it.
 */

import type {
  AliasAction,
  ComposableTemplates,
  IndexDefinition,
  IndexInfo,
  IndexTemplate,
  Indices,
  LifecyclePolicies,
  ResolveOptions,
} from "#hub/api/ports/indices.ts";
import { type IndexAction, isIndexAction } from "#hub/auth/accounts/index-rights.ts";
import { type Action, authorize, type Principal } from "#hub/auth/accounts/principal.ts";
import { decodeDateMath } from "#hub/cluster/catalog/date-math-name.ts";
import { LIFECYCLE_SETTINGS } from "#hub/cluster/catalog/lifecycle-policy.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { reachedName, reaches } from "./index-access.ts";
import { GuardedLifecycles, GuardedTemplates } from "./template-guard.ts";

/** The sender of a request, with the actions that its route needs. */
export interface Sender {
  readonly principal: Principal;
  readonly actions: readonly Action[];
}

/** Returns the sender of the current request. Throws if there is none. */
export type CurrentSender = () => Sender;

/** Resolves one name or alias; returns nothing if it doesn't exist. */
const ONE_NAME: ResolveOptions = { ignoreUnavailable: true, allowNoIndices: true, expandWildcards: "all" };

/**
 * Index metadata. An inaccessible index is left out of wildcards, and forbidden when named. For routes that read and write,
 * such as _reindex, indices that are read need the right to search, and indices that are changed need the other rights.
 */
export class GuardedIndices implements Indices {
  readonly #inner: Indices;
  readonly #current: CurrentSender;

  constructor(inner: Indices, current: CurrentSender) {
    this.#inner = inner;
    this.#current = current;
  }

  get templateCatalog(): ComposableTemplates {
    return new GuardedTemplates(this.#inner.templateCatalog, this);
  }

  get lifecycles(): LifecyclePolicies {
    return new GuardedLifecycles(this.#inner, this);
  }

  all(): IndexInfo[] {
    return this.#reached(this.#inner.all(), []);
  }

  get(name: string): IndexInfo | undefined {
    const index = this.#inner.get(name);
    if (index === undefined) return undefined;
    const { principal, actions } = this.#current();
    // A route that reads and writes also gets the indices that it has written, which the sender may be unable to read.
    const either = actions.includes("search") ? [readActions(actions), writeActions(actions)] : [[]];
    return either.some((needed) => reaches(principal, reachedName(index), needed)) ? index : undefined;
  }

  resolve(expression: string | undefined, options: ResolveOptions): IndexInfo[] {
    const { principal, actions } = this.#current();
    const needed = readActions(actions);
    for (const part of expression?.split(",") ?? [])
      if (isName(part.trim())) this.requireReach(part.trim(), needed);
    const found = this.#inner.resolve(expression, options);
    const reached = this.#reached(found, needed);
    if (reached.length === 0 && found.length > 0 && options.allowNoIndices === false) {
      throw unreachable(principal, expression ?? "_all");
    }
    return reached;
  }

  async create(name: string, definition: IndexDefinition): Promise<IndexInfo> {
    this.requireAll([name, ...Object.keys(definition.aliases)]);
    return this.#inner.create(name, definition);
  }

  async createExact(name: string, definition: IndexDefinition, dataStream?: string): Promise<IndexInfo> {
    this.requireAll([
      name,
      ...Object.keys(definition.aliases),
      ...(dataStream === undefined ? [] : [dataStream]),
    ]);
    return this.#inner.createExact(name, definition, dataStream);
  }

  checkReplace(replaced: Pick<IndexInfo, "name" | "uuid">, definition: IndexDefinition): void {
    authorize(this.#current().principal, "index_delete");
    this.requireAll([replaced.name], ["index_delete"]);
    this.requireAll(Object.keys(definition.aliases));
    this.#inner.checkReplace(replaced, definition);
  }

  async replaceExact(
    replaced: Pick<IndexInfo, "name" | "uuid">,
    definition: IndexDefinition,
    dataStream?: string,
  ): Promise<IndexInfo> {
    this.checkReplace(replaced, definition);
    if (dataStream !== undefined) this.requireAll([dataStream]);
    return this.#inner.replaceExact(replaced, definition, dataStream);
  }

  settingsFor(name: string): Readonly<Record<string, unknown>> {
    return this.#inner.settingsFor(name);
  }

  checkName(name: string): void {
    this.requireReach(name);
    this.#inner.checkName(name);
  }

  async ensure(name: string): Promise<IndexInfo> {
    this.requireReach(name);
    return this.#inner.ensure(name);
  }

  async createDataStream(name: string): Promise<IndexInfo> {
    this.requireAll([name]);
    return this.#inner.createDataStream(name);
  }

  nextBackingName(stream: string): string {
    this.requireAll([stream]);
    return this.#inner.nextBackingName(stream);
  }

  async rollDataStream(stream: string, name: string, definition: IndexDefinition): Promise<IndexInfo> {
    this.requireAll([stream, ...Object.keys(definition.aliases)]);
    return this.#inner.rollDataStream(stream, name, definition);
  }

  async delete(names: readonly string[]): Promise<void> {
    this.requireAll(names);
    return this.#inner.delete(names);
  }

  async deleteExactly(index: Pick<IndexInfo, "name" | "uuid">): Promise<void> {
    this.requireAll([index.name]);
    return this.#inner.deleteExactly(index);
  }

  async putMapping(name: string, mapping: JsonObject): Promise<void> {
    this.requireAll([name]);
    return this.#inner.putMapping(name, mapping);
  }

  async putSettings(name: string, settings: Readonly<Record<string, unknown>>): Promise<void> {
    this.requireAll([name]);
    // A policy may delete the index.
    if (LIFECYCLE_SETTINGS.some((key) => (settings[key] ?? null) !== null)) {
      authorize(this.#current().principal, "index_delete");
      this.requireAll([name], ["index_delete"]);
    }
    return this.#inner.putSettings(name, settings);
  }

  async setState(name: string, state: "open" | "close"): Promise<void> {
    this.requireAll([name]);
    return this.#inner.setState(name, state);
  }

  async updateAliases(actions: readonly AliasAction[]): Promise<void> {
    // Others may read and write through an alias.
    this.requireAll(
      actions.flatMap((each) => (each.kind === "add" ? [each.index, each.alias] : [each.index])),
    );
    const removed = actions.filter(({ kind }) => kind === "remove_index").map(({ index }) => index);
    if (removed.length > 0) {
      authorize(this.#current().principal, "index_delete");
      this.requireAll(removed, ["index_delete"]);
    }
    return this.#inner.updateAliases(actions);
  }

  templates(): Readonly<Record<string, IndexTemplate>> {
    const own = ([, { index_patterns: patterns }]: [string, IndexTemplate]): boolean =>
      this.isReached(patterns);
    return Object.fromEntries(Object.entries(this.#inner.templates()).filter(own));
  }

  async putTemplate(name: string, template: IndexTemplate): Promise<void> {
    const before = this.#inner.templates()[name]?.index_patterns ?? [];
    this.requireAll([...template.index_patterns, ...before, ...Object.keys(template.aliases)]);
    return this.#inner.putTemplate(name, template);
  }

  async deleteTemplates(names: readonly string[]): Promise<void> {
    const templates = this.#inner.templates();
    this.requireAll(names.flatMap((name) => templates[name]?.index_patterns ?? []));
    return this.#inner.deleteTemplates(names);
  }

  /** Throws forbidden unless all indices of `name` (or alias) may be changed, or `needed` may be done with them. */
  requireReach(name: string, needed?: readonly IndexAction[]): void {
    const targets = this.#inner.resolve(name, ONE_NAME).map(reachedName);
    const { principal, actions } = this.#current();
    const wanted = needed ?? writeActions(actions);
    const isAllowed = (target: string): boolean => reaches(principal, target, wanted);
    // The refusal names what the request named: an alias doesn't show its indices. What isn't there may be created by
    // this name.
    if (!(targets.length === 0 ? [decodeDateMath(name)] : targets).every(isAllowed))
      throw unreachable(principal, name);
  }

  /** Throws forbidden unless all indices of `name` (or alias) may be read. */
  requireRead(name: string): void {
    this.requireReach(name, readActions(this.#current().actions));
  }

  /** Returns true if each of the concrete `names` is accessible. */
  isReached(names: readonly string[]): boolean {
    const { principal, actions } = this.#current();
    return names.every((name) => reaches(principal, name, readActions(actions)));
  }

  /** Throws forbidden unless each of the concrete `names` may be changed, or `needed` may be done with it. */
  requireAll(names: readonly string[], needed?: readonly IndexAction[]): void {
    const { principal, actions } = this.#current();
    const wanted = needed ?? writeActions(actions);
    const refused = names
      .map((name) => decodeDateMath(name))
      .find((name) => !reaches(principal, this.#inner.get(name)?.dataStream ?? name, wanted));
    if (refused !== undefined) throw unreachable(principal, refused);
  }

  #reached(indices: readonly IndexInfo[], needed: readonly IndexAction[]): IndexInfo[] {
    const { principal } = this.#current();
    return indices.filter((index) => reaches(principal, reachedName(index), needed));
  }
}

/** Returns the rights that a route with these actions needs on the indices that it reads. */
function readActions(actions: readonly Action[]): IndexAction[] {
  const own = actions.filter(isIndexAction);
  return own.includes("search") ? own.filter((action) => action !== "ingest") : own;
}

/** Returns the rights that a route with these actions needs on the indices that it changes. */
function writeActions(actions: readonly Action[]): IndexAction[] {
  const own = actions.filter(isIndexAction);
  return own.length > 1 ? own.filter((action) => action !== "search") : own;
}

/** Returns true for a name of one index, not a wildcard or exclusion. */
function isName(part: string): boolean {
  return part !== "" && part !== "_all" && !part.startsWith("-") && !part.includes("*");
}

function unreachable({ name, role }: Principal, index: string): AppError {
  return new AppError(
    "forbidden",
    `${name} (${role}) may not access index [${index.slice(0, 255)}]; ask an administrator for its pattern`,
    { data: { index } },
  );
}
