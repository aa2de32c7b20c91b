/** Dates of scripts. The answers are those of the 6.5.4 server. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { compilePainless } from "#hub/scripts/painless/painless.ts";
import { toJson } from "#hub/scripts/values/json.ts";
import { print } from "#hub/scripts/values/values.ts";
import { AppError } from "#proto/kit/errors.ts";

const ROWS: readonly (readonly [source: string, printed: string])[] = [
  [
    "def a = LocalDate.parse('2018-01-01'); def b = LocalDate.of(2018, 12, 25); return ChronoUnit.DAYS.between(a, b)",
    "358",
  ],
  ["LocalDate.parse('2018-01-31').plusMonths(1).toString()", "2018-02-28"],
  ["LocalDate.parse('2018-01-31')", "2018-01-31"],
  ["LocalDate.of(2018, 1, 31).getDayOfWeek()", "WEDNESDAY"],
  ["LocalDate.of(2018, 1, 31).getDayOfWeek().getValue()", "3"],
  ["LocalDate.of(2018, 1, 31).getDayOfWeek().getDisplayName(TextStyle.SHORT, Locale.ENGLISH)", "Wed"],
  ["LocalDateTime.of(2018, 1, 31, 10, 5).toString()", "2018-01-31T10:05"],
  ["LocalDateTime.parse('2018-01-31T10:05:06').toLocalDate().toString()", "2018-01-31"],
  [
    "LocalDateTime.parse('2018-01-31 10:05:06', DateTimeFormatter.ofPattern('yyyy-MM-dd HH:mm:ss')).toString()",
    "2018-01-31T10:05:06",
  ],
  ["LocalTime.of(10, 5).toString()", "10:05"],
  ["LocalTime.parse('10:05:30').getMinute()", "5"],
  [
    "DateTimeFormatter.ofPattern('yyyy/MM/dd HH:mm').format(ZonedDateTime.parse('2018-11-27T10:11:12.345Z'))",
    "2018/11/27 10:11",
  ],
  ["ZonedDateTime.parse('2018-11-27T10:11:12.345Z').format(DateTimeFormatter.ISO_WEEK_DATE)", "2018-W48-2Z"],
  ["ZonedDateTime.parse('2018-11-27T10:11:12.345Z').format(DateTimeFormatter.ISO_ORDINAL_DATE)", "2018-331Z"],
  ["ZonedDateTime.parse('2018-11-27T10:11:12.345Z').format(DateTimeFormatter.ISO_LOCAL_DATE)", "2018-11-27"],
  [
    "ZonedDateTime.parse('2018-11-27T10:11:12.345Z').format(DateTimeFormatter.ISO_INSTANT)",
    "2018-11-27T10:11:12.345Z",
  ],
  [
    "ZonedDateTime.parse('2018-11-27T10:11:12Z').format(DateTimeFormatter.ISO_INSTANT)",
    "2018-11-27T10:11:12Z",
  ],
  [
    "ZonedDateTime.parse('2018-11-27T10:11:12.345Z').format(DateTimeFormatter.ISO_DATE_TIME)",
    "2018-11-27T10:11:12.345Z",
  ],
  [
    "ZonedDateTime.parse('2018-11-27T10:11:12Z').format(DateTimeFormatter.ISO_OFFSET_DATE_TIME)",
    "2018-11-27T10:11:12Z",
  ],
  ["ZonedDateTime.parse('2018-11-27T10:11:12.5Z').format(DateTimeFormatter.ISO_LOCAL_TIME)", "10:11:12.5"],
  [
    "ZonedDateTime.parse('2018-11-27T10:11:12.345Z').format(DateTimeFormatter.ofPattern(\"EEE, d MMM yyyy 'at' h:mm a\"))",
    "Tue, 27 Nov 2018 at 10:11 AM",
  ],
  [
    "ZonedDateTime.parse('2018-11-27T10:11:12.345Z').format(DateTimeFormatter.RFC_1123_DATE_TIME)",
    "Tue, 27 Nov 2018 10:11:12 GMT",
  ],
  ["ZonedDateTime.parse('2018-11-27T10:11:12.345Z').format(DateTimeFormatter.BASIC_ISO_DATE)", "20181127Z"],
  ["ZonedDateTime.parse('2018-11-27T10:11:12.345Z').get(IsoFields.WEEK_OF_WEEK_BASED_YEAR)", "48"],
  ["ZonedDateTime.parse('2018-11-27T10:11:12.345Z').get(ChronoField.ALIGNED_WEEK_OF_YEAR)", "48"],
  [
    "ZonedDateTime.parse('2018-11-27T10:11:12.345Z').with(TemporalAdjusters.firstDayOfMonth()).toString()",
    "2018-11-01T10:11:12.345Z",
  ],
  ["ZonedDateTime.parse('2018-11-27T10:11:12.345Z').toLocalDate().toString()", "2018-11-27"],
  ["ZonedDateTime.parse('2018-11-27T10:11:12.345Z').toLocalTime().toString()", "10:11:12.345"],
  ["Period.between(LocalDate.parse('2018-01-15'), LocalDate.parse('2019-03-20')).toString()", "P1Y2M5D"],
  [
    "def df = new SimpleDateFormat('yyyy-MM-dd'); df.setTimeZone(TimeZone.getTimeZone('UTC')); return df.format(new Date(1543313472345L))",
    "2018-11-27",
  ],
  [
    "def df = new SimpleDateFormat(\"yyyy-MM-dd'T'HH:mm:ss.SSSX\"); return df.parse('2018-11-27T10:11:12.345Z').getTime()",
    "1543313472345",
  ],
  ["DayOfWeek.MONDAY.plus(2)", "WEDNESDAY"],
  ["LocalDate.of(2020, 2, 1).lengthOfMonth()", "29"],
  ["LocalDate.of(2020, 2, 1).isLeapYear()", "true"],
  ["LocalDate.of(2018,3,5).isBefore(LocalDate.of(2018,3,6))", "true"],
  ["LocalDate.of(2018,3,5).atStartOfDay().toString()", "2018-03-05T00:00"],
  [
    "LocalDate.of(2018,3,5).atStartOfDay(ZoneId.of('Europe/Berlin')).toInstant().toEpochMilli()",
    "1520204400000",
  ],
  [
    "def f = DateTimeFormatter.ofPattern(\"yyyy-MM-dd'T'HH:mm:ss.SSSXXX\"); return ZonedDateTime.parse('2018-11-27T10:11:12.345+01:00', f).toInstant().toEpochMilli()",
    "1543309872345",
  ],
  [
    "def f = DateTimeFormatter.ofPattern(\"dd/MMM/yyyy:HH:mm:ss Z\"); return ZonedDateTime.parse('27/Nov/2018:10:11:12 +0100', f).toString()",
    "2018-11-27T10:11:12+01:00",
  ],
  [
    "def f = DateTimeFormatter.ofPattern(\"dd/MMM/yyyy:HH:mm:ss Z\"); return f.format(ZonedDateTime.parse('2018-11-27T10:11:12.345+01:00'))",
    "27/Nov/2018:10:11:12 +0100",
  ],
  [
    "def f = DateTimeFormatter.ofPattern(\"yyyy-MM-dd HH:mm:ss X\"); return f.format(ZonedDateTime.parse('2018-11-27T10:11:12.345+01:00'))",
    "2018-11-27 10:11:12 +01",
  ],
  [
    "def f = DateTimeFormatter.ofPattern(\"yyyy-MM-dd HH:mm:ss XXX\"); return f.format(ZonedDateTime.parse('2018-11-27T10:11:12.345Z'))",
    "2018-11-27 10:11:12 Z",
  ],
  [
    "def f = DateTimeFormatter.ofPattern(\"uuuu/MM/dd\"); return LocalDate.parse('2018/11/27', f).plusDays(5).toString()",
    "2018-12-02",
  ],
  [
    "def f = DateTimeFormatter.ofPattern(\"HH:mm\"); return LocalTime.parse('10:11', f).plusMinutes(50).toString()",
    "11:01",
  ],
  [
    "LocalDateTime.parse('2018-01-31T10:05:06').atZone(ZoneId.of('Europe/Berlin')).toInstant().toEpochMilli()",
    "1517389506000",
  ],
  ["LocalDateTime.of(2018, 1, 31, 10, 5).toInstant(ZoneOffset.UTC).toEpochMilli()", "1517393100000"],
  ["LocalDateTime.of(2018, 1, 31, 10, 5).toEpochSecond(ZoneOffset.UTC)", "1517393100"],
  [
    "LocalDateTime.ofInstant(Instant.ofEpochMilli(1543313472345L), ZoneId.of('Europe/Berlin')).toString()",
    "2018-11-27T11:11:12.345",
  ],
  ["LocalDateTime.ofEpochSecond(1543313472L, 0, ZoneOffset.UTC).toString()", "2018-11-27T10:11:12"],
  ["LocalDate.ofEpochDay(17000L).toString()", "2016-07-18"],
  ["LocalDate.parse('2018-11-27').atTime(5, 30).toString()", "2018-11-27T05:30"],
  ["LocalDate.parse('2018-11-27').getDayOfYear()", "331"],
  ["LocalDate.parse('2018-11-27').withDayOfMonth(1).plusMonths(1).minusDays(1).toString()", "2018-11-30"],
  ["LocalDate.parse('2018-11-27').toEpochDay()", "17862"],
  ["LocalDate.parse('2018-11-27').compareTo(LocalDate.parse('2018-11-28'))", "-1"],
  ["LocalDate.parse('2018-11-27') == LocalDate.of(2018, 11, 27)", "true"],
  ["LocalDate.parse('2018-11-27').equals(LocalDate.of(2018, 11, 27))", "true"],
  ["LocalDate.parse('2018-11-27').isEqual(LocalDate.of(2018, 11, 27))", "true"],
  [
    "LocalDate.parse('2018-11-27').getMonth().toString() + LocalDate.parse('2018-11-27').getMonth().getDisplayName(TextStyle.FULL, Locale.ENGLISH)",
    "NOVEMBERNovember",
  ],
  ["LocalDate.parse('2018-11-27').with(TemporalAdjusters.next(DayOfWeek.MONDAY)).toString()", "2018-12-03"],
  [
    "LocalDate.parse('2018-11-27').with(TemporalAdjusters.previousOrSame(DayOfWeek.MONDAY)).toString()",
    "2018-11-26",
  ],
  ["LocalDate.parse('2018-11-27').with(TemporalAdjusters.lastDayOfMonth()).toString()", "2018-11-30"],
  ["LocalDate.parse('2018-11-27').with(TemporalAdjusters.firstDayOfNextMonth()).toString()", "2018-12-01"],
  ["LocalDate.parse('2018-11-27').get(IsoFields.QUARTER_OF_YEAR)", "4"],
  ["LocalTime.of(23, 30).plusHours(2).toString()", "01:30"],
  ["LocalTime.of(10, 5, 7).toSecondOfDay()", "36307"],
  ["LocalTime.parse('10:05').isAfter(LocalTime.of(9, 0))", "true"],
  ["ChronoUnit.MINUTES.between(LocalTime.of(9,0), LocalTime.of(10, 30))", "90"],
  ["Instant.ofEpochMilli(1543313472345L).toString()", "2018-11-27T10:11:12.345Z"],
  ["Instant.ofEpochMilli(1543313460000L).toString()", "2018-11-27T10:11:00Z"],
  ["Instant.ofEpochMilli(1543313472345L).plus(1, ChronoUnit.DAYS).toString()", "2018-11-28T10:11:12.345Z"],
  ["Instant.ofEpochMilli(1543313472345L).truncatedTo(ChronoUnit.DAYS).toEpochMilli()", "1543276800000"],
  ["ZonedDateTime.parse('2018-11-27T10:11:00Z').toString()", "2018-11-27T10:11Z"],
  ["ZonedDateTime.parse('2018-11-27T10:00:00Z').toInstant().toString()", "2018-11-27T10:00:00Z"],
  ["ZonedDateTime.parse('2018-11-27T10:11:12Z').toLocalDateTime().toString()", "2018-11-27T10:11:12"],
  [
    "ZonedDateTime.parse('2018-11-27T23:30:00Z').withZoneSameInstant(ZoneId.of('Europe/Berlin')).toLocalDate().toString()",
    "2018-11-28",
  ],
  [
    "ZonedDateTime.parse('2018-11-27T23:30:00Z').getDayOfWeek().getDisplayName(TextStyle.SHORT, Locale.US)",
    "Tue",
  ],
  ["ZonedDateTime.parse('2018-11-27T23:30:00Z').getDayOfWeek().plus(3).toString()", "FRIDAY"],
  ["ZonedDateTime.parse('2018-11-27T23:30:00Z').getMonth().minus(12)", "NOVEMBER"],
  [
    "ZonedDateTime.parse('2018-11-27T23:30:00+01:00').format(DateTimeFormatter.ISO_WEEK_DATE)",
    "2018-W48-2+01:00",
  ],
  ["LocalDate.parse('2018-11-27').format(DateTimeFormatter.ISO_WEEK_DATE)", "2018-W48-2"],
  ["LocalDate.parse('2021-01-01').format(DateTimeFormatter.ISO_WEEK_DATE)", "2020-W53-5"],
  ["LocalDate.parse('2018-01-02').format(DateTimeFormatter.ISO_ORDINAL_DATE)", "2018-002"],
  ["LocalDate.parse('2018-01-02').format(DateTimeFormatter.BASIC_ISO_DATE)", "20180102"],
  ["LocalDate.parse('2018-01-02').format(DateTimeFormatter.ISO_DATE)", "2018-01-02"],
  ["ZonedDateTime.parse('2018-11-27T23:30:00+01:00').format(DateTimeFormatter.ISO_DATE)", "2018-11-27+01:00"],
  ["ZonedDateTime.parse('2018-11-27T23:30:00+01:00').format(DateTimeFormatter.ISO_TIME)", "23:30:00+01:00"],
  [
    "ZonedDateTime.parse('2018-11-27T23:30:00+01:00').format(DateTimeFormatter.RFC_1123_DATE_TIME)",
    "Tue, 27 Nov 2018 23:30:00 +0100",
  ],
  [
    "ZonedDateTime.parse('2018-11-27T23:30:00+01:00').format(DateTimeFormatter.ISO_INSTANT)",
    "2018-11-27T22:30:00Z",
  ],
  [
    "ZonedDateTime.parse('2018-11-27T10:11:12.345Z').withZoneSameInstant(ZoneId.of('Europe/Berlin')).format(DateTimeFormatter.ISO_DATE_TIME)",
    "2018-11-27T11:11:12.345+01:00[Europe/Berlin]",
  ],
  [
    "ZonedDateTime.parse('2018-11-27T10:11:12.345Z').withZoneSameInstant(ZoneId.of('Europe/Berlin')).format(DateTimeFormatter.ISO_OFFSET_DATE_TIME)",
    "2018-11-27T11:11:12.345+01:00",
  ],
  [
    "LocalDateTime.parse('2018-01-31T10:05:06.120').format(DateTimeFormatter.ISO_LOCAL_DATE_TIME)",
    "2018-01-31T10:05:06.12",
  ],
  [
    "DateTimeFormatter.ofPattern('E, dd MMM yyyy').withZone(ZoneId.of('UTC')).format(Instant.ofEpochMilli(1543313472345L))",
    "Tue, 27 Nov 2018",
  ],
  ["try { return LocalDate.parse('nope') } catch (DateTimeParseException e) { return 'bad' }", "bad"],
  [
    "try { return LocalDate.parse('nope').toString() } catch (Exception e) { return e.getMessage() }",
    "Text 'nope' could not be parsed at index 0",
  ],
  [
    "try { return DateTimeFormatter.ofPattern('yyyy-bb') } catch (IllegalArgumentException e) { return 'iae' }",
    "iae",
  ],
  ["Year.isLeap(2000)", "true"],
  ["Period.between(LocalDate.of(2018,1,31), LocalDate.of(2018,3,1)).getDays()", "1"],
  ["Duration.ofMinutes(90).toString()", "PT1H30M"],
  ["Duration.between(LocalDateTime.of(2018,1,1,0,0), LocalDateTime.of(2018,1,2,3,0)).toHours()", "27"],
];

for (const [source, printed] of ROWS)
  test(source, () => assert.equal(print(compilePainless(source, []).run([])), printed));

/** `printed`: class and message of what is thrown, or the value. */
const LIMIT_ROWS: readonly (readonly [source: string, printed: string])[] = [
  [
    "LocalDate.parse('2024-02-30')",
    "date_time_parse_exception: Text '2024-02-30' could not be parsed: Invalid date 'FEBRUARY 30'",
  ],
  ["LocalDate.parse('2024-02-29')", "2024-02-29"],
  [
    "ZonedDateTime.parse('2023-02-29T00:00:00Z')",
    "date_time_parse_exception: Text '2023-02-29T00:00:00Z' could not be parsed: Invalid date 'February 29' as '2023' is not a leap year",
  ],
  [
    "LocalDate.of(2024, 13, 40)",
    "date_time_exception: Invalid value for MonthOfYear (valid values 1 - 12): 13",
  ],
  [
    "LocalDate.of(2024, 1, 40)",
    "date_time_exception: Invalid value for DayOfMonth (valid values 1 - 28/31): 40",
  ],
  ["LocalDate.of(2024, 4, 31)", "date_time_exception: Invalid date 'APRIL 31'"],
  ["LocalDate.of(99, 1, 2)", "0099-01-02"],
  ["LocalDate.of(12024, 1, 2)", "+12024-01-02"],
  ["LocalDate.of(-1, 1, 2)", "-0001-01-02"],
  ["LocalDateTime.of(12024, 1, 2, 3, 4).format(DateTimeFormatter.ISO_LOCAL_TIME)", "03:04:00"],
  [
    "LocalDate.ofYearDay(2023, 366)",
    "date_time_exception: Invalid date 'DayOfYear 366' as '2023' is not a leap year",
  ],
  ["LocalDate.ofYearDay(2024, 366)", "2024-12-31"],
  [
    "LocalDateTime.of(2024, 1, 2, 24, 0)",
    "date_time_exception: Invalid value for HourOfDay (valid values 0 - 23): 24",
  ],
  ["LocalTime.of(1, 60)", "date_time_exception: Invalid value for MinuteOfHour (valid values 0 - 59): 60"],
  [
    "LocalDate.of(2024, 1, 31).withMonth(0)",
    "date_time_exception: Invalid value for MonthOfYear (valid values 1 - 12): 0",
  ],
  ["LocalDate.of(2024, 2, 1).withDayOfMonth(30)", "date_time_exception: Invalid date 'FEBRUARY 30'"],
  ["LocalDate.of(2024, 2, 29).withYear(2023)", "2023-02-28"],
  ["Month.of(13)", "date_time_exception: Invalid value for MonthOfYear: 13"],
  ["DayOfWeek.of(0)", "date_time_exception: Invalid value for DayOfWeek: 0"],
  ["DayOfWeek.valueOf('X')", "illegal_argument_exception: No enum constant java.time.DayOfWeek.X"],
  ["Month.valueOf('MAY')", "MAY"],
  ...[
    "LocalDate.of(999999, 1, 1)",
    "Instant.ofEpochMilli(Long.MAX_VALUE)",
    "LocalDate.of(2024, 1, 1).plusDays(Long.MAX_VALUE)",
    "LocalDate.of(2024, 1, 1).plusYears(1000000)",
    "ZonedDateTime.parse('2024-01-01T00:00:00Z').withZoneSameInstant(ZoneId.of('Europe/Berlin')).plusMonths(10000000)",
  ].map((source): [string, string] => [
    source,
    "date_time_exception: the date is too far from 1970, at most 270000 years",
  ]),
];

for (const [source, printed] of LIMIT_ROWS)
  test(`${source} is ${printed}`, () => {
    const run = (): string => {
      try {
        return String(toJson(compilePainless(source, []).run([])));
      } catch (error) {
        assert.ok(error instanceof AppError);
        const cause = error.data["caused_by"] as { type: string; reason: string };
        return `${cause.type}: ${cause.reason}`;
      }
    };
    assert.equal(run(), printed);
  });
