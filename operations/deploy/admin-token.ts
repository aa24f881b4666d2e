/**
 * The admin token of a deployment: whether a deploy makes one, and the record of whether a person was told.
 *
 * AWS holds the hash alone. A parameter of Parameter Store says `pending` before the hash is deployed and `shown` once the
 * token is; so a deploy that was interrupted anywhere makes another token the next time, unless the first was shown.
 */
import { createHash, randomBytes } from 'node:crypto';
import { type Aws, findStanding } from './aws.ts';

export type TokenState =
  /** No function knows a token yet. */
  | 'none'
  /** A deploy began to set one and never showed it. */
  | 'pending'
  | 'shown';

const tokenParameter = (deployment: string): string => `/sallyport/${deployment}/admin-token`;

/** A token that a person gave to `cdk deploy` has no record: that person knows it. */
export const readTokenState = async (aws: Aws, deployment: string): Promise<TokenState> => {
  if ((await findStanding(aws, `${deployment}-compute`)) === undefined) return 'none';
  const record = await readRecord(aws, deployment);
  return record?.startsWith('pending') ? 'pending' : 'shown';
};

export type AdminToken = { readonly text: string; readonly hash: string };

export const makeToken = (): AdminToken => {
  const text = `sp_${randomBytes(32).toString('hex')}`;
  return { text, hash: createHash('sha256').update(text).digest('hex') };
};

/** Before the hash reaches a stack. */
export const recordPending = (aws: Aws, deployment: string, token: AdminToken): Promise<void> =>
  writeRecord(aws, deployment, `pending ${token.hash}`);

/**
 * Calls `show` when the record says that the token is shown, so that no later deploy replaces a token in use. After a lost
 * answer the record is read; if that fails too, the token is shown, since one shown twice is better than one lost.
 */
export const showOnce = async (
  { aws, deployment, token }: { readonly aws: Aws; readonly deployment: string; readonly token: AdminToken },
  show: () => void,
): Promise<void> => {
  const shown = `shown ${token.hash}`;
  try {
    await writeRecord(aws, deployment, shown);
  } catch (error) {
    const record = await readRecord(aws, deployment).catch(() => shown);
    if (record === shown) show();
    throw error;
  }
  show();
};

export const deleteRecord = async (aws: Aws, deployment: string): Promise<void> => {
  const named = ['--name', tokenParameter(deployment)] as const;
  await aws.find(['ParameterNotFound'], 'ssm', 'delete-parameter', ...named);
};

const readRecord = async (aws: Aws, deployment: string): Promise<string | undefined> => {
  const named = ['--name', tokenParameter(deployment)] as const;
  const found = await aws.find<{ readonly Parameter: { readonly Value: string } }>(
    ['ParameterNotFound'],
    'ssm',
    'get-parameter',
    ...named,
  );
  return found?.Parameter.Value;
};

const writeRecord = (aws: Aws, deployment: string, value: string): Promise<void> => {
  const named = ['--name', tokenParameter(deployment), '--value', value] as const;
  return aws.ask('ssm', 'put-parameter', ...named, '--type', 'String', '--overwrite');
};
