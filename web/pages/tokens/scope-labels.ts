/** What a scope opens, in words for whoever hands it out. Pure; the server's matrix is the judge. */

export type ScopeChoice = { readonly reach: 'deployment' | 'project'; readonly isReadOnly: boolean };

const projectScope = /^project:([0-9a-f-]{36})(:ro)?$/;

/** As the API takes it; undefined while no project is chosen. */
export const scopeOf = ({ reach, isReadOnly }: ScopeChoice, project: string): string | undefined => {
  const suffix = isReadOnly ? ':ro' : '';
  if (reach === 'deployment') return `admin${suffix}`;
  return project === '' ? undefined : `project:${project}${suffix}`;
};

export type ScopeLabels = { readonly title: string; readonly explanation: string };

export const scopeLabels = (scope: string, projectName: (id: string) => string | undefined): ScopeLabels => {
  if (scope === 'admin')
    return {
      title: 'Everything',
      explanation: 'Reads and changes everything in the deployment, makes projects and tokens.',
    };
  if (scope === 'admin:ro')
    return {
      title: 'Read-only admin',
      explanation: 'Sees everything in the deployment and changes nothing; sees no tokens.',
    };
  const [, id = '', readOnly] = projectScope.exec(scope) ?? [];
  const name = projectName(id) ?? `project ${id.slice(0, 8)}…`;
  return readOnly === undefined
    ? {
        title: name,
        explanation:
          'Works in this one project: its sessions, files, servers and schedules. No other is seen.',
      }
    : {
        title: `${name}, to read`,
        explanation: 'Sees this one project and changes nothing in it. No other is seen.',
      };
};
