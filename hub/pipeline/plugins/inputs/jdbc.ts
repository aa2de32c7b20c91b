/** Input jdbc: rows of databases, once or on a schedule, continuing where the last run ended. */

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Static } from "typebox";
import { parseSchedule, runScheduled, type Schedule } from "#hub/pipeline/formats/schedule.ts";
import { defineInput, type InputChannel, type InputContext } from "#hub/pipeline/plugins/input.ts";
import {
  type Address,
  bindStatement,
  type Database,
  fieldValue,
  numberOf,
  type Row,
  readConnectionString,
} from "#hub/pipeline/plugins/inputs/jdbc/database.ts";
import { openMysql } from "#hub/pipeline/plugins/inputs/jdbc/mysql.ts";
import { openPostgresql } from "#hub/pipeline/plugins/inputs/jdbc/postgresql.ts";
import { openSqlite } from "#hub/pipeline/plugins/inputs/jdbc/sqlite.ts";
import { Event, isHash, valueText } from "#proto/event.ts";
import { fieldReference } from "#proto/field-reference.ts";
import { AppError } from "#proto/kit/errors.ts";
import type { Component } from "#proto/kit/lifecycle.ts";
import { anyTable, flag, oneOf, optional, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Backoff } from "#proto/kit/retry.ts";
import { Type } from "#proto/kit/schema.ts";

/** Rows held at a time, unless jdbc_fetch_size says otherwise. */
const PORTION_ROWS = 1_000;

const JDBC_OPTIONS = options({
  jdbc_connection_string: text(
    "address of the database: jdbc:postgresql://host:port/name, jdbc:mysql://host:port/name (MariaDB too), jdbc:sqlite:/path",
  ),
  jdbc_user: optional(text("name at the database")),
  jdbc_password: optional(text("password")),
  jdbc_password_filepath: optional(text("file with the password")),
  jdbc_driver_class: withoutEffect("drivers are built in"),
  jdbc_driver_library: withoutEffect("drivers are built in"),
  statement: optional(
    text("SQL whose rows become events; :sql_last_value and :names of parameters are replaced by values"),
  ),
  statement_filepath: optional(text("file with the statement")),
  parameters: anyTable("values of the statement's named parameters"),
  use_prepared_statements: flag(
    "the statement's placeholders are ?, in the order of prepared_statement_bind_values",
    false,
  ),
  prepared_statement_name: withoutEffect("statements have no names"),
  prepared_statement_bind_values: Type.Array(Type.Unknown(), {
    default: [],
    description: 'values of the placeholders ?; ":sql_last_value" is replaced by that value',
  }),
  schedule: optional(
    Type.Unknown({
      description: 'schedule of the statement: a cron line, or { every => "1m" }; default: once',
    }),
  ),
  use_column_value: flag(
    "true: sql_last_value is the tracking column's value in the last row; false: the time of the last run",
    false,
  ),
  tracking_column: optional(
    text("column whose last value becomes sql_last_value; the statement must order by it"),
  ),
  tracking_column_type: oneOf(["numeric", "timestamp"], "type of the tracking column", "numeric"),
  record_last_run: flag("stores sql_last_value", true),
  clean_run: flag("starts without the stored sql_last_value", false),
  last_run_metadata_path: withoutEffect("the hub keeps sql_last_value in its state"),
  lowercase_column_names: flag("writes column names in lower case", true),
  target: optional(text("target field for the columns; default: the event itself")),
  jdbc_paging_enabled: flag("runs the statement page by page if jdbc_paging_mode is explicit", false),
  jdbc_paging_mode: oneOf(
    ["auto", "explicit"],
    "auto: one run of the statement, whose rows are fetched in portions; explicit: the statement uses :size and :offset",
    "auto",
  ),
  jdbc_page_size: Type.Integer({
    default: 100_000,
    minimum: 1,
    description: "number of rows per page, :size",
  }),
  jdbc_fetch_size: Type.Integer({
    default: PORTION_ROWS,
    minimum: 1,
    maximum: 100_000,
    description: "number of rows fetched at a time",
  }),
  jdbc_default_timezone: withoutEffect(
    "times without a zone are read as UTC; write AT TIME ZONE or CONVERT_TZ in the statement",
  ),
  plugin_timezone: withoutEffect("sql_last_value is in UTC"),
  jdbc_validate_connection: withoutEffect("each run connects"),
  jdbc_validation_timeout: withoutEffect("each run connects"),
  jdbc_pool_timeout: withoutEffect("each run has one connection"),
  sequel_opts: withoutEffect("write settings of the driver into jdbc_connection_string"),
  sql_log_level: withoutEffect("statements aren't logged"),
  charset: withoutEffect("the connection uses UTF-8"),
  columns_charset: withoutEffect("the connection uses UTF-8"),
  connection_retry_attempts: withoutEffect("the next run connects again"),
  connection_retry_attempts_wait_time: withoutEffect("the next run connects again"),
  statement_retry_attempts: withoutEffect("the next run retries the statement"),
  statement_retry_attempts_wait_time: withoutEffect("the next run retries the statement"),
});

