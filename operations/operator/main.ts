/** Entry of `npm run operator`. */
import { runNamed } from '../deploy/command.ts';
import { runOperator } from './operator.ts';

await runNamed({ operator: runOperator });
