/** One dashboard's state: the saved version, the current layout, the values of its variables. */

import {
  type Dashboard,
  EMPTY_DASHBOARD,
  type Panel,
  readDashboard,
  type Variable,
} from "#ui/services/dashboards/dashboard.ts";
import { EditHistory, readDraft, removeDraft, writeDraft } from "#ui/services/dashboards/dashboard-drafts.ts";
import { type HubError, toHubError } from "#ui/services/hub/json-call.ts";
import { parametersOf, SavedClient, type SavedObject } from "#ui/services/hub/saved-client.ts";
import { knownViewer } from "#ui/services/hub/session-client.ts";
import { type Field, readFields } from "#ui/services/search/fields.ts";
import { SearchClient } from "#ui/services/search/search-client.ts";
import { buildQuery } from "#ui/services/search/search-request.ts";
import { resolveRange, type TimeRange } from "#ui/services/search/time-range.ts";
import { readVisualisation, type Visualisation } from "#ui/services/visualise/visualisation.ts";

/** The role may not save. */
const READER = "viewer";
/** Values a variable offers: the most frequent ones. */
const MAX_VALUES = 100;

export class DashboardModel {
  saved: SavedObject | undefined;
  /** True if another user saved it after the changes here began. */
  isOutdated = false;
  visualisations: ReadonlyMap<string, SavedObject> = new Map();
  searches: ReadonlyMap<string, SavedObject> = new Map();
  /** Possible values of variables, by field; fields that couldn't be loaded are missing. */
  values: ReadonlyMap<string, readonly string[]> = new Map();
  /** Fields that a variable may have. */
  fields: readonly Field[] = [];
  fault: HubError | undefined;
  isSaving = false;
  /** False if the browser can't keep the unsaved changes. */
  isKept = true;
  /** False for users without the right to save, and for a read-only link. */
  canEdit = false;

  readonly #store = new SavedClient();
  readonly #client = new SearchClient();
  readonly #onChange: () => void;
  /** Read once: another object would count as another visualisation. */
  readonly #shown = new Map<string, Visualisation>();
  #abort = new AbortController();
  #history = new EditHistory(EMPTY_DASHBOARD);
  /** Name of the account whose drafts are kept. */
  #account: string | undefined;
  /** Of the request in flight. */
  #loading: string | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** The current arrangement, saved or not. */
  get dashboard(): Dashboard {
    return this.#history.current;
  }

  /** True if the arrangement differs from the saved one. */
  get isChanged(): boolean {
    if (this.saved === undefined) return false;
    const { panels, variables } = readDashboard(this.saved.attributes);
    const { panels: shown, variables: chosen } = this.dashboard;
    return JSON.stringify([panels, variables]) !== JSON.stringify([shown, chosen]);
  }

  get canUndo(): boolean {
    return this.#history.canUndo;
  }

  get canRedo(): boolean {
    return this.#history.canRedo;
  }