type JdbcOptions = Static<typeof JDBC_OPTIONS>;

/** A run without a schedule that failed is tried again. */
const RETRY = { firstMs: 500, capMs: 60_000 };

/** Name of sql_last_value in the state. */
const STATE_KEY = "sql_last_value";

const EPOCH = "1970-01-01T00:00:00.000Z";

/** What a run of the input needs, checked. */
interface Task {
  readonly values: JdbcOptions;
  readonly address: Address;
  readonly statement: string;
  readonly schedule: Schedule | undefined;
}

export const jdbcInput = defineInput({
  name: "jdbc",
  description: "reads rows of a PostgreSQL, MySQL, MariaDB or SQLite database",
  isShared: true,
  options: JDBC_OPTIONS,
  create(values, { report, resolvePath }) {
    const { statement, statement_filepath, use_column_value, tracking_column } = values;
    if ((statement === undefined) === (statement_filepath === undefined))
      report("error", "statement", "exactly one of statement and statement_filepath is needed");
    if (use_column_value && tracking_column === undefined)
      report("error", "use_column_value", "it needs the name of a column", 'write: tracking_column => "id"');
    const read = (path: string): string => readFileSync(resolvePath(path), "utf8");
    const named = readConnectionString(values.jdbc_connection_string);
    const secret = values.jdbc_password_filepath;
    const task: Task = {
      values,
      address: {
        ...named,
        name: named.kind === "sqlite" ? resolvePath(named.name) : named.name,
        user: values.jdbc_user ?? named.user,
        password: values.jdbc_password ?? (secret === undefined ? named.password : read(secret).trimEnd()),
      },
      statement: statement ?? (statement_filepath === undefined ? "" : read(statement_filepath)),
      schedule: values.schedule === undefined ? undefined : parseSchedule(values.schedule),
    };
    return (context) => new JdbcInput(context, task);
  },
});

class JdbcInput implements Component {
  readonly #context: InputContext;
  readonly #task: Task;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** Of the last run: text of a number, or a time. */
  #last = "";

  constructor(context: InputContext, task: Task) {
    this.#context = context;
    this.#task = task;
  }

  async start(): Promise<void> {
    const { schedule, values } = this.#task;
    const remembered = values.clean_run ? undefined : await this.#context.state.get(STATE_KEY);
    // What was remembered for another column, or in another way, would skip rows.
    const isSame = isHash(remembered) && remembered["of"] === this.#trackedBy();
    this.#last = isSame ? valueText(remembered["value"]) : this.#isNumeric() ? "0" : EPOCH;
    const channel = this.#context.open({ key: randomUUID() });
    const work =
      schedule === undefined
        ? this.#once(channel)
        : runScheduled(schedule, this.#context.clock, this.#stopping.signal, async () => {
            await this.#try(channel);
          });
    this.#running = work.finally(() => channel.close());
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #once(channel: InputChannel): Promise<void> {
    const backoff = new Backoff(RETRY);
    const { signal } = this.#stopping;
    while (!signal.aborted && !(await this.#try(channel)))
      await this.#context.clock.sleep(backoff.next(), signal).catch(() => undefined);
  }

  /** Returns false if the run failed; the failure was reported. */
  async #try(channel: InputChannel): Promise<boolean> {
    const { signal } = this.#stopping;
    let database: Database | undefined;
    try {
      database = await this.#open();
      await this.#run(database, channel);
      this.#context.failing(null);
      return true;
    } catch (error) {
      if (!signal.aborted) this.#context.failing(`jdbc: ${(error as Error).message}`);
      return false;
    } finally {
      await database?.close().catch(() => undefined);
    }
  }

