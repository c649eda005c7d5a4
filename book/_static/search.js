// @ts-check
// The search: looks for words, however accented and in singular or plural, in the texts of all sections.
(() => {
  const SECTIONS = 3; // shown of a page, until the reader asks for more
  const AROUND = 90; // characters of an excerpt, before and after what was found
  const TITLE_WEIGHT = 12;
  const ENOUGH = 5; // a section that says a word more often is not better

  /** Without accents and capitals, letter for letter: a place in it is a place in the text. @param {string} text */
  const fold = (text) =>
    [...text]
      .map((letter) => {
        const plain = letter.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
        return plain.length === letter.length ? plain : letter;
      })
      .join("");

  // Endings of singular and plural: [what the word ends in, what the text may say instead].
  const ENDINGS = [
    [/(?:ao|aos|oes|aes)$/, "(?:ao|aos|oes|aes)"],
    [/([aeou])(?:l|is)$/, "$1(?:l|is)"],
    [/(?:m|ns)$/, "(?:m|ns)"],
    [/([rz])(?:es)?$/, "$1(?:es)?"],
    [/s$/, ""],
  ];

  /** What finds a word in a folded text: any word that begins so; a short one only itself. @param {string} word */
  function pattern(word) {
    const known = ENDINGS.find(([ending]) => word.length > 3 && /** @type {RegExp} */ (ending).test(word));
    const literal = word.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
    const open = known ? literal.replace(known[0], /** @type {string} */ (known[1])) : literal;
    const end = word.length < 3 ? "(?![\\p{L}\\p{N}])" : "";
    return new RegExp(`(?<![\\p{L}\\p{N}])${open}${end}`, "gu");
  }

  /** The patterns of a query: its words, and what stands in quotes as it stands. @param {string} query */
  const patterns = (query) =>
    [...fold(query).matchAll(/["“]([^"”]+)["”]|([^\s"“”]+)/g)].map(([, phrase, word]) =>
      pattern((phrase ?? word).trim()),
    );

  const texts = globalThis.searchTexts.map(([address, sections]) => ({
    address,
    title: sections[0]?.[1] ?? "",
    sections: sections.map(([id, title, text]) => ({
      id,
      title,
      text,
      foldedTitle: fold(title),
      folded: fold(text),
    })),
  }));

  const count = (text, wanted) => [...text.matchAll(wanted)].length;

  /** How well a section answers: nothing if one of the words is nowhere in it nor in the title of its page. */
  function score(section, pageTitle, wanted) {
    let sum = 0;
    for (const each of wanted) {
      const inTitle = count(section.foldedTitle, each);
      const inText = Math.min(count(section.folded, each), ENOUGH);
      if (!inTitle && !inText && !count(pageTitle, each)) return 0;
      sum += TITLE_WEIGHT * inTitle + inText;
    }
    return sum;
  }

  /** The pages that answer, the best first, each with its sections that do. */
  function find(query) {
    const wanted = patterns(query);
    if (!wanted.length) return [];
    return texts
      .map((page) => {
        const pageTitle = fold(page.title);
        const found = page.sections
          .map((section) => ({ section, points: score(section, pageTitle, wanted) }))
          .filter(({ points }) => points > 0)
          .sort((a, b) => b.points - a.points);
        return { page, wanted, found, points: found[0]?.points };
      })
      .filter(({ found }) => found.length)
      .sort((a, b) => b.points - a.points);
  }

  // --- what the reader sees

  function element(tag, attributes, ...children) {
    const made = Object.assign(document.createElement(tag), attributes);
    made.append(...children);
    return made;
  }

  /** The text around the first find, each find marked. */
  function excerpt({ text, folded }, wanted) {
    const finds = wanted
      .flatMap((each) => [...folded.matchAll(each)])
      .map(({ index, 0: { length } }) => [index, index + length])
      .sort(([a], [b]) => a - b);
    if (!finds.length) return null;
    const space = (at) => (at > 0 ? text.indexOf(" ", at) + 1 : 0);
    const start = space(finds[0][0] - AROUND);
    const last = text.lastIndexOf(" ", finds[0][1] + AROUND);
    const end = text.length <= finds[0][1] + AROUND ? text.length : Math.max(last, finds[0][1]);
    const made = element("p", { className: "search-summary" }, start > 0 ? "… " : "");
    let at = Math.min(start, finds[0][0]);
    for (const [from, to] of finds) {
      if (from < at || to > end) continue;
      made.append(text.slice(at, from), element("mark", {}, text.slice(from, to)));
      at = to;
    }
    made.append(text.slice(at, end), end < text.length ? " …" : "");
    return made;
  }

  const link = (page, section) =>
    element(
      "a",
      { href: section === page.sections[0] ? page.address : `${page.address}#${section.id}` },
      section.title,
    );

  function item({ page, wanted, found }) {
    const shown = found.slice(0, SECTIONS).map(({ section }) => {
      const part = element("li", {}, link(page, section));
      part.append(excerpt(section, wanted) ?? "");
      return part;
    });
    const rest = found.slice(SECTIONS).map(({ section }) => element("li", {}, link(page, section)));
    const more = rest.length === 1 ? "mais uma seção" : `mais ${rest.length} seções`;
    const made = element(
      "li",
      {},
      element("h2", {}, link(page, page.sections[0])),
      element("ul", {}, ...shown),
    );
    if (rest.length)
      made.append(element("details", {}, element("summary", {}, more), element("ul", {}, ...rest)));
    return made;
  }

  function summary(query, pages) {
    if (!query.trim()) return "Escreva o que procura: acentos e maiúsculas não fazem diferença.";
    if (!pages.length)
      return `Nada foi encontrado para “${query.trim()}”. Confira a grafia ou tente outra palavra.`;
    const sections = pages.reduce((sum, { found }) => sum + found.length, 0);
    const many = sections === 1 ? "1 seção" : `${sections} seções`;
    return `${many} de ${pages.length === 1 ? "1 página" : `${pages.length} páginas`}.`;
  }

  /** @type {HTMLInputElement} */
  const input = document.querySelector(".bd-search-container input[name=q]");
  const results = document.getElementById("search-results");

  function show() {
    const pages = find(input.value);
    results.querySelector("[role=status]").textContent = summary(input.value, pages);
    results.querySelector("ul.search")?.remove();
    results.append(element("ul", { className: "search" }, ...pages.map(item)));
  }

  input.value = new URLSearchParams(location.search).get("q") ?? "";
  input.addEventListener("input", show);
  input.focus();
  input.select();
  show();
})();
