/** Port of the search interface to snapshot repositories: folders and buckets with snapshots of indices. */

/** A repository as it was registered. */
export interface RepositoryDefinition {
  readonly type: "fs" | "s3";
  /** As given: `location`, or `bucket` and `base_path`; `readonly`. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Large immutable objects by key; see BlobStore. */
export interface RepositoryBlobs {
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Throws not_found. */
  get(key: string): Promise<Uint8Array>;
  /** Returns the keys that start with `prefix`, sorted. */
  list(prefix: string): Promise<string[]>;
  /** Removes a blob; a missing blob is not an error. */
  remove(key: string): Promise<void>;
}

export interface SnapshotRepositories {
  /** Returns all repositories by name. */
  all(): ReadonlyMap<string, RepositoryDefinition>;
  /**
   * Registers or changes a repository. Throws request_invalid, settings_invalid, forbidden for locations that aren't
   * allowed.
   */
  put(name: string, definition: RepositoryDefinition): Promise<void>;
  /** Unregisters repositories; their files are kept. */
  delete(names: readonly string[]): Promise<void>;
  /** Opens the storage of a repository. Throws settings_invalid, forbidden. */
  open(definition: RepositoryDefinition): RepositoryBlobs;
}
