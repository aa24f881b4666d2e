/** Labels of token scopes. Pure; the server enforces them (docs/spec/access.md). */

export type ScopeChoice = { readonly reach: 'deployment' | 'project'; readonly isReadOnly: boolean };

const projectScope = /^project:([0-9a-f-]{36})(:ro)?$/;

/** The scope of the API; undefined while no project is chosen. */
export const scopeOf = ({ reach, isReadOnly }: ScopeChoice, project: string): string | undefined => {
  const suffix = isReadOnly ? ':ro' : '';
  if (reach === 'deployment') return `admin${suffix}`;
  return project === '' ? undefined : `project:${project}${suffix}`;
};

export type ScopeLabels = { readonly title: string; readonly explanation: string };

export const scopeLabels = (scope: string, projectName: (id: string) => string | undefined): ScopeLabels => {
  if (scope === 'admin')
    return {
      title: 'Admin',
      explanation: 'Full access to the deployment, including projects and tokens.',
    };
  if (scope === 'admin:ro')
    return {
      title: 'Read-only admin',
      explanation: 'Views everything in the deployment except tokens; changes nothing.',
    };
  const [, id = '', readOnly] = projectScope.exec(scope) ?? [];
  const name = projectName(id) ?? `project ${id.slice(0, 8)}…`;
  return readOnly === undefined
    ? {
        title: name,
        explanation: 'Full access to this project: sessions, files, servers and schedules.',
      }
    : {
        title: `${name}, read-only`,
        explanation: 'Views this project; changes nothing.',
      };
};
