/** ClickHouse, by its HTTP interface: a table ordered by time, without an index of words. */

import { askText } from "./ask-text.ts";
import { type Answer, INDEX, type Store } from "./store.ts";

const LOW = "LowCardinality(String)";
const COLUMNS = `"@timestamp" DateTime64(3, 'UTC'), message String, client String, method ${LOW}, path ${LOW}, proto ${LOW},
 status UInt16, bytes UInt32, referer ${LOW}, agent ${LOW}, host ${LOW}, service ${LOW}, level ${LOW}, ms UInt32`;

/** A word as the other stores cut it: between anything but letters, digits and dots. */
const word = (text: string): string => `hasTokenCaseInsensitive(message, '${text}')`;
const counted = (where: string): string => `SELECT count() AS n FROM ${INDEX} WHERE ${where}`;
const grouped = (by: string, rest = ""): string =>
  `SELECT ${by} AS k, count() AS n FROM ${INDEX} GROUP BY ${by} ${rest}`;
const HOUR = `toStartOfHour("@timestamp")`;

const SQL: Readonly<Record<string, string>> = {
  "newest 50 with a word": `SELECT * FROM ${INDEX} WHERE ${word("cart")} ORDER BY "@timestamp" DESC LIMIT 50`,
  "word AND status": counted(`${word("cart")} AND status = 404`),
  phrase: counted("message LIKE '%/cart/order/%'"),
  prefix: counted("startsWith(path, '/cart/o')"),
  substring: counted("path LIKE '%rt/ord%'"),
  NOT: counted(`NOT ${word("curl")}`),
  "rare word": counted(word("3a1")),
  "count by level": grouped("level"),
  "histogram by hour": grouped(HOUR),
  "histogram × level": `SELECT ${HOUR} AS k, level, count() AS n FROM ${INDEX} GROUP BY k, level`,
  "top 20 of 5,000 paths": grouped("path", "ORDER BY n DESC LIMIT 20"),
  "top 20 of 50,000 addresses": grouped("client", "ORDER BY n DESC LIMIT 20"),
  "unique addresses": `SELECT uniq(client) AS n FROM ${INDEX}`,
};

interface Row {
  readonly k?: string;
  readonly n: string | number;
}

interface Options {
  readonly name: string;
  readonly url: string;
  readonly pids: () => readonly number[];
  readonly close: () => Promise<void>;
}

export function clickHouse({ name, url, pids, close }: Options): Store {
  const run = (sql: string): Promise<string> => askText(url, sql, "text/plain");
  const rows = async (sql: string): Promise<Row[]> => rowsOf(await run(`${sql} FORMAT JSONEachRow`));
  const drop = async (): Promise<void> => void (await run(`DROP TABLE IF EXISTS ${INDEX}`));
  const insert = new URLSearchParams({
    query: `INSERT INTO ${INDEX} FORMAT JSONEachRow`,
    date_time_input_format: "best_effort",
  });
  const newestTotal = async (): Promise<Answer> => Number((await rows(counted(word("cart"))))[0]?.n);
  return {
    name,
    format: "ndjson",
    pids,
    create: async () => {
      await drop();
      await run(`CREATE TABLE ${INDEX} (${COLUMNS}) ENGINE = MergeTree ORDER BY "@timestamp"`);
    },
    send: async (body) => void (await askText(`${url}/?${insert.toString()}`, body, "application/x-ndjson")),
    refresh: async () => undefined,
    diskBytes: async () => {
      const found = await rows(
        `SELECT sum(bytes_on_disk) AS n FROM system.parts WHERE active AND table = '${INDEX}'`,
      );
      return Number(found[0]?.n);
    },
    question: ({ name: about, top }) => ({
      ask: () => run(`${SQL[about]!} FORMAT JSONEachRow`),
      read: async (answer) => readRows(about, rowsOf(answer), top, newestTotal),
    }),
    close: async () => {
      await drop();
      await close();
    },
  };
}

/** The version of the server at `url`. */
export async function versionOf(url: string): Promise<string> {
  return (await askText(url, "SELECT version() FORMAT TabSeparated", "text/plain")).trim();
}

function rowsOf(answer: string): Row[] {
  return answer
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Row);
}

async function readRows(
  about: string,
  rows: readonly Row[],
  top: number | undefined,
  newestTotal: () => Promise<Answer>,
): Promise<Answer> {
  if (about.startsWith("newest")) return rows.length === 50 ? await newestTotal() : `${rows.length} rows`;
  if (top === undefined) return Number(rows[0]?.n);
  const counts = new Map<unknown, number>();
  for (const { k, n } of rows) counts.set(k, (counts.get(k) ?? 0) + Number(n));
  return [...counts.values()].sort((a, b) => b - a).slice(0, top);
}
