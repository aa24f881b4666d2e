/** A repository and packages as hosts outside serve them to git, pip and npm. */
import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';

export const makeOutside = async (folder: string): Promise<void> => {
  await makeRepository(folder);
  await makePackages(folder);
};

/** `origin`: the address under which programs reach it. */
export const serveOutside =
  (
    folder: string,
    { origin, seen }: { readonly origin: () => string; readonly seen: string[] },
  ): RequestListener =>
  (request, response) => {
    const path = decodeURIComponent((request.url ?? '').split('?')[0] ?? '');
    seen.push(path);
    const url = origin();
    if (path === '/simple/outside/')
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<a href="${url}/outside-1.0-py3-none-any.whl">outside-1.0-py3-none-any.whl</a>`);
    else if (path === '/outside') {
      const dist = { tarball: `${url}/outside-1.0.0.tgz` };
      const versions = { '1.0.0': { name: 'outside', version: '1.0.0', dist } };
      response.end(JSON.stringify({ name: 'outside', 'dist-tags': { latest: '1.0.0' }, versions }));
    } else
      readFile(join(folder, path)).then(
        (content) => response.end(content),
        () => response.writeHead(404).end(),
      );
  };

/** Served as plain files (gitprotocol-http(5), "dumb"). */
const makeRepository = async (parent: string): Promise<void> => {
  const work = join(parent, 'work');
  const git = (...args: readonly string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { stdio: 'ignore' });
  git('init', '-b', 'main', work);
  await writeFile(join(work, 'hello.txt'), 'hello\n');
  git('-C', work, 'add', '.');
  git('-C', work, 'commit', '-m', 'first');
  git('clone', '--bare', work, join(parent, 'repository.git'));
  git('-C', join(parent, 'repository.git'), 'update-server-info');
};

const makePackages = async (parent: string): Promise<void> => {
  const program = [
    'import zipfile, tarfile, io, sys',
    'w = zipfile.ZipFile("outside-1.0-py3-none-any.whl", "w")',
    'w.writestr("outside.py", "word = 42\\n")',
    'd = "outside-1.0.dist-info/"',
    'w.writestr(d + "METADATA", "Metadata-Version: 2.1\\nName: outside\\nVersion: 1.0\\n")',
    'w.writestr(d + "WHEEL", "Wheel-Version: 1.0\\nGenerator: a\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")',
    'w.writestr(d + "RECORD", ""); w.close()',
    't = tarfile.open("outside-1.0.0.tgz", "w:gz")',
    'def add(n, s): i = tarfile.TarInfo(n); i.size = len(s); t.addfile(i, io.BytesIO(s.encode()))',
    'add("package/package.json", "{\\"name\\":\\"outside\\",\\"version\\":\\"1.0.0\\",\\"main\\":\\"i.js\\"}")',
    'add("package/i.js", "module.exports = 42"); t.close()',
  ].join('\n');
  execFileSync('python3', ['-c', program], { cwd: parent });
};
