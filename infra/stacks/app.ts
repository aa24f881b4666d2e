/** The program behind `cdk synth` and `cdk deploy`: one stage of the platform, checked by cdk-nag. */
import { App } from 'aws-cdk-lib';
import { readSettings } from '../settings-file.ts';
import { addSallyport } from './sallyport.ts';

const app = new App();
const text = (name: string): string | undefined => {
  const value: unknown = app.node.tryGetContext(name);
  return typeof value === 'string' ? value : undefined;
};
addSallyport(app, readSettings(text('stage') ?? 'production', text('settings')));
app.synth();
