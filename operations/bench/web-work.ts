/**
 * The work of the page's own thread, in seconds of CPU, beside that of a smaller page of the same run: a log ten times as
 * long may cost ten times as much and a little more, and a long line little more than a short one.
 */
import type { Page } from 'playwright-core';
import { table } from './report.ts';

/** Of the CPU, over the part that the size explains: below it lies what differs from run to run. */
const spareMax = 2;
/** The page asks and is drawn all along; less than this is not told apart. */
const restSeconds = 0.5;

export type PageWork = { readonly text: string; readonly floor: string; readonly isMet: boolean };

/** Reads the seconds of CPU that tasks of the page have used since (time domain `threadTicks`). */
export const openCpuMeter = async (page: Page): Promise<() => Promise<number>> => {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const taskSeconds = async (): Promise<number> => {
    const { metrics } = await devtools.send('Performance.getMetrics');
    const duration = metrics.find(({ name }) => name === 'TaskDuration');
    if (duration === undefined) throw new Error('the browser does not measure its tasks');
    return duration.value;
  };
  const begun = await taskSeconds();
  return async () => (await taskSeconds()) - begun;
};

type Shape = { readonly name: string; readonly text: (characters: number) => string };

const shapes: readonly Shape[] = [
  { name: 'one line without a space', text: (characters) => 'x'.repeat(characters) },
  { name: 'emphases that never end', text: (characters) => '**a* '.repeat(characters / 5) },
  { name: 'words that begin with a line', text: (characters) => '_a'.repeat(characters / 2) },
  { name: 'beginnings of formulas', text: (characters) => '$$ a\n'.repeat(characters / 5) },
];

const shortCharacters = 10_000;
const growth = 4;

/** Each shape as a streamed answer of 10,000 and of 40,000 characters. */
export const measureShapes = async (open: OpenLog): Promise<PageWork> => {
  const rows: (readonly [string, number, number])[] = [];
  for (const { name, text } of shapes) {
    const [short, long] = [
      await answerSeconds(open, text(shortCharacters)),
      await answerSeconds(open, text(growth * shortCharacters)),
    ];
    rows.push([name, short, long]);
  }
  return {
    text: table(
      ['CPU of the page, seconds', `${shortCharacters} characters`, `${growth * shortCharacters}`],
      rows.map(([name, short, long]) => [name, short.toFixed(2), long.toFixed(2)]),
    ),
    floor: `an answer of ${growth} times the characters costs at most ${growth * spareMax} times as much, or ${restSeconds} s more`,
    isMet: rows.every(([, short, long]) => long <= Math.max(growth * spareMax * short, short + restSeconds)),
  };
};

/** A page of a session whose socket the bench answers. */
export type OpenLog = () => Promise<{
  readonly page: Page;
  readonly send: (frame: object) => void;
  readonly close: () => Promise<void>;
}>;

const answerSeconds = async (open: OpenLog, text: string): Promise<number> => {
  const { page, send, close } = await open();
  const used = await openCpuMeter(page);
  const data = { messageId: 'a', role: 'assistant', text };
  send({ type: 'message', seq: 0, data });
  send({
    type: 'completion',
    seq: 1,
    data: { turnId: 't', stopReason: 'end_turn', text: '', usage: { inputTokens: 9, outputTokens: 9 } },
  });
  await page.locator('[data-kind="end"]').waitFor();
  await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
  const seconds = await used();
  await close();
  return seconds;
};
