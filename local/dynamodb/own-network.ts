/**
 * A command in a network namespace of its own, whose loopback nothing else can reach.
 *
 * By bubblewrap, which the sandboxes need anyway; where it cannot work, by `unshare` and `ip`. Where neither works
 * the start is refused: a table that any web page may write is worse than none.
 */
import { spawnSync } from 'node:child_process';

type Command = readonly [string, ...string[]];

const bubblewrap: Command = [
  ...(['bwrap', '--unshare-net', '--unshare-pid', '--die-with-parent'] as const),
  ...['--dev-bind', '/', '/', '--'],
];

const unshare: Command = [
  ...(['unshare', '--map-root-user', '--net', '--pid', '--fork', '--kill-child', '--'] as const),
  ...['sh', '-c', 'ip link set lo up && exec "$@"', 'sh'],
];

export const inOwnNetwork = (command: Command, ways: readonly Command[] = [bubblewrap, unshare]): Command => {
  const way = ways.find(isUsable);
  if (way === undefined)
    throw new Error(
      'the table cannot be protected from web pages here: install bubblewrap ("sudo apt-get install bubblewrap") and ' +
        'allow user namespaces, or set AWS_ENDPOINT_URL_DYNAMODB to a DynamoDB of your own',
    );
  return [...way, ...command];
};

const isUsable = ([program, ...parameters]: Command): boolean =>
  spawnSync(program, [...parameters, 'true'], { stdio: 'ignore' }).status === 0;
