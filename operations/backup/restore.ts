/**
 * `npm run restore`: the data of a backup in a deployment, which serves no requests until it ends. Its functions are closed, so that none acts
 * on half of the data, and opened at the end.
 */
import { type Command, folderNamed } from '../deploy/command.ts';
import { Failure } from '../deploy/programs.ts';
import { closeFunctions, openFunctions } from '../deploy/sandboxes.ts';
import { loadBackup, type Services } from './data-copy.ts';
import { findData } from './deployment-data.ts';
import { readManifest } from './folder.ts';

const again = 'Run it again: it writes the same, and opens the functions at its end.';
const closed = `The functions are closed. ${again} To open them as things are: npm run doctor says how.`;

/**
 * Of a closed function Lambda puts every event into its dead-letter queue at once
 * (https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html).
 */
const leftBehind =
  'Sweeps that the closed functions missed are in the queue EventDeadLetters and ring its alarm. None is needed: purge it, as docs/runbook.md says.';

export const restoreCommandWith = (open: (region: string) => Services): Command<never, 'from'> => ({
  usage: [
    'usage: npm run restore -- --from <folder> [--stage <name>] [--region <region>] [--settings <file>] [--yes]',
    '',
    'Writes the data of a backup into a deployment that was deployed anew, and replaces what has the same key.',
    '',
    '  --yes  does not ask for confirmation',
  ].join('\n'),
  flags: [],
  values: ['from'],
  run: async ({ target, terminal, from, yes }) => {
    const folder = folderNamed(from, '--from');
    const manifest = await readManifest(folder);
    const { inventory, ...data } = await findData(target);
    const { aws, settings, account, region } = target;
    const { deployment } = settings;
    if (manifest.deployment !== deployment)
      throw new Failure(`the backup is of deployment ${manifest.deployment}, and this is ${deployment}`, [
        'Secrets are named after their deployment: deploy a stage with that name.',
      ]);
    terminal.say(
      `Account ${account}, ${region}: ${manifest.items} items and ${manifest.objects} objects of ${manifest.takenAt}`,
    );
    const question = `It replaces what is there. Type ${deployment} to restore it: `;
    if (!yes && !(await terminal.agrees(question, deployment))) throw new Failure('nothing was restored');
    const { say } = terminal;
    let isClosed = false;
    const begin = (): Promise<void> => {
      isClosed = true;
      return closeFunctions({ aws, say }, inventory);
    };
    try {
      await loadBackup(open(region), data, { folder, say, begin });
      await openFunctions({ aws, say }, settings, inventory);
    } catch (cause) {
      throw failureOf(cause, isClosed);
    }
    say(
      'Restored. Sandboxes of the old deployment are noticed as lost within a minute; their files are as last saved.',
    );
    say(leftBehind);
  },
});

const failureOf = (cause: unknown, isClosed: boolean): Failure => {
  const { message, next } =
    cause instanceof Failure ? cause : { message: `the restore stopped: ${String(cause)}`, next: [] };
  if (!isClosed) return new Failure(message, next.length === 0 ? [again] : next, cause);
  return new Failure(message, [...next, closed], cause);
};
