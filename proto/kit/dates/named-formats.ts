/** Named date formats of mappings and ingest pipelines. */

/** Named formats as the Joda patterns they stand for. */
export const NAMED_FORMATS: Readonly<Record<string, string>> = {
  basic_date: "yyyyMMdd",
  basic_date_time: "yyyyMMdd'T'HHmmss.SSSZ",
  basic_date_time_no_millis: "yyyyMMdd'T'HHmmssZ",
  date: "yyyy-MM-dd",
  date_hour: "yyyy-MM-dd'T'HH",
  date_hour_minute: "yyyy-MM-dd'T'HH:mm",
  date_hour_minute_second: "yyyy-MM-dd'T'HH:mm:ss",
  date_hour_minute_second_millis: "yyyy-MM-dd'T'HH:mm:ss.SSS",
  date_hour_minute_second_fraction: "yyyy-MM-dd'T'HH:mm:ss.SSS",
  date_time: "yyyy-MM-dd'T'HH:mm:ss.SSSZZ",
  date_time_no_millis: "yyyy-MM-dd'T'HH:mm:ssZZ",
  hour: "HH",
  hour_minute: "HH:mm",
  hour_minute_second: "HH:mm:ss",
  time: "HH:mm:ss.SSSZZ",
  time_no_millis: "HH:mm:ssZZ",
  year: "yyyy",
  year_month: "yyyy-MM",
  year_month_day: "yyyy-MM-dd",
};
