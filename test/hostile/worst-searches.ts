/** Requests made to cost as much as the search interface allows, over the documents of `worstDocuments`. */

/** A search of the list. */
export interface WorstSearch {
  readonly name: string;
  readonly path: string;
  readonly body: unknown;
}

/** Documents that the searches walk; many values, long texts, one field of them unique. */
export const WORST_DOCUMENTS = 50_000;
const WORDS = Array.from({ length: 2_000 }, (_, at) => `w${at.toString(36)}`);
const INDEX = "/worst";

/** Returns lines of `_bulk` for the documents from `first` up to `end`. */
export function worstDocuments(first: number, end: number): string {
  const lines: string[] = [];
  for (let at = first; at < end; at++) {
    const text = Array.from({ length: 30 }, (_, word) => WORDS[(at * 31 + word * word * 7) % WORDS.length]);
    const document = {
      id: `user-${at}`,
      host: `h${at % 97}`,
      text: text.join(" "),
      n: at * 1.37,
      at: at * 60_000,
    };
    lines.push('{"index":{}}', JSON.stringify(document));
  }
  return `${lines.join("\n")}\n`;
}

const SEARCH = `${INDEX}/_search`;
const ranges = (count: number) => Array.from({ length: count }, (_, at) => ({ from: at, to: at + 5 }));
const phrase = WORDS.slice(0, 8).join(" ");

