/** Queue of the steps in the simulated world: the earliest first; chance orders those of one moment. */

export type Step = { readonly at: number; readonly order: number; readonly run: () => void };

export class Queue {
  readonly #steps: Step[] = [];

  get first(): Step | undefined {
    return this.#steps[0];
  }

  push(step: Step): void {
    const steps = this.#steps;
    let at = steps.push(step) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(step, steps[parent] ?? step)) break;
      steps[at] = steps[parent] ?? step;
      at = parent;
    }
    steps[at] = step;
  }

  pop(): Step | undefined {
    const steps = this.#steps;
    const [first] = steps;
    const last = steps.pop();
    if (first === undefined || last === undefined || steps.length === 0) return first;
    let at = 0;
    for (;;) {
      const child = this.#smallerChild(at);
      if (child === undefined || !isBefore(steps[child] ?? last, last)) break;
      steps[at] = steps[child] ?? last;
      at = child;
    }
    steps[at] = last;
    return first;
  }

  #smallerChild(at: number): number | undefined {
    const left = this.#steps[2 * at + 1];
    const right = this.#steps[2 * at + 2];
    if (left === undefined) return undefined;
    return right !== undefined && isBefore(right, left) ? 2 * at + 2 : 2 * at + 1;
  }
}

const isBefore = (one: Step, other: Step): boolean =>
  one.at < other.at || (one.at === other.at && one.order < other.order);
