/** All types of queries. To add one, write a file beside this one and add a line here. */

import type { QueryType } from "#hub/search/parse/query-parser.ts";
import { bool, boosting, constantScore, disMax, wrapper } from "./compound.ts";
import { distanceFeature } from "./distance-feature.ts";
import { exists, ids, matchAll, matchNone, type } from "./documents.ts";
import { functionScore, scriptScore } from "./function-score.ts";
import { geoBoundingBox, geoDistance, geoPolygon } from "./geo.ts";
import { intervals } from "./intervals.ts";
import { common, match, matchBoolPrefix, matchPhrase, matchPhrasePrefix } from "./match.ts";
import { moreLikeThis } from "./more-like-this.ts";
import { multiMatch } from "./multi-match.ts";
import { nested } from "./nested.ts";
import { fuzzy, prefix, regexp, wildcard } from "./patterns.ts";
import { queryString, simpleQueryString } from "./query-string.ts";
import { range } from "./range.ts";
import { rankFeature } from "./rank-feature.ts";
import { script } from "./script.ts";
import {
  fieldMaskingSpan,
  spanContaining,
  spanFirst,
  spanMulti,
  spanNear,
  spanNot,
  spanOr,
  spanTerm,
  spanWithinType,
} from "./spans.ts";
import { term, terms } from "./terms.ts";
import { termsSet } from "./terms-set.ts";

export const QUERY_TYPES: readonly QueryType[] = [
  bool,
  boosting,
  common,
  constantScore,
  disMax,
  distanceFeature,
  exists,
  fieldMaskingSpan,
  functionScore,
  fuzzy,
  geoBoundingBox,
  geoDistance,
  geoPolygon,
  ids,
  intervals,
  match,
  matchAll,
  matchBoolPrefix,
  matchNone,
  matchPhrase,
  matchPhrasePrefix,
  moreLikeThis,
  multiMatch,
  nested,
  prefix,
  queryString,
  range,
  rankFeature,
  regexp,
  script,
  scriptScore,
  simpleQueryString,
  spanContaining,
  spanFirst,
  spanMulti,
  spanNear,
  spanNot,
  spanOr,
  spanTerm,
  spanWithinType,
  term,
  terms,
  termsSet,
  type,
  wildcard,
  wrapper,
];

/** By their names and aliases. */
export const QUERIES_BY_NAME: ReadonlyMap<string, QueryType> = new Map(
  QUERY_TYPES.flatMap((type) => [type.name, ...(type.aliases ?? [])].map((name) => [name, type])),
);
