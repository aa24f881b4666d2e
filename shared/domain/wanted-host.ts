/**
 * Names of what a call wanted to reach in its trial, as its effect has them: a host is `host:port`. Models and the platform, which programs
 * reach by the relay as well, have no port and so are no hosts.
 */

/** A model of the session. */
export const wantedModels = 'models';
/** A tool of the platform. */
export const wantedPlatform = 'platform';

/** As a person reads it. */
export const wantedHostName = (host: string): string =>
  host === wantedModels ? 'models' : host === wantedPlatform ? 'tools of the platform' : host;
