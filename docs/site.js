/* Let the keyboard reach wide tables, which the theme puts into boxes that scroll, and name its bars of buttons. */
function mend() {
  document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])").forEach(box => { box.tabIndex = 0; });
  document.querySelectorAll("nav.md-code__nav").forEach((bar, number) => { bar.ariaLabel = `Code ${number + 1}`; });
}
addEventListener("load", () => {
  mend();
  new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
});
