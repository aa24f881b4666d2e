/**
 * The stand-in for the SDK's other ways to credentials: files, a person's login, a program, the metadata of a machine.
 *
 * A function finds its role's in its variables, which the SDK asks first. The chain ends in the SDK's own words if they are absent.
 */
const absent = () => async (): Promise<never> => {
  const error = new Error('a function has the credentials of its variables only');
  throw Object.assign(error, { name: 'CredentialsProviderError', tryNextLink: true });
};

export const fromSSO = absent;
export const fromIni = absent;
export const fromProcess = absent;
export const fromTokenFile = absent;
export const fromHttp = absent;
export const fromContainerMetadata = absent;
export const fromInstanceMetadata = absent;
export const ENV_CMDS_FULL_URI = 'AWS_CONTAINER_CREDENTIALS_FULL_URI';
export const ENV_CMDS_RELATIVE_URI = 'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI';
