/**
 * The authorisations of ECS calls. RunTask also passes the role that pulls the image. The task definition holds that
 * role, so it is named here by the definition's family.
 */
import { type Authorisation, type AuthorisationsOf, arn, jsonOf } from './authorisation.ts';

type Input = {
  readonly cluster?: string;
  readonly task?: string;
  readonly tasks?: readonly string[];
  readonly taskDefinition?: string;
  readonly tags?: readonly unknown[];
};

export const executionRoleOf = (family: string): string => `arn:aws:iam::execution-role-of:${family}`;

export const ofEcs: AuthorisationsOf = ({ operation, body }) => {
  const { cluster = 'default', task, tasks = [], taskDefinition = '', tags = [] } = jsonOf(body) as Input;
  const context = {
    'ecs:cluster': [cluster.startsWith('arn:') ? cluster : arn('ecs', `cluster/${cluster}`)],
  };
  const on = (resource: string): Authorisation => ({ action: `ecs:${operation}`, resource, context });
  if (operation === 'RunTask')
    return [
      on(arn('ecs', `task-definition/${taskDefinition}`)),
      passRole(executionRoleOf(taskDefinition), 'ecs-tasks.amazonaws.com'),
      ...(tags.length > 0
        ? [{ action: 'ecs:TagResource', resource: arn('ecs', `task/${cluster}/new`), context }]
        : []),
    ];
  if (operation === 'ListTasks') return [on('*')];
  return (task === undefined ? tasks : [task]).map(on);
};

export const passRole = (resource: string, to: string): Authorisation => ({
  action: 'iam:PassRole',
  resource,
  context: { 'iam:PassedToService': [to] },
});