  /** Loads it, once, with the unsaved changes of this browser; for a read-only link, as saved. */
  async load(id: string, isReadOnly: boolean): Promise<void> {
    if (this.#loading === id) return;
    this.#loading = id;
    try {
      const [saved, visualisations, searches, viewer] = await Promise.all([
        this.#store.get("dashboard", id),
        this.#store.list("visualisation"),
        this.#store.list("search"),
        knownViewer(),
      ]);
      if (this.#loading !== id) return;
      this.saved = saved;
      this.canEdit = !isReadOnly && viewer?.role !== READER;
      this.#account = viewer?.name;
      const draft = this.canEdit ? readDraft(this.#account, id) : undefined;
      this.isOutdated = draft !== undefined && draft.revision !== saved.revision;
      this.#history = new EditHistory(draft?.dashboard ?? readDashboard(saved.attributes));
      this.visualisations = new Map(visualisations.map((one) => [one.id, one]));
      this.searches = new Map(searches.map((one) => [one.id, one]));
      this.fault = undefined;
    } catch (error) {
      if (this.#loading !== id) return;
      if (this.saved?.id !== id) this.#forget();
      this.fault = toHubError(error);
    }
    this.#loading = undefined;
    this.#onChange();
  }

  /** Learns the account that couldn't be learned, and keeps the changes made meanwhile. */
  async onHubBack(isReadOnly: boolean): Promise<void> {
    const { saved } = this;
    if (saved === undefined || this.#account !== undefined) return;
    if (!this.isChanged) return this.load(saved.id, isReadOnly);
    this.#account = (await knownViewer())?.name;
    this.#keep();
  }

  /** The previous content isn't part of a dashboard that can't be loaded. */
  #forget(): void {
    this.saved = undefined;
    this.#history = new EditHistory(EMPTY_DASHBOARD);
  }

  /** Saves `dashboard`; returns false if that failed. Changes made meanwhile stay unsaved. */
  async save(dashboard: Dashboard): Promise<boolean> {
    const { saved } = this;
    if (saved === undefined) return false;
    const before = this.dashboard;
    this.isSaving = true;
    this.#onChange();
    try {
      this.saved = await this.#store.put("dashboard", saved.id, saved.title, dashboard, saved.revision);
      if (this.dashboard === before) this.#history = new EditHistory(dashboard);
      this.#keep();
      this.fault = undefined;
    } catch (error) {
      this.fault = toHubError(error);
    }
    this.isSaving = false;
    this.#onChange();
    return this.fault === undefined;
  }

  arrange(panels: readonly Panel[]): void {
    if (panels !== this.dashboard.panels) this.#change({ ...this.dashboard, panels });
  }

  /** Shows an earlier version, as a change of this one. */
  restore({ attributes }: SavedObject): void {
    this.#change(readDashboard(attributes));
  }

  setVariables(variables: readonly Variable[]): void {
    this.#change({ ...this.dashboard, variables });
  }

  undo(): void {
    this.#history.undo();
    this.#keep();
  }

  redo(): void {
    this.#history.redo();
    this.#keep();
  }

  /** Restores the saved state; that can be undone too. */
  discard(): void {
    if (this.saved !== undefined) this.#change(readDashboard(this.saved.attributes));
  }

  #change(dashboard: Dashboard): void {
    this.#history.change(dashboard);
    this.#keep();
  }

  /** Keeps unsaved changes when the page is left. */
  #keep(): void {
    const { saved, dashboard } = this;
    if (saved !== undefined) {
      const draft = { id: saved.id, revision: saved.revision, dashboard };
      if (this.isChanged) this.isKept = writeDraft(this.#account, draft);
      else removeDraft(this.#account, saved.id);
    }
    this.isOutdated &&= this.isChanged;
    this.#onChange();
  }

  /** Returns what a saved visualisation shows. */
  visualisation(saved: SavedObject): Visualisation {
    const key = `${saved.id}/${saved.revision}`;
    let shown = this.#shown.get(key);
    if (shown === undefined) {
      shown = readVisualisation(new URLSearchParams(parametersOf(saved)));
      this.#shown.set(key, shown);
    }
    return shown;
  }

  /** Loads the variables' values in a time range. */
  async loadValues(range: TimeRange): Promise<void> {
    this.stop();
    this.#abort = new AbortController();
    const { signal } = this.#abort;
    const { variables } = this.dashboard;
    const resolved = resolveRange(range, Date.now());
    if (variables.length === 0 || resolved === undefined) return;
    const aggs = Object.fromEntries(
      variables.map(({ field }, at) => [
        `v${at}`,
        { terms: { field, size: MAX_VALUES, order: { _key: "asc" } } },
      ]),
    );
    const body = { size: 0, query: buildQuery({ query: "", filters: [] }, resolved), aggs };
    try {
      const { aggregations } = (await this.#client.search(this.#index, body, signal)) as {
        readonly aggregations?: Readonly<Record<string, unknown>>;
      };
      this.values = new Map(variables.map(({ field }, at) => [field, keysOf(aggregations?.[`v${at}`])]));
    } catch {
      // A value can be typed nevertheless.
      return;
    }
    this.#onChange();
  }

  /** Loads the fields of the panels' indices. */
  async loadFields(): Promise<void> {
    try {
      this.fields = [...readFields(await this.#client.fieldCapabilities(this.#index)).values()];
    } catch {
      return;
    }
    this.#onChange();
  }

  /** Cancels the running requests. */
  stop(): void {
    this.#abort.abort();
  }

  get #index(): string {
    const indices = this.dashboard.panels.flatMap(({ id }) => {
      const saved = this.visualisations.get(id);
      return saved === undefined ? [] : [this.visualisation(saved).index];
    });
    return [...new Set(indices)].join(",") || "logs-*";
  }
}

function keysOf(answer: unknown): string[] {
  const { buckets = [] } = (answer ?? {}) as {
    buckets?: readonly { readonly key: string | number; readonly key_as_string?: string }[];
  };
  return buckets.map(({ key, key_as_string: text }) => text ?? String(key));
}
