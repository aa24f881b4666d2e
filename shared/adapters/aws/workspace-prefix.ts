/** Names of a workspace's objects in the bucket. */

/** The prefix of everything that was ever saved of a workspace. */
export const workspacePrefix = (workspace: string): string => `workspaces/${workspace}/`;
