/** `rewrite` of queries for several terms: how they are scored. The names are checked; all matches score alike. */

import { AppError } from "#proto/kit/errors.ts";

const METHOD =
  /^(?:constant_score|constant_score_boolean|scoring_boolean|top_terms_(?:boost_|blended_freqs_)?\d{1,9})$/;

/** Throws request_invalid for a name that there isn't. */
export function checkRewrite(name: string | undefined): void {
  if (name !== undefined && !METHOD.test(name))
    throw new AppError("request_invalid", `Failed to parse rewrite_method [${name}]`);
}
