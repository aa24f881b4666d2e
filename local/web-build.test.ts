/** The web app is built when it must be, and only then. */
import { cpSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildWebWhenStale } from './web-build.ts';

/** A repository whose web app is one page with one script. */
let repository: string;
beforeAll(async () => {
  repository = await mkdtemp(join(tmpdir(), 'sallyport-web-'));
  const write = (path: string, text: string): void => {
    mkdirSync(join(repository, path, '..'), { recursive: true });
    writeFileSync(join(repository, path), text);
  };
  const modules = join(import.meta.dirname, '..', 'node_modules');
  mkdirSync(join(repository, 'node_modules'));
  for (const name of readdirSync(modules).filter((one) => !one.startsWith('.')))
    symlinkSync(join(modules, name), join(repository, 'node_modules', name));
  write('package.json', '{"type":"module"}');
  write('web/index.html', '<script type="module" src="./main.ts"></script>');
  write('web/main.ts', 'document.title = "one";');
  // Writes one archive, as the real program writes three.
  write(
    'operations/package-clients/main.ts',
    "import { mkdirSync, writeFileSync } from 'node:fs'; mkdirSync(process.argv[2]); writeFileSync(process.argv[2] + '/a.tgz', 'a');",
  );
  cpSync(join(import.meta.dirname, '..', 'web', 'vite.config.ts'), join(repository, 'web/vite.config.ts'));
});
afterAll(() => rm(repository, { recursive: true, force: true }));

const build = async (): Promise<readonly string[]> => {
  const said: string[] = [];
  await buildWebWhenStale({ repository, progress: (line) => said.push(line) });
  return said;
};
const built = (): readonly string[] => readdirSync(join(repository, 'web', 'dist', 'assets'));

test('a first start builds, a second one does not, a change builds again and removes the old files', async () => {
  // As it was before another try.
  await rm(join(repository, 'web', 'dist'), { recursive: true, force: true });
  writeFileSync(join(repository, 'web/main.ts'), 'document.title = "one";');
  expect(await build()).toEqual(['Building the web app']);
  const [first, ...others] = built();
  expect(others).toEqual([]);
  expect(await build()).toEqual([]);
  expect(readdirSync(join(repository, 'web', 'dist', 'clients'))).toEqual(['a.tgz']);

  writeFileSync(join(repository, 'web/main.ts'), 'document.title = "two";');
  const later = new Date(Date.now() + 2000);
  utimesSync(join(repository, 'web/main.ts'), later, later);
  expect(await build()).toEqual(['Building the web app']);
  expect(built()).toHaveLength(1);
  expect(built()).not.toEqual([first]);
});

test('two concurrent builds both end with a complete app', async () => {
  const later = new Date(Date.now() + 4000);
  utimesSync(join(repository, 'web/main.ts'), later, later);
  await Promise.all([build(), build()]);
  expect(built()).toHaveLength(1);
});

test('a failing build stops the start with the reason', async () => {
  writeFileSync(join(repository, 'web/main.ts'), 'const = ;');
  const later = new Date(Date.now() + 6000);
  utimesSync(join(repository, 'web/main.ts'), later, later);
  await expect(build()).rejects.toThrow('Building the web app failed');
  expect(built()).toHaveLength(1);
});
