import type { FileStorage } from './file-storage.ts'
import { localStorage } from './local-storage.ts'
import { S3Storage } from './s3-storage.ts'
import type { S3Server } from './storage-settings.ts'

/** Where files are kept: in a bucket, else in a directory. */
interface Place {
  /** The name of the component. */
  readonly name: string
  readonly directory: string | undefined
  readonly bucket: string | undefined
}

/** Opens a storage; `server` has the bucket. Throws when neither a directory nor a bucket is given. */
export function openStorage({ name, directory, bucket }: Place, server: S3Server): FileStorage {
  if (bucket) return new S3Storage(name, bucket, server)
  if (directory) return localStorage({ name, directory })
  throw new Error(`${name}: no directory and no bucket for files is set`)
}
