// @ts-check
// The quiz: one form per question, the explanation of the choice that was made, and a result with what to read again.
import { View, element, rendererOf } from "./base.js";

const VERDICTS = { right: { symbol: "✓", text: "Certo." }, wrong: { symbol: "✗", text: "Ainda não." } };
const HEADINGS = "h1, h2, h3, h4";

/** An element that takes keys for itself: JupyterLab's arrows and Enter would move or edit cells. */
const control = (tag, attributes, ...children) =>
  element(tag, { ...attributes, "data-lm-suppress-shortcuts": "true" }, ...children);

/** Text in which `code` and *emphasis* become elements; everything else stays text. */
function rich(text) {
  return text.split(/(`[^`]+`|\*[^*]+\*)/).map((part) => {
    if (/^`.+`$/.test(part)) return element("code", {}, part.slice(1, -1));
    if (/^\*.+\*$/.test(part)) return element("em", {}, part.slice(1, -1));
    return part;
  });
}

/** True if `answers` is, for each question, [] or the [first, last] choices that were checked. */
function fits(answers, questions) {
  const isChoice = (k, choices) => Number.isInteger(k) && k >= 0 && k < choices.length;
  return (
    Array.isArray(answers) &&
    answers.length === questions.length &&
    answers.every(
      (answer, i) =>
        Array.isArray(answer) &&
        [0, 2].includes(answer.length) &&
        answer.every((k) => isChoice(k, questions[i].choices)),
    )
  );
}

/** What a heading reads, without the links to itself and the numbers that the book and JupyterLab add. */
function headingText(heading) {
  const copy = heading.cloneNode(true);
  for (const mark of copy.querySelectorAll("a[href^='#'], .section-number")) mark.remove();
  return copy.textContent.trim();
}

/** The id that leads to a heading: its section's in the book, its own in JupyterLab. */
const anchorOf = (heading) => heading.closest("section[id]")?.id || heading.id;

/** A link to the heading of the page that reads `title`; plain text where there is none. */
function linkTo(title, numbers) {
  const plain = title.replaceAll(/[`*]/g, "");
  const name = element("cite", {}, ...rich(title));
  const listed = numbers.join(", ").replace(/, (\d+)$/, " e $1");
  const question = ` (${numbers.length > 1 ? "questões" : "questão"} ${listed})`;
  const heading = [...document.querySelectorAll(HEADINGS)].find(
    (h) => anchorOf(h) && headingText(h) === plain,
  );
  if (!heading) return element("li", {}, name, question);
  const link = control("a", { href: `#${encodeURIComponent(anchorOf(heading))}` }, name);
  return element("li", {}, link, question);
}

/** A page follows a link to its own anchors; JupyterLab, which has one address for all, does not. */
function goThere(event) {
  const href = event.target.closest("a")?.getAttribute("href");
  if (href) document.getElementById(decodeURIComponent(href.slice(1)))?.scrollIntoView();
}

class QuestionView {
  constructor(quiz, { text, choices }, index) {
    this.quiz = quiz;
    this.index = index;
    this.choices = choices;
    this.inputs = choices.map((_, k) => control("input", { type: "radio", name: "choice", value: k }));
    const labels = choices.map((choice, k) =>
      element("label", {}, this.inputs[k], element("span", {}, ...rich(choice.text))),
    );
    this.feedback = element("div", { class: "cw-feedback", role: "status" });
    const number = element("span", { class: "cw-number" }, `${index + 1}. `);
    this.form = element(
      "form",
      {},
      element("fieldset", {}, element("legend", {}, number, ...rich(text)), ...labels),
      control("button", { type: "submit" }, "Conferir"),
      this.feedback,
    );
    this.root = element("li", { "data-question": index }, this.form);
  }

  draw() {
    const [, last] = this.quiz.answers[this.index];
    this.inputs.forEach((input, k) => {
      input.checked = k === last;
    });
    if (last === undefined) this.feedback.replaceChildren();
    else this.explain(last);
  }

