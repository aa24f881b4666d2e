/**
 * `npm run restore`: the data of a backup in a deployment, which serves nobody meanwhile. Its functions are closed, so that none acts
 * on half of the data, and opened at the end.
 */
import { type Command, folderNamed } from '../deploy/command.ts';
import { Failure } from '../deploy/programs.ts';
import { closeFunctions, openFunctions } from '../deploy/sandboxes.ts';
import { loadBackup, type Services } from './copy.ts';
import { findData } from './deployment-data.ts';
import { readManifest } from './folder.ts';

const again = 'Run it again: it writes the same, and opens the functions at its end.';

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
    const begin = () => closeFunctions({ aws, say }, inventory);
    try {
      await loadBackup(open(region), data, { folder, say, begin });
    } catch (cause) {
      if (cause instanceof Failure) throw cause;
      throw new Failure(`the restore stopped: ${String(cause)}`, [again], cause);
    }
    await openFunctions({ aws, say }, settings, inventory);
    say(
      'Restored. Sandboxes of the old deployment are noticed as lost within a minute; their files are as last saved.',
    );
  },
});
