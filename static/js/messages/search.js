/** The columns of the found messages: ticked ones go into one parameter. */

import { chooseColumns } from "../frame/columns.js";

document.addEventListener("change", chooseColumns);