  async #open(): Promise<Database> {
    const { address } = this.#task;
    const { signal } = this.#stopping;
    if (address.kind === "sqlite") return openSqlite(address.name);
    this.#context.checkTarget(address.host);
    return address.kind === "mysql" ? openMysql(address, signal) : openPostgresql(address, signal);
  }

  /** Runs the statement; sql_last_value moves on when all of its rows are in the log. */
  async #run(database: Database, channel: InputChannel): Promise<void> {
    const { jdbc_paging_enabled, jdbc_paging_mode, jdbc_page_size, use_column_value } = this.#task.values;
    const isPaged = jdbc_paging_enabled && jdbc_paging_mode === "explicit";
    const startedAt = new Date(this.#context.clock.now()).toISOString();
    let last: string | undefined = use_column_value ? undefined : startedAt;
    for (let offset = 0; ; offset += jdbc_page_size) {
      const statement = this.#bind(database, offset);
      let rows = 0;
      for await (const portion of database.query(statement, this.#task.values.jdbc_fetch_size)) {
        rows += portion.length;
        await this.#send(portion, channel);
        if (use_column_value) last = this.#tracked(portion.at(-1)) ?? last;
      }
      if (!isPaged || rows < jdbc_page_size) break;
    }
    if (last !== undefined) await this.#remember(last);
  }

  #bind(database: Database, offset: number) {
    const { parameters, prepared_statement_bind_values, use_prepared_statements, jdbc_page_size } =
      this.#task.values;
    const last = this.#isNumeric()
      ? numberOf(this.#last, this.#task.address.kind)
      : database.bindTime(this.#last);
    const named = new Map<string, unknown>([
      ...Object.entries(parameters),
      ["sql_last_value", last],
      ["size", jdbc_page_size],
      ["offset", offset],
    ]);
    const positional = use_prepared_statements
      ? prepared_statement_bind_values.map((value) => (value === ":sql_last_value" ? last : value))
      : [];
    return bindStatement(this.#task.statement, named, positional, (number) => database.place(number));
  }

  async #send(rows: readonly Row[], channel: InputChannel): Promise<void> {
    const { lowercase_column_names, target } = this.#task.values;
    const nowMs = this.#context.clock.now();
    const events = rows.map((row) => {
      const columns = Object.entries(row).map(([name, value]) => [
        lowercase_column_names ? name.toLowerCase() : name,
        fieldValue(value),
      ]);
      const fields = Object.fromEntries(columns) as Record<string, unknown>;
      if (target === undefined) return { event: new Event(fields, nowMs) };
      const event = new Event({}, nowMs);
      event.set(fieldReference(target), fields);
      return { event };
    });
    await channel.send(events);
  }

  /** Returns the tracking column's value; undefined if it is null. Throws where there is no such column. */
  #tracked(row: Row | undefined): string | undefined {
    const wanted = this.#task.values.tracking_column ?? "";
    if (row === undefined) return undefined;
    const name = Object.keys(row).find((each) => each.toLowerCase() === wanted.toLowerCase());
    if (name === undefined)
      throw new AppError(
        "settings_invalid",
        `the statement's rows have no column "${wanted}", which is tracked`,
      );
    const value = fieldValue(row[name]);
    return value === null || value === undefined ? undefined : valueText(value);
  }

  async #remember(value: string): Promise<void> {
    this.#last = value;
    if (this.#task.values.record_last_run)
      await this.#context.state.put(STATE_KEY, { of: this.#trackedBy(), value });
  }

  #isNumeric(): boolean {
    const { use_column_value, tracking_column_type } = this.#task.values;
    return use_column_value && tracking_column_type === "numeric";
  }

  #trackedBy(): string {
    const { use_column_value, tracking_column, tracking_column_type } = this.#task.values;
    return use_column_value ? `${tracking_column_type} ${tracking_column ?? ""}` : "time";
  }
}
