/**
 * What calls of S3 ask for, with the bucket in the path. Parts of an upload are put, a HEAD is a GET
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
