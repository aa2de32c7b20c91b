/** Parts of Discover that aren't visible before its first lines, and are loaded after them. */

import "#ui/components/table/event-details.ts";
import "./data-view-dialog.ts";
import "./find-bar.ts";
import "./patterns-panel.ts";
import "./search-cost.ts";
import "#ui/components/controls/title-dialog.ts";