  explain(k) {
    const { right, why } = this.choices[k];
    const { symbol, text } = VERDICTS[right ? "right" : "wrong"];
    const verdict = element("strong", {}, element("span", { "aria-hidden": "true" }, `${symbol} `), text);
    this.feedback.dataset.verdict = right ? "right" : "wrong";
    this.feedback.replaceChildren(element("p", {}, verdict, " ", ...rich(why)));
    if (right) this.feedback.append(this.others(k));
  }

  /** Why each of the other choices is wrong, folded, once the right one is found. */
  others(k) {
    const items = this.choices.flatMap(({ text, why }, j) =>
      j === k ? [] : [element("li", {}, element("q", {}, ...rich(text)), ": ", ...rich(why))],
    );
    return element("details", {}, control("summary", {}, "E as outras?"), element("ul", {}, ...items));
  }

  submit(event) {
    event.preventDefault();
    const k = this.inputs.findIndex((input) => input.checked);
    if (k >= 0) return this.quiz.answer(this.index, k);
    delete this.feedback.dataset.verdict;
    this.feedback.replaceChildren(element("p", {}, "Escolha uma das respostas."));
  }
}

class QuizView extends View {
  static kept = { answers: (x, model) => fits(x, model.get("questions")) };
  /** Answers to another edition of the questions would point at other choices. */
  static memory = (model) => `quiz ${model.get("chapter")} ${model.get("edition")}`;

  constructor(model) {
    super(model, { class: "cw cw-quiz", role: "group", "aria-label": "Perguntas" });
    this.add(
      element(
        "p",
        { class: "cw-instruction" },
        "Escolha uma resposta e confira: certa ou não, ela diz por quê.",
      ),
    );
    this.questions = model.get("questions");
    this.views = this.questions.map((question, i) => new QuestionView(this, question, i));
    this.add(element("ol", {}, ...this.views.map((view) => view.root)));
    this.result = this.add(element("div", { class: "cw-result", role: "status" }));
    this.again = this.add(control("button", { type: "button" }, "Recomeçar"));
    this.draw();
  }

  get answers() {
    const answers = this.model.get("answers");
    return fits(answers, this.questions) ? answers : this.questions.map(() => []);
  }

  answer(i, k) {
    const answers = this.answers.map((answer) => [...answer]);
    const [first = k] = answers[i];
    answers[i] = [first, k];
    this.set({ answers });
  }

  restart() {
    this.set({ answers: this.questions.map(() => []) });
    this.views[0].inputs[0].focus();
  }

  draw() {
    for (const view of this.views) view.draw();
    const answers = this.answers;
    const done = answers.filter((answer) => answer.length).length;
    const missed = answers.flatMap(([first], i) =>
      first === undefined || this.questions[i].choices[first].right ? [] : [i],
    );
    const n = this.questions.length;
    const progress = element("p", {}, `Respondidas: ${done} de ${n}.`);
    this.again.hidden = done === 0;
    if (done < n) return this.result.replaceChildren(progress);
    const score = element("strong", {}, `De primeira, ${n - missed.length} de ${n}.`);
    this.result.replaceChildren(element("p", {}, score, missed.length ? " Para reler:" : " Nada a reler."));
    const sections = new Map(missed.map((i) => [this.questions[i].section, []]));
    for (const i of missed) sections.get(this.questions[i].section).push(i + 1);
    const items = [...sections].map(([section, numbers]) => linkTo(section, numbers));
    if (items.length) this.result.append(element("ul", {}, ...items));
  }

  listen() {
    for (const view of this.views) this.on(view.form, "submit", (event) => view.submit(event));
    this.on(this.again, "click", () => this.restart());
    this.on(this.result, "click", goThere);
    this.onChange(["answers"], () => this.draw());
  }
}

export default { render: rendererOf(QuizView) };
