/**
 * The end of a deployment: its sandboxes, its stacks from the top down, then what stacks never delete. Run again after
 * it broke, it goes on with what is still there; it says what it left, and why.
 */
import type { Conversation } from '../deploy/conversation.ts';
import { Failure } from '../deploy/failure.ts';
import type { Programs } from '../deploy/programs.ts';
import type { Target } from '../deploy/target.ts';
import { deleteBucket, deleteLogs, deleteSecret, deleteTable, endKey, projectSecrets } from './data.ts';
import { type Found, type Inventory, takeInventory } from './inventory.ts';
import { findLeft, isData, type Left } from './left.ts';
import { closeFunctions, stopSandboxes } from './sandboxes.ts';

export type DestroyWish = {
  readonly target: Target;
  readonly programs: Programs;
  readonly person: Conversation;
  readonly yes: boolean;
  /** The table, the checkpoints, the secrets and the key stay. */
  readonly keepData: boolean;
};

const taskLookMs = 3000;

export const destroy = async (wish: DestroyWish): Promise<void> => {
  const { target, person, keepData } = wish;
  const { settings, account, region, aws } = target;
  const { deployment } = settings;
  const inventory = await takeInventory(target);
  const left = await withProjects(target, await findLeft(aws, deployment, inventory));
  const isThere = inventory.stacks.length + Object.values(left).flat().length > 0;
  if (!isThere)
    throw new Failure(`there is no deployment ${deployment} in account ${account}, ${region}`, [
      'Another one: --stage <name> and --region <region>.',
    ]);
  person.say(`Account ${account}, ${region}: ${inventory.stacks.map(({ name }) => name).join(', ')}`);
  person.say(
    keepData
      ? 'The data is kept.'
      : `All goes: ${left.tables.length} table, ${left.buckets.length} buckets, ${left.secrets.length} secrets, all logs.`,
  );
  if (
    !wish.yes &&
    !(await person.agrees(`There is no way back. Type ${deployment} to destroy it: `, deployment))
  )
    throw new Failure('nothing was destroyed');
  const stopping = { aws, say: person.say, pollMs: taskLookMs };
  await closeFunctions(stopping, inventory);
  await stopSandboxes(stopping, inventory);
  for (const stack of inventory.stacks) await deleteStack(person, stack);
  await deleteRest(wish, inventory, left);
  sayWhatIsLeft(wish, inventory, left);
};

/** Secrets of projects are in no stack: their names begin with the deployment's. */
const withProjects = async ({ aws, settings }: Target, left: Left): Promise<Left> => {
  const secrets = await projectSecrets(aws, settings.deployment);
  return { ...left, secrets: [...new Set([...left.secrets, ...secrets])] };
};

const deleteStack = async (person: Conversation, { name, aws }: Found): Promise<void> => {
  person.say(
    `Deleting stack ${name}${name.endsWith('-compute') ? ': Lambda takes up to half an hour to leave the network' : ''}`,
  );
  await aws.ask('cloudformation', 'delete-stack', '--stack-name', name);
  try {
    await aws.ask('cloudformation', 'wait', 'stack-delete-complete', '--stack-name', name);
  } catch (cause) {
    throw new Failure(
      `stack ${name} was not deleted`,
      [
        `Its events say why: aws cloudformation describe-stack-events --stack-name ${name} --region ${aws.region}`,
        'Then run it again: it goes on where it was.',
      ],
      cause,
    );
  }
};

const deleteRest = async (
  { target, person, keepData }: DestroyWish,
  inventory: Inventory,
  { tables, buckets, secrets, keys }: Left,
): Promise<void> => {
  const { aws, settings } = target;
  const deleting = { aws, say: person.say };
  for (const bucket of buckets) if (!(keepData && isData(bucket))) await deleteBucket(deleting, bucket);
  await deleteLogs(deleting, settings.deployment, inventory);
  if (keepData) return;
  for (const table of tables) await deleteTable(deleting, table);
  for (const secret of secrets) await deleteSecret(deleting, secret);
  for (const key of keys) await endKey(deleting, key);
};

const sayWhatIsLeft = (
  { person, keepData, target }: DestroyWish,
  { ofType }: Inventory,
  left: Left,
): void => {
  const { account, region } = target;
  const data = [...left.tables, ...left.buckets.filter(isData), ...left.secrets, ...left.keys];
  const role = ofType('AWS::ApiGateway::Account').map(
    () => 'the role by which API Gateway writes logs: it is the account’s, and others may use it',
  );
  const bootstrap = `the bootstrap of the CDK in ${account}, ${region}, with the images and bundles that were deployed`;
  person.say('\nDestroyed. What is left:');
  for (const thing of [...(keepData ? data : []), ...role, bootstrap]) person.say(`  ${thing}`);
};
