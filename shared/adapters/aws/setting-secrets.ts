/**
 * Secrets as settings name them: the value itself, or the ARN of a Secrets Manager secret that holds it.
 *
 * An ARN is fetched once and cached for five minutes, so that a rotated secret is picked up without a deployment.
 * A failed fetch is not cached. The SDK is loaded only for an ARN.
 */
import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { AppError } from '#shared/errors.ts';

export type SecretSource = {
  readonly openClient: () => Promise<SecretsManagerClient>;
  /** Epoch milliseconds. */
  readonly now: () => number;
};

type Held = { readonly text: Promise<string>; readonly until: number };

const heldMsMax = 300_000;
const arnPattern = /^arn:aws[a-z-]*:secretsmanager:/;

export const makeSecretResolver = ({
  openClient,
  now,
}: SecretSource): ((value: string) => Promise<string>) => {
  const held = new Map<string, Held>();
  let client: Promise<SecretsManagerClient> | undefined;

  const fetchSecret = async (arn: string): Promise<string> => {
    try {
      client ??= openClient();
      const { GetSecretValueCommand } = await import('@aws-sdk/client-secrets-manager');
      const answer = await (await client).send(new GetSecretValueCommand({ SecretId: arn }));
      if (answer.SecretString === undefined) throw new Error('the secret holds bytes, not text');
      return answer.SecretString;
    } catch (cause) {
      held.delete(arn);
      throw readFailure(cause);
    }
  };

  return async (value) => {
    if (!arnPattern.test(value)) return value;
    const known = held.get(value);
    if (known !== undefined && now() < known.until) return known.text;
    const text = fetchSecret(value);
    held.set(value, { text, until: now() + heldMsMax });
    return text;
  };
};

const readFailure = (cause: unknown): AppError =>
  new AppError('internal_error', 'could not read a secret', { cause });

/** The resolver of a running function: one client and one cache for all of it. */
export const resolveSecret = makeSecretResolver({
  openClient: async () => {
    const { SecretsManagerClient: Client } = await import('@aws-sdk/client-secrets-manager');
    return new Client();
  },
  now: Date.now,
});
