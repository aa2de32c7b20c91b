/** Snapshot repositories that clients register: definitions that all hubs share, and the blobs of their locations. */

import { isAbsolute, join, normalize, resolve, sep } from "node:path";
import { AppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import type { Logger } from "#proto/kit/log.ts";
import type { StateBucket } from "#proto/kit/state-bucket.ts";
import { StoredTexts, type TextKind } from "#proto/kit/stored-texts.ts";
import { type BlobStore, DirectoryBlobs, S3Blobs } from "./blob-store.ts";

const KIND: TextKind = {
  noun: "snapshot repository",
  prefix: "repository/",
  maxChars: 16 * 1024,
  maxCount: 100,
};

/** Start of the addresses of buckets. */
const S3 = "s3://";

/** A repository as it was registered. */
export interface Repository {
  readonly type: "fs" | "s3";
  readonly settings: Readonly<Record<string, string>>;
}

export interface RepositoryOptions {
  readonly bucket: StateBucket;
  readonly log: Logger;
  /** Folders (absolute) and s3://bucket/prefix addresses that repositories may lie in; the first folder takes relative ones. */
  readonly places: readonly string[];
  /** Credentials of buckets; see S3Blobs. */
  readonly env: NodeJS.ProcessEnv;
}

export class Repositories implements Component {
  readonly #texts: StoredTexts;
  readonly #options: RepositoryOptions;

  constructor(options: RepositoryOptions) {
    this.#options = options;
    this.#texts = new StoredTexts(options.bucket, KIND, options.log);
  }

  start(): Promise<void> {
    return this.#texts.start();
  }

  stop(): Promise<void> {
    return this.#texts.stop();
  }

  /** Returns all repositories by name. */
  all(): ReadonlyMap<string, Repository> {
    return new Map([...this.#texts.all()].map(([name, text]) => [name, JSON.parse(text) as Repository]));
  }

  /** Throws request_invalid, settings_invalid, forbidden, request_too_large. */
  async put(name: string, repository: Repository): Promise<void> {
    this.open(repository);
    await this.#texts.put(name, JSON.stringify(repository));
  }

  delete(names: readonly string[]): Promise<void> {
    return this.#texts.delete(names);
  }

  /**
   * Returns the blobs of a repository. Throws settings_invalid, and forbidden for a location that path.repo doesn't
   * allow.
   */
  open({ type, settings }: Repository): BlobStore {
    if (type === "fs") return new DirectoryBlobs(this.#folder(settings["location"] ?? ""));
    const { bucket = "", base_path: path = "" } = settings;
    const address = `${S3}${bucket}${path === "" ? "" : `/${path.replace(/^\/+|\/+$/g, "")}`}`;
    const allowed = this.#options.places.filter((place) => place.startsWith(S3));
    if (address.split("/").includes("..") || !allowed.some((place) => isBelow(address, place, "/")))
      throw notAllowed(address, allowed);
    return new S3Blobs(address, this.#options.env);
  }

  #folder(location: string): string {
    const folders = this.#options.places.filter((place) => !place.startsWith(S3));
    if (location === "")
      throw new AppError("settings_invalid", "[location] is not set: name the folder of the repository");
    const path = normalize(isAbsolute(location) ? location : join(folders[0] ?? sep, location));
    const folder = resolve(path);
    if (!folders.some((place) => isBelow(folder, resolve(place), sep))) throw notAllowed(location, folders);
    return folder;
  }
}

function isBelow(path: string, place: string, separator: string): boolean {
  const start = place.endsWith(separator) ? place.slice(0, -separator.length) : place;
  return path === start || path.startsWith(start + separator);
}

function notAllowed(address: string, allowed: readonly string[]): AppError {
  const places = allowed.length === 0 ? "none" : allowed.join(", ");
  return new AppError(
    "forbidden",
    `location [${address}] doesn't match any of the locations specified by path.repo; allowed are: ${places}`,
  );
}
