/**
 * Builds the sandbox's image, takes it through a registry of images, and attacks it: `npm run verify:image [bookworm|trixie]`.
 *
 * The base is a Debian made by debootstrap with this machine's Node and npm in it; Podman builds every template of the
 * Dockerfile on it, and an operator's. That of Python goes through a registry (`registry.ts`). The escape tests then run in
 * containers that have what Fargate gives a task: the capabilities of the task definition, the default seccomp profile, an init
 * process, a read-only root. It needs root on a Debian, and its package archive; `npm test` needs none of this.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { bundleSandbox } from '../../sandbox-task/bundle.ts';
import { templateTarget, writeTemplateFolder } from '../../sandbox-task/template-image.ts';
import { environmentOf, home, limits, npm, printed, repository, run, say, writeSettings } from './engine.ts';
import { throughRegistry } from './registry.ts';

const context = join(repository, 'sandbox-task');
const [suite = 'bookworm'] = process.argv.slice(2);
if (!['bookworm', 'trixie'].includes(suite))
  throw new Error(`there is no base of ${suite}: use bookworm or trixie`);

const base = `localhost/sallyport/node:24-${suite}`;
const templates = ['python', 'node'] as const;
const imageOf = (template: string): string => `localhost/sallyport/sandbox-${template}:${suite}`;

const installPrograms = (): void => {
  const packages = ['podman', 'runc', 'catatonit', 'debootstrap', 'docker-registry'];
  if (spawnSync('dpkg', ['-s', ...packages], { stdio: 'ignore' }).status === 0) return;
  say(`Installing ${packages.join(', ')}`);
  run('apt-get', ['update', '-qq']);
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...packages]);
};

const makeBase = (): void => {
  if (spawnSync('podman', ['image', 'exists', base], { env: environmentOf('built') }).status === 0) return;
  const root = join(home, suite);
  rmSync(root, { recursive: true, force: true });
  say(`Making a Debian ${suite}`);
  printed('debootstrap', ['--variant=minbase', suite, root]);
  cpSync(process.execPath, join(root, 'usr/local/bin/node'));
  if (npm === undefined || !existsSync(npm))
    throw new Error('run this with npm, which the image gets as well');
  cpSync(dirname(dirname(npm)), join(root, 'usr/local/lib/node_modules/npm'), { recursive: true });
  for (const name of ['npm', 'npx'])
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(root, 'usr/local/bin', name));
  run('bash', ['-c', `tar -C "$1" -c . | podman import --quiet - "$2"`, 'import', root, base]);
  rmSync(root, { recursive: true, force: true });
};

/** A machine behind a proxy trusts certificates of its own, which the build needs too. */
const certificates = '/etc/ssl/certs/ca-certificates.crt';

const build = (template: string, folder = context, target = template): void => {
  say(`Building the template ${template}`);
  const trusted = existsSync(certificates)
    ? [`--volume=${certificates}:/usr/local/share/ca-certificates/machine.crt:ro`]
    : [];
  const parameters = ['--quiet', '--layers', '--network=host', ...trusted, `--build-arg=NODE_IMAGE=${base}`];
  const bounded = limits.map((limit) => `--ulimit=${limit}`);
  run('podman', [
    'build',
    ...bounded,
    ...parameters,
    `--target=${target}`,
    `--tag=${imageOf(template)}`,
    folder,
  ]);
};

const programs = ['python3', 'pip3', 'node', 'npm', 'git', 'curl', 'jq', 'rg', 'make', 'gcc'];
const modules = {
  python: 'numpy, pandas, matplotlib.pyplot, requests, venv',
  node: 'venv',
  operator: 'venv',
};

/** A template as an operator may write it, with another user and command than a sandbox has. */
const buildOperatorTemplate = async (): Promise<void> => {
  const own = join(home, 'operator');
  mkdirSync(own, { recursive: true });
  writeFileSync(join(own, 'data.csv'), '1,2\n');
  writeFileSync(
    join(own, 'Dockerfile'),
    `FROM ${base}\nCOPY data.csv /data.csv\nUSER nobody\nCMD ["false"]\n`,
  );
  const folder = join(home, 'operator-build');
  await writeTemplateFolder(join(own, 'Dockerfile'), folder);
  build('operator', folder, templateTarget);
};

const inspect = (template: keyof typeof modules): void => {
  const script = `for p in ${programs.join(' ')}; do command -v $p >/dev/null || { echo "no $p"; exit 1; }; done
    ${template === 'operator' ? 'grep -q 1,2 /data.csv || exit 1' : ''}
    python3 -c "import ${modules[template]}" && npm --version >/dev/null && node --version`;
  const version = printed('podman', [
    ...['run', '--rm', '--network=none', '--entrypoint=bash', imageOf(template), '-c', script],
  ]);
  const size = Number(printed('podman', ['image', 'inspect', '--format={{.Size}}', imageOf(template)]));
  say(`${template}: ${Math.round(size / 1e6)} MB, ${programs.length} programs, Node ${version}`);
};

installPrograms();
writeSettings();
makeBase();
await bundleSandbox(join(context, 'dist'));
for (const template of templates) {
  build(template);
  inspect(template);
}
await buildOperatorTemplate();
inspect('operator');
const vitest = join(repository, 'node_modules', 'vitest', 'vitest.mjs');
const config = join(import.meta.dirname, 'vitest.config.ts');
run(process.execPath, [vitest, 'run', '--config', config], {
  store: 'pulled',
  variables: { SANDBOX_IMAGE: await throughRegistry(imageOf('python')) },
});
