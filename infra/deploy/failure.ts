/** What stops a deploy or a destroy: one line of what went wrong, and what to do next. Anything else is a bug. */
export class Failure extends Error {
  readonly next: readonly string[];

  constructor(message: string, next: readonly string[] = [], cause?: unknown) {
    super(message, { cause });
    this.name = 'Failure';
    this.next = next;
  }
}
