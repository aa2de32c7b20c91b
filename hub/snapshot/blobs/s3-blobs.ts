/** Blobs in an S3-compatible bucket, configured by the usual environment variables. */

import { AppError } from "#proto/kit/errors.ts";
import { DEFAULT_S3_REGION, S3Bucket } from "#proto/kit/s3-bucket.ts";
import type { BlobStore } from "./blob-store.ts";

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
