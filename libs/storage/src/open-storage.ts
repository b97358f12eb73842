import type { FileStorage } from './file-storage.ts'
import { localStorage } from './local-storage.ts'
import { type S3Options, S3Storage } from './s3-storage.ts'

/** Where files are kept: in a bucket, else in a directory. */
interface StorageOptions extends Omit<S3Options, 'bucket'> {
  readonly directory: string | undefined
  readonly bucket: string | undefined
}

/** Opens a storage. Throws when neither a directory nor a bucket is given. */
export function openStorage({ directory, bucket, ...options }: StorageOptions): FileStorage {
  if (bucket) return new S3Storage({ ...options, bucket })
  if (directory) return localStorage({ name: options.name, directory })
  throw new Error(`${options.name}: no directory and no bucket for files is set`)
}
