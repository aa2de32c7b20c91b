/** Hidden columns of `_cat` that print statistics: of indices, shards or nodes, under the same names. */

import { statCell } from "#hub/api/stats/statistics.ts";
import type { StatsSource } from "#hub/api/stats/stats-source.ts";
import { type Cell, type Column, column, HIDDEN_RIGHT, type Row } from "./table.ts";

interface StatColumn {
  readonly name: string;
  readonly aliases: string;
  readonly help: string;
  /** First version that has it, see answersAs. */
  readonly from?: number;
  /** Statistics whose sum it is; absent: the one of the column's name. */
  readonly sumOf?: readonly string[];
}

const ROWS: readonly StatColumn[] = [
  ...section("completion", { size: ["cs", "size of completion"] }),
  ...section("fielddata", {
    memory_size: ["fm,fielddataMemory", "used fielddata cache"],
    evictions: ["fe,fielddataEvictions", "fielddata evictions"],
  }),
  ...section("query_cache", {
    memory_size: ["qcm,queryCacheMemory", "used query cache"],
    evictions: ["qce,queryCacheEvictions", "query cache evictions"],
  }),
  ...section("request_cache", {
    memory_size: ["rcm,requestCacheMemory", "used request cache"],
    evictions: ["rce,requestCacheEvictions", "request cache evictions"],
    hit_count: ["rchc,requestCacheHitCount", "request cache hit count"],
    miss_count: ["rcmc,requestCacheMissCount", "request cache miss count"],
  }),
  ...section("flush", {
    total: ["ft,flushTotal", "number of flushes"],
    total_time: ["ftt,flushTotalTime", "time spent in flush"],
  }),
  ...section("get", {
    current: ["gc,getCurrent", "number of current get ops"],
    time: ["gti,getTime", "time spent in get"],
    total: ["gto,getTotal", "number of get ops"],
    exists_time: ["geti,getExistsTime", "time spent in successful gets"],
    exists_total: ["geto,getExistsTotal", "number of successful gets"],
    missing_time: ["gmti,getMissingTime", "time spent in failed gets"],
    missing_total: ["gmto,getMissingTotal", "number of failed gets"],
  }),
  ...section("indexing", {
    delete_current: ["idc,indexingDeleteCurrent", "number of current deletions"],
    delete_time: ["idti,indexingDeleteTime", "time spent in deletions"],
    delete_total: ["idto,indexingDeleteTotal", "number of delete ops"],
    index_current: ["iic,indexingIndexCurrent", "number of current indexing ops"],
    index_time: ["iiti,indexingIndexTime", "time spent in indexing"],
    index_total: ["iito,indexingIndexTotal", "number of indexing ops"],
    index_failed: ["iif,indexingIndexFailed", "number of failed indexing ops"],
  }),
  ...section("merges", {
    current: ["mc,mergesCurrent", "number of current merges"],
    current_docs: ["mcd,mergesCurrentDocs", "number of current merging docs"],
    current_size: ["mcs,mergesCurrentSize", "size of current merges"],
    total: ["mt,mergesTotal", "number of completed merge ops"],
    total_docs: ["mtd,mergesTotalDocs", "docs merged"],
    total_size: ["mts,mergesTotalSize", "size merged"],
    total_time: ["mtt,mergesTotalTime", "time spent in merges"],
  }),
  ...section("refresh", {
    total: ["rto,refreshTotal", "total refreshes"],
    time: ["rti,refreshTime", "time spent in refreshes"],
    external_total: ["reto", "total external refreshes", 702],
    external_time: ["reti", "time spent in external refreshes", 702],
    listeners: ["rli,refreshListeners", "number of pending refresh listeners"],
  }),
  ...section("search", {
    fetch_current: ["sfc,searchFetchCurrent", "current fetch phase ops"],
    fetch_time: ["sfti,searchFetchTime", "time spent in fetch phase"],
    fetch_total: ["sfto,searchFetchTotal", "total fetch ops"],
    open_contexts: ["so,searchOpenContexts", "open search contexts"],
    query_current: ["sqc,searchQueryCurrent", "current query phase ops"],
    query_time: ["sqti,searchQueryTime", "time spent in query phase"],
    query_total: ["sqto,searchQueryTotal", "total query phase ops"],
    scroll_current: ["scc,searchScrollCurrent", "open scroll contexts"],
    scroll_time: ["scti,searchScrollTime", "time scroll contexts held open"],
    scroll_total: ["scto,searchScrollTotal", "completed scroll contexts"],
  }),
  ...section("segments", {
    count: ["sc,segmentsCount", "number of segments"],
    memory: ["sm,segmentsMemory", "memory used by segments"],
    index_writer_memory: ["siwm,segmentsIndexWriterMemory", "memory used by index writer"],
    version_map_memory: ["svmm,segmentsVersionMapMemory", "memory used by version map"],
    fixed_bitset_memory: ["sfbm,fixedBitsetMemory", "memory used by fixed bit sets"],
  }),
  ...section("warmer", {
    current: ["wc,warmerCurrent", "current warmer ops"],
    total: ["wto,warmerTotal", "total warmer ops"],
    total_time: ["wtt,warmerTotalTime", "time spent in warmers"],
  }),
  ...section("suggest", {
    current: ["suc,suggestCurrent", "number of current suggest ops"],
    time: ["suti,suggestTime", "time spend in suggest"],
    total: ["suto,suggestTotal", "number of suggest ops"],
  }).map((row) => ({ ...row, sumOf: [row.name.replace("suggest.", "search.suggest_")] })),
  {
    name: "memory.total",
    aliases: "tm,memoryTotal",
    help: "total used memory",
    sumOf: [
      "fielddata.memory_size",
      "query_cache.memory_size",
      "request_cache.memory_size",
      "segments.memory",
    ],
  },
];

