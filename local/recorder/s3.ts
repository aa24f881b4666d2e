/**
 * The authorisations of S3 calls, with the bucket in the path. Uploading a part is a PutObject, a HEAD is a GetObject
 * (https://docs.aws.amazon.com/AmazonS3/latest/userguide/using-with-s3-policy-actions.html).
 */
import type { Authorisation, AuthorisationsOf } from './authorisation.ts';

export const ofS3: AuthorisationsOf = ({ method, url, body }) => {
  const [, bucket = '', ...rest] = decodeURIComponent(url.pathname).split('/');
  const key = rest.join('/');
  const query = url.searchParams;
  const onObject = (action: string, of = key): Authorisation => ({
    action: `s3:${action}`,
    resource: `arn:aws:s3:::${bucket}/${of}`,
    context: {},
  });
  if (key === '' && query.has('delete'))
    return Array.from(body.toString().matchAll(/<Key>([^<]+)<\/Key>/g), ([, name = '']) =>
      onObject('DeleteObject', name),
    );
  if (key === '') {
    const prefix = query.get('prefix');
    const context: Authorisation['context'] = prefix === null ? {} : { 's3:prefix': [prefix] };
    return [{ action: 's3:ListBucket', resource: `arn:aws:s3:::${bucket}`, context }];
  }
  if (method === 'DELETE') return [onObject(query.has('uploadId') ? 'AbortMultipartUpload' : 'DeleteObject')];
  return [onObject(method === 'GET' || method === 'HEAD' ? 'GetObject' : 'PutObject')];
};
