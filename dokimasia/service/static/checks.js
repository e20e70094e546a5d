"use strict";
// Goes on with a judge's check once the run at work for it is done.
document.querySelector("form[data-goes-on]")?.requestSubmit();
