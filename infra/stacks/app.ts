/** The program behind `cdk synth` and `cdk deploy`: one stage of the platform, checked by cdk-nag. */
import { App } from 'aws-cdk-lib';
import { settingsOf } from '../settings.ts';
import { addSallyport } from './sallyport.ts';

const app = new App();
const stage: unknown = app.node.tryGetContext('stage');
addSallyport(app, settingsOf(typeof stage === 'string' ? stage : 'production'));
app.synth();
