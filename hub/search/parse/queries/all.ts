/** Every type of query. A new one is a file beside this one and a line here. */

import type { QueryType } from "#hub/search/parse/query-parser.ts";
import { bool } from "./bool.ts";
import { boosting } from "./boosting.ts";
import { constantScore } from "./constant-score.ts";
import { disMax } from "./dis-max.ts";
import { distanceFeature } from "./distance-feature.ts";
import { exists } from "./exists.ts";
import { common } from "./frequent-terms.ts";
import { functionScore } from "./function-score.ts";
import { fuzzy } from "./fuzzy.ts";
import { geoBoundingBox } from "./geo-bounding-box.ts";
import { geoDistance } from "./geo-distance.ts";
import { geoPolygon } from "./geo-polygon.ts";
import { ids } from "./ids.ts";
import { intervals } from "./intervals.ts";
import { match } from "./match.ts";
import { matchAll } from "./match-all.ts";
import { matchBoolPrefix } from "./match-bool-prefix.ts";
import { matchNone } from "./match-none.ts";
import { matchPhrase } from "./match-phrase.ts";
import { matchPhrasePrefix } from "./match-phrase-prefix.ts";
import { moreLikeThis } from "./more-like-this.ts";
import { multiMatch } from "./multi-match.ts";
import { prefix } from "./prefix.ts";
import { queryString } from "./query-string.ts";
import { range } from "./range.ts";
import { regexp } from "./regexp.ts";
import { simpleQueryString } from "./simple-query-string.ts";
import { term } from "./term.ts";
import { terms } from "./terms.ts";
import { termsSet } from "./terms-set.ts";
import { type } from "./type.ts";
import { wildcard } from "./wildcard.ts";
import { wrapper } from "./wrapper.ts";

export const QUERY_TYPES: readonly QueryType[] = [
  bool,
  boosting,
  common,
  constantScore,
  disMax,
  distanceFeature,
  exists,
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
  prefix,
  queryString,
  range,
  regexp,
  simpleQueryString,
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
