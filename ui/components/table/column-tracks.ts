/** How wide the columns of the table of lines are. */

/** Widths of 23 and 5 letters of the rows' type: the head has another one. */
const TIME_AND_LEVEL = "172px 44px";
/** Of both and the space around them, px. */
const TIME_AND_LEVEL_PX = 270;
const GAP_PX = 12;
const FIELD = "minmax(7rem, 1fr)";
const FIELD_PX = 132;
const MESSAGE = "minmax(16rem, 3fr)";
/** More columns without a chosen width need more than a screen. */
const MAX_FITTING = 4;

type Widths = Readonly<Record<string, number>>;

/** Returns the tracks of a grid: time, level and the columns, by their chosen widths in px where they have one. */
export function columnTracks(columns: readonly string[], widths: Widths): string {
  const track = (column: string): string =>
    widths[column] === undefined ? (column === "message" ? MESSAGE : FIELD) : `${widths[column]}px`;
  return `${TIME_AND_LEVEL} ${columns.length === 0 ? "1fr" : columns.map(track).join(" ")}`;
}

/** Returns the least width of the table: where it is more than there is, it scrolls sideways. */
export function tableWidth(columns: readonly string[], widths: Widths): string {
  if (columns.length <= MAX_FITTING && Object.keys(widths).length === 0) return "0";
  const widthOf = (column: string): number => (widths[column] ?? FIELD_PX) + GAP_PX;
  return `${columns.reduce((sum, column) => sum + widthOf(column), TIME_AND_LEVEL_PX)}px`;
}
