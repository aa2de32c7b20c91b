/** Options of the input jdbc. */

import type { Static } from "typebox";
import { anyTable, flag, oneOf, optional, options, text, withoutEffect } from "#proto/kit/options.ts";
import { Type } from "#proto/kit/schema.ts";

/** Rows held at a time, unless jdbc_fetch_size says otherwise. */
const PORTION_ROWS = 1_000;

export const JDBC_OPTIONS = options({
  jdbc_connection_string: text(
    "the database: jdbc:postgresql://host:port/name, jdbc:mysql://host:port/name (MariaDB too), jdbc:sqlite:/path",
  ),
  jdbc_user: optional(text("name at the database")),
  jdbc_password: optional(text("password")),
  jdbc_password_filepath: optional(text("file that holds the password")),
  jdbc_driver_class: withoutEffect("drivers are built in"),
  jdbc_driver_library: withoutEffect("drivers are built in"),
  statement: optional(
    text("SQL whose rows become events; :sql_last_value and :names of parameters stand for values"),
  ),
  statement_filepath: optional(text("file that holds the statement")),
  parameters: anyTable("values of the statement's named places"),
  use_prepared_statements: flag(
    "the statement's places are ?, in the order of prepared_statement_bind_values",
    false,
  ),
  prepared_statement_name: withoutEffect("statements have no names"),
  prepared_statement_bind_values: Type.Array(Type.Unknown(), {
    default: [],
    description: 'values of the places ?; ":sql_last_value" stands for that',
  }),
  schedule: optional(
    Type.Unknown({
      description: 'when the statement runs: a cron line, or { every => "1m" }; without it once',
    }),
  ),
  use_column_value: flag(
    "sql_last_value is the tracking column's value in the last row; else the time of the last run",
    false,
  ),
  tracking_column: optional(text("column that sql_last_value comes from; the statement must order by it")),
  tracking_column_type: oneOf(["numeric", "timestamp"], "kind of the tracking column", "numeric"),
  record_last_run: flag("remembers sql_last_value", true),
  clean_run: flag("begins as if nothing were remembered", false),
  last_run_metadata_path: withoutEffect("the hub keeps sql_last_value in its state"),
  lowercase_column_names: flag("writes names of columns in lower case", true),
  target: optional(text("field that takes the columns; without it they are the event's fields")),
  jdbc_paging_enabled: flag("runs the statement page by page where jdbc_paging_mode is explicit", false),
  jdbc_paging_mode: oneOf(
    ["auto", "explicit"],
    "auto: rows are taken portion by portion of one run, no page is asked for; explicit: the statement uses :size and :offset",
    "auto",
  ),
  jdbc_page_size: Type.Integer({ default: 100_000, minimum: 1, description: "rows of a page, :size" }),
  jdbc_fetch_size: Type.Integer({
    default: PORTION_ROWS,
    minimum: 1,
    maximum: 100_000,
    description: "rows that are fetched and held at a time",
  }),
  jdbc_default_timezone: withoutEffect(
    "times without a zone are taken for UTC; write AT TIME ZONE or CONVERT_TZ in the statement",
  ),
  plugin_timezone: withoutEffect("sql_last_value is in UTC"),
  jdbc_validate_connection: withoutEffect("each run connects"),
  jdbc_validation_timeout: withoutEffect("each run connects"),
  jdbc_pool_timeout: withoutEffect("each run has one connection"),
  sequel_opts: withoutEffect("write what the driver is to know into jdbc_connection_string"),
  sql_log_level: withoutEffect("statements aren't logged"),
  charset: withoutEffect("the database is asked for UTF-8"),
  columns_charset: withoutEffect("the database is asked for UTF-8"),
  connection_retry_attempts: withoutEffect("the next run connects anew"),
  connection_retry_attempts_wait_time: withoutEffect("the next run connects anew"),
  statement_retry_attempts: withoutEffect("the next run tries the statement anew"),
  statement_retry_attempts_wait_time: withoutEffect("the next run tries the statement anew"),
});

export type JdbcOptions = Static<typeof JDBC_OPTIONS>;
