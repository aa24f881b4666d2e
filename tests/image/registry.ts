/**
 * The way of an image through a registry of images, as a task of Fargate gets it: pushed with layers in zstd, and pulled into a
 * store that has no layer of it, where no name resolves but those that the sandboxes' DNS firewall allows.
 *
 * The registry is Debian's `docker-registry` on the loopback under ECR's name for an account. It has no TLS, and hands out layers
 * itself, where ECR redirects to a bucket; the rules are those of the network's template.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ofType, synthesise } from '../../infra/stacks/synthesise.ts';
import { serve } from '../../operations/verify/programs.ts';
import { home, printed, run, say } from './engine.ts';

const values: Readonly<Record<string, string>> = {
  'AWS::AccountId': '111122223333',
  'AWS::Region': 'eu-central-1',
  'AWS::URLSuffix': 'amazonaws.com',
};

type Joined = { readonly 'Fn::Join': readonly [string, readonly (string | { readonly Ref: string })[]] };

/** Those that the firewall lets a sandbox's network resolve, in an account of this check. */
const allowedNames = (): readonly string[] => {
  const lists = ofType(synthesise().network, 'AWS::Route53Resolver::FirewallDomainList');
  return lists
    .flatMap<string | Joined>(({ Properties }) => Properties.Domains)
    .flatMap((domain) =>
      typeof domain === 'string'
        ? []
        : domain['Fn::Join'][1]
            .map((part) => (typeof part === 'string' ? part : values[part.Ref]))
            .join(domain['Fn::Join'][0]),
    );
};

/** Gives the words of a command that runs where these names lead to the loopback, and no other name to anything. */
const where = (names: readonly string[]): ((...command: readonly string[]) => string[]) => {
  const folder = join(home, 'names');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'hosts'), ['localhost', ...names].map((name) => `127.0.0.1 ${name}\n`).join(''));
  writeFileSync(join(folder, 'resolv.conf'), 'nameserver 127.0.0.1\noptions timeout:1 attempts:1\n');
  const bind = 'for file in hosts resolv.conf; do mount --bind "$0/$file" "/etc/$file" || exit 125; done';
  return (...command) => ['--mount', '--', 'sh', '-c', `${bind}; exec "$@"`, folder, ...command];
};

const manifestType = 'application/vnd.oci.image.manifest.v1+json';
type Manifest = { readonly layers: readonly { readonly mediaType: string; readonly size: number }[] };

/** The name under which the pulled image is in the store `pulled`. */
export const throughRegistry = async (image: string): Promise<string> => {
  const names = allowedNames();
  const host = names.find((name) => name.includes('.dkr.ecr.'));
  if (host === undefined) throw new Error(`the DNS firewall allows no registry: ${names.join(', ')}`);
  const storage = join(home, 'registry');
  rmSync(storage, { recursive: true, force: true });
  mkdirSync(storage, { recursive: true });
  const settings = join(home, 'registry.json');
  writeFileSync(
    settings,
    JSON.stringify({ version: 0.1, storage: { filesystem: { rootdirectory: storage } } }),
  );
  await using registry = await serve({
    program: 'docker-registry',
    args: () => ['serve', settings],
    variables: (port) => ({ REGISTRY_HTTP_ADDR: `127.0.0.1:${port}`, OTEL_TRACES_EXPORTER: 'none' }),
  });
  const repository = 'sallyport/sandbox';
  const pulled = `${host}:${new URL(registry.url).port}/${repository}:pulled`;
  const inNetwork = where(names);
  say(`Pushing the image to ${pulled}`);
  const zstd = ['--format=oci', '--compression-format=zstd'];
  run('unshare', inNetwork('podman', 'push', '--quiet', '--tls-verify=false', ...zstd, image, pulled));
  const answer = await fetch(`${registry.url}/v2/${repository}/manifests/pulled`, {
    headers: { accept: manifestType },
  });
  const { layers } = (await answer.json()) as Manifest;
  const others = layers.filter(({ mediaType }) => !mediaType.endsWith('+zstd'));
  if (layers.length === 0 || others.length > 0)
    throw new Error(`${others.length} of ${layers.length} layers are no zstd: ${others[0]?.mediaType}`);
  const foreign = inNetwork('getent', 'hosts', 'registry.example.org');
  if (resolves(foreign)) throw new Error('a name that the firewall refuses has an address');
  run('podman', ['image', 'rm', '--all', '--force'], { store: 'pulled' });
  run('unshare', inNetwork('podman', 'pull', '--quiet', '--tls-verify=false', pulled), { store: 'pulled' });
  const layersOf = ['image', 'inspect', '--format={{json .RootFS.Layers}}'];
  if (
    printed('podman', [...layersOf, image]) !== printed('podman', [...layersOf, pulled], { store: 'pulled' })
  )
    throw new Error('the pulled image has other layers than the pushed one');
  const megabytes = Math.round(layers.reduce((sum, { size }) => sum + size, 0) / 1e6);
  say(`${layers.length} layers in zstd, ${megabytes} MB, pulled by the names that the DNS firewall allows`);
  return pulled;
};

const resolves = (command: readonly string[]): boolean => {
  try {
    return printed('unshare', command) !== '';
  } catch {
    return false;
  }
};
