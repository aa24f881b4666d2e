/** OpenCode as the npm registry has it, and the small repository that the proofs have it work on. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const version = '1.18.33';

export const repository: Readonly<Record<string, string>> = {
  'add.mjs': 'export const add = (a, b) => a - b;\n',
  'add.test.mjs':
    "import assert from 'node:assert';\nimport test from 'node:test';\nimport { add } from './add.mjs';\ntest('adds', () => assert.equal(add(2, 3), 5));\n",
};

/** The file as the model has it written. */
export const mended = 'export const add = (a, b) => a + b;\n';
export const mending = {
  id: 'toolu_1',
  name: 'write',
  input: { filePath: '/workspace/add.mjs', content: mended },
};

/** Makes the workspace a repository of what was written there, and the program one that can be started. */
export const preparing =
  'chmod +x .local/bin/opencode && printf ".local\\n.cache\\n.config\\n" > .gitignore && git init -q && git add add.mjs add.test.mjs && git -c user.name=a -c user.email=a@b.c commit -qm first';

export const installOpencode = async (folder: string, progress: (line: string) => void): Promise<Buffer> => {
  const name = `opencode-linux-${process.arch}`;
  progress(`installing ${name}@${version}`);
  await promisify(execFile)('npm', [
    'install',
    '--no-save',
    '--ignore-scripts',
    '--prefix',
    folder,
    `${name}@${version}`,
  ]);
  return readFile(join(folder, 'node_modules', name, 'bin', 'opencode'));
};
