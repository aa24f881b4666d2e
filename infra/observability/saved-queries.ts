/** The queries of an operator, saved in CloudWatch Logs Insights under the deployment's name. They cost nothing until they run. */
import { CfnQueryDefinition } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';
import { type Query, queries } from './queries.ts';
import type { Watched } from './watched.ts';

export class SavedQueries extends Construct {
  constructor(scope: Construct, id: string, { deployment, functions }: Watched) {
    super(scope, id);
    const logGroupNames = functions.map(({ lambda }) => lambda.logGroup.logGroupName);
    for (const { name, lines } of queries)
      new CfnQueryDefinition(this, idOf(name), {
        name: `${deployment}/${name}`,
        logGroupNames,
        queryString: lines.join('\n'),
      });
  }
}

/** A definition goes by what it is called. */
const idOf = (name: Query['name']): string =>
  name
    .split(/[ ,]+/)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('');
