/** Parts of Discover that nobody can see before its first lines: loaded behind them. */

import "../components/event-details.ts";
import "../components/find-bar.ts";
import "../components/search-cost.ts";
import "../components/title-dialog.ts";

export { exportLines } from "../services/export.ts";
