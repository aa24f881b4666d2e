/**
 * A destroy of a deployment: its sandboxes, its stacks from the top down, then the data that stacks retain. It lists everything
 * that it deletes before its question, and everything that it keeps at its end, with the reason. After a failure, another run
 * continues with the rest.
 */
import { deleteRecord } from './admin-token.ts';
import type { Command, Target, Terminal } from './command.ts';
import { type Found, type Inventory, takeInventory } from './inventory.ts';
import { type LockedBucket, lockedOf, textOfLocked } from './locked-buckets.ts';
import { findOwned, joined, linesOf, noData, type Retained } from './ownership.ts';
import { Failure, type Programs } from './programs.ts';
import { deleteRelease } from './release-figures.ts';
import { deleteBucket, deleteKey, deleteLogs, deleteSecret, deleteTable } from './retained-data.ts';
import { closeFunctions, deregisterDefinitions, stopSandboxes } from './sandboxes.ts';
import { tokenSecret } from './token-secret.ts';

type DestroyRequest = {
  readonly target: Target;
  readonly programs: Programs;
  readonly terminal: Terminal;
  readonly yes: boolean;
  /** The table, the checkpoints, the secrets and the key stay. */
  readonly keepData: boolean;
  /** Locked seals are deleted, too. */
  readonly bypassLock: boolean;
  /** Data that an earlier deployment of the name has left is deleted, too. */
  readonly withEarlier: boolean;
};

const taskPollMs = 3000;
const minuteMs = 60_000;

const destroy = async (request: DestroyRequest): Promise<void> => {
  const { target, terminal, bypassLock } = request;
  const { settings, account, region, aws } = target;
  const { deployment } = settings;
  const inventory = await takeInventory(target);
  const { found, earlier } = await findMeant(request, inventory);
  const locked = bypassLock ? [] : await lockedOf(aws, found.buckets, Date.now());
  const retained = { ...withoutLocked(found, locked), locked, earlier };
  if (inventory.stacks.length + linesOf(found).length === 0)
    throw new Failure(`there is no deployment ${deployment} in account ${account}, ${region}`, [
      'Choose another: --stage <name> and --region <region>.',
    ]);
  terminal.say(`Account ${account}, ${region}: ${inventory.stacks.map(({ name }) => name).join(', ')}`);
  announce(request, retained);
  if (
    !request.yes &&
    !(await terminal.agrees(`This cannot be undone. Type ${deployment} to destroy it: `, deployment))
  )
    throw new Failure('nothing was destroyed');
  const stopping = { aws, say: terminal.say, pollMs: taskPollMs };
  await closeFunctions(stopping, inventory);
  await stopSandboxes(stopping, inventory);
  for (const stack of inventory.stacks) await deleteStack(terminal, stack);
  await deregisterDefinitions(stopping, inventory);
  await deleteRecord(aws, deployment);
  await deleteRelease(aws, deployment);
  await deleteRest(request, inventory, retained);
  listRetained(request, inventory, { ...retained, keys: found.keys });
};

type Kept = Retained & {
  readonly locked: readonly LockedBucket[];
  /** Data of an earlier deployment, which stays. */
  readonly earlier: Retained;
};

/** The data that is deleted, and that of earlier deployments, which stays. */
const findMeant = async (
  { target, withEarlier }: DestroyRequest,
  inventory: Inventory,
): Promise<{ readonly found: Retained; readonly earlier: Retained }> => {
  const { own, earlier } = await findOwned(target, inventory);
  if (withEarlier) return { found: joined(own, earlier), earlier: noData };
  if (inventory.stacks.length + linesOf(own).length === 0 && linesOf(earlier).length > 0)
    throw new Failure(
      `there is data of several deployments ${target.settings.deployment}, and no stack says whose it is`,
      [...linesOf(earlier), 'All of it is deleted with --with-earlier. A part is deleted by hand.'],
    );
  return { found: own, earlier };
};

const announce = (
  { terminal, keepData, target }: DestroyRequest,
  { locked, earlier, ...data }: Kept,
): void => {
  terminal.say(keepData ? 'The data is kept.' : 'Everything is deleted, and all logs:');
  if (!keepData) for (const line of linesOf(data)) terminal.say(`  ${line}`);
  for (const { bucket, until } of locked)
    terminal.say(`Bucket ${bucket} stays: seals in it are locked until ${until}.`);
  if (linesOf(earlier).length === 0) return;
  terminal.say(`These are left of an earlier deployment ${target.settings.deployment}, and stay:`);
  for (const line of linesOf(earlier)) terminal.say(`  ${line}`);
};

