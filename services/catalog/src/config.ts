import { AssetsUrl } from '@backoffice/runtime/asset-url.ts'
import { serviceConfig } from '@backoffice/service/service-config.ts'
import type { FileStorage } from '@backoffice/storage/file-storage.ts'
import { openStorage } from '@backoffice/storage/open-storage.ts'
import { STORED_BYTES } from '@backoffice/storage/stored-bytes.ts'
import { z } from 'zod'

/** The settings of the catalog. Files are in the bucket, else in the directory. */
export const CatalogConfig = serviceConfig('catalog')
  .extend({
    ASSETS_URL: AssetsUrl,
    /** Everybody can read the assets of this directory by their URL: nothing else may be in it. */
    ASSETS_DIRECTORY: z.string().optional(),
    /** As public as the directory. */
    S3_BUCKET: z.string().optional(),
    S3_ENDPOINT: z.url().optional(),
    S3_REGION: z.string().default('us-east-1'),
    /** The most that the files of a workspace may have. */
    STORED_BYTES_PER_WORKSPACE: z.coerce.number().int().positive().default(STORED_BYTES),
  })
  .refine(({ ASSETS_DIRECTORY, S3_BUCKET }) => ASSETS_DIRECTORY ?? S3_BUCKET, {
    path: ['ASSETS_DIRECTORY'],
    message: 'is missing, and S3_BUCKET too; one of them must say where files are kept',
  })

/** Opens the storage of assets. */
export const assetStorage = (config: z.output<typeof CatalogConfig>): FileStorage =>
  openStorage({
    name: 'assets',
    directory: config.ASSETS_DIRECTORY,
    bucket: config.S3_BUCKET,
    endpoint: config.S3_ENDPOINT,
    region: config.S3_REGION,
  })
