/** Queries of Grafana's Loki data source (LogQL) as trees. */

/** Compares a label with a text. */
export interface Matcher {
  readonly label: string;
  readonly operator: "=" | "!=" | "=~" | "!~";
  readonly value: string;
}

/** Keeps or drops entries, or changes their line and labels. */
export type Stage =
  | {
      readonly kind: "line";
      readonly operator: "|=" | "!=" | "|~" | "!~";
      /** One of them is enough; of those that exclude, none may be there. */
      readonly values: readonly string[];
    }
  | { readonly kind: "json" | "logfmt"; readonly only: readonly (readonly [label: string, path: string])[] }
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
  | { readonly kind: "decolorize" }
  | { readonly kind: "unwrap"; readonly label: string; readonly conversion: string | undefined };

/** Keeps entries by their labels. */
export type LabelFilter =
  | { readonly kind: "and" | "or"; readonly left: LabelFilter; readonly right: LabelFilter }
  | ({ readonly kind: "text" } & Matcher)
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

/** Which labels series are joined by. */
export interface Grouping {
  readonly without: boolean;
  readonly labels: readonly string[];
}

/** Numbers over time. */
export type MetricQuery =
  | {
      readonly kind: "range";
      readonly name: string;
      readonly log: LogQuery;
      readonly rangeMs: number;
      readonly offsetMs: number;
      readonly grouping: Grouping | undefined;
    }
  | {
      readonly kind: "vector";
      readonly name: string;
      /** Of topk and bottomk. */
      readonly count: number;
      readonly grouping: Grouping | undefined;
      readonly inner: MetricQuery;
    }
  | {
      readonly kind: "binary";
      readonly operator: string;
      readonly left: MetricQuery;
      readonly right: MetricQuery;
    }
  | { readonly kind: "number"; readonly value: number; readonly isVector: boolean };

export type LokiQuery = LogQuery | MetricQuery;

export const RANGE_FUNCTIONS: ReadonlySet<string> = new Set([
  "rate",
  "count_over_time",
  "bytes_rate",
  "bytes_over_time",
  "sum_over_time",
  "avg_over_time",
  "min_over_time",
  "max_over_time",
]);

export const VECTOR_FUNCTIONS: ReadonlySet<string> = new Set([
  "sum",
  "avg",
  "min",
  "max",
  "count",
  "topk",
  "bottomk",
]);
