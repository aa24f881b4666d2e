/**
 * Rights that no call of the scenario used, each with the reason why the function has it all the same. A right that is
 * neither used nor listed fails the test, and so does a reason that no right needs any more.
 */
import type { FunctionName } from '#shared/config/environment.ts';

export type UnseenRight = {
  readonly functions: 'all' | readonly FunctionName[];
  /** `<action> on <resource>`, as `rights.ts` writes them. */
  readonly right: RegExp;
  readonly because: string;
  /** Some runs do use it: it hangs on who is quicker. */
  readonly mayBeUsed?: true;
};

export const unseenRights: readonly UnseenRight[] = [
  {
    functions: 'all',
    right: /^logs:(?:CreateLogStream|PutLogEvents) on /,
    because: 'The runtime writes what a function prints; here a file does.',
  },
  {
    functions: 'all',
    right: /^xray:(?:PutTraceSegments|PutTelemetryRecords) on \*$/,
    because: 'The runtime records traces; here nobody does.',
  },
  {
    functions: 'all',
    right: /^sqs:(?:GetQueueAttributes|GetQueueUrl|SendMessage) on /,
    because:
      'Lambda sends what failed for good in the name of the function, and nothing did; the CDK grants these three together.',
  },
  {
    functions: ['sandbox-link'],
    right: /^ec2:\w+ on \*$/,
    because: 'Lambda makes the interfaces in its VPC in its name; its own code is denied all of it.',
  },
  {
    functions: ['sandbox-link'],
    right: /^s3:\w+ on s3 sallyport-workspaces\/shared\/\*$|^s3:ListBucket on /,
    because:
      'One machine mounts its shared volume; shared-volume.test.ts beside the function uses the bucket.',
  },
  {
    functions: ['sandbox-link'],
    right: /^s3:AbortMultipartUpload on s3 sallyport-workspaces\/workspaces\/\*$/,
    because: 'An upload is given up when it breaks; checkpoint.test.ts beside the function breaks one.',
  },
  {
    functions: ['sandbox-link'],
    right: /^s3:DeleteObject on s3 sallyport-workspaces\/workspaces\/\*$/,
    because:
      'The files of the last eight turns are kept, and no workspace of the scenario has more; checkpoint.test.ts beside the function deletes.',
    mayBeUsed: true,
  },
  {
    functions: ['relay'],
    right: /^lambda:InvokeFunction on lambda function:sallyport-mcp$/,
    because:
      'No program of the scenario asks for the platform; tests/e2e/relay-socket.test.ts has some that do.',
    mayBeUsed: true,
  },
  {
    functions: ['janitor'],
    right: /^s3:PutObject on s3 sallyport-workspaces\/audit\/seals\/\*$/,
    because: 'A seal is due later than the scenario ends; tests/e2e/audit-record.test.ts waits for one.',
    mayBeUsed: true,
  },
  {
    functions: ['api'],
    right:
      /^s3:(?:GetObject on s3 sallyport-workspaces\/audit\/seals\/\*|ListBucket on s3 sallyport-workspaces)$/,
    because: 'The scenario exports no audit log; tests/e2e/audit-record.test.ts does.',
    mayBeUsed: true,
  },
  {
    functions: ['socket', 'terminal', 'relay', 'turn', 'janitor', 'schedules', 'api', 'mcp'],
    right: /^secretsmanager:GetSecretValue on secretsmanager secret:SandboxSecret/,
    because: 'On AWS the variable is the ARN of the secret, on one machine the secret itself.',
  },
  {
    functions: ['turn'],
    right: /^secretsmanager:GetSecretValue on secretsmanager secret:sallyport\//,
    because:
      'Headers of registered servers name secrets; the demo model calls none of their tools, real ones do.',
  },
  {
    functions: ['relay'],
    right: /^secretsmanager:GetSecretValue on secretsmanager secret:sallyport\//,
    because: 'No host of the scenario gets a secret; tests/e2e/egress-inject.test.ts has some that do.',
  },
  {
    functions: ['socket', 'turn', 'task-events', 'schedules', 'webhooks', 'api', 'mcp'],
    right: /^dynamodb:ConditionCheckItem on /,
    because:
      'It goes with the writes of a transaction; here only the janitor and offers of tools check an item that they do not write.',
  },
  {
    functions: ['schedules'],
    right: /^lambda:InvokeFunction on lambda function:sallyport-sandbox-link$/,
    because: 'A run asks idle sandboxes where no slot is free; the scenario has some left.',
    mayBeUsed: true,
  },
  {
    functions: ['terminal'],
    right: /^lambda:InvokeFunction on lambda function:sallyport-terminal$/,
    because: 'It hands over to itself after a quarter of an hour.',
  },
  {
    functions: ['relay'],
    right: /^lambda:InvokeFunction on lambda function:sallyport-relay$/,
    because: 'It hands over to itself after a quarter of an hour.',
  },
  {
    functions: ['relay'],
    right:
      /^execute-api:ManageConnections on |^dynamodb:(?:BatchGetItem|ConditionCheckItem|DeleteItem|PutItem|Query|UpdateItem) on /,
    because:
      'It writes events of connections and tells subscribers, of whom there were none or some just then.',
    mayBeUsed: true,
  },
  {
    functions: ['terminal', 'turn', 'janitor', 'mcp'],
    right: /^lambda:InvokeFunction on lambda function:sallyport-relay$/,
    because: 'A sandbox with a network has its relay held; the one of the scenario is used by REST.',
    mayBeUsed: true,
  },
  {
    functions: ['turn', 'api', 'mcp'],
    right: /^ecs:DescribeTasks on /,
    because: 'Asked only when the event of a task is late.',
    mayBeUsed: true,
  },
  {
    functions: ['turn', 'janitor'],
    right: /^(?:ecs:RunTask|iam:PassRole) on .*node/i,
    because: 'Agents and the pool start either template; the scenario has them in Python.',
    mayBeUsed: true,
  },
  {
    functions: ['turn', 'task-events', 'schedules'],
    right: /^lambda:InvokeFunction on lambda function:sallyport-janitor$/,
    because:
      'The janitor is woken when a sandbox that was found dead, or one that nobody uses any more, is to be stopped.',
    mayBeUsed: true,
  },
  {
    functions: ['turn', 'janitor'],
    right: /^lambda:InvokeFunction on lambda function:sallyport-turn$/,
    because:
      'A turn hands over near the end of its fifteen minutes, and the janitor drives on one whose function died.',
    mayBeUsed: true,
  },
  {
    functions: ['janitor', 'schedules', 'api'],
    right: /^execute-api:ManageConnections on execute-api socket\/ws\/POST\//,
    because: 'Whoever watches a session is told what becomes of it; nobody watched just then.',
    mayBeUsed: true,
  },
  {
    functions: ['socket', 'on-connected', 'mcp'],
    right: /^execute-api:ManageConnections on execute-api socket\/ws\/DELETE\//,
    because:
      'A socket is closed when its token is revoked while it is open (access.test.ts of the whole does that).',
    mayBeUsed: true,
  },
  {
    functions: ['task-events', 'schedules', 'on-connected'],
    right: /^dynamodb:(?:BatchGetItem|DeleteItem) on /,
    because:
      'Subscribers are read together, and one that has left is deleted; none was there or left just then.',
    mayBeUsed: true,
  },
  {
    functions: ['socket', 'turn', 'task-events', 'janitor', 'schedules', 'mcp'],
    right: /^lambda:InvokeFunction on lambda function:sallyport-webhooks$/,
    because:
      'Whoever writes a notice has it sent; the webhook of the scenario hears of turns, and each may end one.',
    mayBeUsed: true,
  },
  {
    functions: ['webhooks'],
    right: /^dynamodb:BatchGetItem on /,
    because: 'It goes with the right to read an item.',
  },
  {
    functions: ['janitor', 'webhooks'],
    right: /^dynamodb:BatchWriteItem on /,
    because: 'What is left of a session, or of a webhook, is deleted after its end.',
    mayBeUsed: true,
  },
];
