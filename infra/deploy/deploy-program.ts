/** What `npm run deploy` takes, and says of itself. */
import { deploy } from './deploy.ts';
import type { Program } from './program.ts';

export const deployProgram: Program<'new-token'> = {
  usage: [
    'usage: npm run deploy [-- --stage <name>] [--region <region>] [--yes] [--new-token]',
    '',
    'Deploys a stage of infra/settings.ts (production) to the account of your AWS credentials, or upgrades it.',
    'Needs the aws program, Docker that builds for arm64, and an account that is bootstrapped for the CDK.',
    '',
    '  --yes        asks nothing',
    '  --new-token  makes another admin token; the old one stops working',
  ].join('\n'),
  flags: ['new-token'],
  run: ({ 'new-token': newToken, ...wish }) => deploy({ ...wish, newToken }),
};
