/** Unsaved arrangements of dashboards: kept in the browser until they are saved or discarded, or somebody signs out. */

import { type Account, readOwn, writeOwn } from "#ui/services/browser/own-texts.ts";
import { type Dashboard, readDashboard } from "./dashboard.ts";

export interface DashboardDraft {
  readonly id: string;
  /** Revision of the saved dashboard that was changed. */
  readonly revision: number;
  readonly dashboard: Dashboard;
}

const NAME = "drafts";
/** Older ones are forgotten. */
const MAX_DRAFTS = 10;

/** Returns the draft of a dashboard; undefined if there is none. */
export function readDraft(account: Account, id: string): DashboardDraft | undefined {
  return readDrafts(account).find((draft) => draft.id === id);
}

/** Stores a draft instead of the previous one. Returns false if the browser can't keep it. */
export function writeDraft(account: Account, draft: DashboardDraft): boolean {
  const others = readDrafts(account).filter(({ id }) => id !== draft.id);
  return store(account, [draft, ...others].slice(0, MAX_DRAFTS));
}

/** Forgets the draft of a dashboard. */
export function removeDraft(account: Account, id: string): void {
  const drafts = readDrafts(account);
  const others = drafts.filter((draft) => draft.id !== id);
  if (others.length < drafts.length) store(account, others);
}

function store(account: Account, drafts: readonly DashboardDraft[]): boolean {
  return writeOwn(account, NAME, drafts.length === 0 ? undefined : JSON.stringify(drafts));
}

function readDrafts(account: Account): DashboardDraft[] {
  try {
    const known: unknown = JSON.parse(readOwn(account, NAME) ?? "[]");
    return Array.isArray(known) ? known.flatMap(readOne) : [];
  } catch {
    // Another program wrote there: the drafts start again.
    return [];
  }
}

function readOne(value: unknown): DashboardDraft[] {
  const { id, revision, dashboard } = (value ?? {}) as Partial<DashboardDraft>;
  if (typeof id !== "string" || typeof revision !== "number" || typeof dashboard !== "object") return [];
  return [{ id, revision, dashboard: readDashboard(dashboard as unknown as Record<string, unknown>) }];
}

/** Maximum of steps that can be undone. */
const MAX_STEPS = 100;

/** The states of an edited object, one of which is shown. */
export class EditHistory<T> {
  #past: T[] = [];
  #future: T[] = [];
  #current: T;

  constructor(current: T) {
    this.#current = current;
  }

  get current(): T {
    return this.#current;
  }

  get canUndo(): boolean {
    return this.#past.length > 0;
  }

  get canRedo(): boolean {
    return this.#future.length > 0;
  }

  /** Shows a new state; undone states can't be restored any more. */
  change(next: T): void {
    this.#past = [...this.#past, this.#current].slice(-MAX_STEPS);
    this.#future = [];
    this.#current = next;
  }

  undo(): void {
    const before = this.#past.pop();
    if (before === undefined) return;
    this.#future.push(this.#current);
    this.#current = before;
  }

  redo(): void {
    const next = this.#future.pop();
    if (next === undefined) return;
    this.#past.push(this.#current);
    this.#current = next;
  }
}