/** The other buckets hold web pages and access logs, which are not data of users. */
const isData = (bucket: string): boolean => /workspaces|seals/.test(bucket);

/** Keys stay with locked seals: one may encrypt them, another has signed them. */
const withoutLocked = (found: Retained, locked: readonly LockedBucket[]): Retained => ({
  ...found,
  buckets: found.buckets.filter((name) => locked.every(({ bucket }) => bucket !== name)),
  keys: locked.length === 0 ? found.keys : [],
});

const deleteStack = async (terminal: Terminal, { name, aws }: Found): Promise<void> => {
  terminal.say(
    `Deleting stack ${name}${name.endsWith('-compute') ? ': Lambda takes up to half an hour to leave the network' : ''}`,
  );
  const begun = performance.now();
  await aws.ask('cloudformation', 'delete-stack', '--stack-name', name);
  try {
    await aws.ask('cloudformation', 'wait', 'stack-delete-complete', '--stack-name', name);
  } catch (cause) {
    throw new Failure(
      `stack ${name} was not deleted`,
      [
        `Its events have the reason: aws cloudformation describe-stack-events --stack-name ${name} --region ${aws.region}`,
        'Then run it again: it continues where it stopped.',
      ],
      cause,
    );
  }
  terminal.say(`  deleted after ${((performance.now() - begun) / minuteMs).toFixed(1)} min`);
};

const deleteRest = async (
  { target, terminal, keepData, bypassLock }: DestroyRequest,
  inventory: Inventory,
  { tables, buckets, secrets, keys }: Retained,
): Promise<void> => {
  const { aws, settings } = target;
  const deleting = { aws, say: terminal.say };
  for (const bucket of buckets)
    if (!(keepData && isData(bucket))) await deleteBucket(deleting, bucket, bypassLock);
  await deleteLogs(deleting, settings.deployment, inventory);
  // The token opens nothing any more, and its secret would be billed.
  await deleteSecret(deleting, tokenSecret(settings.deployment));
  if (keepData) return;
  for (const table of tables) await deleteTable(deleting, table);
  for (const secret of secrets) await deleteSecret(deleting, secret);
  for (const key of keys) await deleteKey(deleting, key);
};

const listRetained = (
  { terminal, keepData, target }: DestroyRequest,
  { ofType }: Inventory,
  retained: Kept,
): void => {
  const { account, region, stage } = target;
  const named = stage === 'production' ? '' : ` -- --stage ${stage}`;
  const seals = retained.locked.flatMap((bucket) => textOfLocked(bucket, named));
  const keys = seals.length === 0 ? [] : retained.keys.map((key) => `key ${key}, which the seals need`);
  const data = [
    ...retained.tables,
    ...retained.buckets.filter(isData),
    ...retained.secrets,
    ...retained.keys,
  ];
  const earlier = linesOf(retained.earlier).map((line) => `${line} of an earlier deployment`);
  if (earlier.length > 0) earlier.push(`  npm run destroy${named} deletes it with --with-earlier`);
  const role = ofType('AWS::ApiGateway::Account').map(
    () => 'the role by which API Gateway writes logs: it belongs to the account, and other APIs may use it',
  );
  const bootstrap = `the bootstrap of the CDK in ${account}, ${region}, with the images and bundles that were deployed`;
  terminal.say('\nDestroyed. Retained:');
  for (const thing of [...(keepData ? data : keys), ...seals, ...earlier, ...role, bootstrap])
    terminal.say(`  ${thing}`);
};

export const destroyCommand: Command<'keep-data' | 'bypass-lock' | 'with-earlier'> = {
  usage: [
    'usage: npm run destroy [-- --stage <name>] [--region <region>] [--settings <file>] [--yes] [--keep-data] [--bypass-lock] [--with-earlier]',
    '',
    'Stops the sandboxes of a deployment and deletes its stacks, data, logs and secrets.',
    'A bucket of seals whose Object Lock has not ended stays, with the keys that it needs.',
    '',
    '  --yes          does not ask for confirmation',
    '  --keep-data    keeps the table, the checkpoints, the seals, the secrets and their key',
    '  --bypass-lock  deletes locked seals, too: needs s3:BypassGovernanceRetention',
    '  --with-earlier deletes what an earlier destroy with --keep-data has left, too',
  ].join('\n'),
  flags: ['keep-data', 'bypass-lock', 'with-earlier'],
  run: ({ 'keep-data': keepData, 'bypass-lock': bypassLock, 'with-earlier': withEarlier, ...request }) =>
    destroy({ ...request, keepData, bypassLock, withEarlier }),
};
