/** Queries that clients know and that aren't offered: why, and what to use. */

const SPANS = "spans aren't offered; use intervals, or match_phrase with slop";
const PARENTS = "documents have no parents; put both into one document";

/** Reasons by the name of the query. */
export const REFUSED_QUERIES: ReadonlyMap<string, string> = new Map([
  ["script", "scripts aren't offered; let a filter of a pipeline put the value into a field"],
  ["script_score", "scripts aren't offered; use function_score with field_value_factor"],
  ["nested", "arrays of objects are kept flat; query their fields as those of the document"],
  ["has_child", PARENTS],
  ["has_parent", PARENTS],
  ["parent_id", PARENTS],
  ["percolate", "queries aren't kept as documents; use alerts"],
  ["geo_shape", "shapes aren't offered; use geo_bounding_box, geo_distance or geo_polygon"],
  ["span_term", SPANS],
  ["span_near", SPANS],
  ["span_first", SPANS],
  ["span_or", SPANS],
  ["span_not", SPANS],
  ["span_multi", SPANS],
  ["span_containing", SPANS],
  ["span_within", SPANS],
  ["field_masking_span", SPANS],
]);