/** Returns the columns of all sections but `without`, in the order of the help. */
export function statColumns(without: readonly string[] = []): Column[] {
  return ROWS.filter(({ name }) => !without.includes(sectionOf(name))).map(({ name, aliases, help, from }) =>
    column(name, aliases, help, { ...HIDDEN_RIGHT, ...(from !== undefined && { from }) }),
  );
}

/** Returns the columns of indices: each of all copies, then, as `pri.<name>`, of the primaries. */
export function statColumnsOfIndices(): Column[] {
  return statColumns().flatMap((each) => [each, { ...each, name: `pri.${each.name}`, aliases: [] }]);
}

/** Returns the cells of all columns of `statColumns`. */
export function statCells(source: StatsSource): Row {
  return Object.fromEntries(ROWS.map((each) => [each.name, cellOf(source, each)]));
}

/** Returns the cells of `statColumnsOfIndices`. */
export function statCellsOfIndices(all: StatsSource, primaries: StatsSource): Row {
  return Object.fromEntries(
    ROWS.flatMap((each) => [
      [each.name, cellOf(all, each)],
      [`pri.${each.name}`, cellOf(primaries, each)],
    ]),
  );
}

function cellOf(source: StatsSource, { name, sumOf }: StatColumn): Cell {
  return sumOf === undefined ? statCell(source, name) : total(source, sumOf);
}

/** Sums statistics of one unit. */
function total(source: StatsSource, names: readonly string[]): Cell {
  const cells = names.map((name) => statCell(source, name));
  if (cells.length === 1) return cells[0];
  const bytes = cells.map((cell) => (typeof cell === "object" && "bytes" in cell ? cell.bytes : 0));
  return { bytes: bytes.reduce((sum, each) => sum + each, 0) };
}

function section(
  prefix: string,
  columns: Readonly<Record<string, readonly [aliases: string, help: string, from?: number]>>,
): StatColumn[] {
  return Object.entries(columns).map(([name, [aliases, help, from]]) => ({
    name: `${prefix}.${name}`,
    aliases,
    help,
    ...(from !== undefined && { from }),
  }));
}

function sectionOf(name: string): string {
  return name.slice(0, name.indexOf("."));
}
