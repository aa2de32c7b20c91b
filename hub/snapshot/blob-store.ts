/**
 * Stores large immutable objects by key, outside of the log: in a directory, or in an S3-compatible bucket that the
 * usual environment variables configure.
 */

import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { AppError, systemCode } from "#proto/kit/errors.ts";
import { writeFileAtomic } from "#proto/kit/files/files.ts";
import { DEFAULT_S3_REGION, S3Bucket } from "#proto/kit/s3-bucket.ts";

/** Keys: 1..512 characters of [-/_.a-zA-Z0-9], no empty segment and none of dots alone. Blobs: at most 64 MiB. */
export interface BlobStore {
  /** For messages. */
  readonly address: string;
  has(key: string): Promise<boolean>;
  /** Stores a blob durably; replaces the one of that name. */
  put(key: string, bytes: Uint8Array): Promise<void>;
  /** Throws not_found. */
  get(key: string): Promise<Uint8Array>;
  /** Returns the keys that start with `prefix`, sorted. */
  list(prefix: string): Promise<string[]>;
  /** Removes a blob; one that isn't there is no error. */
  remove(key: string): Promise<void>;
}

/** Only the hub's user may read the blobs. */
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** Blobs as files below a folder. */
export class DirectoryBlobs implements BlobStore {
  readonly address: string;

  /** `folder` is created at the first write. */
  constructor(folder: string) {
    this.address = folder;
  }

  async has(key: string): Promise<boolean> {
    return statSync(this.#path(key), { throwIfNoEntry: false })?.isFile() ?? false;
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    const path = this.#path(key);
    mkdirSync(dirname(path), { recursive: true, mode: FOLDER_MODE });
    writeFileAtomic(path, bytes, FILE_MODE);
  }

  async get(key: string): Promise<Uint8Array> {
    try {
      return readFileSync(this.#path(key));
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
      throw new AppError("not_found", `${this.#path(key)} isn't there`, { cause: error });
    }
  }

  async list(prefix: string): Promise<string[]> {
    try {
      return readdirSync(this.address, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(this.address, join(entry.parentPath, entry.name)).split(sep).join("/"))
        .filter((key) => key.startsWith(prefix))
        .sort();
    } catch (error) {
      if (systemCode(error) !== "ENOENT") throw error;
      return [];
    }
  }

  async remove(key: string): Promise<void> {
    rmSync(this.#path(key), { force: true });
  }

  #path(key: string): string {
    if (!/^[\w.-]+(\/[\w.-]+)*$/.test(key) || /(^|\/)\.+(\/|$)/.test(key))
      throw new AppError("request_invalid", `"${key}" can't be the name of a blob`);
    return join(this.address, key);
  }
}

export class S3Blobs extends S3Bucket implements BlobStore {
  /**
   * `address`: s3://bucket or s3://bucket/prefix. `env`: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, and where needed
   * AWS_SESSION_TOKEN, AWS_REGION (us-east-1) and AWS_ENDPOINT_URL (Amazon's). Throws settings_invalid.
   */
  constructor(address: string, env: NodeJS.ProcessEnv) {
    const [, bucket, prefix = ""] = /^s3:\/\/([^/]+)(?:\/(.*?))?\/?$/.exec(address) ?? [];
    if (bucket === undefined)
      throw new AppError("settings_invalid", `"${address}" is not s3://bucket or s3://bucket/prefix`);
    super({
      bucket,
      prefix: prefix === "" ? "" : `${prefix}/`,
      accessKeyId: required(env, "AWS_ACCESS_KEY_ID"),
      secretAccessKey: required(env, "AWS_SECRET_ACCESS_KEY"),
      sessionToken: env["AWS_SESSION_TOKEN"],
      region: env["AWS_REGION"] ?? DEFAULT_S3_REGION,
      endpoint: env["AWS_ENDPOINT_URL"],
    });
  }
}

function required(env: NodeJS.ProcessEnv, name: string): string {
  const value = env[name];
  if (value === undefined || value === "")
    throw new AppError(
      "settings_invalid",
      `${name} isn't set; s3:// needs the credentials in the environment`,
    );
  return value;
}
