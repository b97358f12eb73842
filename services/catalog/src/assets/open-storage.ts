import { z } from 'zod'
import { localStorage } from './local-storage.ts'
import { s3Storage } from './s3-storage.ts'
import type { AssetStorage } from './storage.ts'

/** Variables of the storage: a bucket, else a directory. The SDK reads credentials from its own (`AWS_…`). */
export const StorageConfig = z.object({
  ASSETS_DIRECTORY: z.string().optional(),
  S3_BUCKET: z.string().optional(),
  S3_ENDPOINT: z.url().optional(),
  S3_REGION: z.string().default('us-east-1'),
})
export type StorageConfig = z.output<typeof StorageConfig>

/** Opens the configured storage. Throws when none is configured. */
export function openStorage(config: StorageConfig): AssetStorage {
  const { ASSETS_DIRECTORY, S3_BUCKET, S3_ENDPOINT, S3_REGION } = config
  if (S3_BUCKET) return s3Storage(S3_BUCKET, S3_REGION, S3_ENDPOINT)
  if (ASSETS_DIRECTORY) return localStorage(ASSETS_DIRECTORY)
  throw new Error('configuration: ASSETS_DIRECTORY or S3_BUCKET must say where files are kept')
}
