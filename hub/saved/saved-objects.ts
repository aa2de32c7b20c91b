/**
 * Saved searches, visualisations and dashboards. Each is a JSON object under `<type>/<id>` in a bucket, changed by
 * compare-and-set on its revision, so that concurrent writers can't overwrite each other unnoticed.
 */

import { randomBytes } from "node:crypto";
import type { Clock } from "#proto/kit/clock.ts";
import { AppError, toAppError } from "#proto/kit/errors.ts";
import type { JsonObject } from "#proto/kit/json.ts";
import { didYouMean } from "#proto/kit/nearest.ts";
import type { StateBucket, StateEntry } from "#proto/kit/state-bucket.ts";
import { loadSamples, type SampleOutcome } from "./sample-objects.ts";
import { SavedHistory } from "./saved-history.ts";

/** The types of saved objects. The dashboard's list of them: `SavedType` in ui/services/hub/saved-client.ts. */
export const SAVED_TYPES = ["search", "visualisation", "dashboard", "data-view"] as const;

/** A saved object as readers get it. */
export interface SavedObject {
  readonly type: string;
  readonly id: string;
  /** Changes with each write. */
  readonly revision: number;
  /** ISO 8601, UTC. */
  readonly updated: string;
  readonly title: string;
  /** The page's own content. */
  readonly attributes: JsonObject;
  /** Who saved it; missing in samples and in what older versions saved. */
  readonly by?: string;
}

/** What a writer provides. */
export interface SavedContent {
  readonly title: string;
  readonly attributes: JsonObject;
  readonly by?: string;
}

/** A former version, without its content. */
export type SavedRevision = Omit<SavedObject, "attributes">;

/** A dashboard of a hundred panels takes some 50 kB. */
const MAX_BYTES = 256 * 1024;
/** Objects per type; a list of them is one answer. */
const MAX_OBJECTS = 1_000;
/** Reads in flight while a list is made. */
const PARALLEL_READS = 16;
const MAX_TITLE = 200;
const ID = /^[A-Za-z0-9_-]{1,100}$/;

export class SavedObjects {
  readonly #bucket: StateBucket;
  readonly #clock: Clock;
  readonly #history: SavedHistory;

  constructor(bucket: StateBucket, clock: Clock) {
    this.#bucket = bucket;
    this.#history = new SavedHistory(bucket);
    this.#clock = clock;
  }