/** The list; each request is answered or refused with a reason. */
export const WORST_SEARCHES: readonly WorstSearch[] = [
  search("10,000 ranges with a cardinality each", {
    size: 0,
    aggs: {
      r: {
        range: { field: "n", ranges: ranges(9_999) },
        aggs: { c: { cardinality: { field: "id.keyword" } } },
      },
    },
  }),
  search("100,000 ranges", {
    size: 0,
    aggs: { r: { range: { field: "n", ranges: ranges(100_000) }, aggs: { s: { stats: { field: "at" } } } } },
  }),
  search("1,000 rescore passes", {
    query: { match: { text: phrase } },
    rescore: Array.from({ length: 1_000 }, () => ({
      window_size: 10_000,
      query: { rescore_query: { match_phrase: { text: { query: phrase, slop: 50 } } } },
    })),
  }),
  search("300,000 brackets", `${"[".repeat(300_000)}${"]".repeat(300_000)}`),
  search("10,000 terms with percentiles and terms below", {
    size: 0,
    aggs: {
      t: {
        terms: { field: "id.keyword", size: 10_000 },
        aggs: {
          p: { percentiles: { field: "n" } },
          h: {
            terms: { field: "host.keyword", size: 50 },
            aggs: { u: { cardinality: { field: "id.keyword" } } },
          },
        },
      },
    },
  }),
  search("20 rescore passes of 10,000 windows", {
    query: { match: { text: phrase } },
    rescore: Array.from({ length: 20 }, () => ({
      window_size: 10_000,
      query: { rescore_query: { match_phrase: { text: { query: phrase, slop: 50 } } } },
    })),
  }),
  search("collapse with inner hits", {
    size: 1_000,
    query: { match_all: {} },
    collapse: { field: "id.keyword", inner_hits: { name: "all", size: 100, sort: [{ n: "desc" }] } },
  }),
  search("10,000 hits by four keys", {
    size: 10_000,
    sort: [{ "host.keyword": "asc" }, { "id.keyword": "desc" }, { n: "asc" }, { at: "desc" }],
  }),
  search("a histogram of 0.0001", {
    size: 0,
    aggs: { h: { histogram: { field: "n", interval: 0.0001, min_doc_count: 1 } } },
  }),
  search("all fields as columns of 10,000 hits", {
    size: 10_000,
    docvalue_fields: ["*"],
    stored_fields: ["*"],
  }),
  search("wildcards on both sides of unique values", {
    query: {
      bool: {
        should: Array.from({ length: 200 }, (_, at) => ({
          wildcard: { "id.keyword": `*${at}*${at % 10}*` },
        })),
      },
    },
  }),
  search("long regular expressions", {
    query: {
      bool: { should: Array.from({ length: 20 }, () => ({ regexp: { text: "(w.*){1,20}[a-z]+(x|y|z)*" } })) },
    },
  }),
  search("fuzzy texts of 1,000 words", {
    query: {
      match: { text: { query: WORDS.slice(0, 1_000).join(" "), fuzziness: 2, max_expansions: 1_000 } },
    },
  }),
  search("spans of thousands of terms near each other, scored and highlighted", {
    size: 1_000,
    query: {
      span_near: {
        clauses: ["w", "w1", "w*1", "wa"].map((wildcard) => ({
          span_multi: { match: { wildcard: { text: `${wildcard}?*` } } },
        })),
        slop: 100,
        in_order: false,
      },
    },
    highlight: { fields: { text: { number_of_fragments: 0 } } },
  }),
  search("spans that no document has, as one of two choices", {
    query: {
      bool: {
        should: [
          {
            span_near: {
              clauses: [
                { span_multi: { match: { prefix: { text: "w" } } } },
                { span_multi: { match: { wildcard: { text: "*1*" } } } },
              ],
              slop: 1_000,
              in_order: true,
            },
          },
          { term: { "host.keyword": "nothing" } },
        ],
        must_not: { intervals: { text: { match: { query: "w1 w2", max_gaps: 1_000 } } } },
      },
    },
  }),
  search("scores of a script that no document reaches", {
    query: {
      bool: {
        should: [
          {
            script_score: {
              query: { match_all: {} },
              script: {
                source:
                  "double s = 0; for (int i = 0; i < 500; i++) { s += Math.sqrt(i * doc['n'].value) } s",
              },
              min_score: 1e30,
            },
          },
          { term: { "host.keyword": "nothing" } },
        ],
      },
    },
  }),
  search("highlights of 1,000 hits with wildcards", {
    size: 1_000,
    query: { query_string: { query: "w* AND *1* AND text:*a*" } },
    highlight: { fields: { "*": { number_of_fragments: 100 } }, require_field_match: false },
  }),
  search("a script that loops", {
    query: {
      script_score: {
        query: { match_all: {} },
        script: { source: "int i = 0; while (i >= 0) { i = 1 - i } return i" },
      },
    },
  }),
  search("a script over every document", {
    size: 0,
    query: {
      bool: {
        filter: {
          script: {
            script: {
              source:
                "double s = 0; for (int i = 0; i < 2000; i++) { s += Math.sqrt(i * doc['n'].value) } s > 1",
            },
          },
        },
      },
    },
  }),
  search("the largest page of a composite of unique keys", {
    size: 0,
    aggs: {
      c: {
        composite: {
          size: 65_536,
          sources: [
            { a: { terms: { field: "id.keyword", order: "desc" } } },
            { b: { terms: { field: "n" } } },
          ],
        },
      },
    },
  }),
  search("a histogram of 50,000 buckets by a metric", {
    size: 0,
    aggs: {
      h: {
        histogram: { field: "n", interval: 2, min_doc_count: 1, order: { "p.50": "desc" } },
        aggs: { p: { percentiles: { field: "at", percents: [50] } } },
      },
    },
  }),
  search("sorted parts of a composite of three sources", {
    size: 0,
    aggs: {
      c: {
        composite: {
          size: 10_000,
          sources: [
            { a: { terms: { field: "id.keyword" } } },
            { b: { terms: { field: "host.keyword" } } },
            { c: { histogram: { field: "n", interval: 0.5 } } },
          ],
        },
        aggs: { top: { top_hits: { size: 10, sort: [{ n: "desc" }] } } },
      },
    },
  }),
  search("a significant text of everything", {
    size: 0,
    aggs: { s: { significant_text: { field: "text", size: 1_000, filter_duplicate_text: true } } },
  }),
  search("an adjacency matrix of 100 filters", {
    size: 0,
    aggs: {
      a: {
        adjacency_matrix: {
          filters: Object.fromEntries(
            Array.from({ length: 100 }, (_, at) => [`f${at}`, { wildcard: { text: `*${at}*` } }]),
          ),
        },
      },
    },
  }),
  {
    name: "200 searches in one request",
    path: "/_msearch",
    body: Array.from(
      { length: 200 },
      (_, at) =>
        `{"index":"worst"}\n${JSON.stringify({ size: 0, aggs: { t: { terms: { field: "id.keyword", size: 5_000 + at } } } })}\n`,
    ).join(""),
  },
  {
    name: "600 templates that make nothing, each as dear as allowed",
    path: "/_msearch/template",
    body: `{"index":"worst"}\n${JSON.stringify({
      source: "{{#l}}{{#l}}{{x}}{{/l}}{{/l}}",
      params: { l: Array.from({ length: 400 }, () => 1) },
    })}\n`.repeat(600),
  },
  {
    name: "addresses without an end",
    path: `${INDEX}/_analyze`,
    body: { tokenizer: "uax_url_email", text: `${"a".repeat(200_000)}@${"b.".repeat(100_000)}` },
  },
  {
    name: "an analysis of 900 kB",
    path: `${INDEX}/_analyze`,
    body: { analyzer: "english", text: `${"running-dogs@example.com ".repeat(36_000)}` },
  },
];

function search(name: string, body: unknown): WorstSearch {
  return { name, path: SEARCH, body };
}
