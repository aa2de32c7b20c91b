/** Queries of Grafana's Loki data source (LogQL) as trees. */

/** Compares a label with a text. */
export interface Matcher {
  readonly label: string;
  readonly operator: "=" | "!=" | "=~" | "!~";
  readonly value: string;
}

/** Labels with the paths of their values. */
export type LabelPaths = readonly (readonly [label: string, path: string])[];

/** Keeps or drops entries, or changes their line and labels. */
export type Stage =
  | {
      readonly kind: "line";
      readonly operator: "|=" | "!=" | "|~" | "!~" | "|>" | "!>";
      /** An including filter needs one of them or of `addresses`; an excluding one allows none of them. */
      readonly values: readonly string[];
      /** Patterns of `ip("…")`. */
      readonly addresses: readonly string[];
    }
  | { readonly kind: "json"; readonly only: LabelPaths }
  | {
      readonly kind: "logfmt";
      readonly only: LabelPaths;
      /** A line that isn't logfmt has the label `__error__`. */
      readonly isStrict: boolean;
      /** Keys without a value are labels too. */
      readonly keepsEmpty: boolean;
    }
  | { readonly kind: "regexp" | "pattern" | "line_format"; readonly text: string }
  | { readonly kind: "filter"; readonly filter: LabelFilter }
  | {
      readonly kind: "label_format";
      readonly renames: readonly {
        readonly label: string;
        readonly from: string;
        readonly isText: boolean;
      }[];
    }
  | { readonly kind: "drop" | "keep"; readonly labels: readonly string[] }
  | { readonly kind: "decolorize" | "unpack" }
  | { readonly kind: "unwrap"; readonly label: string; readonly conversion: string | undefined };

/** Keeps entries by their labels. */
export type LabelFilter =
  | { readonly kind: "and" | "or"; readonly left: LabelFilter; readonly right: LabelFilter }
  | ({ readonly kind: "text" } & Matcher)
  | { readonly kind: "address"; readonly label: string; readonly isWanted: boolean; readonly pattern: string }
  | {
      readonly kind: "number";
      readonly label: string;
      readonly operator: "==" | "!=" | ">" | ">=" | "<" | "<=";
      /** Durations in seconds, sizes in bytes. */
      readonly value: number;
      readonly unit: "number" | "duration" | "bytes";
    };

/** Lines of streams. */
export interface LogQuery {
  readonly kind: "log";
  readonly matchers: readonly Matcher[];
  readonly stages: readonly Stage[];
}

/** The labels by which series are grouped. */
export interface Grouping {
  readonly without: boolean;
  readonly labels: readonly string[];
}

/** How series of two operands match, and which side may have several series for one of the other. */
export interface Matching {
  /** True: `labels` must be equal; false: all labels except these. */
  readonly on: boolean;
  readonly labels: readonly string[];
  readonly many: "left" | "right" | undefined;
  /** Labels that the side with several series takes from the other. */
  readonly include: readonly string[];
}

/** A query for values over time. */
export type MetricQuery =
  | {
      readonly kind: "range";
      readonly name: string;
      readonly log: LogQuery;
      readonly rangeMs: number;
      readonly offsetMs: number;
      /** Quantile of quantile_over_time; otherwise 0. */
      readonly quantile: number;
      readonly grouping: Grouping | undefined;
    }
  | {
      readonly kind: "vector";
      readonly name: string;
      /** Number of series for topk and bottomk. */
      readonly count: number;
      readonly grouping: Grouping | undefined;
      readonly inner: MetricQuery;
    }
  | {
      readonly kind: "binary";
      readonly operator: string;
      readonly left: MetricQuery;
      readonly right: MetricQuery;
      readonly matching: Matching | undefined;
      /** True: a comparison returns 0 or 1 instead of leaving points out. */
      readonly isBool: boolean;
    }
  | {
      readonly kind: "label_replace";
      readonly inner: MetricQuery;
      readonly label: string;
      readonly replacement: string;
      readonly from: string;
      readonly expression: string;
    }
  | { readonly kind: "number"; readonly value: number; readonly isVector: boolean };

export type LokiQuery = LogQuery | MetricQuery;

/** Functions over ranges, and whether they use unwrapped labels. */
export const RANGE_FUNCTIONS: ReadonlyMap<string, "needs unwrap" | "takes unwrap" | "counts lines"> = new Map(
  [
    ["rate", "takes unwrap"],
    ["rate_counter", "needs unwrap"],
    ["count_over_time", "counts lines"],
    ["bytes_rate", "counts lines"],
    ["bytes_over_time", "counts lines"],
    ["absent_over_time", "takes unwrap"],
    ["sum_over_time", "needs unwrap"],
    ["avg_over_time", "needs unwrap"],
    ["min_over_time", "needs unwrap"],
    ["max_over_time", "needs unwrap"],
    ["first_over_time", "needs unwrap"],
    ["last_over_time", "needs unwrap"],
    ["stddev_over_time", "needs unwrap"],
    ["stdvar_over_time", "needs unwrap"],
    ["quantile_over_time", "needs unwrap"],
  ],
);

export const VECTOR_FUNCTIONS: ReadonlySet<string> = new Set([
  "sum",
  "avg",
  "min",
  "max",
  "count",
  "stddev",
  "stdvar",
  "sort",
  "sort_desc",
  "topk",
  "bottomk",
]);