  /** Returns all objects of a type, by title. Throws request_invalid. */
  async list(type: string): Promise<SavedObject[]> {
    const keys = await this.#bucket.keys(`${checkType(type)}/`);
    const found: SavedObject[] = [];
    for (let start = 0; start < keys.length; start += PARALLEL_READS) {
      const entries = await Promise.all(
        keys.slice(start, start + PARALLEL_READS).map((key) => this.#bucket.get(key)),
      );
      for (const entry of entries) if (entry !== null) found.push(decode(entry));
    }
    return found.toSorted((a, b) => a.title.localeCompare(b.title, "en") || (a.id < b.id ? -1 : 1));
  }

  /** Throws not_found, request_invalid. */
  async get(type: string, id: string): Promise<SavedObject> {
    const entry = await this.#bucket.get(keyOf(type, id));
    if (entry === null) throw missing(type, id);
    return decode(entry);
  }

  /**
   * Saves a new object; without an id it gets one. Throws journal_conflict if it exists, request_invalid,
   * request_too_large.
   */
  async create(type: string, content: SavedContent, id = newId()): Promise<SavedObject> {
    const key = keyOf(type, id);
    const stored = this.#encode(content);
    await this.#forgetPredecessors(key);
    if ((await this.#bucket.keys(`${type}/`)).length >= MAX_OBJECTS) {
      throw new AppError(
        "request_invalid",
        `there are already ${MAX_OBJECTS} saved objects of type ${type}, the maximum; delete some`,
      );
    }
    try {
      const revision = await this.#bucket.create(key, stored.bytes);
      return { type, id, revision, ...stored.object };
    } catch (error) {
      throw conflict(error, `${type} ${id} exists; save it with its revision, or under another id`);
    }
  }

  /**
   * Replaces an object at `revision`; without a revision creates it or replaces its current version. Throws
   * journal_conflict if it was changed concurrently, not_found, request_invalid, request_too_large.
   */
  async put(type: string, id: string, content: SavedContent, revision?: number): Promise<SavedObject> {
    const key = keyOf(type, id);
    const before = await this.#bucket.get(key);
    if (before === null) {
      if (revision !== undefined) throw missing(type, id);
      return this.create(type, content, id);
    }
    const stored = this.#encode(content);
    const changed = `${type} ${id} was changed concurrently; read it again and apply your change to the current version`;
    if (revision !== undefined && revision !== before.revision)
      throw new AppError("journal_conflict", changed);
    // Before it is replaced: where this fails, nothing has changed, and the same call may be repeated.
    await this.#history.keep(before);
    try {
      const next = await this.#bucket.update(key, stored.bytes, before.revision);
      return { type, id, revision: next, ...stored.object };
    } catch (error) {
      throw conflict(error, changed);
    }
  }

  /**
   * Deletes an object with its former versions; with `revision`, only where that is its present one. Where the object was
   * deleted but not all former versions, the error says so, and the same call deletes them. Throws not_found,
   * journal_conflict, request_invalid.
   */
  async delete(type: string, id: string, revision?: number): Promise<void> {
    const key = keyOf(type, id);
    const isThere = (await this.#bucket.get(key)) !== null;
    if (isThere) {
      try {
        await this.#bucket.delete(key, revision);
      } catch (error) {
        throw conflict(error, `${type} ${id} was changed concurrently; check it before you delete it`);
      }
    }
    const hadVersions = await this.#forgetPredecessors(key).catch((error: unknown) => {
      const message = `${type} ${id} is deleted, but not all of its former versions; delete it again`;
      throw new AppError(toAppError(error).code, message, { cause: error });
    });
    if (!isThere && !hadVersions) throw missing(type, id);
  }

  /**
   * Forgets the versions of objects that were deleted under a key; false where there were none. Revisions are listed before
   * the object is looked for: an object that is created meanwhile has later ones.
   */
  async #forgetPredecessors(key: string): Promise<boolean> {
    const former = await this.#history.revisions(key);
    if (former.length === 0 || (await this.#bucket.get(key)) !== null) return false;
    await this.#history.forget(key, former);
    return true;
  }

  /** Returns an object's former versions, the newest first. Throws not_found, request_invalid. */
  async revisions(type: string, id: string): Promise<SavedRevision[]> {
    const key = keyOf(type, id);
    const present = await this.#bucket.get(key);
    if (present === null) throw missing(type, id);
    // A version is kept before it is replaced, and stays the present one where that fails.
    const former = (await this.#history.list(key)).filter((entry) => entry.revision < present.revision);
    return former.map((entry) => {
      const { attributes: _, ...revision } = decode(entry);
      return revision;
    });
  }

  /** Returns a former version, or the present one. Throws not_found, request_invalid. */
  async revision(type: string, id: string, revision: number): Promise<SavedObject> {
    const present = await this.get(type, id);
    if (present.revision === revision) return present;
    const entry = await this.#history.get(keyOf(type, id), revision);
    if (entry === null)
      throw new AppError("not_found", `there is no version ${revision} of ${type} ${id}; it may be too old`);
    return decode(entry);
  }

  /** Saves the samples that don't exist. */
  loadSamples(): Promise<SampleOutcome> {
    return loadSamples(this);
  }

  #encode({ title, attributes, by }: SavedContent): {
    readonly bytes: Buffer;
    readonly object: Omit<SavedObject, "type" | "id" | "revision">;
  } {
    const trimmed = title.trim();
    if (trimmed === "" || trimmed.length > MAX_TITLE)
      throw new AppError("request_invalid", `title must have 1 to ${MAX_TITLE} characters`);
    const updated = new Date(this.#clock.now()).toISOString();
    const object = { title: trimmed, updated, attributes, ...(by !== undefined && { by }) };
    const bytes = Buffer.from(JSON.stringify(object));
    if (bytes.length > MAX_BYTES) {
      throw new AppError(
        "request_too_large",
        `a saved object may have ${MAX_BYTES} bytes, this one has ${bytes.length}; make it smaller`,
      );
    }
    return { bytes, object };
  }
}

function newId(): string {
  return randomBytes(12).toString("base64url");
}

function checkType(type: string): string {
  if ((SAVED_TYPES as readonly string[]).includes(type)) return type;
  throw new AppError(
    "request_invalid",
    `unknown type ${type}; types are ${SAVED_TYPES.join(", ")}${didYouMean(type, SAVED_TYPES)}`,
  );
}

function keyOf(type: string, id: string): string {
  checkType(type);
  if (!ID.test(id))
    throw new AppError(
      "request_invalid",
      "an id has 1 to 100 letters, digits, - and _; leave it out to get one",
    );
  return `${type}/${id}`;
}

function decode({ key, value, revision }: StateEntry): SavedObject {
  const cut = key.indexOf("/");
  const object = JSON.parse(Buffer.from(value).toString()) as Omit<SavedObject, "type" | "id" | "revision">;
  return { type: key.slice(0, cut), id: key.slice(cut + 1), revision, ...object };
}

function missing(type: string, id: string): AppError {
  return new AppError("not_found", `there is no ${type} ${id}; it may have been deleted`);
}

function conflict(error: unknown, message: string): unknown {
  return toAppError(error).code === "journal_conflict"
    ? new AppError("journal_conflict", message, { cause: error })
    : error;
}
