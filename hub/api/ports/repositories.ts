/** Port of the search interface to snapshot repositories: folders and buckets that snapshots of indices are kept in. */

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
  /** Removes a blob; one that isn't there is no error. */
  remove(key: string): Promise<void>;
}

export interface SnapshotRepositories {
  /** All repositories by name. */
  all(): ReadonlyMap<string, RepositoryDefinition>;
  /** Registers a repository, or changes it. Throws request_invalid, settings_invalid, forbidden for other places. */
  put(name: string, definition: RepositoryDefinition): Promise<void>;
  /** Forgets repositories; their files stay. */
  delete(names: readonly string[]): Promise<void>;
  /** Opens the place of a repository. Throws settings_invalid, forbidden. */
  open(definition: RepositoryDefinition): RepositoryBlobs;
}
