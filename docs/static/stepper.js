// Steps through recorded programs: the line of code and the queue of callbacks, side by side.
// The data is in the page; docs/story/traces/page.py writes both.
"use strict";

{
  const stepper = document.querySelector(".stepper");
  const programs = JSON.parse(document.getElementById("stepper-data").textContent);
  const chooser = document.getElementById("stepper-program");
  const find = (name) => stepper.querySelector(`.stepper-${name}`);
  let program = programs[0];
  let place = 0;

  // The fields of a step, in the order in which page.py writes them.
  function stepAt(index) {
    const [turn, at, stack, note, queue, waiting, states] = program.steps[index];
    const textsOf = (numbers) => numbers.map((number) => program.texts[number]);
    return {
      turn,
      at,
      stack,
      note: program.texts[note],
      queue: textsOf(queue),
      waiting: textsOf(waiting),
      states: textsOf(states),
    };
  }

  function showList(list, texts) {
    const items = texts.map((text) => {
      const item = document.createElement("li");
      item.textContent = text;
      return item;
    });
    if (!items.length) {
      const item = document.createElement("li");
      item.className = "stepper-empty";
      item.textContent = "empty";
      items.push(item);
    }
    list.replaceChildren(...items);
  }

  function showCode(stack) {
    const code = find("code");
    if (!stack.length) {
      find("stack").textContent = "The loop itself runs.";
      code.replaceChildren();
      return;
    }
    const names = stack.map(([index]) => program.functions[index][0]);
    find("stack").textContent = names.join(" \u2192 ");
    const [index, current] = stack[stack.length - 1];
    const [, lines] = program.functions[index];
    const parts = lines.map((text, number) => {
      const line = document.createElement("span");
      line.textContent = `${String(number + 1).padStart(4)}  ${text}\n`;
      if (number + 1 === current) {
        line.setAttribute("aria-current", "step");
      }
      return line;
    });
    code.replaceChildren(...parts);
    const line = code.querySelector("[aria-current]");
    // Only this box: the page itself stays where it is.
    if (line) {
      code.scrollTop = line.offsetTop - code.clientHeight / 2;
    }
  }

  function lineOf(stack) {
    if (!stack.length) {
      return "";
    }
    const [index, line] = stack[stack.length - 1];
    const [name, lines] = program.functions[index];
    return `${name}, line ${line}: ${lines[line - 1].trim()}`;
  }

  function show(index) {
    place = Math.max(0, Math.min(index, program.steps.length - 1));
    const step = stepAt(place);
    const count = `Step ${place + 1} of ${program.steps.length}`;
    const words = step.note || lineOf(step.stack);
    // A program that waits for sockets only has no times.
    const hasTimes = program.steps[program.steps.length - 1][1] > 0;
    const time = hasTimes ? `, at ${step.at} s` : "";
    find("place").textContent = `${count}, turn ${step.turn}${time}. ${words}`;
    showCode(step.stack);
    showList(find("queue"), step.queue);
    showList(find("waiting"), step.waiting);
    showList(find("states"), step.states);
    const isFirst = place === 0;
    const isLast = place === program.steps.length - 1;
    for (const button of stepper.querySelectorAll("button")) {
      const goesOn = ["next", "turn"].includes(button.dataset.go);
      // Not disabled: it would lose the focus.
      button.setAttribute("aria-disabled", String(goesOn ? isLast : isFirst));
    }
  }

  // The first step of a turn: -1 is the one before this, 1 the next.
  function startOfTurn(distance) {
    const turn = program.steps[place][0] + distance;
    const index = program.steps.findIndex((step) => step[0] >= turn);
    return index < 0 ? program.steps.length - 1 : index;
  }

  const moves = {
    first: () => 0,
    last: () => program.steps.length - 1,
    back: () => place - 1,
    next: () => place + 1,
    turn: () => startOfTurn(1),
    "turn-back": () => startOfTurn(-1),
  };
  const moveByKey = {
    ArrowRight: "next",
    ArrowLeft: "back",
    PageDown: "turn",
    PageUp: "turn-back",
    Home: "first",
    End: "last",
  };

  stepper.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) {
      show(moves[button.dataset.go]());
    }
  });
  stepper.addEventListener("keydown", (event) => {
    const move = moveByKey[event.key];
    const isPlain = !(event.ctrlKey || event.altKey || event.metaKey || event.shiftKey);
    if (move && isPlain && event.target !== chooser) {
      event.preventDefault();
      show(moves[move]());
    }
  });
  function choose(index) {
    chooser.selectedIndex = index;
    program = programs[index];
    show(0);
  }

  // Other pages link to a program: steps.html#recorded-two-fetches.
  function chooseFromAddress() {
    const anchors = programs.map(({name}) => `#recorded-${name.replaceAll("_", "-")}`);
    const index = anchors.indexOf(location.hash);
    choose(Math.max(index, 0));
    if (index >= 0) {
      stepper.scrollIntoView();
    }
  }

  chooser.addEventListener("change", () => choose(chooser.selectedIndex));
  addEventListener("hashchange", chooseFromAddress);

  for (const {title} of programs) {
    chooser.add(new Option(title));
  }
  stepper.hidden = false;
  document.documentElement.classList.add("has-stepper");
  chooseFromAddress();
}
