// Makes pages quicker to use. Everything works without it.
"use strict";

// "/" goes to the search.
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, textarea, select, [contenteditable]")) return;
  const field = document.querySelector("[data-shortcut]");
  if (field) {
    event.preventDefault();
    field.focus();
    field.select();
  }
});

// A skill that was not audited when its list was made gets its mark when it was.
async function renewMarks(place, address) {
  for (let delay = 300; delay < 60000 && place.querySelector("[data-pending]"); delay *= 2) {
    await new Promise((resolve) => { setTimeout(resolve, delay); });
    const answer = await fetch(address).catch(() => null);
    if (!answer || !answer.ok || answer.redirected) return;
    const other = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const mark of place.querySelectorAll("[data-pending]")) {
      const link = mark.parentElement.querySelector("a").getAttribute("href");
      const same = other.querySelector(`:is(h2, h3) > a[href="${CSS.escape(link)}"]`);
      const fresh = same && same.parentElement.querySelector(":scope > .mark");
      if (same && !(fresh && "pending" in fresh.dataset)) mark.replaceWith(fresh || "");
    }
  }
}
renewMarks(document, location.href);

// Results appear as one types; the last request wins.
for (const field of document.querySelectorAll("[data-live]")) {
  const place = document.getElementById(field.dataset.live);
  const rest = document.querySelector("[data-rest]");
  let timer = 0;
  let request = null;
  let shown = field.value.trim();

  const address = (query) => {  // with the filters of the form
    const values = new URLSearchParams(new FormData(field.form));
    values.set("q", query);
    return values;
  };
  const update = async () => {
    const query = field.value.trim();
    if (query === shown) return;
    shown = query;
    if (request) request.abort();
    request = new AbortController();
    const { signal } = request;
    const part = `/find?part=results&${address(query)}`;
    try {
      let html = "";
      if (query) {
        const answer = await fetch(part, { signal });
        if (!answer.ok || answer.redirected) return;
        html = await answer.text();
      }
      if (signal.aborted) return;
      place.innerHTML = html;
      renewMarks(place, part);
      if (rest) rest.hidden = query !== "";
      if (location.pathname === "/find") history.replaceState(null, "", `/find?${address(query)}`);
    } catch (error) {
      if (error.name !== "AbortError") shown = "";
    }
  };
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(update, 120);
  });
  if (field.value.trim() && !place.childElementCount) {
    shown = "";
    update();
  }
}

// The outline follows the text.
const outline = document.querySelector("[data-outline]");
const text = document.querySelector("[data-text]");
if (outline && text) {
  const links = new Map();
  for (const link of outline.querySelectorAll('a[href^="#"]')) {
    links.set(decodeURIComponent(link.hash.slice(1)), link);
  }
  const headings = [...text.querySelectorAll("[id]")].filter((heading) => links.has(heading.id));
  let current = null;
  const follow = () => {
    let last = headings[0];
    for (const heading of headings) {
      if (heading.getBoundingClientRect().top > 120) break;
      last = heading;
    }
    const link = last && links.get(last.id);
    if (link === current) return;
    if (current) current.removeAttribute("aria-current");
    current = link;
    if (current) current.setAttribute("aria-current", "location");
  };
  let waits = false;
  addEventListener("scroll", () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      follow();
    });
  }, { passive: true });
  follow();
}

// On a narrow screen the outline is closed at first.
if (outline && matchMedia("(max-width: 61.99rem)").matches) outline.querySelector("details").open = false;

// Commands get a button that copies them.
if (navigator.clipboard) {
  for (const place of document.querySelectorAll("[data-copy]")) {
    const command = place.textContent.trim();
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", `Copy ${command.slice(0, 80)}`);
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(command);
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    if (place.tagName === "PRE") place.append(button);
    else place.after(button);
  }
}

// Publishing keeps the file that was chosen: the answer is shown above the form.
const publication = document.querySelector("form[data-keep-file]");
if (publication) {
  publication.addEventListener("submit", async (event) => {
    event.preventDefault();
    const buttons = publication.querySelectorAll("button");
    const body = new FormData(publication, event.submitter);
    for (const button of buttons) button.disabled = true;
    try {
      const answer = await fetch(publication.getAttribute("action"), { method: "POST", body });
      if (answer.redirected) {
        location.assign(answer.url);
        return;
      }
      showAnswer(await answer.text());
    } catch {
      showAnswer('<p role="alert">The server did not answer. Try again.</p>');
    } finally {
      for (const button of buttons) button.disabled = false;
    }
  });
}

function showAnswer(html) {
  const other = new DOMParser().parseFromString(html, "text/html");
  for (const old of document.querySelectorAll("[data-answer], .check")) old.remove();
  for (const hint of other.querySelectorAll("[data-choose-again], .error a")) hint.remove();
  const answer = other.querySelector("[data-answer]") || other.querySelector(".error") || other.body;
  const place = document.createElement("section");
  place.dataset.answer = "";
  place.tabIndex = -1;
  place.className = answer.className || "notice warn";
  place.setAttribute("role", "status");
  place.append(...answer.childNodes);
  publication.before(place);
  const consent = other.querySelector(".check");
  if (consent) publication.querySelector(".row").before(consent);
  place.focus();
}
