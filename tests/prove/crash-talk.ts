/** A conversation that is given message after message, through lives of the program, and the log as its client has read it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ApiClient } from '#sdk/api-client.ts';
import type { AnswerOf } from '#sdk/route.ts';
import { api } from '#sdk/routes.ts';
import type { Life } from './crash-life.ts';

export type Logged = AnswerOf<typeof api.readEvents>['events'][number];

/** Numbers of what is asked for, each used once. */
export type Numbers = { readonly next: () => number };

type Said = { readonly messageId: string; readonly text: string };

const openMax = 2;
const pollMs = 200;
/** Every fourth message asks for no tool. */
const proseEvery = 4;

/** Its line goes into the workspace, which may lose it, and into a folder of the machine that no death takes back. */
const command = (mark: string): string =>
  `$ sleep 0.2; echo ${mark} | tee -a marks.txt >> /shared/marks.txt; sleep 0.2`;

const messageOf = (number: number): Said => ({
  messageId: `message-${number}`,
  text:
    number % proseEvery === 0
      ? `hello ${number}`
      : ['a', 'b'].map((name) => command(`mark-${number}-${name}`)).join('\n'),
});

export const clientOf = ({ server }: Life): ApiClient => new ApiClient({ ...server, triesMax: 1 });

export class Talk {
  readonly id: string;
  readonly log: Logged[] = [];
  readonly accepted = new Set<string>();
  /** Messages that the program may have taken before it died. */
  readonly #unsure: Said[] = [];

  constructor(id: string) {
    this.id = id;
  }

  async read(client: ApiClient): Promise<void> {
    const query = { since_index: this.log.at(-1)?.index ?? -1 };
    const { events } = await client.request(api.readEvents, { params: { id: this.id }, query });
    const last = this.log.at(-1)?.index ?? -1;
    this.log.push(...events.filter(({ index }) => index > last));
  }

  /** Messages that it took and had not answered at that time, as far as its client was told. */
  unfinished(at = Number.POSITIVE_INFINITY): readonly string[] {
    const answered = answeredIn(this.log.filter((event) => Date.parse(event.at) <= at));
    return [...this.accepted].filter((id) => !answered.has(id));
  }

  /** Again what the last life may have taken. */
  async repeat(client: ApiClient): Promise<void> {
    for (const said of [...this.#unsure]) {
      await client.request(api.sendMessage, { params: { id: this.id }, body: said });
      this.accepted.add(said.messageId);
      this.#unsure.splice(this.#unsure.indexOf(said), 1);
    }
  }

  async say(client: ApiClient, said: Said): Promise<void> {
    this.#unsure.push(said);
    await this.repeat(client);
  }

  /** Keeps it at work until the life is over. */
  async stream(life: Life, numbers: Numbers): Promise<void> {
    const client = clientOf(life);
    await this.repeat(client);
    while (!life.isOver()) {
      await this.read(client);
      if (this.unfinished().length < openMax) await this.say(client, messageOf(numbers.next()));
      await sleep(pollMs);
    }
  }

  /** Waits for the first event of a turn after the death; gives its time, or infinity when none came. */
  async progressAfter(life: Life, diedAt: number, msMax: number): Promise<number> {
    const client = clientOf(life);
    for (const deadline = Date.now() + msMax; Date.now() < deadline; await sleep(pollMs)) {
      await this.read(client);
      const first = this.log.find(({ type, at }) => type !== 'system' && Date.parse(at) > diedAt);
      if (first !== undefined) return Date.parse(first.at);
    }
    return Number.POSITIVE_INFINITY;
  }
}

/** Messages that began a turn which has ended. */
const answeredIn = (log: readonly Logged[]): ReadonlySet<string> => {
  const answered = new Set<string>();
  let begun: string | undefined;
  for (const { type, data } of log) {
    if (type === 'message' && data['role'] === 'user') begun = String(data['messageId']);
    if (type === 'completion' && begun !== undefined) answered.add(begun);
  }
  return answered;
};
