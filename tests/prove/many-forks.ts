/**
 * Fifty forks of one snapshot that run at once: each writes another content, and has its own when all have written. They start a few at
 * a time, since fifty starts at once outlast on a busy machine what a start may take.
 */
import { rm } from 'node:fs/promises';
import { Sallyport } from '#sdk/sallyport.ts';
import { startServer } from '../e2e/server.ts';
import { exactly, type Proof } from './proof.ts';

const forkCount = 50;
/** Starts at the same time; the others already run then, or wait for their turn. */
const startsMax = 5;

export const manyForks: Proof = async (progress) => {
  const server = await startServer({ variables: { MSB_DEFAULT_FLAVOR: 'micro', MSB_MAX_SESSIONS: '100' } });
  const { sandboxes } = new Sallyport(server);
  const source = await sandboxes.create();
  await source.exec('mkdir -p d && echo shared > d/kept.txt && echo old > changed.txt');
  const snapshot = await source.snapshot();
  const forks = await Promise.all(
    Array.from({ length: forkCount }, () => sandboxes.create({ from: snapshot })),
  );
  progress(`${forks.length} forks are made`);
  const wrote: string[] = [];
  for (let at = 0; at < forkCount; at += startsMax) {
    const starting = forks.slice(at, at + startsMax).map(async (fork, place) => {
      const command = `cat d/kept.txt; echo ${fork.id} > changed.txt; echo ${at + place} > own-${at + place}.txt`;
      return (await fork.exec(command)).stdout;
    });
    wrote.push(...(await Promise.all(starting)));
  }
  progress('all have written');
  const read = await Promise.all(forks.map((fork) => fork.exec('cat d/kept.txt changed.txt; ls')));
  const right = read.filter(
    ({ stdout }, place) => stdout === `shared\n${forks[place]?.id}\nchanged.txt\nd\nown-${place}.txt\n`,
  ).length;
  const untouched = (await source.exec('cat changed.txt; ls')).stdout;
  await server.stop();
  await rm(server.home, { recursive: true, force: true });
  return [
    exactly(
      'forks that began with the snapshot',
      wrote.filter((stdout) => stdout === 'shared\n').length,
      forkCount,
    ),
    exactly('forks with their own content and no other', right, forkCount),
    exactly('sources as they were', Number(untouched === 'old\nchanged.txt\nd\n'), 1),
  ];
};
