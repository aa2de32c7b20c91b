/**
 * The one error catalogue. A code names what went wrong, its HTTP status and whether the same call may
 * succeed later. `message` is public; `detail` is for the operator's log only.
 */

interface CatalogueEntry {
  /** HTTP status of an answer made of it. */
  readonly status: number;
  /** True where the same call may succeed later without a change. */
  readonly retryable: boolean;
}

const CATALOGUE = {
  internal: { status: 500, retryable: false },
  unavailable: { status: 503, retryable: true },
  timeout: { status: 504, retryable: true },
  overloaded: { status: 429, retryable: true },
  memory_limit: { status: 503, retryable: true },
  cancelled: { status: 499, retryable: false },
  closed: { status: 503, retryable: true },

  settings_invalid: { status: 400, retryable: false },
  usage_invalid: { status: 400, retryable: false },
  port_taken: { status: 500, retryable: false },
  data_locked: { status: 500, retryable: false },
  disk_full: { status: 507, retryable: true },
  file_unreadable: { status: 500, retryable: true },
  data_corrupt: { status: 500, retryable: false },

  nats_missing: { status: 500, retryable: false },
  nats_refused: { status: 500, retryable: false },
  journal_full: { status: 429, retryable: true },
  journal_gap: { status: 500, retryable: false },
  journal_conflict: { status: 409, retryable: false },

  request_invalid: { status: 400, retryable: false },
  request_too_large: { status: 413, retryable: false },
  request_timeout: { status: 408, retryable: true },
  head_too_large: { status: 431, retryable: false },
  parsing: { status: 400, retryable: false },
  name_taken: { status: 409, retryable: false },
  not_found: { status: 404, retryable: false },
  method_not_allowed: { status: 405, retryable: false },
  media_type: { status: 406, retryable: false },
  not_offered: { status: 501, retryable: false },
  unauthenticated: { status: 401, retryable: false },
  forbidden: { status: 403, retryable: false },

  index_missing: { status: 404, retryable: false },
  index_exists: { status: 400, retryable: false },
  index_name_invalid: { status: 400, retryable: false },
  index_closed: { status: 400, retryable: false },
  routing_missing: { status: 400, retryable: false },
  document_missing: { status: 404, retryable: false },
  version_conflict: { status: 409, retryable: false },
  mapping_parse: { status: 400, retryable: false },
  mapping_conflict: { status: 400, retryable: false },
  mapping_strict: { status: 400, retryable: false },
  script_failed: { status: 400, retryable: false },
  query_shard: { status: 400, retryable: false },
  window_too_large: { status: 400, retryable: false },
  aggregation_failed: { status: 500, retryable: false },
  too_many_buckets: { status: 503, retryable: false },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof CATALOGUE;

export interface ErrorOptions {
  /** The error that led to this one; logged, never sent. */
  cause?: unknown;
  /** What only the operator's log shows. */
  detail?: string;
  /** Further public facts, e.g. the index. */
  data?: Readonly<Record<string, unknown>>;
}

/** An expected failure with a code of the catalogue. `message`: what, where, why and the remedy. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly detail: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    const { stackTraceLimit } = Error;
    // The stack of a refused request isn't useful, and capturing it costs more than most refusals.
    if (CATALOGUE[code].status < 500) Error.stackTraceLimit = 0;
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.name = "AppError";
    this.code = code;
    this.detail = options.detail;
    this.data = options.data ?? {};
  }

  /** HTTP status, 400..599: that of the code unless `data.status` names another one. */
  get status(): number {
    const { status } = this.data;
    return typeof status === "number" ? status : CATALOGUE[this.code].status;
  }

  /** True where the same call may succeed later without a change. */
  get retryable(): boolean {
    return CATALOGUE[this.code].retryable;
  }
}

/** Returns true where `code` is one of the catalogue, for codes that came over the wire. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(CATALOGUE, code);
}

/** Returns `error` as an AppError; what isn't one becomes `internal` with itself as the cause. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  const detail = error instanceof Error ? error.message : String(error);
  return new AppError("internal", "internal error", { cause: error, detail });
}

/** Returns the system's code of an error (ENOSPC, EADDRINUSE …), or an empty string. */
export function systemCode(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" ? code : "";
}
