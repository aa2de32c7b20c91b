/**
 * VictoriaLogs, by its bulk interface and LogsQL (https://docs.victoriametrics.com/victorialogs/logsql/). It has no index
 * of words: a question about words reads the blocks that it can't exclude.
 */

import { askText } from "./ask-text.ts";
import type { Answer, Question, Store } from "./store.ts";

const LOGS_QL: Readonly<Record<string, string>> = {
  "newest 50 with a word": "cart | sort by (_time desc) limit 50",
  "word AND status": "cart status:=404 | stats count() n",
  phrase: '"cart/order" | stats count() n',
  prefix: 'path:="/cart/o"* | stats count() n',
  substring: 'path:~"rt/ord" | stats count() n',
  NOT: "!curl | stats count() n",
  "rare word": "3a1 | stats count() n",
  "count by level": "* | stats by (level) count() n",
  "histogram by hour": "* | stats by (_time:1h) count() n",
  "histogram × level": "* | stats by (_time:1h, level) count() n",
  "top 20 of 5,000 paths": "* | stats by (path) count() n | sort by (n desc) limit 20",
  "top 20 of 50,000 addresses": "* | stats by (client) count() n | sort by (n desc) limit 20",
  "unique addresses": "* | stats count_uniq(client) n",
};
/** Newest lines say nothing of how many there are. */
const NEWEST_TOTAL = "cart | stats count() n";

type Row = Readonly<Record<string, string>>;

interface Options {
  readonly name: string;
  readonly url: string;
  readonly pids: () => readonly number[];
  readonly close: () => Promise<void>;
}

export function victoriaLogs({ name, url, pids, close }: Options): Store {
  const query = (text: string): Promise<string> =>
    askText(
      `${url}/select/logsql/query`,
      new URLSearchParams({ query: text }).toString(),
      "application/x-www-form-urlencoded",
    );
  const fields = new URLSearchParams({
    _msg_field: "message",
    _time_field: "@timestamp",
    _stream_fields: "host,service",
  });
  return {
    name,
    format: "bulk",
    pids,
    create: async () => await refuseUnlessEmpty(name, query),
    send: async (body) =>
      void (await askText(
        `${url}/insert/elasticsearch/_bulk?${fields.toString()}`,
        body,
        "application/x-ndjson",
      )),
    refresh: async () => void (await askText(`${url}/internal/force_flush`, "", "text/plain")),
    diskBytes: async () => await diskBytes(url),
    question: ({ name: about, top }): Question => ({
      ask: () => query(LOGS_QL[about]!),
      read: async (answer) => readRows(about, rowsOf(answer), top, async () => await query(NEWEST_TOTAL)),
    }),
    close,
  };
}

/** It can't delete: documents of another run would be counted. */
async function refuseUnlessEmpty(name: string, query: (text: string) => Promise<string>): Promise<void> {
  const found = Number(rowsOf(await query("* | stats count() n"))[0]?.["n"] ?? 0);
  if (found > 0) throw new Error(`${name} holds ${found} lines; start it with an empty folder`);
}

async function readRows(
  about: string,
  rows: readonly Row[],
  top: number | undefined,
  newestTotal: () => Promise<string>,
): Promise<Answer> {
  if (about.startsWith("newest")) {
    return rows.length === 50 ? numberOf(rowsOf(await newestTotal())) : `${rows.length} lines`;
  }
  if (top === undefined) return numberOf(rows);
  // The rows of an hour by level are summed to its count.
  const counts = new Map<string, number>();
  for (const { n, level, ...key } of rows) {
    const group = JSON.stringify("_time" in key ? key : { ...key, level });
    counts.set(group, (counts.get(group) ?? 0) + Number(n));
  }
  return [...counts.values()].sort((a, b) => b - a).slice(0, top);
}

const numberOf = (rows: readonly Row[]): number => Number(rows[0]?.["n"]);

function rowsOf(answer: string): Row[] {
  return answer
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Row);
}

async function diskBytes(url: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const sizes = text.matchAll(/^vl_data_size_bytes\{[^}]*\} (\S+)$/gm);
  return [...sizes].reduce((sum, [, size]) => sum + Number(size), 0);
}
