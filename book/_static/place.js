// @ts-check
// Remembers where a reader left each page, and offers to go on from there. It never moves the page by itself.
(() => {
  const KEY = `place:${location.pathname}`;
  const headings = [...document.querySelectorAll(".bd-article section[id] > :is(h2, h3)")];
  const screens = () => scrollY / innerHeight;

  /** The last heading above the middle of the screen. */
  const current = () => headings.findLast((heading) => heading.getBoundingClientRect().top < innerHeight / 2);

  /** Whoever is still at the top, or has come to the end, has no place to go back to. */
  function remember() {
    const heading = current();
    const atEnd = innerHeight + scrollY > document.documentElement.scrollHeight - innerHeight / 2;
    if (screens() < 1 || !heading || atEnd) return localStorage.removeItem(KEY);
    const { top } = heading.getBoundingClientRect();
    localStorage.setItem(KEY, JSON.stringify({ section: heading.parentElement.id, below: Math.round(-top) }));
  }

  function offer({ section, below }) {
    const heading = document.getElementById(section)?.querySelector("h2, h3");
    if (!heading || location.hash || screens() > 0.5) return;
    const title = heading.firstChild.parentElement.textContent.replace(/#$/, "").trim();
    const go = Object.assign(document.createElement("button"), { type: "button", textContent: "Continuar" });
    const close = Object.assign(document.createElement("button"), { type: "button", textContent: "Fechar" });
    const where = Object.assign(document.createElement("p"), { textContent: `Você parou em “${title}”.` });
    const box = Object.assign(document.createElement("aside"), { className: "course-place noprint" });
    box.setAttribute("aria-label", "Onde você parou");
    box.append(where, go, close);
    document.getElementById("main-content").append(box);
    const done = new AbortController();
    const end = () => {
      done.abort();
      box.remove();
    };
    close.addEventListener("click", end);
    go.addEventListener("click", () => {
      end();
      scrollTo(0, heading.getBoundingClientRect().top + scrollY + below);
      heading.setAttribute("tabindex", "-1");
      /** @type {HTMLElement} */ (heading).focus({ preventScroll: true });
    });
    // Who goes on reading from the top has answered.
    addEventListener("scroll", () => screens() > 1 && end(), { passive: true, signal: done.signal });
  }

  const stored = localStorage.getItem(KEY);
  if (stored) offer(JSON.parse(stored));
  addEventListener("pagehide", remember);
  document.addEventListener("visibilitychange", () => document.hidden && remember());
})();
